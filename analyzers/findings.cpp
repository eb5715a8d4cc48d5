// SPDX-License-Identifier: Apache-2.0
#include "analyzers/findings.hpp"

#include "analyzers/access_findings.hpp"
#include "analyzers/code_findings.hpp"
#include "analyzers/finding_kinds.hpp"
#include "analyzers/finding_parts.hpp"
#include "analyzers/remedies.hpp"
#include "emulator/base/checked.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace warplens::analyzers {

namespace {

Finding at(const InstructionRow& row, std::string_view rule, std::string_view unit, double excess, double share) {
  Finding finding;
  finding.rule = rule;
  finding.severity = share >= kMostlyWaste ? Severity::warning : Severity::note;
  finding.page = page_of(rule);
  finding.lines = {row.line};
  finding.source_file = row.source_file;
  finding.source_line = row.source_line;
  finding.excess = excess;
  finding.unit = unit;
  return finding;
}

void keep(Finding& finding, const Metrics& metrics, const std::vector<MetricKey>& keys) {
  for (const MetricKey& key : keys)
    if (const Metric* metric = metrics.find(key)) finding.values.push_back(*metric);
}

} // namespace

bool saves_little(const Finding& finding) { return finding.speedup && *finding.speedup < kWorthwhile; }

bool Changes::are_common() const {
  if (!common || !accesses.empty()) return false;
  Changes others = *this;
  others.common.reset();
  return !others.any();
}

void Changes::add(const Changes& other) {
  accesses.insert(accesses.end(), other.accesses.begin(), other.accesses.end());
  if (!common)
    common = other.common;
  else if (other.common && other.common != common)
    accesses.insert(accesses.end(), other.common->begin(), other.common->end());
  bank_passes += other.bank_passes;
  constant_passes += other.constant_passes;
  instructions += other.instructions;
  barriers += other.barriers;
  doubles += other.doubles;
  conversions += other.conversions;
  missed += other.missed;
  threads = std::min(threads, other.threads);
  local = local || other.local;
}

namespace {

struct Subject {
  const Profile& profile;
  const DeviceRules& rules;
  const DivergenceRemedies& divergence;
  const NarrowLoads& narrow;
  const Code& code;
  IdealAccesses& ideal;
};

struct AccessName {
  exec::AccessKind kind;
  std::string_view plural;
  [[nodiscard]] std::string_view name() const { return kOperationNames[static_cast<std::size_t>(kind)]; }
};
constexpr AccessName kAccessNames[] = {{exec::AccessKind::load, "loads"},
                                       {exec::AccessKind::store, "stores"},
                                       {exec::AccessKind::atomic, "atomics"},
                                       {exec::AccessKind::reduction, "reductions"}};

using rules::Coalescing;
using Unit = Coalescing::Unit;

const rules::WordClass& word_of(const InstructionRow& row, const Coalescing& rule) { return rule.word(row.lane_bytes); }

/// Alignment in bytes at which a row should start: the words of a request, or a sector.
std::uint32_t alignment(const InstructionRow& row, const Coalescing& rule) {
  return unit_of_waste(rule) == Unit::sectors ? 32 : word_of(row, rule).requests.lanes * row.lane_bytes;
}

bool too_narrow(const InstructionRow& row, const Coalescing& rule) {
  return rule.order == Coalescing::Order::kth_word && row.lane_bytes < rule.words[0].front().bytes;
}

/// "4, 8 or 16"
std::string word_sizes(const Coalescing& rule) {
  std::string list;
  const auto& words = rule.words[0];
  for (std::size_t i = 0; i < words.size(); ++i)
    list += fmt::format("{}{}", i == 0 ? "" : i + 1 == words.size() ? " or " : ", ", words[i].bytes);
  return list;
}

/// "unit stride", "mostly unit stride in groups of 16 lanes"
bool has_unit_stride(const InstructionRow& row) { return row.pattern.find("unit stride") != std::string::npos; }

/// Neighbouring threads already access neighbouring words, but the rows end within a warp.
std::optional<PartsOfRows> rows_within_warp(const InstructionRow& row, const Coalescing& rule) {
  if (row.stride || has_unit_stride(row) || rule.order == Coalescing::Order::kth_word) return std::nullopt;
  return parts_of_rows(row);
}

std::string explain(const InstructionRow& row, const Coalescing& rule) {
  if (too_narrow(row, rule))
    return fmt::format("words narrower than {} bytes never coalesce", rule.words[0].front().bytes);
  if (row.stride) return fmt::format("neighbouring threads are {} bytes apart", magnitude(row.stride));
  if (row.pattern.ends_with("random")) return "the addresses of a warp follow no pattern";
  if (row.pattern.ends_with("unit stride"))
    return fmt::format("accesses are not aligned to {} bytes, or few lanes are active", alignment(row, rule));
  if (row.pattern.ends_with("single lane")) return "only one thread of the warp is active";
  if (const auto parts = rows_within_warp(row, rule))
    return fmt::format("a request accesses parts of {:.2g} rows on average", parts->number);
  return "access pattern: " + row.pattern;
}

std::string advise(const InstructionRow& row, const Coalescing& rule) {
  if (too_narrow(row, rule))
    return fmt::format("make each thread access a word of {} bytes, such as char4 or short2", word_sizes(rule));
  if (rows_within_warp(row, rule))
    return "let a warp access one row at a time, and make each thread access a larger word if the rows are short";
  if (row.stride || (row.pattern.find("stride") != std::string::npos && !has_unit_stride(row)))
    return std::string(kUseNeighbours);
  if (has_unit_stride(row))
    return fmt::format("align each row to {} bytes (pad the pitch), or use more lanes", alignment(row, rule));
  if (row.pattern.ends_with("single lane")) return std::string(kUseWholeWarp);
  const std::string request = to_string(word_of(row, rule).requests);
  if (rule.order == Coalescing::Order::kth_word)
    return fmt::format("make thread k of a {} access word k of an aligned segment, or stage the data in shared memory; "
                       "read data that all threads share through constant memory",
                       request);
  return fmt::format("sort or group the work so that the threads of a {}, or stage the data in shared memory",
                     unit_of_waste(rule) == Unit::sectors
                         ? "warp use the same sectors"
                         : fmt::format("{} use the same segments of {} bytes", request, rule.largest()));
}

/// The actual and the minimum cost of the requests of one instruction, in the units of a rule.
struct AccessCost {
  double taken = 0, least = 0;
  std::string_view unit;
  std::string message; ///< without the explanation
  std::vector<MetricKey> values;
};

AccessCost count_sectors(const InstructionRow& row, const AccessName& operation, double requests) {
  AccessCost cost;
  cost.taken = static_cast<double>(row.metrics.integer(MetricId::global_sectors));
  cost.least = static_cast<double>(row.metrics.integer(MetricId::global_sectors_ideal));
  cost.unit = "sectors";
  cost.message = fmt::format("{}-byte {} touch {:.4g} sectors per request (ideal {:.4g})", row.lane_bytes,
                             operation.plural, cost.taken / requests, cost.least / requests);
  cost.values = {MetricId::global_sectors, MetricId::global_sectors_ideal, MetricId::global_sectors_excessive};
  return cost;
}

AccessCost count_bytes(const InstructionRow& row, const AccessName& operation, double requests,
                       const rules::CoalescingRule& rule) {
  const TransactionSums sum = row.counts.of_global(operation.kind).sum;
  AccessCost cost;
  if (has_profilers_names(rule)) {
    for (const MetricId of_loads :
         {MetricId::gld_32b, MetricId::gld_64b, MetricId::gld_128b, MetricId::gld_bytes_ideal})
      if (!is_atomic(operation.kind)) cost.values.push_back(by_operation(of_loads, operation.kind));
  } else {
    for (std::uint32_t bytes = rule.smallest; bytes <= rule.largest(); bytes *= 2)
      cost.values.push_back({MetricId::rule_transactions_of_size, rule.name, operation.name(), bytes});
    cost.values.push_back({MetricId::rule_bytes_ideal, rule.name, operation.name()});
  }
  cost.taken = static_cast<double>(sum.bytes());
  cost.least = static_cast<double>(sum.ideal);
  cost.unit = "bytes";
  cost.message = fmt::format("{}-byte {} move {:.4g} bytes per request in {:.4g} transactions (ideal {:.4g} bytes)",
                             row.lane_bytes, operation.plural, cost.taken / requests,
                             static_cast<double>(sum.total()) / requests, cost.least / requests);
  return cost;
}

AccessCost count_lanes_alone(const InstructionRow& row, const AccessName& operation, double requests,
                             const rules::CoalescingRule& rule) {
  const TransactionSums sum = row.counts.of_global(operation.kind).sum;
  const bool some = sum.total() > sum.uncoalesced;
  AccessCost cost;
  if (has_profilers_names(rule)) {
    for (const MetricId of_loads : {MetricId::gld_coherent, MetricId::gld_incoherent, MetricId::gld_transactions_ideal})
      if (!is_atomic(operation.kind)) cost.values.push_back(by_operation(of_loads, operation.kind));
  } else {
    cost.values = {{MetricId::rule_uncoalesced, rule.name, operation.name()},
                   {MetricId::rule_transactions_ideal, rule.name, operation.name()}};
  }
  cost.taken = static_cast<double>(sum.total());
  cost.least = static_cast<double>(sum.ideal);
  cost.unit = "transactions";
  cost.message = fmt::format("{}-byte {} are {}uncoalesced: one transaction for each thread{}, {:.4g} per request "
                             "(ideal {:.4g})",
                             row.lane_bytes, operation.plural, some ? "partly " : "",
                             some ? fmt::format(" of some {}s", to_string(word_of(row, rule).requests)) : "",
                             cost.taken / requests, cost.least / requests);
  return cost;
}

/// Lanes that share words, each group a different one: they need no more sectors than words. Rules that serve lanes in
/// order have no such accesses.
bool is_broadcast(const InstructionRow& row, const Coalescing& rule) {
  return rule.order != Coalescing::Order::kth_word && row.pattern.find("broadcast") != std::string::npos;
}

/// Consecutive words that are not aligned, but whose further sectors come from the first-level cache: the neighbours of
/// a stencil.
bool is_cached_neighbour(const InstructionRow& row) {
  const Metric* const hits = row.metrics.find(MetricId::l1_hit_rate);
  return hits != nullptr && hits->number() >= 100 * kCachedAnyway && has_unit_stride(row);
}

void find_uncoalesced(const InstructionRow& row, const Subject& subject, std::vector<Finding>& findings) {
  const rules::CoalescingRule& rule = subject.rules.coalescing;
  if (is_broadcast(row, rule) || is_cached_neighbour(row)) return;
  if (unit_of_waste(rule) == Unit::sectors && subject.narrow.fill_structures(row)) return; // NarrowLoads
  for (const AccessName& operation : kAccessNames) {
    const MetricId counted = by_operation(MetricId::global_requests_ld, operation.kind);
    const auto requests = static_cast<double>(row.metrics.integer(counted));
    if (requests == 0 || (is_atomic(operation.kind) && !rule.describes_atomics())) continue;
    const AccessCost cost = unit_of_waste(rule) == Unit::transactions
                                ? count_lanes_alone(row, operation, requests, rule)
                            : unit_of_waste(rule) == Unit::bytes ? count_bytes(row, operation, requests, rule)
                                                                 : count_sectors(row, operation, requests);
    const double excess = cost.taken - cost.least;
    if (excess <= 0 || excess < kLeastExcess * cost.taken) continue;
    Finding finding = at(row, names::kUncoalescedGlobalAccess, cost.unit, excess, excess / cost.taken);
    finding.message = cost.message + ": " + explain(row, rule);
    finding.only_if_faster = loads_halo(row, subject.profile);
    finding.advice = advise(row, rule);
    if (auto remedy = remedy_for_transactions(row, cost.least / cost.taken, subject.profile, subject.rules,
                                              subject.code, subject.ideal)) {
      finding.remedy = std::move(remedy->sentence);
      finding.changes = std::move(remedy->changes);
      if (remedy->uses_all && unit_of_waste(rule) == Unit::sectors) {
        finding.severity = Severity::note;
        finding.message += "; other instructions access the rest of these sectors";
      }
    } else {
      const auto parts = rows_within_warp(row, rule);
      finding.changes.accesses.push_back({row.instruction, parts ? parts->remaining : cost.least / cost.taken});
    }
    keep(finding, row.metrics, {counted});
    keep(finding, row.metrics, cost.values);
    findings.push_back(std::move(finding));
  }
}

/// The passes of one instruction's accesses of a kind, and the counters that show them.
struct Conflicts {
  std::uint64_t taken = 0, extra = 0;
  std::string banks, request = "warp";
  std::vector<MetricKey> values;
};

Conflicts conflicts_of(const InstructionRow& row, const AccessName& operation, const rules::BankRule& rule) {
  Conflicts found;
  if (are_usual_banks(rule)) {
    found.values = {by_operation(MetricId::shared_passes_ld, operation.kind),
                    by_operation(MetricId::shared_conflicts_ld, operation.kind)};
    found.taken = row.metrics.integer(found.values[0]);
    found.extra = row.metrics.integer(found.values[1]);
    return found;
  }
  const PassCount all = row.counts.of_all_shared();
  found.taken = all.sum.passes;
  found.extra = all.sum.conflicts();
  found.banks = fmt::format("{} ", rule.banks);
  found.request = to_string(rule.word(row.lane_bytes).requests);
  if (has_profilers_names(rule))
    found.values = {MetricId::shared_passes_ideal, MetricId::warp_serialize, MetricId::warp_serialize_worst};
  else
    found.values = {{MetricId::rule_passes, rule.name},
                    {MetricId::rule_conflicts, rule.name},
                    {MetricId::rule_conflicts_worst, rule.name}};
  return found;
}

void find_conflicts(const InstructionRow& row, const Subject& subject, std::vector<Finding>& findings) {
  for (const AccessName& operation : kAccessNames) {
    if (operation.kind == exec::AccessKind::reduction) continue; // counted with the atomics
    const MetricId counted = by_operation(MetricId::shared_requests_ld, operation.kind);
    const auto requests = static_cast<double>(row.metrics.integer(counted));
    if (requests == 0) continue;
    const Conflicts found = conflicts_of(row, operation, subject.rules.banks);
    const auto taken = static_cast<double>(found.taken), extra = static_cast<double>(found.extra);
    if (extra == 0 || extra < kLeastExcess * taken) continue;
    Finding finding = at(row, names::kSharedMemoryConflicts, "passes", extra, extra / taken);
    finding.message = fmt::format("{}-byte shared memory {} take {:.4g} passes over the {}banks{} (ideal {:.4g})",
                                  row.lane_bytes, operation.plural, taken / requests, found.banks,
                                  found.request == "warp" ? "" : fmt::format(", {0} by {0}", found.request),
                                  (taken - extra) / requests);
    if (row.stride) finding.message += fmt::format(": neighbouring threads are {} bytes apart", magnitude(row.stride));
    finding.advice = is_atomic(operation.kind)
                         ? "give each warp or group of lanes its own copy, and sum the copies at the end"
                         : fmt::format("pad the rows of the array by one word, or swap the indices, so that the "
                                       "threads of a {} use different banks",
                                       found.request);
    std::optional<Remedy> remedy;
    if (!is_atomic(operation.kind)) remedy = padding(row, subject.profile, subject.rules);
    if (!is_atomic(operation.kind) && !remedy) remedy = longer_rows(row, subject.rules);
    if (remedy) {
      finding.remedy = std::move(remedy->sentence);
      finding.changes = std::move(remedy->changes);
    } else {
      finding.changes.bank_passes = extra;
    }
    keep(finding, row.metrics, {counted});
    keep(finding, row.metrics, found.values);
    findings.push_back(std::move(finding));
  }
}

void divergent(const InstructionRow& row, const Subject& subject, std::vector<Finding>& findings) {
  if (row.bounds_check || subject.divergence.skips_border(row)) return;
  const auto branches = static_cast<double>(row.metrics.integer(MetricId::branch));
  const auto split = static_cast<double>(row.metrics.integer(MetricId::divergent_branch));
  if (split == 0 || split < kMostDivergent * branches) return;
  Finding finding = at(row, names::kThreadDivergence, "branches", split, split / branches);
  finding.message = fmt::format("{:.4g} % of the warps that run this branch take both paths, one after the other",
                                100 * split / branches);
  finding.advice = "make the condition uniform within each warp: compute it from the warp or block index, sort the "
                   "data by it, or replace the branch with a select instruction";
  finding.remedy = subject.divergence.sentence(row);
  const double lost = subject.divergence.lost_slots(row) / exec::kWarpSize;
  finding.changes.instructions = lost;
  // Both paths of many branches are short. No other choice of the path helps the points at the edge of a grid.
  if (lost < kLeastLost * static_cast<double>(subject.profile.integer(MetricId::warp_instructions))) {
    if (subject.divergence.is_of_index(row) && split < kMostlyWaste * branches) return;
    finding.severity = Severity::note;
  }
  keep(finding, row.metrics, {MetricId::branch, MetricId::divergent_branch});
  findings.push_back(std::move(finding));
}

/// Lanes of an average warp that have a thread: all that enter the kernel.
double lanes_with_threads(const Profile& profile) {
  double most = 0;
  for (const InstructionRow& row : profile.instructions)
    if (const auto warps = executed(row); warps > 0)
      most = std::max(most, static_cast<double>(row.metrics.integer(MetricId::thread_instructions)) / warps);
  return most > 0 ? most : exec::kWarpSize;
}

/// What blocks lack threads for is another finding: BlockSize.
void idle_lanes(const Profile& profile, std::vector<Finding>& findings) {
  const Metric* lanes = profile.metrics.find(MetricId::lanes_on);
  const double all = lanes_with_threads(profile);
  if (!lanes || lanes->number() * exec::kWarpSize >= kFewestLanes * all) return;
  Finding finding;
  finding.rule = names::kThreadDivergence;
  finding.severity = lanes->number() < all * kMostlyWaste ? Severity::warning : Severity::note;
  finding.message = all < exec::kWarpSize
                        ? fmt::format("{:.4g} of the {:.4g} lanes that have a thread execute an average instruction",
                                      lanes->number(), all)
                        : fmt::format("{:.4g} of 32 lanes execute an average instruction", lanes->number());
  finding.advice = "check the divergent branches, loops with different trip counts, and block sizes that are not a "
                   "multiple of 32 threads";
  finding.excess = static_cast<double>(profile.integer(MetricId::lost_lane_slots));
  finding.unit = "lane slots";
  keep(finding, profile.metrics, {MetricId::lanes_on, MetricId::lost_lane_slots});
  findings.push_back(std::move(finding));
}

bool same(const Finding& a, const Finding& b) {
  return a.source_line != 0 && a.source_line == b.source_line && a.source_file == b.source_file && a.rule == b.rule &&
         a.severity == b.severity && a.message == b.message && a.advice == b.advice;
}

/// Whether the changes of a finding are those of the whole launch, not of its instruction alone: padding moves all
/// arrays, and sorting by data makes all branches uniform that depend on it.
bool changes_all(const Finding& finding) {
  return finding.remedy.starts_with("pad each row") || finding.remedy.starts_with("replace the branch");
}

/// Merges `finding` with an equal one from `first` on, or appends it.
void merge(std::vector<Finding>& findings, std::ptrdiff_t first, Finding& finding) {
  const auto twin =
      std::find_if(findings.begin() + first, findings.end(), [&](const Finding& f) { return same(f, finding); });
  if (twin == findings.end()) {
    findings.push_back(std::move(finding));
    return;
  }
  twin->lines.insert(twin->lines.end(), finding.lines.begin(), finding.lines.end());
  twin->excess += finding.excess;
  if (!changes_all(*twin)) twin->changes.add(finding.changes);
  // The values of an instruction are counts, and equal findings have the same kinds of values.
  for (std::size_t i = 0; i < std::min(twin->values.size(), finding.values.size()); ++i)
    std::get<std::uint64_t>(twin->values[i].value) += std::get<std::uint64_t>(finding.values[i].value);
}

} // namespace

std::vector<Finding> find_problems(const Profile& profile, const DeviceRules& rules, const Code& code) {
  std::vector<Finding> result;
  const DivergenceRemedies divergence(profile, code);
  const NarrowLoads narrow(profile, code);
  IdealAccesses ideal;
  const Subject subject{profile, rules, divergence, narrow, code, ideal};
  const auto in_order_of_excess = [&](auto&& collect) {
    const auto start = static_cast<std::ptrdiff_t>(result.size());
    for (const InstructionRow& row : profile.instructions) {
      std::vector<Finding> found;
      collect(row, subject, found);
      for (Finding& finding : found) merge(result, start, finding);
    }
    std::stable_sort(result.begin() + start, result.end(),
                     [](const Finding& a, const Finding& b) { return a.excess > b.excess; });
  };
  in_order_of_excess(find_uncoalesced);
  in_order_of_excess(find_conflicts);
  idle_lanes(profile, result);
  in_order_of_excess(divergent);
  std::vector<Finding> others;
  find_unneeded_barriers(profile, code, others);
  find_in_code(profile, rules, code, others);
  find_contended_atomics(profile, code, others);
  narrow.find(rules, others);
  find_narrow_accesses(profile, rules, code, others);
  find_in_loops(profile, code, others);
  find_sharing(profile, code, others);
  find_redundant_loads(profile, code, others);
  find_evictions(profile, others);
  const auto start = static_cast<std::ptrdiff_t>(result.size());
  for (Finding& finding : others) merge(result, start, finding);
  for (Finding& finding : result)
    if (finding.remedy.empty()) finding.remedy = finding.advice;
  return result;
}

} // namespace warplens::analyzers
