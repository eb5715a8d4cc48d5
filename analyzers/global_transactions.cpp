#include "analyzers/global_transactions.hpp"

#include "analyzers/processors.hpp"

#include <algorithm>

namespace warplens::analyzers {

namespace {

constexpr std::uint32_t kSectorBytes = 32;

constexpr MetricInfo kMetrics[] = {
    {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "requests", "warp loads of global memory"},
    {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", "requests", "warp stores to global memory"},
    {"l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum", "requests", "warp atomics with a result"},
    {"l1tex__t_requests_pipe_lsu_mem_global_op_red.sum", "requests", "warp atomics without a result"},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "sectors", "32-byte sectors that loads touch"},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "sectors", "32-byte sectors that stores touch"},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum", "sectors", "sectors of atomics, again for lanes that collide"},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum", "sectors",
     "sectors of reductions, again for lanes that collide"},
    {"smsp__sass_data_bytes_mem_global_op_ld.sum", "bytes", "that the lanes ask for in loads"},
    {"smsp__sass_data_bytes_mem_global_op_st.sum", "bytes", "that the lanes ask for in stores"},
    {"smsp__sass_data_bytes_mem_global_op_atom.sum", "bytes", "that the lanes ask for in atomics with a result"},
    {"smsp__sass_data_bytes_mem_global_op_red.sum", "bytes", "that the lanes ask for in atomics without a result"},
    {"l1tex__t_bytes_pipe_lsu_mem_global_op_ld.sum", "bytes", "that loads move: 32 a sector"},
    {"l1tex__t_bytes_pipe_lsu_mem_global_op_st.sum", "bytes", "that stores move: 32 a sector"},
    {"l1tex__t_bytes_pipe_lsu_mem_global_op_atom.sum", "bytes", "that atomics with a result move: 32 a sector"},
    {"l1tex__t_bytes_pipe_lsu_mem_global_op_red.sum", "bytes", "that atomics without a result move: 32 a sector"},
    {"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio", "sectors/request",
     "ideal 1, 2, 4, 8, 16 for 1, 2, 4, 8, 16 bytes per lane"},
    {"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio", "sectors/request",
     "ideal 1, 2, 4, 8, 16 for 1, 2, 4, 8, 16 bytes per lane"},
    {"memory_l2_theoretical_sectors_global", "sectors", "distinct sectors of each request, summed"},
    {"memory_l2_theoretical_sectors_global_ideal", "sectors", "the fewest that could hold the bytes used"},
    {"derived__memory_l2_theoretical_sectors_global_excessive", "sectors", "the difference of the two", 0},
    {"global_lines_128b", "lines", "distinct 128-byte lines of each request, summed"},
    {"global_bank_passes", "passes", "that the requests would take over the banks of shared memory, 5.x and later"},
    {"gld_request", "requests", "warp loads of global memory"},
    {"gst_request", "requests", "warp stores to global memory"},
    {"gld_32b", "transactions", "32-byte loads, compute capability 1.2 and 1.3"},
    {"gld_64b", "transactions", "64-byte loads, compute capability 1.2 and 1.3"},
    {"gld_128b", "transactions", "128-byte loads, compute capability 1.2 and 1.3"},
    {"gst_32b", "transactions", "32-byte stores, compute capability 1.2 and 1.3"},
    {"gst_64b", "transactions", "64-byte stores, compute capability 1.2 and 1.3"},
    {"gst_128b", "transactions", "128-byte stores, compute capability 1.2 and 1.3"},
    {"gld_coherent", "transactions", "coalesced loads, compute capability 1.0 and 1.1"},
    {"gld_incoherent", "transactions", "loads of lanes on their own, compute capability 1.0 and 1.1", 0},
    {"gst_coherent", "transactions", "coalesced stores, compute capability 1.0 and 1.1"},
    {"gst_incoherent", "transactions", "stores of lanes on their own, compute capability 1.0 and 1.1", 0},
    {"gld_bytes_ideal", "bytes", "the fewest that loads could move, compute capability 1.2 and 1.3"},
    {"gst_bytes_ideal", "bytes", "the fewest that stores could move, compute capability 1.2 and 1.3"},
    {"gld_transactions_ideal", "transactions", "the fewest that loads could make, compute capability 1.0 and 1.1"},
    {"gst_transactions_ideal", "transactions", "the fewest that stores could make, compute capability 1.0 and 1.1"},
};

constexpr AnalyzerInfo kInfo = {"global_transactions", "Global memory transactions",
                                "requests, sectors and transactions of global memory under three rules at once",
                                kMetrics};

} // namespace

void GlobalCost::add(const GlobalCost& other, std::uint64_t times) {
  bytes += other.bytes * times;
  asked += other.asked * times;
  lines += other.lines * times;
  passes += other.passes * times;
}

GlobalTransactions::Shard::Shard(std::size_t rows, const CountedRules& rules)
    : rules_(rules), low_(rules.global_period() - 1), sites_(rows) {}

WARPLENS_PER_PROCESSOR void GlobalTransactions::Shard::find_cost(const exec::Access& access, GlobalCost& one,
                                                                 Transactions* under) const {
  const Footprint footprint(access.addresses, access.mask, access.lane_bytes);
  one.bytes = std::uint64_t{access.lane_bytes} * static_cast<std::uint32_t>(std::popcount(access.mask));
  one.asked = std::uint64_t{footprint.distinct_addresses()} * footprint.lane_bytes;
  one.lines = footprint.line_total();
  one.passes = rules_.banks()[CountedRules::kBanks].passes(footprint).passes;
  const Service service = rules_.service(access);
  for (const FastCoalescing& rule : rules_.coalescing()) *under++ = rule.transactions(footprint, service);
}

void GlobalTransactions::Shard::start(Site& site, Repeat& repeat, const ShapeKey& key, const exec::Access& access) {
  const std::size_t rules = rules_.coalescing().size();
  if (site.under.empty()) {
    site.under.resize(kRepeats * rules);
    site.row.under.resize(rules);
  }
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
  const std::vector<FastCoalescing>& rules = rules_.coalescing();
  const Transactions* const under = &site.under[static_cast<std::size_t>(&repeat - site.repeats) * rules.size()];
  for (std::size_t i = 0; i < rules.size(); ++i) site.row.under[i].add(under[i], repeat.count, rules[i].sizes());
  site.row.cost.add(repeat.one, repeat.count);
  site.row.requests += repeat.count;
  site.row.site.add(repeat.pattern, repeat.count);
  repeat.count = 0;
}

std::span<const GlobalTransactions::Row> GlobalTransactions::Shard::rows() {
  merged_.clear();
  for (Site& site : sites_) {
    for (Repeat& repeat : site.repeats) flush(site, repeat);
    merged_.push_back(site.row);
  }
  return merged_;
}

void GlobalTransactions::Row::merge(const Row& other) {
  if (other.requests == 0) return;
  requests += other.requests;
  cost.add(other.cost, 1);
  under.resize(other.under.size());
  for (std::size_t i = 0; i < under.size(); ++i) under[i].merge(other.under[i]);
  site.merge(other.site);
  kind = other.kind;
  lane_bytes = other.lane_bytes;
}

const AnalyzerInfo& GlobalTransactions::info() const { return kInfo; }

std::unique_ptr<exec::Shard> GlobalTransactions::make_shard() { return std::make_unique<Shard>(rows_.size(), rules_); }

void GlobalTransactions::absorb(exec::Shard& shard) {
  const std::span<const Row> rows = static_cast<Shard&>(shard).rows();
  for (std::size_t i = 0; i < rows_.size(); ++i) rows_[i].merge(rows[i]);
}

namespace {

constexpr std::string_view kOperations[kAccessKinds] = {"ld", "st", "atom", "red"}; // by exec::AccessKind

/// Of one kind of access.
struct Total {
  std::uint64_t requests = 0;
  GlobalCost cost;
  TransactionSums in_order, half_warps, sectors;
  void add(const GlobalTransactions::Row& row) {
    requests += row.requests;
    cost.add(row.cost, 1);
    in_order.merge(row.under[CountedRules::kInOrder]);
    half_warps.merge(row.under[CountedRules::kHalfWarps]);
    sectors.merge(row.under[CountedRules::kSectors]);
  }
  /// As the hardware counts them: again where lanes of an atomic collide.
  [[nodiscard]] std::uint64_t hardware_sectors() const { return sectors.total() + sectors.repeats; }
};

/// `all`: also the counts that are 0, and the averages of launches.
void add_metrics(Metrics& metrics, const Total (&by_kind)[kAccessKinds], bool all) {
  std::uint64_t theoretical = 0, ideal = 0, lines = 0, passes = 0;
  for (std::size_t kind = 0; kind < kAccessKinds; ++kind) {
    const std::string suffix = "_pipe_lsu_mem_global_op_" + std::string(kOperations[kind]);
    const Total& total = by_kind[kind];
    const std::uint64_t sectors = total.hardware_sectors();
    theoretical += total.sectors.total();
    ideal += total.sectors.ideal / kSectorBytes;
    lines += total.cost.lines;
    passes += total.cost.passes;
    if (!all && total.requests == 0) continue;
    metrics.add("l1tex__t_requests" + suffix + ".sum", total.requests);
    metrics.add("l1tex__t_sectors" + suffix + ".sum", sectors);
    metrics.add("smsp__sass_data_bytes_mem_global_op_" + std::string(kOperations[kind]) + ".sum", total.cost.bytes);
    metrics.add("l1tex__t_bytes" + suffix + ".sum", kSectorBytes * sectors);
    if (kind < 2)
      metrics.add_ratio("l1tex__average_t_sectors_per_request" + suffix + ".ratio", static_cast<double>(sectors),
                        static_cast<double>(total.requests));
  }
  metrics.add("memory_l2_theoretical_sectors_global", theoretical);
  metrics.add("memory_l2_theoretical_sectors_global_ideal", ideal);
  metrics.add("derived__memory_l2_theoretical_sectors_global_excessive", theoretical - ideal);
  metrics.add("global_lines_128b", lines);
  metrics.add("global_bank_passes", passes);
  for (std::size_t kind = 0; kind < 2; ++kind) {
    const std::string prefix = kind == 0 ? "gld_" : "gst_";
    const Total& total = by_kind[kind];
    if (!all && total.requests == 0) continue;
    metrics.add(prefix + "request", total.requests);
    for (const std::uint32_t bytes : {32u, 64u, 128u})
      metrics.add(prefix + std::to_string(bytes) + "b", total.half_warps.of(bytes));
    metrics.add(prefix + "coherent", total.in_order.total() - total.in_order.uncoalesced);
    metrics.add(prefix + "incoherent", total.in_order.uncoalesced);
    metrics.add(prefix + "bytes_ideal", total.half_warps.ideal);
    metrics.add(prefix + "transactions_ideal", total.in_order.ideal);
  }
}

} // namespace

std::uint64_t GlobalTransactions::sectors() const {
  std::uint64_t sum = 0;
  for (const Row& row : rows_)
    if (row.requests) sum += row.under[CountedRules::kSectors].total();
  return sum;
}

void GlobalTransactions::report(Metrics& launch, std::vector<InstructionRow>& rows) const {
  Total totals[kAccessKinds];
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Row& row = rows_[i];
    if (row.requests == 0) continue;
    const auto kind = static_cast<std::size_t>(row.kind);
    totals[kind].add(row);
    if (i >= rows.size()) continue;
    Total own[kAccessKinds];
    own[kind].add(row);
    add_metrics(rows[i].metrics, own, false);
    rows[i].pattern = row.site.pattern();
    rows[i].stride = row.site.stride();
    rows[i].lane_bytes = row.lane_bytes;
  }
  add_metrics(launch, totals, true);
}

template <class See> void GlobalTransactions::for_each(const rules::Coalescing& rule, See&& see) const {
  const std::size_t column = rules_.column(rule);
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Row& row = rows_[i];
    if (row.requests)
      see(i, static_cast<std::size_t>(row.kind), TransactionCount{row.requests, row.cost.asked, row.under[column]});
  }
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
  const std::string prefix = "rule." + rule.name + ".";
  TransactionCount sum;
  for (std::size_t kind = 0; kind < counts.size(); ++kind) {
    const TransactionCount& count = counts[kind];
    sum.merge(count);
    if (count.requests == 0 && !(all && kind < 2)) continue;
    const std::string start = prefix + std::string(kOperations[kind]);
    metrics.add(start + "_requests", count.requests);
    for (std::uint32_t bytes = 4; bytes <= 4096; bytes *= 2) // those that models know, and what the rule has besides
      if ((bytes >= 32 && bytes <= kLineBytes) || (bytes >= rule.smallest && bytes <= rule.largest()))
        metrics.add(start + "_" + std::to_string(bytes) + "b", count.sum.of(bytes));
    if (rule.order == rules::Coalescing::Order::kth_word) metrics.add(start + "_uncoalesced", count.sum.uncoalesced);
    if (count.sum.repeats) metrics.add(start + "_repeats", count.sum.repeats);
    metrics.add(start + (rule.order == rules::Coalescing::Order::kth_word ? "_transactions_ideal" : "_bytes_ideal"),
                count.sum.ideal);
  }
  metrics.add(prefix + "transactions", sum.sum.total());
  metrics.add(prefix + "bytes_moved", sum.sum.bytes());
  metrics.add(prefix + "bytes_asked", sum.asked);
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
