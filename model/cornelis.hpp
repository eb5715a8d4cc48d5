// Anti-parallel patterns: what makes a data-parallel program slower than it could be, and by what factor. Cornelis
// measured each pattern alone and modelled it by a line of arithmetic.
//
//   three branches of which a warp follows two on average: branching_time(5, 2, {{0.5, 8}, {0.3, 10}, {0.2, 20}}) == 27
//   strided copy on GT200: 16 segments of 32 bytes instead of one of 64: access_slowdown(512, 64) == 8
//
// J. Cornelis, "Anti-parallel Patterns in Fine-grain Data-parallel Programs", Vrije Universiteit Brussel 2010. Times
// are in any unit, the same for all arguments of a function.
#pragma once

#include "emulator/base/expected.hpp"
#include "model/device.hpp"
#include "model/statistics.hpp"

#include <span>

namespace warplens::model {

/// A branch of the program: how often warps follow it, among all that they follow (the weights add up to 1), and its
/// time.
struct Branch {
  double weight = 0;
  double time = 0;
};
/// Equation (3.3): t_total = t_outside + n * sum(w * t), with n branches followed by a warp on average. With one weight
/// it is equation (3.1); with equal weights and n branches, equation (3.2).
double branching_time(double outside, double branches_per_warp, std::span<const Branch> branches);

/// Chapter 4, global memory: a kernel that only moves data takes as much longer as more bytes are moved than needed.
double access_slowdown(double bytes_moved, double bytes_needed);

/// Chapter 4, shared memory: issue cycles of a loop body, with and without the passes that conflicts add. Cycles of one
/// warp.
double conflict_slowdown(double cycles_without, double cycles_of_conflicts);

/// Section 6.3: two elements for each thread, half the blocks: 2 * t1 / t2.
double tile_speedup(double one_element, double two_elements);
/// Section 7.2.4: loading, work, and the work that a second element adds: (t1 + t2) / ((2 t1 + t2 + t_delta) / 2).
double mapping_speedup(double load, double work, double extra);
/// Section 7.2.1: what the naive prefix sum takes at least, given the time of a copy: one copy, and for each sweep two
/// accesses in each of its log2(block) steps, of which the later half touches half of the memory. 25 copies for blocks
/// of 256.
double naive_scan_bound(double copy, double block = 256);
/// Section 7.1: bytes that the outside world sees, per second: read once, written once.
double scan_throughput(double elements, double element_bytes, double seconds);

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
