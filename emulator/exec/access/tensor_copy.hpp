// SPDX-License-Identifier: Apache-2.0
// Copies, reductions and prefetches by tensor map (manual 9.7.9.27), and changes of tensor maps. Ops follow each other:
//
//   tensor_copy     the tensor map; `extra`: index of the TensorSite
//   (part)          the tensor in global memory; its address is the map's
//   (part)          shared memory, unless it is a prefetch
//   (part)          the mbarrier of a load
#pragma once

#include "emulator/exec/access/access.hpp"

namespace warplens::exec {

const Op* tensor_copy(const Op*, Warp*);

/// The bytes that the mbarrier of a load will be told of; 0: there is no tensor map.
std::uint32_t bytes_of_tensor_copy(const Op* op, Warp* warp, int lane);

/// Whether two lanes copy the same box to or from the same place.
bool is_same_copy(const Op* op, Warp* warp, int lane, int other);

/// tensormap.replace: src[1]: values; `extra`: the field, and from bit 8 on the dimension.
const Op* replace_in_map(const Op*, Warp*);
/// The same with values of 64 bits.
const Op* replace_in_map_64(const Op*, Warp*);

/// tensormap.cp_fenceproxy: destination, source.
const Op* copy_map(const Op*, Warp*);

} // namespace warplens::exec
