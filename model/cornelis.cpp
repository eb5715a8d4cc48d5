#include "model/cornelis.hpp"

#include <algorithm>
#include <cmath>

namespace warplens::model {

double branching_time(double outside, double branches_per_warp, std::span<const Branch> branches) {
  double average = 0;
  for (const Branch& branch : branches) average += branch.weight * branch.time;
  return outside + branches_per_warp * average;
}

double access_slowdown(double bytes_moved, double bytes_needed) { return bytes_moved / bytes_needed; }

double conflict_slowdown(double cycles_without, double cycles_of_conflicts) {
  return (cycles_without + cycles_of_conflicts) / cycles_without;
}

double tile_speedup(double one_element, double two_elements) { return 2 * one_element / two_elements; }

double mapping_speedup(double load, double work, double extra) {
  return (load + work) / (0.5 * (2 * load + work + extra));
}

double naive_scan_bound(double copy, double block) {
  const double half = std::log2(block) / 2;
  const double sweep = half * 2 + 0.5 * half * 2;
  return (1 + 2 * sweep) * copy;
}

double scan_throughput(double elements, double element_bytes, double seconds) {
  return 2 * element_bytes * elements / seconds;
}

Expected<Patterns> antiparallel_patterns(const KernelStatistics& s, const Device& device) {
  if (Diagnostics errors = check_statistics(s, ""); errors.has_errors()) return failure(std::move(errors));
  if (!s.instructions || !s.threads_per_block)
    return failure("missing 'instructions' or 'threads_per_block', which the patterns need");
  Patterns p;
  p.branching = kWarpSize / s.lanes_per_instruction.value_or(kWarpSize);
  p.partitioning = warps_per_block(s) * kWarpSize / *s.threads_per_block;
  if (p.partitioning > 1) p.branching = std::max(p.branching / p.partitioning, 1.0); // counted once
  const double asked = s.global_requests.value_or(0) * s.bytes_per_request.value_or(0);
  if (asked > 0 && s.transactions_32 && s.transactions_64 && s.transactions_128)
    p.global_access = access_slowdown(std::max(transaction_bytes(s), asked), asked);
  if (device.issue_cycles && device.issue_cycles->bank_pass)
    p.bank_conflicts = conflict_slowdown(device.issue_cycles->basic * *s.instructions,
                                         s.bank_conflict_passes.value_or(0) * *device.issue_cycles->bank_pass);
  p.barriers = s.synchronizations.value_or(0);
  return p;
}

} // namespace warplens::model
