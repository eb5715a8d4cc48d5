// SPDX-License-Identifier: Apache-2.0
// Copies of the program's process that analyse launches, while the program runs them without analysis and goes on:
// `warplens exec --analyze-processes N`. A copy shares the pages of memory with the program until one of them writes.
//
//   LaunchCopy copy(*analysis_processes());
//   request.options.copier = &copy;    report = api::launch(request);
//   if (copy.here() == Here::copy) copy.send(report);       // does not return
//   number = copy.release();                                // in the program
//   analysis_processes()->result_of(number)                 // when the report is needed
//
// Threads of the program hold locks that a copy would wait for forever. A copy therefore begins where the launch is
// ready to run, and only while no other launch runs; from there on, it takes the locks of the C library alone, which
// fork() takes care of. One that waits all the same is ended, and its launch counts as not analysed.
#pragma once

#include "api/launch/launch.hpp"

#include <sys/types.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace warplens::runtime {

class AnalysisProcesses {
public:
  /// `from`: warp instructions that a launch must have.
  AnalysisProcesses(unsigned most, double from) : most_(most), from_(from) {}
  [[nodiscard]] unsigned most() const { return most_; }
  /// Whether a launch of so many warp instructions is worth a copy: the copied pages cost time, too. Nothing: it is not
  /// known.
  [[nodiscard]] bool worth(std::optional<double> steps) const { return !steps || *steps >= from_; }

  using Number = std::uint64_t; ///< of a copy, from 1
  struct Result {
    std::vector<std::byte> report; ///< see api/launch/report_archive.hpp
    std::string failure;           ///< why there is none
    bool out_of_time = false;      ///< the time limit of the process was reached before
  };
  /// Waits until another copy may run, and makes it. Returns its number, or 0 in the copy itself; none if the system
  /// allows no further process, or another launch runs.
  std::optional<Number> copy();
  /// In the copy: hands over the report, or why there is none, and ends.
  [[noreturn]] void send(const Result& result);
  /// Waits for the result of a copy.
  Result result_of(Number copy);
  /// Nobody needs its result.
  void drop(Number copy);

  /// Held while a launch runs.
  class Running {
  public:
    explicit Running(AnalysisProcesses* all);
    ~Running();
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

  private:
    AnalysisProcesses* all_;
  };

private:
  struct Child {
    pid_t process = 0;
    int ends = -1;                  ///< file descriptor that is readable when the process has ended
    int here = -1;                  ///< the process ends when this end of a pipe is closed
    int result = -1;                ///< a file without a name
    std::uint64_t ticks = 0;        ///< of the processor that it has used, when …
    std::uint64_t same_seconds = 0; ///< … it last used some, so many seconds ago
  };
  std::optional<Number> fork_now();
  void become(const Child& own, int there, pid_t parent);
  void wait_for_some(int milliseconds);
  void end_if_stuck(Child& child);
  void take(Number number, std::string failure = {}, bool out_of_time = false);

  const unsigned most_;
  const double from_;
  std::mutex mutex_; ///< protects the members below
  Number last_ = 0;
  std::map<Number, Child> children_;
  std::map<Number, Result> results_;
  int own_result_ = -1; ///< in a copy

  std::mutex running_mutex_; ///< taken after mutex_
  unsigned running_ = 0;     ///< launches
};

/// Those of this process; null: the launches are analysed in it.
AnalysisProcesses* analysis_processes();

/// The copy that analyses one launch, if there is to be one.
class LaunchCopy : public api::ProcessCopier {
public:
  explicit LaunchCopy(AnalysisProcesses& all) : all_(all) {}
  ~LaunchCopy() override;
  LaunchCopy(const LaunchCopy&) = delete;
  LaunchCopy& operator=(const LaunchCopy&) = delete;

  [[nodiscard]] unsigned most() const override { return all_.most(); }
  Here copy() override;
  [[nodiscard]] Here here() const { return here_; }
  /// In the copy.
  [[noreturn]] void send(Expected<api::LaunchReport>& report);
  [[noreturn]] void fail(const std::string& why) { all_.send({{}, why}); }
  /// In the program, whose launch has ended in the same way as it must have in the copy. Call it once.
  AnalysisProcesses::Number release() { return std::exchange(number_, 0); }

private:
  AnalysisProcesses& all_;
  Here here_ = Here::program_without_copy;
  AnalysisProcesses::Number number_ = 0;
};

} // namespace warplens::runtime
