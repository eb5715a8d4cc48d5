// SPDX-License-Identifier: Apache-2.0
// Anti-parallel patterns: the causes that slow down a data-parallel program, and their factors. Cornelis measured each
// pattern separately and modelled it with a simple formula.
//
//   strided copy on GT200: 16 segments of 32 bytes instead of one of 64: access_slowdown(512, 64) == 8
//
// J. Cornelis, "Anti-parallel Patterns in Fine-grain Data-parallel Programs", Vrije Universiteit Brussel 2010. Times
// are in any unit, the same for all arguments of a function.
#pragma once

#include "emulator/base/expected.hpp"
#include "model/device.hpp"
#include "model/statistics.hpp"

#include <optional>

namespace warplens::model {

/// Chapter 4, global memory: the run time of a kernel that only moves data grows with moved / needed bytes.
double access_slowdown(double bytes_moved, double bytes_needed);

/// Chapter 4, shared memory: issue cycles of a loop body, with and without the passes that conflicts add. Cycles of one
/// warp.
double conflict_slowdown(double cycles_without, double cycles_of_conflicts);

/// The patterns of a launch, as the slowdown factor of each alone; 1 is ideal.
struct Patterns {
  double branching = 1;     ///< lanes of the warps that run / lanes that take part
  double global_access = 1; ///< bytes moved / bytes requested
  /// Issue cycles with conflicts / without; empty: there are conflicts, but the device has no cost of a pass.
  std::optional<double> bank_conflicts = 1;
  double partitioning = 1; ///< threads that the warps can hold / threads
  double barriers = 0;     ///< per warp; their cost was measured, but not modelled
};
/// Errors: invalid statistics; no instructions or threads_per_block. Patterns that were not measured stay 1.
Expected<Patterns> antiparallel_patterns(const KernelStatistics& statistics, const Device& device);

} // namespace warplens::model
