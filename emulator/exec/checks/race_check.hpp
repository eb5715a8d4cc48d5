// SPDX-License-Identifier: Apache-2.0
// racecheck: follows launches and reports accesses that race.
//
//   RaceCheck races({.same_values = false});
//   launch.checkers = {&races};  launch.tools.racecheck = true;  run(launch).findings
//
// The CTAs of a launch run on one worker, in a fixed order: all findings follow from that order, and are thus the same
// for any number of threads.
#pragma once

#include "emulator/exec/checks/race/engine.hpp"
#include "emulator/exec/state/checker.hpp"

namespace warplens::exec {

class RaceCheck final : public LaunchChecker {
public:
  struct Options {
    bool same_values = true; ///< also report stores of the value that the memory has already
  };
  RaceCheck() : RaceCheck(Options{}) {}
  explicit RaceCheck(const Options& options) : options_(options) {}

  std::unique_ptr<Checker> make(const Launch& launch) override;
  void finish(const Launch& launch, std::vector<std::unique_ptr<Checker>> checkers, ToolFindings& findings) override;

private:
  Options options_;
  race::Memory global_;
  race::Timeline timeline_;
  race::Time now_ = 0;
};

} // namespace warplens::exec
