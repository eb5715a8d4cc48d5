#include "analyzers/findings.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace warplens::analyzers {

namespace {

// Nsight Compute's thresholds, where it documents them (reference guide, rules).
constexpr double kLeastExcess = 0.1;   // of the sectors or passes of an instruction
constexpr double kFewestLanes = 24;    // active and not predicated off, of 32
constexpr double kMostDivergent = 0.1; // of the executions of a branch
constexpr double kMostlyWaste = 0.5;

Finding at(const InstructionRow& row, std::string_view rule, std::string_view unit, double excess, double share) {
  Finding finding;
  finding.rule = rule;
  finding.severity = share >= kMostlyWaste ? Severity::warning : Severity::note;
  finding.instruction = row.instruction;
  finding.line = row.line;
  finding.source_file = row.source_file;
  finding.source_line = row.source_line;
  finding.excess = excess;
  finding.unit = unit;
  return finding;
}

void keep(Finding& finding, const Metrics& metrics, std::initializer_list<std::string_view> names) {
  for (std::string_view name : names)
    if (const Metric* metric = metrics.find(name)) finding.values.push_back(*metric);
}

/// "loads", "stores" or "atomics", and the end of the metric names that count them.
struct Operation {
  std::string_view plural, suffix;
};
constexpr Operation kOperations[] = {
    {"loads", "ld.sum"}, {"stores", "st.sum"}, {"atomics", "atom.sum"}, {"reductions", "red.sum"}};

std::string explain(const InstructionRow& row) {
  if (row.stride)
    return fmt::format("neighbouring threads are {} bytes apart", row.stride < 0 ? -row.stride : row.stride);
  if (row.pattern.ends_with("irregular")) return "the addresses of a warp follow no pattern";
  if (row.pattern.ends_with("unit stride"))
    return "accesses do not start at a multiple of 32 bytes, or few lanes are active";
  if (row.pattern.ends_with("single lane")) return "a single thread of the warp takes part";
  return "access pattern: " + row.pattern;
}

std::string advise(const InstructionRow& row) {
  if (row.stride || row.pattern.ends_with("several strides"))
    return "let neighbouring threads access neighbouring words: exchange the roles of the indices, store the fields of "
           "a structure in separate arrays, or stage the data in shared memory";
  if (row.pattern.ends_with("unit stride"))
    return "start each row at a multiple of 32 bytes (pad the pitch), or let more lanes take part";
  if (row.pattern.ends_with("single lane")) return "let the whole warp do the work, one word per thread";
  return "sort or group the work so that the threads of a warp use the same sectors, or stage the data in shared "
         "memory";
}

void uncoalesced(const InstructionRow& row, std::vector<Finding>& findings) {
  const auto sectors = row.metrics.integer("memory_l2_theoretical_sectors_global");
  const auto excess = row.metrics.integer("derived__memory_l2_theoretical_sectors_global_excessive");
  const double share = sectors ? static_cast<double>(excess) / static_cast<double>(sectors) : 0;
  if (excess == 0 || share < kLeastExcess) return;
  for (const Operation& operation : kOperations) {
    const std::string name = "l1tex__t_requests_pipe_lsu_mem_global_op_" + std::string(operation.suffix);
    const auto requests = static_cast<double>(row.metrics.integer(name));
    if (requests == 0) continue;
    Finding finding = at(row, "UncoalescedGlobalAccess", "sectors", static_cast<double>(excess), share);
    finding.message = fmt::format("{}-byte {} touch {:.4g} sectors per request (ideal {:.4g}): {}", row.lane_bytes,
                                  operation.plural, static_cast<double>(sectors) / requests,
                                  static_cast<double>(sectors - excess) / requests, explain(row));
    finding.advice = advise(row);
    keep(finding, row.metrics,
         {name, "memory_l2_theoretical_sectors_global", "memory_l2_theoretical_sectors_global_ideal",
          "derived__memory_l2_theoretical_sectors_global_excessive"});
    findings.push_back(std::move(finding));
  }
}

void conflicts(const InstructionRow& row, std::vector<Finding>& findings) {
  for (const Operation& operation : kOperations) {
    const std::string requests_name = "smsp__inst_executed_op_shared_" + std::string(operation.suffix);
    const std::string passes_name = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_" + std::string(operation.suffix);
    const std::string extra_name = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_" + std::string(operation.suffix);
    const auto requests = static_cast<double>(row.metrics.integer(requests_name));
    const auto taken = static_cast<double>(row.metrics.integer(passes_name));
    const auto extra = static_cast<double>(row.metrics.integer(extra_name));
    if (extra == 0 || extra < kLeastExcess * taken) continue;
    Finding finding = at(row, "SharedMemoryConflicts", "passes", extra, extra / taken);
    finding.message = fmt::format("{}-byte {} of shared memory take {:.4g} passes over the banks (ideal {:.4g})",
                                  row.lane_bytes, operation.plural, taken / requests, (taken - extra) / requests);
    if (row.stride)
      finding.message +=
          fmt::format(": neighbouring threads are {} bytes apart", row.stride < 0 ? -row.stride : row.stride);
    finding.advice = operation.suffix == "atom.sum"
                         ? "give each warp, or each group of lanes, a copy of its own and add the copies up at the end"
                         : "pad the rows of the array by one word, or exchange the roles of the indices, so that the "
                           "threads of a warp use different banks";
    keep(finding, row.metrics, {requests_name, passes_name, extra_name});
    findings.push_back(std::move(finding));
  }
}

void divergent(const InstructionRow& row, std::vector<Finding>& findings) {
  const auto branches = static_cast<double>(row.metrics.integer("branch"));
  const auto split = static_cast<double>(row.metrics.integer("divergent_branch"));
  if (split == 0 || split < kMostDivergent * branches) return;
  Finding finding = at(row, "ThreadDivergence", "branches", split, split / branches);
  finding.message = fmt::format("{:.4g} % of the warps that run this branch go both ways, one after the other",
                                100 * split / branches);
  finding.advice = "make the condition the same for all threads of a warp: let it depend on the warp or the block, "
                   "sort the data by it, or replace the branch by a select";
  keep(finding, row.metrics, {"branch", "divergent_branch"});
  findings.push_back(std::move(finding));
}

void idle_lanes(const Profile& profile, std::vector<Finding>& findings) {
  constexpr std::string_view name = "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio";
  const Metric* lanes = profile.metrics.find(name);
  if (!lanes || lanes->number() >= kFewestLanes) return;
  Finding finding;
  finding.rule = "ThreadDivergence";
  finding.severity = lanes->number() < 32 * kMostlyWaste ? Severity::warning : Severity::note;
  finding.message = fmt::format("{:.4g} of 32 lanes do something in an average instruction", lanes->number());
  finding.advice = "look at the divergent branches below, at loops of different length, and at blocks that are no "
                   "multiple of 32 threads";
  finding.excess = static_cast<double>(profile.integer("lost_lane_slots"));
  finding.unit = "lane slots";
  keep(finding, profile.metrics, {name, "lost_lane_slots"});
  findings.push_back(std::move(finding));
}

} // namespace

std::vector<Finding> find_problems(const Profile& profile) {
  std::vector<Finding> result;
  const auto in_order_of_excess = [&](auto&& collect) {
    const auto start = static_cast<std::ptrdiff_t>(result.size());
    for (const InstructionRow& row : profile.instructions) collect(row, result);
    std::stable_sort(result.begin() + start, result.end(),
                     [](const Finding& a, const Finding& b) { return a.excess > b.excess; });
  };
  in_order_of_excess(uncoalesced);
  in_order_of_excess(conflicts);
  idle_lanes(profile, result);
  in_order_of_excess(divergent);
  return result;
}

} // namespace warplens::analyzers
