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

/// Addresses of the active lanes, ascending; how many.
std::size_t sorted_addresses(const Footprint& footprint, std::uint64_t (&sorted)[exec::kWarpSize]) {
  std::size_t n = 0;
  if (footprint.mask == ~exec::Mask{0} && footprint.compact()) return footprint.sorted_addresses(sorted);
  for (exec::Mask rest = footprint.mask; rest; rest &= rest - 1)
    sorted[n++] = footprint.addresses[std::countr_zero(rest)];
  std::sort(sorted, sorted + n);
  return n;
}

/// Colliding lanes of an atomic take turns: each sector is touched as often as its most wanted address. Measured on
/// compute capability 9.0, where 65 of 68 irregular accesses agree exactly and the others within 2 sectors.
std::uint64_t atomic_sectors(const Footprint& footprint) {
  if (footprint.distinct_addresses() == static_cast<std::uint32_t>(std::popcount(footprint.mask)))
    return footprint.sectors();
  std::uint64_t sorted[exec::kWarpSize];
  const std::size_t n = sorted_addresses(footprint, sorted);
  std::uint64_t total = 0, most = 0, run = 0;
  for (std::size_t i = 0; i < n; ++i) {
    run = i && sorted[i] == sorted[i - 1] ? run + 1 : 1;
    if (i && sorted[i] / kSectorBytes != sorted[i - 1] / kSectorBytes) {
      total += most;
      most = 0;
    }
    most = std::max(most, run);
  }
  return total + most;
}

constexpr std::uint32_t kHalfWarp = 16;

/// The fewest bytes that transactions of 32, 64 and 128 bytes move for `used` bytes.
std::uint64_t least_moved(std::uint64_t used) {
  const std::uint64_t rest = used % kLineBytes;
  return used - rest + (rest ? std::bit_ceil(std::max<std::uint64_t>(rest, kSectorBytes)) : 0);
}

/// What the active half-warps need at least; never more than they took.
[[gnu::always_inline]] inline void add_ideal_of_half_warps(GlobalCost& one, const Footprint& footprint) {
  const auto distinct = footprint.distinct_addresses_of_halves();
  for (const std::size_t half : {0u, 1u}) {
    if (!(footprint.mask & 0xffffu << 16 * half)) continue;
    one.half_warp_bytes += least_moved(std::uint64_t{distinct[half]} * footprint.lane_bytes);
    one.half_warp_transactions += std::max(1u, kHalfWarp * footprint.lane_bytes / kLineBytes);
  }
  one.half_warp_bytes = std::min(one.half_warp_bytes, 32 * one.by_size[0] + 64 * one.by_size[1] + 128 * one.by_size[2]);
  one.half_warp_transactions = std::min(one.half_warp_transactions, one.coherent + one.incoherent);
}

} // namespace

void GlobalCost::add(const GlobalCost& other, std::uint64_t times) {
  bytes += other.bytes * times;
  sectors += other.sectors * times;
  theoretical += other.theoretical * times;
  ideal += other.ideal * times;
  lines += other.lines * times;
  passes += other.passes * times;
  for (int i = 0; i < 3; ++i) by_size[i] += other.by_size[i] * times;
  coherent += other.coherent * times;
  incoherent += other.incoherent * times;
  half_warp_bytes += other.half_warp_bytes * times;
  half_warp_transactions += other.half_warp_transactions * times;
}

GlobalTransactions::Shard::Shard(std::size_t rows)
    : sites_(rows), half_warps_(*find_coalescing_rule("1.2")), ordered_words_(*find_coalescing_rule("1.0")),
      banks_(*find_bank_rule("5.x+")) {}

WARPLENS_PER_PROCESSOR void GlobalTransactions::Shard::find_cost(const exec::Access& access, GlobalCost& one) const {
  const Footprint footprint(access.addresses, access.mask, access.lane_bytes);
  one.half_warp_bytes = one.half_warp_transactions = 0;
  one.bytes = std::uint64_t{access.lane_bytes} * static_cast<std::uint32_t>(std::popcount(access.mask));
  one.theoretical = footprint.sectors();
  one.sectors = is_atomic(access.kind) ? atomic_sectors(footprint) : one.theoretical;
  const std::uint64_t bytes_used = std::uint64_t{footprint.distinct_addresses()} * footprint.lane_bytes;
  one.ideal = std::min(one.theoretical, (bytes_used + kSectorBytes - 1) / kSectorBytes);
  one.lines = footprint.line_total();
  one.passes = banks_.passes(footprint, exec::AccessKind::load).passes;
  const Transactions halves = half_warps_.transactions(footprint);
  for (std::size_t i = 0; i < 3; ++i) one.by_size[i] = halves.count[i];
  const Transactions ordered = ordered_words_.transactions(footprint);
  one.incoherent = ordered.uncoalesced;
  one.coherent = ordered.total() - ordered.uncoalesced;
  add_ideal_of_half_warps(one, footprint);
}

void GlobalTransactions::Shard::start(Site& site, Repeat& repeat, const ShapeKey& key, const exec::Access& access) {
  flush(site, repeat);
  repeat.key = key;
  repeat.count = access.count;
  find_cost(access, repeat.one);
  repeat.pattern = classify(access);
  if (access.shape == exec::Shape::irregular) site.offsets.remember(access);
  site.row.kind = access.kind;
  site.row.lane_bytes = access.lane_bytes;
}

void GlobalTransactions::Shard::flush(Site& site, Repeat& repeat) {
  if (repeat.count == 0) return;
  site.row.cost.add(repeat.one, repeat.count);
  site.row.requests += repeat.count;
  site.row.site.add(repeat.pattern, repeat.count);
  repeat.count = 0;
}

std::span<GlobalTransactions::Row> GlobalTransactions::Shard::rows() {
  merged_.resize(sites_.size());
  for (std::size_t i = 0; i < sites_.size(); ++i) {
    for (Repeat& repeat : sites_[i].repeats) flush(sites_[i], repeat);
    merged_[i] = sites_[i].row;
  }
  return merged_;
}

void GlobalTransactions::Row::merge(const Row& other) {
  if (other.requests == 0) return;
  requests += other.requests;
  cost.add(other.cost, 1);
  site.merge(other.site);
  kind = other.kind;
  lane_bytes = other.lane_bytes;
}

const AnalyzerInfo& GlobalTransactions::info() const { return kInfo; }

std::unique_ptr<exec::Shard> GlobalTransactions::make_shard() { return std::make_unique<Shard>(rows_.size()); }

void GlobalTransactions::absorb(exec::Shard& shard) {
  const std::span<Row> rows = static_cast<Shard&>(shard).rows();
  for (std::size_t i = 0; i < rows_.size(); ++i) rows_[i].merge(rows[i]);
}

namespace {

struct Total {
  std::uint64_t requests = 0;
  GlobalCost cost;
};

constexpr std::string_view kOperations[] = {"ld", "st", "atom", "red"}; // by exec::AccessKind

/// `all`: also the counts that are 0, and the averages of launches.
void add_metrics(Metrics& metrics, const Total (&by_kind)[4], bool all) {
  GlobalCost sum;
  for (int kind = 0; kind < 4; ++kind) {
    const std::string suffix = "_pipe_lsu_mem_global_op_" + std::string(kOperations[kind]);
    const Total& total = by_kind[kind];
    sum.add(total.cost, 1);
    if (!all && total.requests == 0) continue;
    metrics.add("l1tex__t_requests" + suffix + ".sum", total.requests);
    metrics.add("l1tex__t_sectors" + suffix + ".sum", total.cost.sectors);
    metrics.add("smsp__sass_data_bytes_mem_global_op_" + std::string(kOperations[kind]) + ".sum", total.cost.bytes);
    metrics.add("l1tex__t_bytes" + suffix + ".sum", kSectorBytes * total.cost.sectors);
    if (kind < 2)
      metrics.add_ratio("l1tex__average_t_sectors_per_request" + suffix + ".ratio",
                        static_cast<double>(total.cost.sectors), static_cast<double>(total.requests));
  }
  metrics.add("memory_l2_theoretical_sectors_global", sum.theoretical);
  metrics.add("memory_l2_theoretical_sectors_global_ideal", sum.ideal);
  metrics.add("derived__memory_l2_theoretical_sectors_global_excessive", sum.theoretical - sum.ideal);
  metrics.add("global_lines_128b", sum.lines);
  metrics.add("global_bank_passes", sum.passes);
  for (int kind = 0; kind < 2; ++kind) {
    const std::string prefix = kind == 0 ? "gld_" : "gst_";
    const Total& total = by_kind[kind];
    if (!all && total.requests == 0) continue;
    metrics.add(prefix + "request", total.requests);
    metrics.add(prefix + "32b", total.cost.by_size[0]);
    metrics.add(prefix + "64b", total.cost.by_size[1]);
    metrics.add(prefix + "128b", total.cost.by_size[2]);
    metrics.add(prefix + "coherent", total.cost.coherent);
    metrics.add(prefix + "incoherent", total.cost.incoherent);
    metrics.add(prefix + "bytes_ideal", total.cost.half_warp_bytes);
    metrics.add(prefix + "transactions_ideal", total.cost.half_warp_transactions);
  }
}

} // namespace

std::uint64_t GlobalTransactions::sectors() const {
  std::uint64_t sum = 0;
  for (const Row& row : rows_) sum += row.cost.theoretical;
  return sum;
}

void GlobalTransactions::report(Metrics& launch, std::vector<InstructionRow>& rows) const {
  Total totals[4];
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Row& row = rows_[i];
    if (row.requests == 0) continue;
    Total& total = totals[static_cast<int>(row.kind)];
    total.requests += row.requests;
    total.cost.add(row.cost, 1);
    if (i >= rows.size()) continue;
    Total own[4];
    own[static_cast<int>(row.kind)] = {row.requests, row.cost};
    add_metrics(rows[i].metrics, own, false);
    rows[i].pattern = row.site.pattern();
    rows[i].stride = row.site.stride();
    rows[i].lane_bytes = row.lane_bytes;
  }
  add_metrics(launch, totals, true);
}

} // namespace warplens::analyzers
