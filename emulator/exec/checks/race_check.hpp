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

/// The memory that the device shares with the host keeps its accesses from operation to operation (launches, copies,
/// fills), if the host says which of them are in no order; otherwise all are.
class RaceCheck final : public LaunchChecker {
public:
  struct Options {
    bool same_values = true; ///< also report stores of the value that the memory has already
  };
  RaceCheck() : RaceCheck(Options{}) {}
  explicit RaceCheck(const Options& options) : options_(options) {}

  std::unique_ptr<Checker> make(const Launch& launch) override;
  void finish(const Launch& launch, const std::vector<std::unique_ptr<Checker>>& checkers,
              ToolFindings& findings) override;

  /// The next operation of the host. `concurrent`: of the earlier ones, by index, ascending, those that do not happen
  /// before it. Returns its index.
  std::size_t begin(std::vector<std::size_t> concurrent);
  /// All operations so far happen before all later ones: they are forgotten.
  void forget_operations();
  /// An access of the current operation, which is no launch: `number` as Launch::number.
  void touch(std::uint64_t number, std::uint64_t address, std::uint64_t bytes, bool writes, ToolFindings& findings);
  /// A page with bytes that these operations, by index, access.
  struct InFlight {
    std::uint64_t page = 0;
    bool written = false;
  };
  static constexpr std::uint64_t kPageBytes = 4096;
  [[nodiscard]] std::vector<InFlight> in_flight(std::uint64_t begin, std::uint64_t bytes,
                                                const std::vector<std::size_t>& operations);
  /// Memory that is given anew.
  void forget(std::uint64_t address, std::uint64_t bytes) { global_.shadow.forget(address, bytes); }
  /// Bytes of the shadow of global memory.
  [[nodiscard]] std::size_t shadow_bytes() const { return global_.shadow.size(); }

private:
  void report(race::Races& races, ToolFindings& findings) const;
  void start(std::uint64_t number, std::uint32_t warps);

  Options options_;
  race::Memory global_;
  race::Timeline timeline_;
  race::Time now_ = 0;
  bool by_host_ = false; ///< begin() is used
};

} // namespace warplens::exec
