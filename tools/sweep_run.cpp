// SPDX-License-Identifier: Apache-2.0
#include "tools/sweep_run.hpp"

#include "api/sweep/sweep_json.hpp"
#include "tools/limit_options.hpp"
#include "tools/output.hpp"
#include "tools/progress.hpp"

#include <fmt/format.h>

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <sstream>
#include <thread>

namespace warplens::tools {

namespace {

using api::RunState;
using api::Settings;
using api::SweepRow;

class Coordinator {
public:
  Coordinator(const SweepSpace& space, SweepInputs& inputs, const RunOptions& options, SweepFile* file,
              const std::function<void(std::size_t, SweepRow)>& row)
      : space_(space), inputs_(inputs), options_(options), file_(file), row_(row),
        queue_(space, inputs, file, options.shard) {}

  SweepCounts run() {
    first_ = queue_.next();
    if (first_ || queue_.others_run()) run_timed();
    counts_.recorded = queue_.recorded();
    counts_.failed += queue_.recorded_failures();
    return counts_;
  }

private:
  void run_timed();
  void run_all(unsigned count);
  std::optional<Workers::Task> next();
  void done(std::span<const Workers::Result> results);
  std::string take_records(const Workers::Result& result);
  void died(const Workers::Task& task, const std::string& why) const;
  void show(std::size_t last);

  const SweepSpace& space_;
  SweepInputs& inputs_;
  const RunOptions& options_;
  SweepFile* file_;
  const std::function<void(std::size_t, SweepRow)>& row_;
  SweepQueue queue_;
  std::optional<Workers::Task> first_;
  SweepCounts counts_;
  Progress* progress_ = nullptr;
};

/// In a worker: a record for each configuration.
std::string run_task(const SweepSpace& space, SweepInputs& inputs, const std::vector<std::size_t>& configurations,
                     const api::SweepOptions& options) {
  std::vector<Settings> all;
  all.reserve(configurations.size());
  for (const std::size_t i : configurations) all.push_back(space.at(i));
  std::vector<std::string> records(all.size());
  for (const std::vector<std::size_t>& group : api::share_emulations(all)) {
    std::vector<Settings> together;
    together.reserve(group.size());
    for (const std::size_t i : group) together.push_back(all[i]);
    const std::vector<SweepRow> rows = api::run_configurations(together, options);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      api::RecordHead head = inputs.head(rows[i].settings);
      head.state = api::state_of(rows[i]);
      records[group[i]] = api::sweep_record(rows[i], head);
    }
  }
  return fmt::format("{}", fmt::join(records, ""));
}

/// Processor time of the processes that have ended.
double seconds_of_children() {
  rusage used{};
  getrusage(RUSAGE_CHILDREN, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

void Coordinator::run_timed() {
  const auto count = static_cast<unsigned>(std::min<std::size_t>(options_.jobs, space_.groups()));
  const auto begin = std::chrono::steady_clock::now();
  const double used = seconds_of_children();
  run_all(count);
  counts_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  counts_.share = (seconds_of_children() - used) / (counts_.seconds * count);
}

void Coordinator::run_all(unsigned count) {
  api::SweepOptions each = options_.sweep;
  each.launch.workers = std::max(1u, options_.jobs / count);
  Workers workers(count, [&](const Workers::Task& task) {
    static const LimitGuard guard(options_.limits); // per process; the time started with the sweep
    return run_task(space_, inputs_, queue_.configurations(task), each);
  });
  Progress progress;
  progress_ = &progress;
  while (true) {
    workers.run([this] { return next(); }, [this](std::span<const Workers::Result> results) { done(results); },
                [this](const Workers::Task& task, const std::string& why) { died(task, why); });
    if (!queue_.others_run() || counts_.out_of_time) break;
    progress.now("waiting for configurations that another sweep runs");
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    file_->refresh();
    queue_.look_again();
  }
  progress_ = nullptr;
  if (file_ != nullptr) file_->flush();
}

std::optional<Workers::Task> Coordinator::next() {
  if (first_) return std::exchange(first_, std::nullopt);
  if (file_ != nullptr && counts_.out_of_time) return std::nullopt;
  return queue_.next();
}

/// Complete records go to the file as they are, with one write.
void Coordinator::done(std::span<const Workers::Result> results) {
  std::string records;
  for (const Workers::Result& result : results) records += take_records(result);
  if (file_ != nullptr && !records.empty()) file_->append(records);
  for (const Workers::Result& result : results) queue_.finished(result.task);
  show(queue_.configurations(results.back().task).back());
}

/// Counts the rows of a task, and passes on those that are not for the file. Returns the others.
std::string Coordinator::take_records(const Workers::Result& result) {
  std::string append;
  std::string_view rest = result.text ? std::string_view(*result.text) : std::string_view();
  for (const std::size_t i : queue_.configurations(result.task)) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    std::optional<api::RecordHead> head = api::believed_head(line); // of a process of ours
    ++counts_.run;
    if (!head) {
      SweepRow row = row_without_result(space_.at(i), result.text ? "its process returned no result"
                                                                  : result.text.error().list().front().message);
      ++counts_.lost;
      head = inputs_.head(row.settings);
      head->state = RunState::lost;
      append += api::sweep_record(row, *head);
      row_(i, std::move(row));
      continue;
    }
    counts_.failed += head->state == RunState::failed ? 1 : 0;
    counts_.out_of_time = counts_.out_of_time || head->state == RunState::lost;
    if (file_ == nullptr || head->state == RunState::lost) row_(i, value_or_throw(api::parse_sweep_line(line)));
    if (head->state != RunState::lost) append += fmt::format("{}\n", line);
  }
  return append;
}

void Coordinator::died(const Workers::Task& task, const std::string& why) const {
  Diagnostics warnings;
  warnings.warning({},
                   fmt::format("warplens: {}: {}", api::text_of(space_.at(queue_.configurations(task).front())), why));
  print(warnings);
}

void Coordinator::show(std::size_t last) {
  const std::size_t known = counts_.run + queue_.recorded(), all = space_.size() / options_.shard.count;
  progress_->now(fmt::format("{} of {} configurations, last: {}", known, all, api::text_of(space_.at(last))), known,
                 all);
}

} // namespace

SweepRow row_without_result(Settings settings, std::string why) {
  SweepRow row{};
  row.settings = std::move(settings);
  row.failure = std::move(why);
  return row;
}

SweepCounts run_sweep(const SweepSpace& space, SweepInputs& inputs, const RunOptions& options, SweepFile* file,
                      const std::function<void(std::size_t, SweepRow)>& row) {
  return Coordinator(space, inputs, options, file, row).run();
}

} // namespace warplens::tools
