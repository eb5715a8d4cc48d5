// SPDX-License-Identifier: Apache-2.0
#include "api/report/device_costs.hpp"

#include "analyzers/counted_rules.hpp"
#include "analyzers/recorded_accesses.hpp"

namespace warplens::api {

using analyzers::MetricId;
using Unit = rules::Coalescing::Unit;

GlobalCost global_cost(const analyzers::Metrics& metrics, const analyzers::RuleCounts& counts,
                       const rules::CoalescingRule& rule) {
  GlobalCost cost;
  cost.unit = analyzers::cost_unit(rule);
  const Unit unit = analyzers::unit_of_waste(rule);
  if (unit == Unit::sectors) {
    cost.taken = cost.transactions = metrics.integer(MetricId::global_sectors);
    cost.least = metrics.integer(MetricId::global_sectors_ideal);
    cost.bytes = analyzers::kSectorBytes * cost.taken;
    return cost;
  }
  const analyzers::TransactionSums sum = counts.described(rule).sum;
  cost.transactions = sum.total();
  cost.bytes = sum.bytes();
  cost.taken = unit == Unit::bytes ? cost.bytes : cost.transactions;
  cost.least = sum.ideal;
  return cost;
}

BankCost bank_cost(const analyzers::Metrics& metrics, const analyzers::RuleCounts& counts,
                   const rules::BankRule& rule) {
  if (!analyzers::are_usual_banks(rule)) {
    const analyzers::PassSums sum = counts.of_all_shared().sum;
    return {sum.passes, sum.conflicts()};
  }
  BankCost cost;
  for (const MetricId id : {MetricId::shared_passes_ld, MetricId::shared_passes_st, MetricId::shared_passes_atom})
    cost.passes += metrics.integer(id);
  for (const MetricId id :
       {MetricId::shared_conflicts_ld, MetricId::shared_conflicts_st, MetricId::shared_conflicts_atom})
    cost.conflicts += metrics.integer(id);
  return cost;
}

} // namespace warplens::api
