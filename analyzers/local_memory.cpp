#include "analyzers/local_memory.hpp"

namespace warplens::analyzers {

namespace {

constexpr MetricInfo kMetrics[] = {
    {"smsp__sass_inst_executed_op_local_ld.sum", "requests", "warp loads of local memory", 0},
    {"smsp__sass_inst_executed_op_local_st.sum", "requests", "warp stores to local memory", 0},
    {"local_load", "requests", "warp loads of local memory", 0},
    {"local_store", "requests", "warp stores to local memory", 0},
};

constexpr AnalyzerInfo kInfo = {"local_memory", "Local memory", "loads and stores of the threads' own memory",
                                kMetrics};

void add_metrics(Metrics& metrics, const LocalMemory::Row& row) {
  metrics.add("smsp__sass_inst_executed_op_local_ld.sum", row.loads);
  metrics.add("smsp__sass_inst_executed_op_local_st.sum", row.stores);
  metrics.add("local_load", row.loads);
  metrics.add("local_store", row.stores);
}

} // namespace

const AnalyzerInfo& LocalMemory::info() const { return kInfo; }

std::unique_ptr<exec::Shard> LocalMemory::make_shard() { return std::make_unique<Shard>(rows_.size()); }

void LocalMemory::absorb(exec::Shard& shard) {
  const auto& own = static_cast<const Shard&>(shard).rows();
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    rows_[i].loads += own[i].loads;
    rows_[i].stores += own[i].stores;
  }
}

void LocalMemory::report(Metrics& launch, std::vector<InstructionRow>& rows) const {
  Row total;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    total.loads += rows_[i].loads;
    total.stores += rows_[i].stores;
    if (i < rows.size() && rows_[i].loads + rows_[i].stores) add_metrics(rows[i].metrics, rows_[i]);
  }
  add_metrics(launch, total);
}

} // namespace warplens::analyzers
