// SPDX-License-Identifier: Apache-2.0
// The mbarriers at which an instruction completes: a copy, an asynchronous store, clusterlaunchcontrol.try_cancel or
// tcgen05.commit. There are several with .multicast, and in pairs of blocks they may be in the other block.
//
//   for (const Completion& c : completions_of(step, lane)) …   // step: before or after the instruction
#pragma once

#include "emulator/exec/state/checker.hpp"

#include <vector>

namespace warplens::exec {

struct Cta;

struct Completion {
  const Cta* cta = nullptr; ///< that has the mbarrier in its shared memory, …
  std::uint64_t offset = 0; ///< … where
  const std::byte* place = nullptr;
  std::uint32_t bytes = 0; ///< that the mbarrier is told of
};

std::vector<Completion> completions_of(const WarpStep& step, int lane);

} // namespace warplens::exec
