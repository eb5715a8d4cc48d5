// Anti-parallel patterns: what makes a data-parallel program slower than it could be, and by what factor. Cornelis
// measured each pattern alone and modelled it by a line of arithmetic.
//
//   strided copy on GT200: 16 segments of 32 bytes instead of one of 64: access_slowdown(512, 64) == 8
//
// J. Cornelis, "Anti-parallel Patterns in Fine-grain Data-parallel Programs", Vrije Universiteit Brussel 2010. Times
// are in any unit, the same for all arguments of a function.
#pragma once

#include "emulator/base/expected.hpp"
#include "model/device.hpp"
#include "model/statistics.hpp"

namespace warplens::model {

/// Chapter 4, global memory: a kernel that only moves data takes as much longer as more bytes are moved than needed.
double access_slowdown(double bytes_moved, double bytes_needed);

/// Chapter 4, shared memory: issue cycles of a loop body, with and without the passes that conflicts add. Cycles of one
/// warp.
double conflict_slowdown(double cycles_without, double cycles_of_conflicts);

/// The patterns of a launch, as factors of what each alone slows down; 1 is ideal.
struct Patterns {
  double branching = 1;      ///< lanes of the warps that run / lanes that take part
  double global_access = 1;  ///< bytes moved / bytes asked for
  double bank_conflicts = 1; ///< issue cycles with conflicts / without
  double partitioning = 1;   ///< threads that the warps have room for / threads
  double barriers = 0;       ///< per warp; their cost was measured, but not modelled
};
/// Errors: statistics that cannot be, or lack instructions or threads_per_block. What was not measured stays 1.
Expected<Patterns> antiparallel_patterns(const KernelStatistics& statistics, const Device& device);

} // namespace warplens::model
