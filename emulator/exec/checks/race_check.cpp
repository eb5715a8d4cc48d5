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

std::size_t RaceCheck::begin(std::vector<std::size_t> concurrent) {
  by_host_ = true;
  timeline_.operations.push_back({.begin = now_ + 1, .end = now_ + 1});
  timeline_.concurrent = std::move(concurrent);
  return timeline_.operations.size() - 1;
}

void RaceCheck::forget_operations() {
  global_.shadow.clear();
  global_.locations.clear();
  timeline_ = {};
  now_ = 0;
}

// What the current operation is.
void RaceCheck::start(std::uint64_t number, std::uint32_t warps) {
  if (!by_host_) {
    forget_operations();
    timeline_.operations.push_back({});
  }
  race::Timeline::Operation& current = timeline_.operations.back();
  current.number = number;
  current.warps = warps;
}

std::unique_ptr<Checker> RaceCheck::make(const Launch& launch) {
  start(launch.number, launch.shape.warps());
  return std::make_unique<RaceChecker>(launch, global_, timeline_, now_);
}

void RaceCheck::finish(const Launch&, const std::vector<std::unique_ptr<Checker>>& checkers, ToolFindings& findings) {
  for (const auto& checker : checkers) {
    race::Engine& engine = static_cast<RaceChecker&>(*checker).engine();
    now_ = std::max(now_, engine.now());
    report(engine.races(), findings);
  }
  timeline_.operations.back().end = now_;
}

// A copy or fill is like a launch of one thread.
void RaceCheck::touch(std::uint64_t number, std::uint64_t address, std::uint64_t bytes, bool writes,
                      ToolFindings& findings) {
  if (bytes == 0) return;
  start(number, 1);
  const race::Meaning plain{.element_bytes = 1};
  race::Engine engine({}, {&plain, 1}, global_, timeline_, now_);
  race::Touch touch{.kind = writes ? AccessKind::store : AccessKind::load, .mask = 1, .run = bytes};
  touch.lanes.base = address;
  class Unknown final : public race::Values {
    [[nodiscard]] bool stores_what_is_there(int) const override { return false; }
    [[nodiscard]] bool same(int, int) const override { return false; }
  };
  engine.access(engine.begin(0), 0, touch, global_, Unknown());
  now_ = engine.now();
  timeline_.operations.back().end = now_;
  report(engine.races(), findings);
}

std::vector<RaceCheck::InFlight> RaceCheck::in_flight(std::uint64_t begin, std::uint64_t bytes,
                                                      const std::vector<std::size_t>& operations) {
  race::Timeline of_these{timeline_.operations, operations};
  std::vector<InFlight> list;
  global_.shadow.each_line(begin, bytes, [&](std::uint64_t address, race::Line& line) {
    if (address + race::kLineBytes <= begin || address >= begin + bytes) return;
    const auto look = [&](const race::Record& r) {
      if (of_these.precedes(r.time)) return;
      const std::uint64_t page = address / kPageBytes * kPageBytes;
      if (list.empty() || list.back().page != page) list.push_back({page, false});
      list.back().written = list.back().written || r.writes();
    };
    line.visit(look);
    if (line.fine == nullptr) return;
    for (race::Line& quarter : *line.fine) quarter.visit(look);
  });
  return list;
}

void RaceCheck::report(race::Races& races, ToolFindings& findings) const {
  for (const race::Races::Pair& pair : races.take()) {
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
