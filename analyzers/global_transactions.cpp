// SPDX-License-Identifier: Apache-2.0
#include "analyzers/global_transactions.hpp"

#include "emulator/base/processors.hpp"

namespace warplens::analyzers {

void GlobalCost::add(const GlobalCost& other, std::uint64_t times) {
  bytes += other.bytes * times;
  asked += other.asked * times;
  blocks += other.blocks * times;
  lines += other.lines * times;
  passes += other.passes * times;
}

GlobalTransactions::Shard::Shard(std::size_t rows, const CountedRules& rules)
    : rules_(rules), low_(rules.global_period() - 1), sites_(rows) {
  for (const FastCoalescing& rule : rules.coalescing()) sizes_.push_back(rule.sizes());
  sums_.resize(sizes_.size());
}

WARPLENS_PER_PROCESSOR void GlobalTransactions::Shard::find_cost(const exec::Access& access, GlobalCost& one,
                                                                 Transactions* under) const {
  const Footprint footprint(access.addresses, access.mask, access.lane_bytes);
  one.bytes = std::uint64_t{access.lane_bytes} * static_cast<std::uint32_t>(std::popcount(access.mask));
  one.asked = std::uint64_t{footprint.distinct_addresses()} * footprint.lane_bytes;
  one.blocks = footprint.block_total();
  one.lines = footprint.line_total();
  one.passes = rules_.banks()[CountedRules::kBanks].passes(footprint).passes;
  FastCoalescing::count(rules_.coalescing(), footprint, rules_.service(access), under);
}

void GlobalTransactions::Shard::prepare(Site& site) const {
  const std::size_t rules = rules_.coalescing().size();
  if (!site.under.empty()) return;
  site.under.resize(kRepeats * rules);
  site.row.under.resize(rules);
}

void GlobalTransactions::Shard::access_rows(const exec::AccessRows& all) {
  if (all.space != isa::Space::global) return;
  Site& site = sites_[std::min<std::size_t>(all.instruction, sites_.size() - 1)];
  const bool known = site.service && site.service->kind == all.kind && all.instruction + 1 < sites_.size();
  if (!known) site.service = rules_.service(all[0]);
  prepare(site);
  AccessBatch batch(all);
  const FastBanks& banks = rules_.banks()[CountedRules::kBanks];
  banks.leave_out(batch, {});
  FastCoalescing::count(rules_.coalescing(), batch, *site.service, sums_.data());
  for (std::size_t i = 0; i < all.count; ++i)
    if ((batch.taken() >> i & 1) == 0) access(all[i]);
  if (batch.taken() == 0) return;
  Row& row = site.row;
  row.kind = all.kind;
  row.lane_bytes = all.lane_bytes;
  row.requests += batch.count();
  for (std::size_t i = 0; i < sizes_.size(); ++i) row.under[i].add(sums_[i], 1, sizes_[i]);
  const BatchSums& warps = batch.sums_of_warps();
  GlobalCost cost;
  for (const std::int32_t lanes : batch.lanes().of) cost.bytes += static_cast<std::uint32_t>(lanes);
  cost.bytes *= all.lane_bytes;
  cost.asked = std::uint64_t{warps.distinct} * all.lane_bytes;
  cost.blocks = warps.blocks;
  cost.lines = warps.lines;
  Passes passes;
  banks.add(batch, {}, passes);
  cost.passes = passes.passes;
  row.cost.add(cost, 1);
  batch.add_patterns(row.site);
}

void GlobalTransactions::Shard::lane_copy(const exec::LaneCopy& copy) {
  Site& site = sites_[std::min<std::size_t>(copy.instruction, sites_.size() - 1)];
  prepare(site);
  site.row.copied +=
      (std::int64_t{copy.looked_up} - std::int64_t{copy.sectors}) * static_cast<std::int64_t>(copy.count);
}

void GlobalTransactions::Shard::start(Site& site, Repeat& repeat, const ShapeKey& key, const exec::Access& access) {
  const std::size_t rules = rules_.coalescing().size();
  prepare(site);
  flush(site, repeat);
  repeat.key = key;
  repeat.count = access.count;
  find_cost(access, repeat.one, &site.under[static_cast<std::size_t>(&repeat - site.repeats) * rules]);
  repeat.pattern = classify(access);
  if (access.shape == exec::Shape::irregular) site.offsets.remember(access);
  site.row.kind = access.kind;
  site.row.lane_bytes = access.lane_bytes;
}

void GlobalTransactions::Shard::flush(Site& site, Repeat& repeat) const {
  if (repeat.count == 0) return;
  const std::size_t rules = sizes_.size();
  const Transactions* const under = &site.under[static_cast<std::size_t>(&repeat - site.repeats) * rules];
  for (std::size_t i = 0; i < rules; ++i) site.row.under[i].add(under[i], repeat.count, sizes_[i]);
  site.row.cost.add(repeat.one, repeat.count);
  site.row.requests += repeat.count;
  site.row.site.add(repeat.pattern, repeat.count);
  repeat.count = 0;
}

void GlobalTransactions::Shard::flush(Site& site) const {
  for (Repeat& repeat : site.repeats) flush(site, repeat);
}

void GlobalTransactions::Shard::add_to(SparseRows<Row>& rows) {
  sites_.each([&](std::size_t i, Site& site) {
    flush(site);
    rows[i].merge(site.row);
  });
}

void GlobalTransactions::Shard::fields(Archive& a) {
  sites_.each([&](std::size_t, Site& site) { flush(site); });
  a(sites_);
}

void GlobalTransactions::Row::merge(const Row& other) {
  requests += other.requests;
  cost.add(other.cost, 1);
  under.resize(other.under.size());
  for (std::size_t i = 0; i < under.size(); ++i) under[i].merge(other.under[i]);
  site.merge(other.site);
  if (other.requests != 0 || lane_bytes == 0) {
    kind = other.kind;
    lane_bytes = other.lane_bytes;
  }
  copied += other.copied;
}

std::unique_ptr<exec::Shard> GlobalTransactions::make_shard() { return std::make_unique<Shard>(rows_.size(), rules_); }

void GlobalTransactions::absorb(exec::Shard& shard) { static_cast<Shard&>(shard).add_to(rows_); }

void GlobalTransactions::scale(const Scales& scales) {
  rows_.each([&](std::size_t i, Row& row) {
    const Scale by = scales.of(i);
    by.apply(row.requests);
    row.cost.scale(by);
    for (TransactionSums& sums : row.under) sums.scale(by);
    row.site.scale(by);
  });
}

namespace {

/// The totals of one kind of access.
struct Total {
  std::uint64_t requests = 0;
  GlobalCost cost;
  TransactionSums in_order, half_warps, sectors;
  std::int64_t copied = 0;
  void add(const GlobalTransactions::Row& row) {
    requests += row.requests;
    cost.add(row.cost, 1);
    in_order.merge(row.under[CountedRules::kInOrder]);
    half_warps.merge(row.under[CountedRules::kHalfWarps]);
    sectors.merge(row.under[CountedRules::kSectors]);
    copied += row.copied;
  }
  /// As the hardware counts them: repeated if lanes of an atomic collide, or copy sectors to several places.
  [[nodiscard]] std::uint64_t hardware_sectors() const {
    const auto sum = static_cast<std::int64_t>(sectors.total() + sectors.repeats) + copied;
    return static_cast<std::uint64_t>(std::max<std::int64_t>(sum, 0)); // those of a sample are rounded
  }
};

/// A difference of counts; those of a sample are rounded.
std::uint64_t less(std::uint64_t of, std::uint64_t by) { return of < by ? 0 : of - by; }

/// `all`: also the counts that are 0, and the averages of launches.
void add_metrics(Metrics& metrics, const Total (&by_kind)[kAccessKinds], bool all) {
  std::uint64_t theoretical = 0, ideal = 0, lone = 0, lines = 0, passes = 0;
  for (std::size_t kind = 0; kind < kAccessKinds; ++kind) {
    const Total& total = by_kind[kind];
    const std::uint64_t sectors = total.hardware_sectors();
    theoretical += total.sectors.total();
    ideal += total.sectors.ideal / kSectorBytes;
    lone += less(2 * total.cost.blocks, total.sectors.total()); // a block has one or two sectors
    lines += total.cost.lines;
    passes += total.cost.passes;
    if (!all && total.requests == 0) continue;
    metrics.add(by_operation(MetricId::global_requests_ld, kind), total.requests);
    metrics.add(by_operation(MetricId::global_sectors_ld, kind), sectors);
    metrics.add(by_operation(MetricId::global_asked_ld, kind), total.cost.bytes);
    metrics.add(by_operation(MetricId::global_moved_ld, kind), kSectorBytes * sectors);
    if (kind < 2)
      metrics.add_ratio(by_operation(MetricId::sectors_per_request_ld, kind), static_cast<double>(sectors),
                        static_cast<double>(total.requests));
  }
  metrics.add(MetricId::global_sectors, theoretical);
  metrics.add(MetricId::global_sectors_ideal, ideal);
  metrics.add(MetricId::global_sectors_excessive, less(theoretical, ideal));
  metrics.add(MetricId::global_lone_sectors, lone);
  metrics.add(MetricId::global_lines, lines);
  metrics.add(MetricId::global_bank_passes, passes);
  for (std::size_t kind = 0; kind < 2; ++kind) {
    const Total& total = by_kind[kind];
    if (!all && total.requests == 0) continue;
    const auto add = [&](MetricId of_loads, std::uint64_t n) { metrics.add(by_operation(of_loads, kind), n); };
    add(MetricId::gld_request, total.requests);
    add(MetricId::gld_32b, total.half_warps.of(32));
    add(MetricId::gld_64b, total.half_warps.of(64));
    add(MetricId::gld_128b, total.half_warps.of(128));
    add(MetricId::gld_coherent, less(total.in_order.total(), total.in_order.uncoalesced));
    add(MetricId::gld_incoherent, total.in_order.uncoalesced);
    add(MetricId::gld_bytes_ideal, total.half_warps.ideal);
    add(MetricId::gld_transactions_ideal, total.in_order.ideal);
  }
}

} // namespace

std::uint64_t GlobalTransactions::sectors() const {
  std::uint64_t sum = 0;
  rows_.each([&](std::size_t, const Row& row) { sum += row.under[CountedRules::kSectors].total(); });
  return sum;
}

std::uint64_t GlobalTransactions::requests() const {
  std::uint64_t sum = 0;
  rows_.each([&](std::size_t, const Row& row) { sum += row.requests; });
  return sum;
}

void GlobalTransactions::report(Metrics& launch, std::vector<InstructionRow>& rows) const {
  Total totals[kAccessKinds];
  rows_.each([&](std::size_t i, const Row& row) {
    const auto kind = static_cast<std::size_t>(row.kind);
    totals[kind].add(row);
    if (i >= rows.size()) return;
    Total own[kAccessKinds];
    own[kind].add(row);
    add_metrics(rows[i].metrics, own, false);
    rows[i].pattern = row.site.pattern();
    rows[i].stride = row.site.stride();
    rows[i].lane_bytes = row.lane_bytes;
  });
  add_metrics(launch, totals, true);
}

template <class See> void GlobalTransactions::for_each(const rules::Coalescing& rule, See&& see) const {
  const std::size_t column = rules_.column(rule);
  rows_.each([&](std::size_t i, const Row& row) {
    see(i, static_cast<std::size_t>(row.kind), TransactionCount{row.requests, row.cost.asked, row.under[column]});
  });
}

GlobalTransactions::Counts GlobalTransactions::counts(const rules::Coalescing& rule,
                                                      std::vector<InstructionRow>& rows) const {
  Counts totals(kAccessKinds);
  for_each(rule, [&](std::size_t i, std::size_t kind, const TransactionCount& count) {
    totals[kind].merge(count);
    if (i >= rows.size()) return;
    rows[i].counts.transactions.resize(kAccessKinds);
    rows[i].counts.transactions[kind] = count;
  });
  return totals;
}

namespace {

/// `all`: also the counts of loads and stores that do not occur.
void add_rule(Metrics& metrics, const rules::CoalescingRule& rule, const GlobalTransactions::Counts& counts, bool all) {
  const std::string& name = rule.name;
  const bool in_order = rule.order == rules::Coalescing::Order::kth_word;
  TransactionCount sum;
  for (std::size_t kind = 0; kind < counts.size(); ++kind) {
    const TransactionCount& count = counts[kind];
    sum.merge(count);
    if (count.requests == 0 && !(all && kind < 2)) continue;
    const std::string_view operation = kOperationNames[kind];
    metrics.add({MetricId::rule_requests, name, operation}, count.requests);
    for (std::uint32_t bytes = 4; bytes <= 4096; bytes *= 2) // the sizes that models know, and any others of the rule
      if ((bytes >= 32 && bytes <= kLineBytes) || (bytes >= rule.smallest && bytes <= rule.largest()))
        metrics.add({MetricId::rule_transactions_of_size, name, operation, bytes}, count.sum.of(bytes));
    if (in_order) metrics.add({MetricId::rule_uncoalesced, name, operation}, count.sum.uncoalesced);
    if (count.sum.repeats) metrics.add({MetricId::rule_repeats, name, operation}, count.sum.repeats);
    metrics.add({in_order ? MetricId::rule_transactions_ideal : MetricId::rule_bytes_ideal, name, operation},
                count.sum.ideal);
  }
  metrics.add({MetricId::rule_transactions, name}, sum.sum.total());
  metrics.add({MetricId::rule_bytes_moved, name}, sum.sum.bytes());
  metrics.add({MetricId::rule_bytes_asked, name}, sum.asked);
}

} // namespace

void GlobalTransactions::report(const rules::CoalescingRule& rule, Metrics& launch,
                                std::vector<InstructionRow>& rows) const {
  Counts totals(kAccessKinds);
  for_each(rule, [&](std::size_t i, std::size_t kind, const TransactionCount& count) {
    totals[kind].merge(count);
    if (i >= rows.size()) return;
    Counts own(kAccessKinds);
    own[kind] = count;
    add_rule(rows[i].metrics, rule, own, false);
  });
  add_rule(launch, rule, totals, true);
}

} // namespace warplens::analyzers
