#include "analyzers/findings.hpp"

#include "emulator/base/checked.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace warplens::analyzers {

namespace {

// Nsight Compute's thresholds, where it documents them (reference guide, rules).
constexpr double kLeastExcess = 0.1;   // of the sectors, bytes, transactions or passes of an instruction
constexpr double kFewestLanes = 24;    // active and not predicated off, of 32
constexpr double kMostDivergent = 0.1; // of the executions of a branch
constexpr double kMostlyWaste = 0.5;

Finding at(const InstructionRow& row, std::string_view rule, std::string_view unit, double excess, double share) {
  Finding finding;
  finding.rule = rule;
  finding.severity = share >= kMostlyWaste ? Severity::warning : Severity::note;
  finding.lines = {row.line};
  finding.source_file = row.source_file;
  finding.source_line = row.source_line;
  finding.excess = excess;
  finding.unit = unit;
  return finding;
}

void keep(Finding& finding, const Metrics& metrics, const std::vector<std::string>& names) {
  for (const std::string& name : names)
    if (const Metric* metric = metrics.find(name)) finding.values.push_back(*metric);
}

/// "loads", "stores" or "atomics", the end of the metric names that count them, and how those of 1.x begin.
struct Operation {
  std::string_view plural, suffix, old_prefix;
};
constexpr Operation kOperations[] = {{"loads", "ld.sum", "gld_"},
                                     {"stores", "st.sum", "gst_"},
                                     {"atomics", "atom.sum", ""},
                                     {"reductions", "red.sum", ""}};

bool in_order_only(const DeviceRules& rules) { return rules.coalescing == "1.0"; }
bool by_half_warps(const DeviceRules& rules) { return in_order_only(rules) || rules.coalescing == "1.2"; }

/// Bytes: where a row should start. A half-warp's words, on 1.x; a sector later.
std::uint32_t alignment(const InstructionRow& row, const DeviceRules& rules) {
  return by_half_warps(rules) ? 16 * row.lane_bytes : 32;
}

bool too_narrow(const InstructionRow& row, const DeviceRules& rules) {
  return in_order_only(rules) && row.lane_bytes < 4;
}

std::string explain(const InstructionRow& row, const DeviceRules& rules) {
  if (too_narrow(row, rules)) return "words narrower than 4 bytes never coalesce";
  if (row.stride) return fmt::format("neighbouring threads are {} bytes apart", magnitude(row.stride));
  if (row.pattern.ends_with("random")) return "the addresses of a warp follow no pattern";
  if (row.pattern.ends_with("unit stride"))
    return fmt::format("accesses do not start at a multiple of {} bytes, or few lanes are active",
                       alignment(row, rules));
  if (row.pattern.ends_with("single lane")) return "a single thread of the warp takes part";
  return "access pattern: " + row.pattern;
}

std::string advise(const InstructionRow& row, const DeviceRules& rules) {
  if (too_narrow(row, rules)) return "let each thread access a word of 4, 8 or 16 bytes: char4, short2";
  if (row.stride || row.pattern.ends_with("several strides"))
    return "let neighbouring threads access neighbouring words: exchange the roles of the indices, store the fields of "
           "a structure in separate arrays, or stage the data in shared memory";
  if (row.pattern.ends_with("unit stride"))
    return fmt::format("start each row at a multiple of {} bytes (pad the pitch), or let more lanes take part",
                       alignment(row, rules));
  if (row.pattern.ends_with("single lane")) return "let the whole warp do the work, one word per thread";
  if (in_order_only(rules))
    return "let thread k of a half-warp access word k of an aligned segment, or stage the data in shared memory; read "
           "what all threads share through constant memory";
  return fmt::format("sort or group the work so that the threads of a {}, or stage the data in shared memory",
                     by_half_warps(rules) ? "half-warp use the same segments of 128 bytes"
                                          : "warp use the same sectors");
}

/// What the requests of one instruction took and what they need at least, in the terms of a rule.
struct Cost {
  double taken = 0, least = 0;
  std::string_view unit;
  std::string message;             ///< without the explanation
  std::vector<std::string> values; ///< names of the metrics
};

Cost count_sectors(const InstructionRow& row, const Operation& operation, double requests) {
  const std::string all = "memory_l2_theoretical_sectors_global", ideal = all + "_ideal";
  Cost cost;
  cost.taken = static_cast<double>(row.metrics.integer(all));
  cost.least = static_cast<double>(row.metrics.integer(ideal));
  cost.unit = "sectors";
  cost.message = fmt::format("{}-byte {} touch {:.4g} sectors per request (ideal {:.4g})", row.lane_bytes,
                             operation.plural, cost.taken / requests, cost.least / requests);
  cost.values = {all, ideal, "derived__memory_l2_theoretical_sectors_global_excessive"};
  return cost;
}

/// Compute capability 1.2 and 1.3.
Cost count_bytes(const InstructionRow& row, const Operation& operation, double requests) {
  const std::string prefix(operation.old_prefix);
  Cost cost;
  double transactions = 0;
  for (const int bytes : {32, 64, 128}) {
    const std::string name = fmt::format("{}{}b", prefix, bytes);
    const auto count = static_cast<double>(row.metrics.integer(name));
    transactions += count;
    cost.taken += bytes * count;
    cost.values.push_back(name);
  }
  cost.values.push_back(prefix + "bytes_ideal");
  cost.least = static_cast<double>(row.metrics.integer(cost.values.back()));
  cost.unit = "bytes";
  cost.message = fmt::format("{}-byte {} move {:.4g} bytes per request in {:.4g} transactions (ideal {:.4g} bytes)",
                             row.lane_bytes, operation.plural, cost.taken / requests, transactions / requests,
                             cost.least / requests);
  return cost;
}

/// Compute capability 1.0 and 1.1.
Cost count_lanes_alone(const InstructionRow& row, const Operation& operation, double requests) {
  const std::string prefix(operation.old_prefix);
  Cost cost;
  cost.values = {prefix + "coherent", prefix + "incoherent", prefix + "transactions_ideal"};
  const auto together = static_cast<double>(row.metrics.integer(cost.values[0]));
  cost.taken = together + static_cast<double>(row.metrics.integer(cost.values[1]));
  cost.least = static_cast<double>(row.metrics.integer(cost.values[2]));
  cost.unit = "transactions";
  cost.message = fmt::format("{}-byte {} are {}uncoalesced: one transaction for each thread{}, {:.4g} per request "
                             "(ideal {:.4g})",
                             row.lane_bytes, operation.plural, together > 0 ? "partly " : "",
                             together > 0 ? " of some half-warps" : "", cost.taken / requests, cost.least / requests);
  return cost;
}

void uncoalesced(const InstructionRow& row, const DeviceRules& rules, std::vector<Finding>& findings) {
  for (const Operation& operation : kOperations) {
    const std::string name = "l1tex__t_requests_pipe_lsu_mem_global_op_" + std::string(operation.suffix);
    const auto requests = static_cast<double>(row.metrics.integer(name));
    if (requests == 0) continue;
    if (by_half_warps(rules) && operation.old_prefix.empty()) continue; // these rules do not describe atomics
    const Cost cost = in_order_only(rules)   ? count_lanes_alone(row, operation, requests)
                      : by_half_warps(rules) ? count_bytes(row, operation, requests)
                                             : count_sectors(row, operation, requests);
    const double excess = cost.taken - cost.least;
    if (excess <= 0 || excess < kLeastExcess * cost.taken) continue;
    Finding finding = at(row, "UncoalescedGlobalAccess", cost.unit, excess, excess / cost.taken);
    finding.message = cost.message + ": " + explain(row, rules);
    finding.advice = advise(row, rules);
    keep(finding, row.metrics, {name});
    keep(finding, row.metrics, cost.values);
    findings.push_back(std::move(finding));
  }
}

void conflicts(const InstructionRow& row, const DeviceRules& rules, std::vector<Finding>& findings) {
  const bool old = rules.banks == "1.x";
  for (const Operation& operation : kOperations) {
    const std::string suffix(operation.suffix);
    const std::string requests_name = "smsp__inst_executed_op_shared_" + suffix;
    const std::string passes_name =
        old ? "shared_passes_ideal" : "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_" + suffix;
    const std::string extra_name =
        old ? "warp_serialize" : "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_" + suffix;
    const auto requests = static_cast<double>(row.metrics.integer(requests_name));
    const auto extra = static_cast<double>(row.metrics.integer(extra_name));
    const double taken = static_cast<double>(row.metrics.integer(passes_name)) + (old ? extra : 0);
    if (requests == 0 || extra == 0 || extra < kLeastExcess * taken) continue;
    Finding finding = at(row, "SharedMemoryConflicts", "passes", extra, extra / taken);
    finding.message = fmt::format("{}-byte {} of shared memory take {:.4g} passes over the {}banks{} (ideal {:.4g})",
                                  row.lane_bytes, operation.plural, taken / requests, old ? "16 " : "",
                                  old ? ", half-warp by half-warp" : "", (taken - extra) / requests);
    if (row.stride) finding.message += fmt::format(": neighbouring threads are {} bytes apart", magnitude(row.stride));
    finding.advice = operation.suffix == "atom.sum"
                         ? "give each warp, or each group of lanes, a copy of its own and add the copies up at the end"
                         : fmt::format("pad the rows of the array by one word, or exchange the roles of the indices, "
                                       "so that the threads of a {} use different banks",
                                       old ? "half-warp" : "warp");
    keep(finding, row.metrics, {requests_name, passes_name, extra_name});
    if (old) keep(finding, row.metrics, {"warp_serialize_worst"});
    findings.push_back(std::move(finding));
  }
}

void divergent(const InstructionRow& row, const DeviceRules&, std::vector<Finding>& findings) {
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
  keep(finding, profile.metrics, {std::string(name), "lost_lane_slots"});
  findings.push_back(std::move(finding));
}

bool same(const Finding& a, const Finding& b) {
  return a.source_line != 0 && a.source_line == b.source_line && a.source_file == b.source_file && a.rule == b.rule &&
         a.severity == b.severity && a.message == b.message && a.advice == b.advice;
}

/// Adds `finding` to the one from `first` on that says the same, or to the end.
void merge(std::vector<Finding>& findings, std::ptrdiff_t first, Finding& finding) {
  const auto twin =
      std::find_if(findings.begin() + first, findings.end(), [&](const Finding& f) { return same(f, finding); });
  if (twin == findings.end()) {
    findings.push_back(std::move(finding));
    return;
  }
  twin->lines.push_back(finding.lines.front());
  twin->excess += finding.excess;
  // The values of an instruction are counts, and those that say the same have the same.
  for (std::size_t i = 0; i < twin->values.size(); ++i)
    std::get<std::uint64_t>(twin->values[i].value) += std::get<std::uint64_t>(finding.values[i].value);
}

} // namespace

std::vector<Finding> find_problems(const Profile& profile, const DeviceRules& rules) {
  std::vector<Finding> result;
  const auto in_order_of_excess = [&](auto&& collect) {
    const auto start = static_cast<std::ptrdiff_t>(result.size());
    for (const InstructionRow& row : profile.instructions) {
      std::vector<Finding> found;
      collect(row, rules, found);
      for (Finding& finding : found) merge(result, start, finding);
    }
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
