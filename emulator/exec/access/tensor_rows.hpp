// SPDX-License-Identifier: Apache-2.0
// Rows of a box that a copy by tensor map moves whole and unchanged, at a constant distance in either memory.
#pragma once

#include "emulator/exec/state/tensor_map.hpp"

#include <cstddef>

namespace warplens::exec {

struct TensorRows {
  std::byte* memory = nullptr;    ///< the first row in global memory
  std::uint64_t stride = 0;       ///< from row to row there
  std::byte* shared = nullptr;    ///< shared memory of the block
  std::int64_t at = 0, pitch = 0; ///< the first row there, and from row to row
  std::int64_t bytes = 0;         ///< of a row; with a swizzle whole units, and no more than its span
  std::int64_t count = 1;

  void load(const TensorMap& map) const;
  void store(const TensorMap& map) const;
};

} // namespace warplens::exec
