// SPDX-License-Identifier: Apache-2.0
// tcgen05 without its multiplications: allocation of tensor memory (9.7.16.7), transfers from and to registers
// (9.7.16.8), copies from shared memory and shifts (9.7.16.9). They are complete when they have been issued.
//
// Of a warp, src[0] has addresses of tensor memory, which begin `imm` further on. Allocations: src[1] has the number of
// columns; `extra`: 1 for .cta_group::2.
#pragma once

#include "emulator/exec/state/warp.hpp"

namespace warplens::exec {

/// src[0]: an address of shared memory.
const Op* tensor_allocate(const Op*, Warp*);
const Op* tensor_release(const Op*, Warp*);
const Op* tensor_relinquish(const Op*, Warp*);
/// Op::transfer.
const Op* tensor_load(const Op*, Warp*);
const Op* tensor_store(const Op*, Warp*);
/// .sync.aligned: all lanes must come.
const Op* tensor_wait(const Op*, Warp*);
/// src[1]: descriptors of 64 bits; Op::copy.
const Op* tensor_copy_shared(const Op*, Warp*);
/// `extra`: 1 for .cta_group::2.
const Op* tensor_shift(const Op*, Warp*);

} // namespace warplens::exec
