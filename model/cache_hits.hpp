// Where the transactions of a launch find their data, for the models of devices with caches. Hit ratios are of loads.
// A store does not hit as a load does: the first level passes it on, the second takes it and has to write it to device
// memory in the end, so stores and atomics count as if all of them came there.
//
//   half the transactions are loads, of which 0.4 hit the first level and half of the others the second:
//   first_miss == 0.8, memory == 0.65
#pragma once

#include "model/prediction.hpp"
#include "model/statistics.hpp"

namespace warplens::model {

/// Shares of all transactions.
struct CacheHits {
  double first_miss = 1; ///< not served by the first level
  double memory = 1;     ///< that device memory has to serve
  [[nodiscard]] double first() const { return 1 - first_miss; }
  [[nodiscard]] double second() const { return first_miss - memory; }
};

/// Nothing hits where the ratios are not given. Where `load_transactions` is not, all are taken to be loads, and the
/// prediction says so.
CacheHits cache_hits(Prediction& prediction, const KernelStatistics& statistics);

} // namespace warplens::model
