// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/block/faults.hpp"

#include "emulator/exec/block/cta.hpp"
#include "emulator/exec/block/paths.hpp"

#include <algorithm>

namespace warplens::exec {

namespace {

using Kind = ToolFinding::Kind;

bool is_freed(const Launch& launch, const Trap& trap) {
  if (trap.space != isa::Space::global) return false;
  if (launch.blocks != nullptr && launch.blocks->freed(trap.address)) return true;
  const auto& freed = launch.freed;
  const auto after = std::upper_bound(freed.begin(), freed.end(), trap.address,
                                      [](std::uint64_t a, const Allocation& x) { return a < x.begin; });
  return after != freed.begin() && trap.address < (after - 1)->end;
}

Kind kind_of(const Launch& launch, const Trap& trap) {
  if (trap.finding) return *trap.finding;
  switch (trap.kind) {
  case Trap::Kind::out_of_bounds: return is_freed(launch, trap) ? Kind::use_after_free : Kind::out_of_bounds;
  case Trap::Kind::misaligned: return Kind::misaligned;
  case Trap::Kind::divergent_barrier: return Kind::divergent_barrier;
  case Trap::Kind::invalid_barrier: return Kind::thread_count;
  case Trap::Kind::invalid_membermask: return Kind::mask_without_caller;
  case Trap::Kind::incomplete_warp: return Kind::divergent_aligned;
  case Trap::Kind::invalid_call:
  case Trap::Kind::invalid_texture: return Kind::forged_handle;
  case Trap::Kind::invalid_free: return Kind::foreign_free;
  case Trap::Kind::stack_overflow: return Kind::stack_overflow;
  case Trap::Kind::invalid_mbarrier: return Kind::mbarrier_count;
  default: return Kind::stopped;
  }
}

ToolFinding finding_of(const Launch& launch, const Trap& trap) {
  ToolFinding finding;
  finding.kind = kind_of(launch, trap);
  finding.at = {trap.instruction, trap.cta,    trap.thread,     trap.calls,
                trap.space,       trap.access, trap.lane_bytes, trap.address};
  finding.detail = trap.detail;
  return finding;
}

/// Whether a stop by such a trap is a finding of a tool that is on.
bool is_told(const Launch& launch, Kind kind) {
  return kind == Kind::stopped ? launch.tools.any() : launch.tools.has(tool_of(kind));
}

} // namespace

bool drops(Warp* warp, const Trap& fault) {
  Worker& worker = *warp->worker;
  if (!worker.launch.tools.memcheck) return false;
  worker.findings.add(finding_of(worker.launch, fault));
  std::fill(std::begin(worker.nowhere), std::end(worker.nowhere), std::byte{});
  return true;
}

void record_stop(Worker& worker, const Trap& trap, Mask lanes) {
  if (!worker.launch.tools.any() || trap.kind == Trap::Kind::step_limit) return;
  ToolFinding finding = finding_of(worker.launch, trap);
  if (!is_told(worker.launch, finding.kind)) return;
  if (lanes == 0) worker.findings.add(finding);
  for (const int lane : EachLane(lanes)) {
    finding.at.thread = trap.thread / kWarpSize * kWarpSize + static_cast<std::uint32_t>(lane);
    worker.findings.add(finding);
  }
}

void record(const Warp* warp, Kind kind, std::uint32_t instruction, Mask lanes, const std::string& detail) {
  Worker& worker = *warp->worker;
  if (!is_told(worker.launch, kind)) return;
  for (const int lane : EachLane(lanes))
    worker.findings.add({.kind = kind, .at = thread_at(*warp, instruction, lane), .detail = detail});
}

} // namespace warplens::exec
