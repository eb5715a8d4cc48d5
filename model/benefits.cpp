// SPDX-License-Identifier: Apache-2.0
#include "model/benefits.hpp"

#include <algorithm>
#include <cmath>

namespace warplens::model {
namespace {

bool occupancy(KernelStatistics& s, const Device& device) {
  if (!s.resident_blocks || device.limits.warps == 0) return false;
  const double most = std::min<double>(device.limits.blocks, std::floor(device.limits.warps / warps_per_block(s)));
  if (most <= *s.resident_blocks) return false;
  s.resident_blocks = most;
  return true;
}

// Scales loads and stores in proportion. The number of L1 cache misses does not rise. Of the passes over the L1 cache,
// only those remain that the requested bytes need.
void by_kind(KernelStatistics& s, double share_of_bytes, double share_of_transactions) {
  if (s.load_transactions && *s.load_transactions > 0) {
    const double misses = std::min(1 - s.l1_hit_ratio.value_or(0), share_of_bytes);
    if (s.l1_hit_ratio) s.l1_hit_ratio = std::clamp(1 - misses / share_of_bytes, 0.0, 1.0);
  }
  for (KernelStatistics::Field* kind : {&s.load_transactions, &s.store_transactions})
    if (*kind) *kind = **kind * share_of_transactions;
  if (s.merged_store_transactions && s.store_transactions)
    s.merged_store_transactions = std::min(*s.merged_store_transactions, *s.store_transactions);
  if (!s.l1_wavefronts) return;
  const double shared = s.shared_requests.value_or(0) + s.bank_conflict_passes.value_or(0);
  const double needed = *s.global_requests * std::max(1.0, *s.bytes_per_request / 128);
  s.l1_wavefronts = std::min(*s.l1_wavefronts, shared + needed);
}

// Transfers the requested bytes in transactions of one size. If the rule has several sizes, this is the size that fits
// the request, else the smallest size that was counted: sectors of 32 bytes, or lines of 128 bytes.
bool transactions_of_sizes(KernelStatistics& s, const Device& device) {
  if (!s.global_requests || !s.bytes_per_request || *s.global_requests == 0 || *s.bytes_per_request == 0) return false;
  if (!s.transactions_32 || !s.transactions_64 || !s.transactions_128) return false;
  const rules::CoalescingRule& rule = device.coalescing_rule;
  const bool fits = rule.shrink || rule.order == rules::Coalescing::Order::kth_word;
  const double fitting = *s.bytes_per_request > 128 ? 128 : *s.bytes_per_request > 64 ? 64 : 32;
  const double smallest = *s.transactions_32 > 0 ? 32 : *s.transactions_64 > 0 ? 64 : 128;
  const double size = fits ? fitting : smallest;
  const double fewest = *s.global_requests * *s.bytes_per_request / size;
  if (transaction_bytes(s) <= fewest * size) return false;
  by_kind(s, fewest * size / transaction_bytes(s), fewest / model::transactions(s));
  s.vector_transactions_32 = s.vector_transactions_64 = s.vector_transactions_128 = 0;
  s.transactions_32 = size == 32 ? fewest : 0;
  s.transactions_64 = size == 64 ? fewest : 0;
  s.transactions_128 = size == 128 ? fewest : 0;
  return true;
}

bool transactions(KernelStatistics& s, const Device& device) {
  const bool sizes = transactions_of_sizes(s, device);
  const bool requests = s.coalesced_requests && s.uncoalesced_requests && *s.uncoalesced_requests > 0;
  if (requests) {
    s.coalesced_requests = *s.coalesced_requests + *s.uncoalesced_requests;
    s.uncoalesced_requests = 0;
  }
  return sizes || requests;
}

bool bank_conflicts(KernelStatistics& s, const Device&) {
  if (s.bank_conflict_passes.value_or(0) == 0) return false;
  if (s.l1_wavefronts) s.l1_wavefronts = std::max(*s.l1_wavefronts - *s.bank_conflict_passes, 0.0);
  s.bank_conflict_passes = 0;
  return true;
}

// Inactive lanes are filled with threads of other warps, so that fewer instructions remain.
bool divergence(KernelStatistics& s, const Device&) {
  if (!s.instructions || s.lanes_per_instruction.value_or(kWarpSize) == kWarpSize) return false;
  const double share = *s.lanes_per_instruction / kWarpSize;
  // Memory requests and barriers remain; only computation is saved.
  const double kept =
      std::max(s.global_requests.value_or(0), s.coalesced_requests.value_or(0) + s.uncoalesced_requests.value_or(0)) +
      s.synchronizations.value_or(0) + s.shared_requests.value_or(0);
  const double before = *s.instructions;
  s.instructions = std::min(kept, before) + std::max(before - kept, 0.0) * share;
  for (KernelStatistics::Field* longest : {&s.longest_warp, &s.longest_of_blocks})
    if (*longest && before > 0) *longest = **longest * *s.instructions / before;
  for (KernelStatistics::Field* field :
       {&s.floating_point_instructions, &s.integer_divisions, &s.thread_cycles, &s.machine_instructions,
        &s.double_operations, &s.alu_operations, &s.special_operations})
    if (*field) *field = **field * share;
  for (KernelStatistics::Field& count : s.by_class)
    if (count) count = *count * share;
  return true;
}

bool barriers(KernelStatistics& s, const Device&) {
  if (s.synchronizations.value_or(0) == 0) return false;
  s.synchronizations = 0;
  return true;
}

} // namespace

const std::vector<Ideal>& ideals() {
  // Never destroyed, so that it can still be used while the program ends.
  static const std::vector<Ideal>& list = *new std::vector<Ideal>{
      {"occupancy", "the maximum number of resident warps on a multiprocessor", occupancy},
      {"transactions", "the fewest transactions that can transfer the bytes that the lanes access", transactions},
      {"bank conflicts", "no pass over the shared-memory banks beyond the first", bank_conflicts},
      {"divergence", "all lanes take part in every arithmetic instruction", divergence},
      {"barriers", "no warp waits at a barrier", barriers},
  };
  return list;
}

std::vector<Benefit> potential_benefits(const Model& model, const Prediction& prediction,
                                        const KernelStatistics& statistics, const Device& device,
                                        const ModelOptions& options) {
  std::vector<Benefit> benefits;
  for (const Ideal& ideal : ideals()) {
    KernelStatistics changed = statistics;
    if (!ideal.apply(changed, device)) continue;
    const Expected<Prediction> better = model.predict(changed, device, options);
    if (better && better->milliseconds != prediction.milliseconds)
      benefits.push_back({ideal.of, prediction.milliseconds - better->milliseconds});
  }
  std::stable_sort(benefits.begin(), benefits.end(),
                   [](const Benefit& a, const Benefit& b) { return a.milliseconds > b.milliseconds; });
  return benefits;
}

} // namespace warplens::model
