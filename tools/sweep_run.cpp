// SPDX-License-Identifier: Apache-2.0
#include "tools/sweep_run.hpp"

#include "api/sweep/sweep_json.hpp"
#include "emulator/exec/grid/time_limit.hpp"
#include "tools/limit_options.hpp"
#include "tools/output.hpp"
#include "tools/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <sstream>
#include <thread>

namespace warplens::tools {

namespace {

using api::RunState;
using api::Settings;
using api::SweepRow;

RunState state_of(const SweepRow& row) {
  if (row.failure.empty()) return RunState::done;
  return row.failure.find(exec::kOutOfTime) == row.failure.npos ? RunState::failed : RunState::lost;
}

class Coordinator {
public:
  Coordinator(const SweepSpace& space, SweepInputs& inputs, const RunOptions& options, SweepFile* file,
              const std::function<void(std::size_t, SweepRow)>& row)
      : space_(space), inputs_(inputs), options_(options), file_(file), row_(row),
        queue_(space, inputs, file, options.shard) {}

  SweepCounts run() {
    first_ = queue_.next();
    if (first_ || queue_.others_run()) run_all();
    counts_.recorded = queue_.recorded();
    counts_.failed += queue_.recorded_failures();
    return counts_;
  }

private:
  void run_all();
  std::optional<Workers::Task> next();
  void done(const Workers::Task& task, const Expected<std::string>& result);
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
      head.state = state_of(rows[i]);
      records[group[i]] = api::sweep_record(rows[i], head);
    }
  }
  return fmt::format("{}", fmt::join(records, ""));
}

void Coordinator::run_all() {
  const auto count = static_cast<unsigned>(std::min<std::size_t>(options_.jobs, space_.groups()));
  api::SweepOptions each = options_.sweep;
  each.launch.workers = std::max(1u, options_.jobs / count);
  Workers workers(count, [&](const Workers::Task& task) {
    static const LimitGuard guard(options_.limits); // per process; the time started with the sweep
    return run_task(space_, inputs_, queue_.configurations(task), each);
  });
  Progress progress;
  progress_ = &progress;
  while (true) {
    workers.run([this] { return next(); },
                [this](const Workers::Task& task, const Expected<std::string>& result) { done(task, result); },
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

/// Complete records go to the file as they are, with one write; rows that are not recorded go to the caller.
void Coordinator::done(const Workers::Task& task, const Expected<std::string>& result) {
  const std::vector<std::size_t> configurations = queue_.configurations(task);
  std::string append;
  std::string_view rest = result ? std::string_view(*result) : std::string_view();
  for (const std::size_t i : configurations) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    std::optional<api::RecordHead> head = api::record_head(line);
    ++counts_.run;
    if (!head) {
      SweepRow row = row_without_result(space_.at(i), result ? "its process returned no result"
                                                             : result.error().list().front().message);
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
  if (file_ != nullptr && !append.empty()) file_->append(append);
  queue_.finished(task);
  show(configurations.back());
}

void Coordinator::died(const Workers::Task& task, const std::string& why) const {
  Diagnostics warnings;
  warnings.warning({}, fmt::format("warplens: {}: {}",
                                   api::text_of(space_.at(queue_.configurations(task).front())), why));
  print(warnings);
}

void Coordinator::show(std::size_t last) {
  const std::size_t known = counts_.run + queue_.recorded(), all = space_.size() / options_.shard.count;
  progress_->now(
      fmt::format("{} of {} configurations, last: {}", known, all, api::text_of(space_.at(last))), known, all);
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
