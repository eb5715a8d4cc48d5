// SPDX-License-Identifier: Apache-2.0
// The memory level that serves the transactions of a launch, for models of devices with caches. Hit ratios refer to
// loads. A store does not hit like a load: the L1 cache passes it on, and the L2 cache accepts it but must write it to
// device memory in the end. Stores and atomics therefore count as if all of them reached device memory.
//
//   half of the transactions are loads; 0.4 of these hit the L1 cache, and half of the others the L2 cache:
//   first_miss == 0.8, memory == 0.65
#pragma once

#include "model/prediction.hpp"
#include "model/statistics.hpp"

namespace warplens::model {

/// Shares of all transactions.
struct CacheHits {
  double first_miss = 1; ///< not served by the L1 cache
  double memory = 1;     ///< served by device memory
  [[nodiscard]] double first() const { return 1 - first_miss; }
  [[nodiscard]] double second() const { return first_miss - memory; }
};

/// Without hit ratios, nothing hits. Without `load_transactions`, all transactions are assumed to be loads, and the
/// prediction has a remark about it.
CacheHits cache_hits(Prediction& prediction, const KernelStatistics& statistics);

/// Remarks that no hits are assumed, if neither hit ratio was given.
void remark_unknown_hits(Prediction& prediction, const KernelStatistics& statistics);
/// The same for models that need each hit ratio, and compute that of the L2 cache from `argument_bytes`.
void remark_each_unknown_hit(Prediction& prediction, const KernelStatistics& statistics);

} // namespace warplens::model
