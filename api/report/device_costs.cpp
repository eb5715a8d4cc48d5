// SPDX-License-Identifier: Apache-2.0
#include "api/report/device_costs.hpp"

#include "analyzers/counted_rules.hpp"
#include "analyzers/recorded_accesses.hpp"

namespace warplens::api {

using analyzers::MetricId;

GlobalCost global_cost(const analyzers::Metrics& metrics, const analyzers::RuleCounts& counts,
                       const rules::CoalescingRule& rule) {
  GlobalCost cost;
  cost.unit = analyzers::cost_unit(rule);
  using Unit = rules::Coalescing::Unit;
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

namespace {

enum Count : std::size_t { kTransactions, kMoved, kIdealBytes, kIdealTransactions, kPasses, kConflicts };
constexpr DeviceCount kDeviceCounts[] = {
    {"transactions", "transactions", "transactions of loads and stores under the rule of the device",
     "transactions of global memory"},
    {"transaction_bytes", "bytes", "bytes of these transactions", "bytes moved"},
    {"ideal_bytes", "bytes", "the fewest bytes that the requests could move", ""},
    {"ideal_transactions", "transactions", "the fewest transactions that the requests could need", ""},
    {"bank_passes", "passes", "passes over the banks of shared memory under the rule of the device",
     "passes over the banks"},
    {"bank_conflicts", "passes", "passes beyond the fewest for their width", "bank conflicts"}};

} // namespace

std::span<const DeviceCount> device_counts() { return kDeviceCounts; }

std::vector<CountOfDevice> counts_of_device(const analyzers::Metrics& metrics, const analyzers::RuleCounts& counts,
                                            const model::Device& device) {
  std::vector<CountOfDevice> list;
  const auto add = [&](Count count, std::uint64_t value) { list.push_back({&kDeviceCounts[count], value}); };
  const GlobalCost global = global_cost(metrics, counts, device.coalescing_rule);
  if (global.unit != "sectors" && global.transactions != 0) {
    add(kTransactions, global.transactions);
    add(kMoved, global.bytes);
    add(global.unit == "bytes" ? kIdealBytes : kIdealTransactions, global.least);
  }
  const BankCost banks = bank_cost(metrics, counts, device.bank_rule);
  if (!analyzers::are_usual_banks(device.bank_rule) && banks.passes != 0) {
    add(kPasses, banks.passes);
    add(kConflicts, banks.conflicts);
  }
  return list;
}

} // namespace warplens::api
