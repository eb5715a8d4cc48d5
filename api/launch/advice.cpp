// SPDX-License-Identifier: Apache-2.0
#include "api/launch/advice.hpp"

#include "api/launch/launch_findings.hpp"
#include "api/launch/statistics.hpp"

#include <algorithm>

namespace warplens::api {

namespace {

/// The statistics of the launch after the changes; those that are not counted by instruction remain.
model::KernelStatistics changed_statistics(const LaunchReport& report, const ir::Function& kernel,
                                           std::uint64_t threads_per_block, const analyzers::Changes& changes) {
  std::optional<int> resident;
  if (report.occupancy) resident = report.occupancy->blocks;
  model::KernelStatistics s = statistics(report.profile, kernel, report.device, threads_per_block, resident, changes);
  s.registers_per_thread = report.statistics.registers_per_thread;
  s.shared_bytes_per_block = report.statistics.shared_bytes_per_block;
  s.argument_bytes = report.statistics.argument_bytes;
  return s;
}

} // namespace

void advise(LaunchReport& report, const ir::Module& module, const ir::Function& kernel, std::int64_t shared_bytes) {
  const std::uint64_t threads = report.block[0] * report.block[1] * report.block[2];
  report.findings = analyzers::find_problems(report.profile, {report.device.coalescing_rule, report.device.bank_rule},
                                             {&module, &kernel});
  const model::Prediction* const now = model::trusted(report.predictions);
  const auto predict = [&](const model::KernelStatistics& s) -> Expected<model::Prediction> {
    if (now == nullptr) return failure("no model predicts this launch");
    return model::find_model(now->model)->predict(s, report.device, model::ModelOptions{});
  };
  for (analyzers::Finding& finding : report.findings) {
    if (now == nullptr || !finding.changes.any()) continue;
    const Expected<model::Prediction> then = predict(changed_statistics(report, kernel, threads, finding.changes));
    if (then && then->milliseconds > 0) finding.speedup = std::max(1.0, now->milliseconds / then->milliseconds);
  }
  std::erase_if(report.findings, [](const analyzers::Finding& finding) {
    return finding.only_if_faster && finding.speedup && *finding.speedup < kWorthwhile;
  });
  find_in_launch(report, shared_bytes, predict);
}

} // namespace warplens::api
