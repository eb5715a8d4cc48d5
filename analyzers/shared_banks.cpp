#include "analyzers/shared_banks.hpp"

#include <algorithm>

namespace warplens::analyzers {

namespace {

constexpr MetricInfo kMetrics[] = {
    {"smsp__inst_executed_op_shared_ld.sum", "requests", "warp loads of shared memory"},
    {"smsp__inst_executed_op_shared_st.sum", "requests", "warp stores to shared memory"},
    {"smsp__inst_executed_op_shared_atom.sum", "requests", "warp atomics on shared memory"},
    {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "passes", "passes of loads over the banks"},
    {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", "passes", "passes of stores over the banks"},
    {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum", "passes", "passes of atomics over the banks"},
    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", "passes", "beyond the fewest that loads need", 0},
    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", "passes", "beyond the fewest that stores need", 0},
    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom.sum", "passes", "beyond the fewest that atomics need", 0},
    {"warp_serialize", "passes",
     "extra passes over shared and constant memory, compute capability 1.x; where the rule leaves a choice, the best",
     0},
    {"warp_serialize_worst", "passes", "the same, where the rule leaves a choice, the worst", 0},
    {"shared_passes_ideal", "passes", "the fewest over the banks of shared memory, compute capability 1.x"},
};

constexpr AnalyzerInfo kInfo = {"shared_banks", "Shared memory bank conflicts",
                                "passes over the banks of shared memory, conflicts, and their degrees", kMetrics};

/// Constant memory serves one address of a half-warp at a time (guide 2.0, section 5.1.2.3).
std::uint64_t constant_extra_passes(const exec::Access& access) {
  if (access.shape == exec::Shape::broadcast) return 0;
  std::uint64_t extra = 0;
  for (std::uint32_t first = 0; first < exec::kWarpSize; first += 16) {
    std::uint64_t seen[16];
    std::size_t count = 0;
    for (exec::Mask rest = access.mask & 0xffffu << first; rest; rest &= rest - 1) {
      const std::uint64_t address = access.addresses[std::countr_zero(rest)];
      if (std::find(seen, seen + count, address) == seen + count) seen[count++] = address;
    }
    if (count) extra += count - 1;
  }
  return extra;
}

} // namespace

void BankCost::add(const BankCost& other, std::uint64_t times) {
  wavefronts += other.wavefronts * times;
  conflicts += other.conflicts * times;
  serialize_best += other.serialize_best * times;
  serialize_worst += other.serialize_worst * times;
  serialize_free += other.serialize_free * times;
}

SharedBanks::Shard::Shard(const ir::Function& function)
    : function_(function), sites_((function.instructions.size() + 1) * kOperations), banks_(*find_bank_rule("5.x+")),
      old_banks_(*find_bank_rule("1.x")) {}

SharedBanks::Shard::Both SharedBanks::Shard::passes(const exec::Access& access) const {
  const exec::AccessKind kind = kind_for_banks(function_, access);
  if (is_atomic(kind)) // no need of a footprint
    return {banks_.passes(access.addresses, access.mask, access.lane_bytes, kind),
            old_banks_.passes(access.addresses, access.mask, access.lane_bytes, kind)};
  const Footprint footprint(access.addresses, access.mask, access.lane_bytes);
  return {banks_.passes(footprint, kind), old_banks_.passes(footprint, kind)};
}

void SharedBanks::Shard::start(Site& site, const ShapeKey& key, const exec::Access& access) {
  flush(site);
  site.repeat.one = {};
  site.repeat.ways = 0;
  site.repeat.key = key;
  site.repeat.space = access.space;
  site.repeat.count = access.count;
  site.repeat.pattern = classify(access);
  if (access.shape == exec::Shape::irregular) site.offsets.remember(access);
  BankCost& one = site.repeat.one;
  if (access.space == isa::Space::constant) {
    one.serialize_best = one.serialize_worst = constant_extra_passes(access);
    return;
  }
  const auto [now, old] = passes(access);
  one.serialize_best = old.conflicts();
  one.serialize_worst = old.worst_conflicts();
  if (access.space == isa::Space::param) return; // in shared memory on 1.x only
  one.serialize_free = old.fewest;
  one.wavefronts = now.passes;
  one.conflicts = now.conflicts();
  site.repeat.ways = now.ways;
  site.row.kind = access.kind;
  site.row.lane_bytes = access.lane_bytes;
}

void SharedBanks::Shard::flush(Site& site) {
  Repeat& repeat = site.repeat;
  if (repeat.count == 0) return;
  site.row.cost.add(repeat.one, repeat.count);
  if (repeat.ways) {
    site.row.requests += repeat.count;
    site.row.site.add(repeat.pattern, repeat.count);
    degrees_[std::min<std::size_t>(repeat.ways, kDegrees - 1)] += repeat.count;
  }
  repeat.count = 0;
}

std::span<SharedBanks::Row> SharedBanks::Shard::rows() {
  merged_.resize(sites_.size());
  for (std::size_t i = 0; i < sites_.size(); ++i) {
    flush(sites_[i]);
    merged_[i] = sites_[i].row;
  }
  return merged_;
}

void SharedBanks::Row::merge(const Row& other) {
  cost.add(other.cost, 1);
  if (other.requests == 0) return;
  requests += other.requests;
  site.merge(other.site);
  kind = other.kind;
  lane_bytes = other.lane_bytes;
}

const AnalyzerInfo& SharedBanks::info() const { return kInfo; }

std::unique_ptr<exec::Shard> SharedBanks::make_shard() { return std::make_unique<Shard>(function_); }

void SharedBanks::absorb(exec::Shard& shard) {
  auto& own = static_cast<Shard&>(shard);
  const std::span<Row> rows = own.rows();
  for (std::size_t i = 0; i < rows_.size(); ++i) rows_[i].merge(rows[i]);
  for (std::size_t i = 0; i < kDegrees; ++i) degrees_[i] += own.degrees()[i];
}

namespace {

constexpr std::string_view kNames[SharedBanks::kOperations] = {"ld", "st", "atom"};

void add_operation(Metrics& metrics, std::size_t which, std::uint64_t requests, const BankCost& cost) {
  const std::string name(kNames[which]);
  metrics.add("smsp__inst_executed_op_shared_" + name + ".sum", requests);
  metrics.add("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_" + name + ".sum", cost.wavefronts);
  metrics.add("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_" + name + ".sum", cost.conflicts);
}

} // namespace

void SharedBanks::report(Metrics& launch, std::vector<InstructionRow>& rows) const {
  std::uint64_t requests[kOperations]{};
  BankCost costs[kOperations], sum;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Row& row = rows_[i];
    sum.add(row.cost, 1);
    if (row.requests) {
      requests[operation(row.kind)] += row.requests;
      costs[operation(row.kind)].add(row.cost, 1);
    }
    const std::size_t instruction = i / kOperations;
    if (instruction >= rows.size()) continue;
    InstructionRow& shown = rows[instruction];
    Metrics own;
    if (row.requests) {
      add_operation(own, operation(row.kind), row.requests, row.cost);
      own.add("shared_passes_ideal", row.cost.serialize_free);
      shown.pattern = row.site.pattern();
      shown.stride = row.site.stride();
      shown.lane_bytes = row.lane_bytes;
    }
    if (row.requests || row.cost.serialize_worst) {
      own.add("warp_serialize", row.cost.serialize_best);
      own.add("warp_serialize_worst", row.cost.serialize_worst);
    }
    shown.metrics.accumulate(own);
  }
  for (std::size_t which = 0; which < kOperations; ++which) add_operation(launch, which, requests[which], costs[which]);
  launch.add("warp_serialize", sum.serialize_best);
  launch.add("warp_serialize_worst", sum.serialize_worst);
  launch.add("shared_passes_ideal", sum.serialize_free);
  for (std::size_t ways = 1; ways < kDegrees; ++ways)
    if (degrees_[ways]) launch.add("shared_access_" + std::to_string(ways) + "_way", degrees_[ways]);
}

} // namespace warplens::analyzers
