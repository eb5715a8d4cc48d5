// SPDX-License-Identifier: Apache-2.0
#include "model/cache_hits.hpp"

namespace warplens::model {

namespace {

double share_of_loads(const KernelStatistics& s) {
  const double loads = s.load_transactions.value_or(0);
  const double all = loads + s.store_transactions.value_or(0) + s.atomic_transactions.value_or(0);
  return s.load_transactions && all > 0 ? loads / all : 1;
}

} // namespace

CacheHits cache_hits(Prediction& p, const KernelStatistics& s) {
  if (!s.l1_hit_ratio && !s.l2_hit_ratio) return {};
  if (!s.load_transactions)
    p.remarks.push_back("'load_transactions' was not given: stores are assumed to hit like loads");
  const double loads = note(p, "share_of_loads", share_of_loads(s), "");
  const double first_miss = 1 - s.l1_hit_ratio.value_or(0), second_miss = 1 - s.l2_hit_ratio.value_or(0);
  return {1 - loads * (1 - first_miss), 1 - loads * (1 - first_miss * second_miss)};
}

void remark_unknown_hits(Prediction& p, const KernelStatistics& s) {
  if (!s.l1_hit_ratio && !s.l2_hit_ratio)
    p.remarks.push_back("the hit ratios were not given: no cache hits are assumed");
}

void remark_each_unknown_hit(Prediction& p, const KernelStatistics& s) {
  if (!s.l1_hit_ratio) p.remarks.push_back("'l1_hit_ratio' was not given: no L1 cache hits are assumed");
  if (!s.l2_hit_ratio && !s.argument_bytes)
    p.remarks.push_back("neither 'l2_hit_ratio' nor 'argument_bytes' was given: no L2 cache hits are assumed");
}

} // namespace warplens::model
