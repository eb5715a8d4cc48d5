// SPDX-License-Identifier: Apache-2.0
// What tcgen05 reads and writes until it is waited for: matrices in shared memory, and rectangles of tensor memory.
// tcgen05.mma, .cp and .shift are the work of the thread that issues them, until an mbarrier at which tcgen05.commit
// arrives; tcgen05.ld and .st are those of a warp, until tcgen05.wait (PTX manual, 9.7.16.6).
//
//   const TensorWork w = work_of(step, lane);   // step: after the instruction
//   w.reads     ->  {{cta, 1024, 3072}}         // of shared memory
//   w.columns   ->  {{cta, lanes 0 to 127, columns 64 to 127, writes}}
#pragma once

#include "emulator/exec/checks/pending_copies.hpp"
#include "emulator/exec/memory/tensor_memory.hpp"
#include "emulator/exec/state/checker.hpp"

#include <bitset>
#include <vector>

namespace warplens::exec {

struct Cta;

struct TensorRectangle {
  std::bitset<TensorMemory::kLanes> lanes;
  std::uint32_t first = 0, end = 0; ///< columns
  bool writes = false;

  [[nodiscard]] bool conflicts(const TensorRectangle& other) const {
    return (writes || other.writes) && first < other.end && other.first < end && (lanes & other.lanes).any();
  }
};

/// In the memory of one block.
struct TensorWork {
  const Cta* cta = nullptr;
  std::vector<Extent> reads;
  std::vector<TensorRectangle> columns;
};

/// Of each block that an instruction of tcgen05 concerns.
std::vector<TensorWork> work_of(const WarpStep& step, int lane);

} // namespace warplens::exec
