// SPDX-License-Identifier: Apache-2.0
#include "api/check/async_hazard.hpp"

#include "emulator/exec/state/program.hpp"

#include <fmt/format.h>

namespace warplens::api {

std::optional<exec::Trap> async_hazard(const exec::LaunchResult& result, const exec::Program& program) {
  using Kind = exec::ToolFinding::Kind;
  for (const exec::ToolFindingGroup& group : result.findings) {
    const exec::ToolFinding& f = group.first;
    if (f.kind != Kind::missing_wait && f.kind != Kind::missing_fence && f.kind != Kind::group_wait &&
        f.kind != Kind::group_fence && f.kind != Kind::tensor_wait && f.kind != Kind::tensor_fence)
      continue;
    exec::Trap trap;
    trap.kind = exec::Trap::Kind::async_hazard;
    trap.instruction = f.at.instruction;
    trap.cta = f.at.cta;
    trap.thread = f.at.thread;
    trap.finding = f.kind;
    trap.calls = f.at.calls;
    trap.detail = fmt::format("{}: {}", exec::title_of(f.kind), f.detail);
    if (f.other)
      trap.detail += fmt::format(" (line {})", program.function->instructions[f.other->instruction].where.line);
    return trap;
  }
  return std::nullopt;
}

} // namespace warplens::api
