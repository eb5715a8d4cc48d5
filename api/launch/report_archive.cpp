// SPDX-License-Identifier: Apache-2.0
// Members are named by structured bindings, which do not compile when a class gets another member.
#include "api/launch/report_archive.hpp"

#include "emulator/base/archive.hpp"

#include <mutex>
#include <set>

namespace warplens::api {

namespace {

template <class T, class Fields> void each(Archive& a, std::vector<T>& list, Fields&& fields) {
  const std::size_t number = a.size(list.size());
  if (a.reads()) list = std::vector<T>(number);
  for (T& element : list) fields(a, element);
}

template <class T, class Fields> void maybe(Archive& a, std::optional<T>& value, Fields&& fields) {
  bool any = value.has_value();
  a(any);
  if (a.reads()) value = any ? std::optional<T>(T{}) : std::nullopt;
  if (value) fields(a, *value);
}

/// Texts that live as long as the process; there are few different ones.
std::string_view kept(std::string text) {
  static std::mutex& mutex = *new std::mutex;
  static auto& all = *new std::set<std::string, std::less<>>;
  const std::lock_guard lock(mutex);
  return *all.insert(std::move(text)).first;
}

void fields(Archive& a, std::string_view& view) {
  std::string text(a.reads() ? std::string_view() : view);
  a(text);
  if (a.reads()) view = kept(std::move(text));
}

void fields(Archive& a, Diagnostic& d) {
  auto& [severity, where, message, hint, file] = d;
  a(severity, where, message, hint, file);
}

void fields(Archive& a, analyzers::Value& value) {
  bool is_count = std::holds_alternative<std::uint64_t>(value);
  std::uint64_t count = is_count ? std::get<std::uint64_t>(value) : 0;
  double ratio = is_count ? 0 : std::get<double>(value);
  a(is_count, count, ratio);
  if (a.reads()) value = is_count ? analyzers::Value(count) : analyzers::Value(ratio);
}

void fields(Archive& a, analyzers::Metric& metric) {
  auto& [key, value] = metric;
  a(key);
  fields(a, value);
}

void fields(Archive& a, analyzers::Metrics& metrics) {
  std::vector<analyzers::Metric> list = a.reads() ? std::vector<analyzers::Metric>() : metrics.list();
  each(a, list, [](Archive& to, analyzers::Metric& metric) { fields(to, metric); });
  if (!a.reads()) return;
  metrics = {};
  for (analyzers::Metric& one : list) {
    if (const auto* const count = std::get_if<std::uint64_t>(&one.value))
      metrics.add(std::move(one.key), *count);
    else
      metrics.add_ratio(std::move(one.key), std::get<double>(one.value), 1);
  }
}

void fields(Archive& a, analyzers::RuleCounts& counts) {
  auto& [transactions, passes] = counts;
  a(transactions, passes);
}

void fields(Archive& a, analyzers::InstructionRow& row) {
  auto& [instruction, line, ptx, source_file, source_line, inlined, pattern, stride, lane_bytes, metrics, bounds_check,
         one_sided, of_boxes, counts, passes_if_shared, recorded] = row;
  a(instruction, line, ptx, source_file, source_line, pattern, stride, lane_bytes, bounds_check, one_sided, of_boxes,
    passes_if_shared, recorded);
  each(a, inlined, [](Archive& to, analyzers::SourceFrame& frame) {
    auto& [file, number] = frame;
    to(file, number);
  });
  fields(a, metrics);
  fields(a, counts);
}

void fields(Archive& a, analyzers::SampleReport& sample) {
  auto& [blocks, watched, classes, seen_classes, unseen_blocks, classes_known, uncovered, errors, largest] = sample;
  a(blocks, watched, classes, seen_classes, unseen_blocks, classes_known, uncovered, largest);
  each(a, errors, [](Archive& to, analyzers::MetricError& error) {
    auto& [key, relative] = error;
    to(key, relative);
  });
}

void fields(Archive& a, analyzers::Profile& profile) {
  auto& [kernel, metrics, counts, blocks, instructions, sample] = profile;
  a(kernel, blocks);
  fields(a, metrics);
  fields(a, counts);
  each(a, instructions, [](Archive& to, analyzers::InstructionRow& row) { fields(to, row); });
  maybe(a, sample, [](Archive& to, analyzers::SampleReport& one) { fields(to, one); });
}

/// But for what findings have in common: nobody needs it any more where speedups are known.
void fields(Archive& a, analyzers::Changes& changes) {
  auto& [accesses, common, bank_passes, constant_passes, instructions, barriers, doubles, conversions, missed, threads,
         local] = changes;
  each(a, accesses, [](Archive& to, analyzers::Changes::Access& access) {
    auto& [instruction, remaining, requests, wider, from_shared] = access;
    to(instruction, remaining, requests, wider, from_shared);
  });
  a(bank_passes, constant_passes, instructions, barriers, doubles, conversions, missed, threads, local);
}

void fields(Archive& a, analyzers::Finding& finding) {
  auto& [rule, severity, message, advice, lines, source_file, source_line, values, excess, unit, remedy, changes,
         only_if_faster, speedup, page] = finding;
  fields(a, rule);
  fields(a, unit);
  a(severity, message, advice, lines, source_file, source_line, excess, remedy, only_if_faster, speedup, page);
  each(a, values, [](Archive& to, analyzers::Metric& metric) { fields(to, metric); });
  fields(a, changes);
}

/// But for `trust`, which points to a table.
void fields(Archive& a, model::Prediction& prediction) {
  auto& [model, device, cycles, milliseconds, mwp, cwp, bound, mwp_bound, terms, benefits, remarks, trust] = prediction;
  a(model, device, cycles, milliseconds, mwp, cwp, bound, mwp_bound, remarks);
  each(a, terms, [](Archive& to, model::Term& term) {
    auto& [name, value, unit] = term;
    to(name, value, unit);
  });
  each(a, benefits, [](Archive& to, model::Benefit& benefit) {
    auto& [of, saved] = benefit;
    fields(to, of);
    to(saved);
  });
  if (a.reads()) trust = nullptr;
}

void fields(Archive& a, model::Occupancy& occupancy) {
  auto& [blocks, warps, ratio, limit_warps, limit_blocks, limit_registers, limit_shared, bound_by] = occupancy;
  a(blocks, warps, ratio, limit_warps, limit_blocks, limit_registers, limit_shared, bound_by);
}

void fields(Archive& a, FlowBlock& block) {
  auto& [first_line, last_line, successors, reconverges_at, exits, warps, threads] = block;
  a(first_line, last_line, successors, reconverges_at, exits, warps, threads);
}

void fields(Archive& a, LaunchReport& report) {
  auto& [kernel, file, sources, grid, block, cluster, device, rules, printed, trap, trap_kind, overruns, analyzed,
         resources, profile, occupancy, control_flow, statistics, longest, predictions, findings, partial, remarks,
         order_of_results, steps, alone_because, seconds, launched_by, stream, operation, children] = report;
  a(kernel, file, grid, block, cluster, printed, trap_kind, analyzed, resources, statistics, partial, remarks,
    order_of_results, steps, alone_because, seconds, launched_by, stream, operation);
  maybe(a, trap, [](Archive& to, Diagnostic& d) { fields(to, d); });
  each(a, overruns, [](Archive& to, LaunchReport::Overrun& overrun) {
    auto& [warning, count] = overrun;
    fields(to, warning);
    to(count);
  });
  fields(a, profile);
  maybe(a, occupancy, [](Archive& to, model::Occupancy& one) { fields(to, one); });
  each(a, control_flow, [](Archive& to, FlowBlock& one) { fields(to, one); });
  maybe(a, longest, [](Archive& to, exec::LongestWarps& one) {
    auto& [of_launch, of_ctas, launch_times, cta_times] = one;
    to(of_launch, of_ctas, launch_times, cta_times);
  });
  each(a, predictions, [](Archive& to, model::Prediction& one) { fields(to, one); });
  each(a, findings, [](Archive& to, analyzers::Finding& one) { fields(to, one); });
  if (!children.empty()) a.fail();
}

} // namespace

std::vector<std::byte> pack(LaunchReport& report) {
  Archive a;
  fields(a, report);
  return a.take();
}

bool unpack(std::span<const std::byte> bytes, LaunchReport& report) {
  Archive a(bytes);
  fields(a, report);
  model::mark_trusted(report.predictions);
  return a.good() && !a.more();
}

} // namespace warplens::api
