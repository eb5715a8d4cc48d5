// SPDX-License-Identifier: Apache-2.0
#include "api/report/timeline.hpp"

#include "model/schedule.hpp"
#include "model/trust.hpp"

#include <algorithm>

namespace warplens::api {

namespace {

using OperationKind = ProgramOperation::Kind;
using model::Unit;

Unit unit_of(OperationKind kind) {
  switch (kind) {
  case OperationKind::launch:
  case OperationKind::other: return Unit::multiprocessors;
  case OperationKind::copy_to_device: return Unit::to_device;
  case OperationKind::copy_to_host: return Unit::to_host;
  case OperationKind::copy_on_device:
  case OperationKind::fill: return Unit::memory;
  default: return Unit::none;
  }
}

/// Gigabytes per second are bytes per nanosecond.
double milliseconds_of(double bytes, double gb_s) { return bytes / gb_s * 1e-6; }

/// The time of a copy or fill; none if the device file lacks the rate.
std::optional<double> time_of_bytes(const model::Device& device, const ProgramOperation& operation) {
  const auto bytes = static_cast<double>(operation.bytes);
  switch (operation.kind) {
  case OperationKind::copy_on_device: return milliseconds_of(2 * bytes, device.bandwidth_gb_s);
  case OperationKind::fill: return milliseconds_of(bytes, device.bandwidth_gb_s);
  case OperationKind::copy_to_device:
  case OperationKind::copy_to_host:
    if (!device.host_link_gb_s) return std::nullopt;
    return milliseconds_of(bytes, *device.host_link_gb_s);
  default: return 0;
  }
}

/// The part of the multiprocessors that all blocks of a launch fill.
double share_of(const LaunchReport& report, const model::Device& device) {
  if (!model::runs_concurrent_kernels(device) || !report.occupancy || report.occupancy->blocks <= 0) return 1;
  const double blocks =
      static_cast<double>(report.grid[0]) * static_cast<double>(report.grid[1]) * static_cast<double>(report.grid[2]);
  return std::clamp(blocks / report.occupancy->blocks / std::max(device.multiprocessors, 1), 1e-6, 1.0);
}

/// Adds the predictions of the launches of an operation.
void add_launches(TimelineEntry& entry, model::Task& task, std::span<const LaunchReport> launches,
                  const model::Device& device) {
  entry.known = !entry.launches.empty() || entry.kind == OperationKind::other;
  task.share = 0;
  for (const std::size_t i : entry.launches) {
    const model::Prediction* const best = model::trusted(launches[i].predictions);
    if (best == nullptr) {
      entry.known = false;
      continue;
    }
    task.milliseconds += best->milliseconds;
    task.share = std::max(task.share, share_of(launches[i], device));
  }
  if (task.share == 0) task.share = 1;
}

/// `launches` of each entry are set.
void set_times(Timeline& timeline, const model::Device& device, std::span<const LaunchReport> launches,
               std::span<const ProgramOperation> operations) {
  std::vector<model::Task> tasks(operations.size());
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const ProgramOperation& operation = operations[i];
    TimelineEntry& entry = timeline.entries[i];
    entry.kind = operation.kind;
    entry.stream = operation.stream;
    entry.bytes = operation.bytes;
    tasks[i].after = operation.after;
    tasks[i].unit = model::unit_on(device, unit_of(operation.kind));
    if (operation.kind == OperationKind::launch || operation.kind == OperationKind::other) {
      add_launches(entry, tasks[i], launches, device);
    } else {
      const std::optional<double> time = time_of_bytes(device, operation);
      entry.known = time.has_value();
      tasks[i].milliseconds = time.value_or(0);
    }
    timeline.sum += tasks[i].milliseconds;
  }
  const std::vector<model::Interval> intervals = model::schedule(tasks);
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    timeline.entries[i].start = intervals[i].start;
    timeline.entries[i].end = intervals[i].end;
    timeline.milliseconds = std::max(timeline.milliseconds, intervals[i].end);
  }
}

} // namespace

std::string_view to_string(OperationKind kind) {
  constexpr std::string_view kNames[] = {"launch", "copy to device", "copy to host", "copy on device",
                                         "fill",   "host function",  "other"};
  return kNames[static_cast<std::size_t>(kind)];
}

Timeline timeline_of(const model::Device& device, std::span<const LaunchReport> launches,
                     std::span<const ProgramOperation> operations) {
  Timeline timeline;
  timeline.entries.resize(operations.size());
  for (std::size_t i = 0; i < launches.size(); ++i)
    if (const auto& at = launches[i].operation; at && *at < operations.size())
      timeline.entries[*at].launches.push_back(i);
  set_times(timeline, device, launches, operations);
  return timeline;
}

Timeline timeline_of(const model::Device& device, std::span<const LaunchReport> launches) {
  Timeline timeline;
  timeline.entries.resize(launches.size());
  std::vector<ProgramOperation> operations(launches.size());
  for (std::size_t i = 0; i < launches.size(); ++i) {
    timeline.entries[i].launches = {i};
    operations[i].stream = launches[i].stream;
    if (i > 0) operations[i].after = {i - 1};
  }
  set_times(timeline, device, launches, operations);
  return timeline;
}

} // namespace warplens::api
