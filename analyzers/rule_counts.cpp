// SPDX-License-Identifier: Apache-2.0
#include "analyzers/rule_counts.hpp"

namespace warplens::analyzers {

void TransactionSums::merge(const TransactionSums& other) {
  smallest = other.smallest;
  for (std::size_t i = 0; i < kSizes; ++i) count[i] += other.count[i];
  uncoalesced += other.uncoalesced;
  repeats += other.repeats;
  skipped += other.skipped;
  ideal += other.ideal;
}

void TransactionCount::merge(const TransactionCount& other) {
  if (other.requests == 0) return;
  requests += other.requests;
  asked += other.asked;
  sum.merge(other.sum);
}

void PassCount::merge(const PassCount& other) {
  requests += other.requests;
  sum.add(other.sum);
}

TransactionCount RuleCounts::described(const rules::Coalescing& rule) const {
  TransactionCount all;
  for (std::size_t kind = 0; kind < transactions.size(); ++kind)
    if (rule.describes_atomics() || !is_atomic(static_cast<exec::AccessKind>(kind))) all.merge(transactions[kind]);
  return all;
}

PassCount RuleCounts::of_all_shared() const {
  PassCount all;
  for (const PassCount& one : passes) all.merge(one);
  return all;
}

} // namespace warplens::analyzers
