// SPDX-License-Identifier: Apache-2.0
// Which groups of configurations remain to run. Nothing is stored for a group, except while another sweep runs it.
//
//   SweepQueue queue(space, inputs, &file, {});
//   while (const auto task = queue.next()) { …; queue.finished(*task); }
//   queue.look_again()                         // what other sweeps were running may have been left by them
#pragma once

#include "tools/sweep_file.hpp"
#include "tools/sweep_inputs.hpp"
#include "tools/sweep_space.hpp"
#include "tools/workers.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace warplens::tools {

/// Every `count`-th group, beginning with number `first`.
struct Shard {
  std::size_t first = 0, count = 1;
  double begin = 0; ///< the share of these groups behind which the queue begins; it goes on with those before
};
/// "2/8": the second of eight. UsageError: it is not of this form.
Shard parse_shard(const std::string& text);

class SweepQueue {
public:
  /// Without a file, all configurations are to run.
  SweepQueue(const SweepSpace& space, SweepInputs& inputs, SweepFile* file, Shard shard);

  /// A group and, as bits, those of its configurations that are to run. Nullopt: there is none that no other sweep
  /// runs.
  std::optional<Workers::Task> next();
  /// The results of a task are in the file.
  void finished(const Workers::Task& task);
  /// The configurations of a task.
  [[nodiscard]] std::vector<std::size_t> configurations(const Workers::Task& task) const;

  /// Whether groups were left out because another sweep ran them.
  [[nodiscard]] bool others_run() const { return !left_out_.empty(); }
  /// next() tries these again.
  void look_again();

  /// The configurations that were in the file, and those of them without a result.
  [[nodiscard]] std::size_t recorded() const { return recorded_; }
  [[nodiscard]] std::size_t recorded_failures() const { return failures_; }

private:
  struct Open {
    Workers::Task task; ///< what is not in the file
    std::size_t recorded = 0, failures = 0;
  };
  std::optional<Workers::Task> take(std::size_t group);
  [[nodiscard]] Open open(std::size_t group) const;
  std::optional<Workers::Task> counted(const Open& open);
  [[nodiscard]] std::uint64_t key(std::size_t group) const;

  const SweepSpace& space_;
  SweepInputs& inputs_;
  SweepFile* file_;
  Shard shard_;
  std::size_t count_, begin_, next_ = 0; ///< groups of the shard
  std::vector<std::size_t> left_out_, again_;
  std::map<std::uint64_t, unsigned> claims_; ///< tasks with this key that run
  std::size_t recorded_ = 0, failures_ = 0;
};

} // namespace warplens::tools
