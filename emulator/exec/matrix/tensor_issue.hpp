// SPDX-License-Identifier: Apache-2.0
// A multiplication with tensor memory that a thread issues (tcgen05.mma): its operands, checked. Compiled once; the
// handlers that compute the product are compiled once per level.
//
//   TensorIssue t;  if (!read_issue(op, warp, lane, t)) return nullptr;   // the kernel has stopped
#pragma once

#include "emulator/exec/block/cta.hpp"
#include "emulator/exec/matrix/instruction_descriptor.hpp"
#include "emulator/exec/matrix/tensor_descriptor.hpp"
#include "emulator/exec/memory/tensor_memory.hpp"
#include "emulator/exec/state/warp.hpp"

namespace warplens::exec {

struct TensorIssue {
  TensorProduct product;
  TensorLayout layout;
  Cta* blocks[2]{}; ///< of a pair: by the last bit of their ranks
  int count = 1;
  TensorAddress d, a, metadata, a_scales, b_scales;
  TensorDescriptor a_shared{0}, b_shared{0};
  ColumnMask columns{0};
  bool accumulate = false;
  std::uint32_t masked_lanes[8]{}; ///< of D: 128 bits for each block

  [[nodiscard]] bool writes(int block, std::uint32_t lane) const {
    return (masked_lanes[block * 4 + static_cast<int>(lane / 32)] >> lane % 32 & 1) == 0;
  }
};

/// Tells the watcher of its multiply-adds.
void count_product(const Op* op, Warp* warp, const TensorIssue& issue);
bool read_issue(const Op* op, Warp* warp, int lane, TensorIssue& issue);
/// A descriptor reaches beyond the shared memory of a block: stops the kernel.
void stop_at_factor(const Op* op, Warp* warp, int lane, const char* matrix, const TensorIssue& issue);

} // namespace warplens::exec
