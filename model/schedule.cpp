// SPDX-License-Identifier: Apache-2.0
#include "model/schedule.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <list>
#include <queue>

namespace warplens::model {

namespace {

class Scheduler {
public:
  explicit Scheduler(std::span<const Task> tasks)
      : tasks_(tasks), intervals_(tasks.size()), left_(tasks.size()), waits_for_(tasks.size()), next_(tasks.size()) {
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      left_[i] = std::max(0.0, tasks[i].milliseconds);
      waits_for_[i] = tasks[i].after.size();
      for (const std::size_t before : tasks[i].after) next_[before].push_back(i);
    }
  }

  std::vector<Interval> run() {
    std::vector<std::size_t> ready;
    for (std::size_t i = 0; i < tasks_.size(); ++i)
      if (waits_for_[i] == 0) ready.push_back(i);
    start(std::move(ready));
    while (!running_.empty() || copying()) start(advance());
    return std::move(intervals_);
  }

private:
  using Queue = std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>>; ///< the first submitted
  struct Copier {
    Queue waiting;
    bool busy = false;
    std::size_t current = 0;
  };
  struct Running {
    std::size_t task;
    double speed = 0; ///< of its full speed
  };

  [[nodiscard]] bool copying() const {
    return std::any_of(copiers_.begin(), copiers_.end(), [](const Copier& copier) { return copier.busy; });
  }

  /// Tasks whose predecessors have ended. Those that take no time end at once.
  void start(std::vector<std::size_t> ready) {
    std::sort(ready.begin(), ready.end());
    for (std::size_t at = 0; at < ready.size(); ++at) {
      const std::size_t i = ready[at];
      if (left_[i] <= 0 || tasks_[i].unit == Unit::none) {
        intervals_[i].start = now_;
        end(i, now_, ready);
      } else if (tasks_[i].unit == Unit::multiprocessors) {
        running_.push_back({i});
      } else {
        copiers_[static_cast<std::size_t>(tasks_[i].unit)].waiting.push(i);
      }
    }
    for (Copier& copier : copiers_) begin_copy(copier);
    share_multiprocessors();
  }

  void begin_copy(Copier& copier) {
    if (copier.busy || copier.waiting.empty()) return;
    copier.busy = true;
    copier.current = copier.waiting.top();
    copier.waiting.pop();
    intervals_[copier.current].start = now_;
  }

  void share_multiprocessors() {
    double rest = 1;
    for (Running& one : running_) {
      const double wanted = std::clamp(tasks_[one.task].share, kLeastShare, 1.0);
      const bool had_started = one.speed > 0 || left_[one.task] < tasks_[one.task].milliseconds;
      one.speed = std::min(wanted, rest) / wanted;
      if (one.speed > 0 && !had_started) intervals_[one.task].start = now_;
      rest = std::max(0.0, rest - wanted);
      if (rest < kLeastShare) rest = 0;
    }
  }

  /// Goes on to the next end of a task. Returns the tasks that need not wait any more.
  std::vector<std::size_t> advance() {
    double step = std::numeric_limits<double>::infinity();
    for (const Running& one : running_)
      if (one.speed > 0) step = std::min(step, left_[one.task] / one.speed);
    for (const Copier& copier : copiers_)
      if (copier.busy) step = std::min(step, left_[copier.current]);
    now_ += step;
    std::vector<std::size_t> ready;
    const auto done = [&](std::size_t task, double speed) {
      left_[task] -= step * speed;
      // What is left of rounding is no time of its own.
      if (left_[task] > 1e-12 * tasks_[task].milliseconds) return false;
      end(task, now_, ready);
      return true;
    };
    for (auto one = running_.begin(); one != running_.end();)
      one = one->speed > 0 && done(one->task, one->speed) ? running_.erase(one) : std::next(one);
    for (Copier& copier : copiers_)
      if (copier.busy) copier.busy = !done(copier.current, 1);
    return ready;
  }

  void end(std::size_t task, double when, std::vector<std::size_t>& ready) {
    intervals_[task].end = when;
    for (const std::size_t after : next_[task])
      if (--waits_for_[after] == 0) ready.push_back(after);
  }

  static constexpr double kLeastShare = 1e-9;
  std::span<const Task> tasks_;
  std::vector<Interval> intervals_;
  std::vector<double> left_; ///< milliseconds at full speed
  std::vector<std::size_t> waits_for_;
  std::vector<std::vector<std::size_t>> next_;
  std::list<Running> running_; ///< kernels, in the order in which they became ready
  std::array<Copier, kUnits> copiers_;
  double now_ = 0;
};

} // namespace

std::vector<Interval> schedule(std::span<const Task> tasks) { return Scheduler(tasks).run(); }

int copy_engines(const Device& device) {
  if (device.capability >= ComputeCapability{2, 0}) return 3;
  return device.capability >= ComputeCapability{1, 1} ? 1 : 0;
}

bool runs_concurrent_kernels(const Device& device) { return device.capability >= ComputeCapability{2, 0}; }

Unit unit_on(const Device& device, Unit unit) {
  if (unit == Unit::none || unit == Unit::multiprocessors) return unit;
  if (copy_engines(device) == 0) return Unit::multiprocessors;
  return unit == Unit::to_host && copy_engines(device) == 1 ? Unit::to_device : unit;
}

} // namespace warplens::model
