// SPDX-License-Identifier: Apache-2.0
#include "api/launch/device_launches.hpp"

#include <fmt/format.h>

#include <cstring>
#include <deque>

namespace warplens::api {

namespace {

Extent extent(const std::array<std::uint32_t, 3>& e) { return {e[0], e[1], e[2]}; }

// An operation of the host counts as this many warp instructions, which take about the same time.
constexpr std::uint64_t kStepsOfLaunch = 100'000, kBytesOfStep = 32;

// Reports stay in memory until the last launch has ended. Their number is limited if steps are limited.
constexpr std::size_t kMostReports = 4096;

/// The parent's launch, with the changes that the kernel requested.
LaunchRequest request_of(const LaunchRequest& parent, const exec::DeviceLaunch& launch) {
  LaunchRequest child = parent;
  child.kernel.function = &parent.kernel.module->ir().functions[launch.kernel];
  child.grid = extent(launch.grid);
  child.block = extent(launch.block);
  child.cluster.reset();
  child.dynamic_shared_bytes = launch.shared_bytes;
  child.cooperative = false;
  child.options.registers.reset();
  child.launched_by = parent.kernel.function->name;
  if (parent.analyze_child) child.options.analyze = parent.analyze_child(*child.kernel.function);
  child.arguments.clear();
  const std::vector<std::uint32_t> offsets = exec::parameter_layout(*child.kernel.function);
  for (std::size_t i = 0; i < child.kernel.function->params.size(); ++i)
    child.arguments.push_back(
        Argument::raw(std::span(launch.parameters).subspan(offsets[i], child.kernel.function->params[i].size)));
  return child;
}

using Parent = std::shared_ptr<const LaunchRequest>; ///< the launch of a grid that has ended

class Family {
public:
  Family(std::span<const TargetDevice> targets, LaunchReports& reports)
      : targets_(targets.begin(), targets.end()), reports_(reports) {
    for (TargetDevice& target : targets_) target.registers.reset(); // they belong to the parent
    for (const Expected<LaunchReport>& report : reports)
      if (report) steps_ = report->steps;
  }

  /// All operations that one grid requested.
  void run(const Parent& parent, const exec::DeviceRuntime& asked) {
    run_in_order(parent, asked);
    // A grid of the tail stream completes, including its own tail stream, before the next grid begins.
    std::deque<std::pair<Parent, exec::DeviceOperation>> tail;
    for (const exec::DeviceOperation& operation : asked.tail) tail.emplace_back(parent, operation);
    while (!tail.empty() && !stopped_) {
      const auto [by, operation] = std::move(tail.front());
      tail.pop_front();
      exec::DeviceRuntime its{.depth = asked.depth};
      const Parent grid = perform(by, operation, its);
      run_in_order(grid, its);
      for (std::size_t i = its.tail.size(); i-- > 0;) tail.emplace_front(grid, std::move(its.tail[i]));
    }
  }

private:
  /// DeviceRuntime::kMostDepth bounds the recursion.
  void run_in_order(const Parent& parent, const exec::DeviceRuntime& asked) {
    for (const exec::DeviceOperation& operation : asked.in_order) {
      if (stopped_) break;
      exec::DeviceRuntime its{.depth = asked.depth + 1};
      const Parent grid = perform(parent, operation, its);
      run(grid, its);
    }
  }

  /// Runs one operation. For a launch, runs only the grid and returns the launch.
  Parent perform(const Parent& parent, const exec::DeviceOperation& operation, exec::DeviceRuntime& its) {
    if (const auto* const launch = std::get_if<exec::DeviceLaunch>(&operation))
      return this->launch(parent, *launch, its);
    Sanitizer* const tools = parent->options.sanitizer;
    const bool follows = tools != nullptr && tools->tools().initcheck;
    if (const auto* const copy = std::get_if<exec::DeviceCopy>(&operation)) {
      if (follows) tools->copied("a copy by a kernel", copy->to, copy->from, copy->bytes);
      std::memmove(reinterpret_cast<void*>(copy->to), reinterpret_cast<const void*>(copy->from), copy->bytes);
      steps_ += copy->bytes / kBytesOfStep;
    }
    if (const auto* const fill = std::get_if<exec::DeviceFill>(&operation)) {
      if (follows) tools->filled(fill->to, fill->bytes);
      std::memset(reinterpret_cast<void*>(fill->to), std::to_integer<int>(fill->value), fill->bytes);
      steps_ += fill->bytes / kBytesOfStep;
    }
    return nullptr;
  }

  /// Runs the launch for the targets that have not refused any launch.
  Parent launch(const Parent& parent, const exec::DeviceLaunch& launch, exec::DeviceRuntime& its) {
    steps_ += kStepsOfLaunch;
    LaunchRequest made = request_of(*parent, launch);
    made.steps_before = steps_;
    if (made.options.analyze && made.options.max_steps != 0 && ++analysed_ > kMostReports) return too_many(*parent);
    auto request = std::make_shared<const LaunchRequest>(std::move(made));
    std::vector<TargetDevice> targets;
    std::vector<Expected<LaunchReport>*> theirs;
    for (std::size_t i = 0; i < reports_.size(); ++i)
      if (reports_[i]) targets.push_back(targets_[i]), theirs.push_back(&reports_[i]);
    LaunchReports children = launch_grid(*request, targets, its);
    stopped_ = true; // if all targets refuse it, or it stops
    std::uint64_t steps = 0;
    for (std::size_t i = 0; i < children.size(); ++i) {
      Expected<LaunchReport>& child = children[i];
      if (!child) {
        *theirs[i] = failure(refused(*request, child.error()));
        continue;
      }
      stopped_ = child->trap.has_value();
      steps = child->steps;
      if (child->analyzed || stopped_ || !child->printed.empty() || !child->overruns.empty())
        (*theirs[i])->children.push_back(std::move(*child));
    }
    steps_ += steps;
    return request;
  }
  Parent too_many(const LaunchRequest& by) {
    stopped_ = true;
    Diagnostics why;
    why.error({},
              fmt::format("kernel '{}' launches a kernel after {} analysed launches: this is the limit",
                          by.kernel.function->name, kMostReports),
              "--max-steps 0 also removes this limit");
    for (Expected<LaunchReport>& report : reports_)
      if (report) report = failure(why);
    return nullptr;
  }
  static Diagnostics refused(const LaunchRequest& request, const Diagnostics& errors) {
    Diagnostics why;
    for (const Diagnostic& d : errors.list())
      why.error(
          d.where,
          fmt::format("kernel '{}' launches '{}': {}", request.launched_by, request.kernel.function->name, d.message),
          d.hint);
    return why;
  }

  bool stopped_ = false;
  std::size_t analysed_ = 0;
  std::uint64_t steps_ = 0; ///< of all launches so far
  std::vector<TargetDevice> targets_;
  LaunchReports& reports_;
};

} // namespace

void run_device_operations(const LaunchRequest& request, std::span<const TargetDevice> targets,
                           const exec::DeviceRuntime& runtime, LaunchReports& reports) {
  Family(targets, reports).run(std::make_shared<const LaunchRequest>(request), runtime);
}

} // namespace warplens::api
