// SPDX-License-Identifier: Apache-2.0
#include "api/launch/advice.hpp"

#include "analyzers/issue_chain.hpp"
#include "api/launch/board.hpp"
#include "api/launch/launch_findings.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace warplens::api {

namespace {

/// What the issue of instructions takes longer because loads wait for shared memory, in cycles of all warps.
double cycles_of_staging(const LaunchReport& report, const ir::Module& module, const ir::Function& kernel,
                         const analyzers::Changes& changes) {
  const auto latencies = result_latencies(report.device);
  std::set<std::uint32_t> staged;
  changes.for_each_access([&](const analyzers::Changes::Access& access) {
    if (access.from_shared) staged.insert(access.instruction);
  });
  if (!latencies || staged.empty()) return 0;
  std::vector<exec::InstructionCount> counts(kernel.instructions.size());
  for (const analyzers::InstructionRow& row : report.profile.instructions)
    counts[row.instruction].warps = row.metrics.integer(analyzers::MetricId::warp_instructions);
  return analyzers::issue_cycles(module, kernel, counts, *latencies, staged) -
         analyzers::issue_cycles(module, kernel, counts, *latencies);
}

/// The distinct sectors of `before`, but no more than are requested now.
void keep_footprint(model::KernelStatistics& s, const model::KernelStatistics& before) {
  if (!before.only_loaded_sectors || !before.written_sectors) return;
  constexpr double kSectorBytes = 32;
  const double all = model::transactions(s);
  const double sectors = all > 0 ? model::transaction_bytes(s) / (all * kSectorBytes) : 0; // of a transaction
  const auto requested = [&](double transactions) { return transactions * sectors * model::total_warps(s); };
  s.only_loaded_sectors = std::min(*before.only_loaded_sectors, requested(model::value_of(s.load_transactions)));
  s.written_sectors = std::min(*before.written_sectors, requested(model::value_of(s.store_transactions) +
                                                                  model::value_of(s.atomic_transactions)));
}

/// The statistics of the launch after the changes; those that are not counted by instruction remain.
model::KernelStatistics changed_statistics(const LaunchReport& report, const ir::Module& module,
                                           const ir::Function& kernel, const Statistics& statistics,
                                           const analyzers::Changes& changes) {
  std::optional<int> resident;
  if (report.occupancy) resident = report.occupancy->blocks;
  model::KernelStatistics s = statistics.of(report.block[0] * report.block[1] * report.block[2], resident, changes);
  s.registers_per_thread = report.statistics.registers_per_thread;
  s.shared_bytes_per_block = report.statistics.shared_bytes_per_block;
  s.argument_bytes = report.statistics.argument_bytes;
  s.host_bytes = report.statistics.host_bytes;
  keep_footprint(s, report.statistics);
  const double staging = cycles_of_staging(report, module, kernel, changes) / model::total_warps(report.statistics);
  const auto longer = [&](model::KernelStatistics::Field& field) {
    if (field) *field += staging;
  };
  longer(s.issue_chain);
  for (const model::CriticalPath& path : model::critical_paths(s)) {
    longer(*path.l2);
    longer(*path.memory);
  }
  return s;
}

} // namespace

void advise(LaunchReport& report, const ir::Module& module, const ir::Function& kernel, const Statistics& statistics,
            std::int64_t shared_bytes) {
  report.findings = analyzers::find_problems(report.profile, {report.device.coalescing_rule, report.device.bank_rule},
                                             {&module, &kernel});
  const model::Prediction* const now = model::trusted_for_changes(report.predictions);
  const auto predict = [&](const model::KernelStatistics& s) -> Expected<model::Prediction> {
    if (now == nullptr) return failure("no model predicts this launch");
    return model::find_model(now->model)->predict(s, report.device, model::ModelOptions{});
  };
  const auto speedup = [&](const analyzers::Changes& changes) -> std::optional<double> {
    const Expected<model::Prediction> then = predict(changed_statistics(report, module, kernel, statistics, changes));
    if (!then || then->milliseconds <= 0) return std::nullopt;
    return std::max(1.0, now->milliseconds / then->milliseconds);
  };
  std::map<const void*, std::optional<double>> of_common;
  for (analyzers::Finding& finding : report.findings) {
    if (now == nullptr || !finding.changes.any()) continue;
    if (!finding.changes.are_common()) {
      finding.speedup = speedup(finding.changes);
      continue;
    }
    const auto [known, is_new] = of_common.try_emplace(finding.changes.common.get());
    if (is_new) known->second = speedup(finding.changes);
    finding.speedup = known->second;
  }
  std::erase_if(report.findings,
                [](const analyzers::Finding& finding) { return finding.only_if_faster && saves_little(finding); });
  find_in_launch(report, kernel.bounds, shared_bytes, predict);
  // What an instruction wastes need not cost the launch any time.
  const bool known = model::knows_what_takes_time(report.predictions);
  for (analyzers::Finding& finding : report.findings) {
    if (!saves_little(finding)) continue;
    finding.severity = Severity::note;
    if (!known) finding.speedup.reset();
  }
}

} // namespace warplens::api
