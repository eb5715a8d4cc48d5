// SPDX-License-Identifier: Apache-2.0
// A slow reference interpreter for the fuzzer: it runs a kernel thread by thread and instruction by instruction,
// directly from the IR. It shares only the functors with the emulator (compiled without vectors, see scalar_lanes.hpp);
// it has its own implementation of operands, guards, memory and branches.
//
//   Evaluation e = evaluate({module, kernel, grid, block, params});   e.problem is empty, memory holds the results
//
// It supports the programs of generator.hpp: barriers do nothing, as no thread reads what another thread writes.
#pragma once

#include "emulator/exec/state/events.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace warplens::fuzz {

struct Kernel {
  const ir::Module& module;
  const ir::Function& function;
  exec::LaunchShape shape;
  std::span<const std::uint64_t> params; ///< each has 8 bytes
};

struct Evaluation {
  std::string problem; ///< the reason why it stopped; empty on success
  /// By instruction: the number of threads that reached it, and of those whose guard was true; `warps` is not counted.
  std::vector<exec::InstructionCount> counts;
};

/// Global addresses are addresses of this process.
Evaluation evaluate(const Kernel& kernel);

} // namespace warplens::fuzz
