// SPDX-License-Identifier: Apache-2.0
#include "analyzers/shared_banks.hpp"

#include <algorithm>

namespace warplens::analyzers {

namespace {

/// Constant memory serves one address of a request at a time (guide 2.0, section 5.1.2.3).
std::uint64_t constant_extra_passes(const exec::Access& access, const rules::Banks& rule) {
  if (access.shape == exec::Shape::broadcast) return 0;
  std::uint64_t extra = 0;
  rule.word(sizeof(std::uint32_t)).requests.for_each([&](exec::Mask lanes) {
    std::uint64_t seen[exec::kWarpSize];
    std::size_t count = 0;
    for (exec::Mask rest = access.mask & lanes; rest; rest &= rest - 1) {
      const std::uint64_t address = access.addresses[std::countr_zero(rest)];
      if (std::find(seen, seen + count, address) == seen + count) seen[count++] = address;
    }
    if (count) extra += count - 1;
  });
  return extra;
}

} // namespace

SharedBanks::Shard::Shard(std::size_t rows, const CountedRules& rules)
    : rules_(rules), low_(rules.shared_period() - 1), sites_(rows), costs_(rules.banks().size()) {}

/// Costs of an access to shared memory, and additional costs of constants and parameters.
void SharedBanks::Shard::find_cost(const exec::Access& access, Site& site) {
  const std::vector<FastBanks>& rules = rules_.banks();
  site.repeat.ways = 0;
  if (access.space == isa::Space::constant) {
    for (std::size_t i = 0; i < rules.size(); ++i) {
      site.under[i] = {};
      if (!rules[i].rule().constants) continue;
      site.under[i].besides = site.under[i].besides_worst = constant_extra_passes(access, rules[i].rule());
    }
    return;
  }
  FastBanks::count(rules, access.addresses, access.mask, access.lane_bytes, rules_.service_of_banks(access),
                   costs_.data());
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const Passes& one = costs_[i];
    if (access.space == isa::Space::shared)
      site.under[i] = {one.passes, one.worst, one.fewest, 0, 0};
    else if (rules[i].rule().constants) // parameters: in shared memory on 1.x only
      site.under[i] = {0, 0, 0, one.conflicts(), one.worst_conflicts()};
    else
      site.under[i] = {};
  }
  if (access.space == isa::Space::shared) site.repeat.ways = costs_[CountedRules::kBanks].ways;
}

void SharedBanks::Shard::prepare(Site& site) const {
  if (!site.under.empty()) return;
  site.under.resize(rules_.banks().size());
  site.row.under.resize(rules_.banks().size());
}

void SharedBanks::Shard::access_rows(const exec::AccessRows& all) {
  if (all.space != isa::Space::shared) return exec::Shard::access_rows(all);
  AccessBatch batch(all);
  const std::vector<FastBanks>& rules = rules_.banks();
  const Service service = rules_.service_of_banks(all[0]);
  for (const FastBanks& rule : rules) rule.leave_out(batch, service);
  for (std::size_t i = 0; i < all.count; ++i)
    if ((batch.taken() >> i & 1) == 0) access(all[i]);
  if (batch.taken() == 0) return;
  Site& site = site_of(all.instruction, all.kind);
  prepare(site);
  BatchNumbers ways;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    Passes sum;
    rules[i].add(batch, service, sum, i == CountedRules::kBanks ? &ways : nullptr);
    site.row.under[i].add({sum.passes, sum.worst, sum.fewest, 0, 0});
  }
  for (std::uint32_t rest = batch.taken(); rest != 0; rest &= rest - 1)
    ++degrees_[std::min(static_cast<std::size_t>(ways.of[std::countr_zero(rest)]), kDegrees - 1)];
  site.row.requests += batch.count();
  site.row.kind = all.kind;
  site.row.lane_bytes = all.lane_bytes;
  batch.add_patterns(site.row.site);
}

void SharedBanks::Shard::start(Site& site, const ShapeKey& key, const exec::Access& access) {
  prepare(site);
  flush(site);
  site.repeat.key = key;
  site.repeat.space = access.space;
  site.repeat.count = access.count;
  site.repeat.pattern = classify(access);
  if (access.shape == exec::Shape::irregular) site.offsets.remember(access);
  find_cost(access, site);
  if (access.space != isa::Space::shared) return;
  site.row.kind = access.kind;
  site.row.lane_bytes = access.lane_bytes;
}

void SharedBanks::Shard::flush(Site& site) {
  Repeat& repeat = site.repeat;
  if (repeat.count == 0) return;
  for (std::size_t i = 0; i < site.under.size(); ++i) site.row.under[i].add(site.under[i], repeat.count);
  if (repeat.ways) {
    site.row.requests += repeat.count;
    site.row.site.add(repeat.pattern, repeat.count);
    degrees_[std::min<std::size_t>(repeat.ways, kDegrees - 1)] += repeat.count;
  }
  repeat.count = 0;
}

void SharedBanks::Shard::add_to(SparseRows<Row>& rows) {
  sites_.each([&](std::size_t i, Site& site) {
    flush(site);
    rows[i].merge(site.row);
  });
}

void SharedBanks::Shard::fields(Archive& a) {
  sites_.each([&](std::size_t, Site& site) { flush(site); });
  a(sites_, degrees_);
}

void SharedBanks::Row::merge(const Row& other) {
  under.resize(other.under.size());
  for (std::size_t i = 0; i < under.size(); ++i) under[i].add(other.under[i]);
  if (other.requests == 0) return;
  requests += other.requests;
  site.merge(other.site);
  kind = other.kind;
  lane_bytes = other.lane_bytes;
}

std::unique_ptr<exec::Shard> SharedBanks::make_shard() { return std::make_unique<Shard>(rows_.size(), rules_); }

void SharedBanks::absorb(exec::Shard& shard) {
  auto& own = static_cast<Shard&>(shard);
  own.add_to(rows_);
  for (std::size_t i = 0; i < kDegrees; ++i) degrees_[i] += own.degrees()[i];
}

void SharedBanks::scale(const Scales& scales) {
  std::uint64_t before = 0, after = 0;
  rows_.each([&](std::size_t i, Row& row) {
    const Scale by = scales.of(i / kOperations);
    before += row.requests;
    by.apply(row.requests);
    after += row.requests;
    for (PassSums& sums : row.under) sums.scale(by);
    row.site.scale(by);
  });
  for (std::uint64_t& accesses : degrees_) Scale{after, before}.apply(accesses);
}

namespace {

void add_operation(Metrics& metrics, std::size_t which, std::uint64_t requests, const PassSums& cost) {
  metrics.add(by_operation(MetricId::shared_requests_ld, which), requests);
  metrics.add(by_operation(MetricId::shared_passes_ld, which), cost.passes);
  metrics.add(by_operation(MetricId::shared_conflicts_ld, which), cost.conflicts());
}

void add_serialized(Metrics& metrics, const PassSums& old) {
  metrics.add(MetricId::warp_serialize, old.serialized());
  metrics.add(MetricId::warp_serialize_worst, old.worst_conflicts() + old.besides_worst);
}

} // namespace

void SharedBanks::report(Metrics& launch, std::vector<InstructionRow>& rows) const {
  std::uint64_t requests[kOperations]{};
  PassSums costs[kOperations], old;
  rows_.each([&](std::size_t i, const Row& row) {
    const PassSums& of_old = row.under[CountedRules::kOldBanks];
    old.add(of_old);
    if (row.requests) {
      requests[operation(row.kind)] += row.requests;
      costs[operation(row.kind)].add(row.under[CountedRules::kBanks]);
    }
    const std::size_t instruction = i / kOperations;
    if (instruction >= rows.size()) return;
    InstructionRow& shown = rows[instruction];
    Metrics own;
    if (row.requests) {
      add_operation(own, operation(row.kind), row.requests, row.under[CountedRules::kBanks]);
      own.add(MetricId::shared_passes_ideal, of_old.fewest);
      shown.pattern = row.site.pattern();
      shown.stride = row.site.stride();
      shown.lane_bytes = row.lane_bytes;
    }
    if (row.requests || of_old.worst_conflicts() + of_old.besides_worst) add_serialized(own, of_old);
    shown.metrics.accumulate(own);
  });
  for (std::size_t which = 0; which < kOperations; ++which) add_operation(launch, which, requests[which], costs[which]);
  add_serialized(launch, old);
  launch.add(MetricId::shared_passes_ideal, old.fewest);
  for (std::size_t ways = 1; ways < kDegrees; ++ways)
    if (degrees_[ways]) launch.add({MetricId::shared_accesses_of_degree, ways}, degrees_[ways]);
}

template <class See> void SharedBanks::for_each(const rules::Banks& rule, See&& see) const {
  const std::size_t column = rules_.column(rule);
  rows_.each([&](std::size_t i, const Row& row) {
    see(i / kOperations, static_cast<std::size_t>(row.kind), PassCount{row.requests, row.under[column]});
  });
}

SharedBanks::Counts SharedBanks::counts(const rules::Banks& rule, std::vector<InstructionRow>& rows) const {
  Counts totals(kAccessKinds);
  for_each(rule, [&](std::size_t instruction, std::size_t kind, const PassCount& count) {
    totals[kind].merge(count);
    if (instruction >= rows.size()) return;
    rows[instruction].counts.passes.resize(kAccessKinds);
    rows[instruction].counts.passes[kind].merge(count);
  });
  return totals;
}

namespace {

/// `all`: also the counts of loads and stores that do not occur.
void add_rule(Metrics& metrics, const rules::BankRule& rule, const SharedBanks::Counts& counts, bool all) {
  const std::string& name = rule.name;
  PassSums sum;
  for (std::size_t kind = 0; kind < counts.size(); ++kind) {
    const auto& [requests, passes] = counts[kind];
    sum.add(passes);
    if (requests == 0 && !(all && kind < 2)) continue;
    metrics.add({MetricId::rule_requests, name, kOperationNames[kind]}, requests);
    metrics.add({MetricId::rule_operation_passes, name, kOperationNames[kind]}, passes.passes);
    metrics.add({MetricId::rule_operation_conflicts, name, kOperationNames[kind]}, passes.conflicts());
  }
  metrics.add({MetricId::rule_passes, name}, sum.passes);
  metrics.add({MetricId::rule_conflicts, name}, sum.conflicts());
  if (rule.broadcast == rules::Banks::Broadcast::one_word)
    metrics.add({MetricId::rule_conflicts_worst, name}, sum.worst_conflicts());
  if (rule.constants) metrics.add({MetricId::rule_constant_passes, name}, sum.besides);
}

} // namespace

void SharedBanks::report(const rules::BankRule& rule, Metrics& launch, std::vector<InstructionRow>& rows) const {
  Counts totals(kAccessKinds);
  std::vector<Counts> own(rows.size()); // a copy from shared to shared memory has two kinds
  for_each(rule, [&](std::size_t instruction, std::size_t kind, const PassCount& count) {
    totals[kind].merge(count);
    if (instruction >= own.size()) return;
    own[instruction].resize(kAccessKinds);
    own[instruction][kind].merge(count);
  });
  for (std::size_t i = 0; i < own.size(); ++i)
    if (std::any_of(own[i].begin(), own[i].end(), [](const PassCount& c) { return c.requests != 0; }))
      add_rule(rows[i].metrics, rule, own[i], false);
  add_rule(launch, rule, totals, true);
}

} // namespace warplens::analyzers
