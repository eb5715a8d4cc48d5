// A second, slow way of running a kernel, for the fuzzer to compare with: one thread after the other, one instruction
// after the other, straight from the IR. It shares the functors with the emulator (compiled without vectors, see
// scalar_lanes.hpp), and nothing else: operands, guards, memory and branches are its own.
//
//   Evaluation e = evaluate({module, kernel, grid, block, params});   e.problem is empty, memory holds the results
//
// It knows what generator.hpp writes: no barriers, and threads that do not read what others write.
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
  std::span<const std::uint64_t> params; ///< all are 8 bytes
};

struct Evaluation {
  std::string problem; ///< why it could not go on
  /// By instruction: how many threads came by, and how many of those had a true guard; `warps` is not counted.
  std::vector<exec::InstructionCount> counts;
};

/// Global addresses are those of this process.
Evaluation evaluate(const Kernel& kernel);

} // namespace warplens::fuzz
