// SPDX-License-Identifier: Apache-2.0
// The PTX that represents a machine instruction (SASS) of a trace: the same space, width and functional unit.
//
//   stand_in("LDG.E.128.SYS", 16)->text == "ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%rd1];"
#pragma once

#include "emulator/exec/state/events.hpp"

#include <optional>
#include <string>

namespace warplens::api {

struct StandIn {
  std::string text; ///< a statement
  /// Of an instruction that accesses memory; generic: the addresses determine the space.
  isa::Space space = isa::Space::none;
  exec::AccessKind kind{};
  bool branch = false, barrier = false;
};

/// Empty: the opcode is unknown, or does not have this width.
std::optional<StandIn> stand_in(std::string_view opcode, std::uint32_t width);

} // namespace warplens::api
