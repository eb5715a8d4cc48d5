// SPDX-License-Identifier: Apache-2.0
#include "model/cornelis.hpp"

#include <algorithm>

namespace warplens::model {

double access_slowdown(double bytes_moved, double bytes_needed) { return bytes_moved / bytes_needed; }

double conflict_slowdown(double cycles_without, double cycles_of_conflicts) {
  return (cycles_without + cycles_of_conflicts) / cycles_without;
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
  const double passes = s.bank_conflict_passes.value_or(0);
  if (device.issue_cycles && device.issue_cycles->bank_pass)
    p.bank_conflicts =
        conflict_slowdown(device.issue_cycles->basic * *s.instructions, passes * *device.issue_cycles->bank_pass);
  else if (passes > 0)
    p.bank_conflicts.reset();
  p.barriers = s.synchronizations.value_or(0);
  return p;
}

} // namespace warplens::model
