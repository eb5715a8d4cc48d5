// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/checks/race_check.hpp"

#include "emulator/exec/checks/race_checker.hpp"
#include "emulator/exec/state/launch.hpp"

namespace warplens::exec {

namespace {

ToolFinding::Kind kind_of(const race::Race& race) {
  if (race.later.access == AccessKind::load) return ToolFinding::Kind::raw;
  return race.earlier.access == AccessKind::load ? ToolFinding::Kind::war : ToolFinding::Kind::waw;
}

const char* text_of(race::Missing missing) {
  using race::Missing;
  switch (missing) {
  case Missing::barrier: return "no barrier of the block between the two accesses";
  case Missing::warp_barrier: return "no __syncwarp() of both lanes between the two accesses";
  case Missing::cluster_barrier: return "no barrier of the cluster that releases and acquires between the two accesses";
  case Missing::grid_barrier: return "no barrier of the grid between the two accesses";
  case Missing::nothing: return "nothing orders accesses of different blocks of a launch, unless they pass messages";
  case Missing::mbarrier: return "no wait for a phase of an mbarrier in which the other thread arrived";
  case Missing::wait: return "no wait for the asynchronous copy";
  case Missing::fence: return "no fence on either side of the message that orders the two threads";
  case Missing::release: return "no release or fence between the first access and the message that was read later";
  case Missing::acquire: return "no acquire or fence between the message that was read and the second access";
  case Missing::scope: return "the scope of one of the operations does not include the other thread";
  case Missing::size: return "strong operations of different sizes overlap";
  case Missing::atomic: return "one of the accesses is atomic, the other one is not";
  case Missing::stream: return "no event, edge or synchronisation between the two operations of the host";
  }
  return "";
}

ThreadAccess side_of(const race::Race& race, const race::RaceSide& side) {
  return {.instruction = side.instruction,
          .cta = side.cta,
          .thread = side.thread,
          .space = race.space,
          .access = side.access,
          .bytes = race.bytes,
          .address = race.address,
          .launch = side.launch};
}

} // namespace

std::unique_ptr<Checker> RaceCheck::make(const Launch& launch) {
  global_.shadow.clear();
  global_.locations.clear();
  now_ = 0;
  return std::make_unique<RaceChecker>(launch, global_, timeline_, now_);
}

void RaceCheck::finish(const Launch&, std::vector<std::unique_ptr<Checker>> checkers, ToolFindings& findings) {
  for (const auto& checker : checkers)
    for (const race::Races::Pair& pair : static_cast<RaceChecker&>(*checker).engine().races().take()) {
      const race::Race& race = pair.first;
      if (race.same_value && !options_.same_values) continue;
      std::string detail = text_of(race.missing);
      if (race.same_value) detail += "; benign: both store the same value";
      ToolFinding finding{kind_of(race), side_of(race, race.later), side_of(race, race.earlier), detail};
      findings.add(finding);
      for (const auto& [cta, thread] : pair.threads) {
        if (cta == race.later.cta && thread == race.later.thread) continue;
        finding.at.cta = cta;
        finding.at.thread = thread;
        findings.add(finding);
      }
    }
}

} // namespace warplens::exec
