// SPDX-License-Identifier: Apache-2.0
// The reason why a launch stopped, and its tolerated accesses past the ends of allocations.
#pragma once

#include "emulator/base/archive.hpp"
#include "emulator/exec/state/tool_finding.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace warplens::exec {

/// Why a launch stopped.
struct Trap {
  enum class Kind : std::uint8_t {
    out_of_bounds,
    misaligned,
    trap_instruction,
    step_limit,
    deadlock,
    divergent_barrier,
    invalid_barrier,
    invalid_membermask,
    incomplete_warp, ///< at an instruction that all lanes must execute
    invalid_call,
    invalid_branch,
    invalid_free,
    assertion,
    stack_overflow,
    invalid_texture,
    invalid_mbarrier,
    invalid_copy,
    invalid_tensor_copy, ///< a GPU raises an illegal instruction
    invalid_group,       ///< an instruction of a warp group
    invalid_tensor_memory,
    tensor_memory_leak, ///< columns are allocated when the block exits
    async_hazard,       ///< a wait or fence of an asynchronous operation is missing
    out_of_memory
  } kind{};
  std::uint32_t instruction = 0;
  std::uint64_t cta = 0;    ///< linear
  std::uint32_t thread = 0; ///< linear in the CTA
  isa::Space space{};
  AccessKind access{};
  std::uint32_t lane_bytes = 0;
  std::uint64_t address = 0;
  std::string detail;                            ///< nearest allocation, waiting warps, …
  std::optional<ToolFinding::Kind> finding = {}; ///< what tools call it, if `kind` does not determine it
  std::vector<std::uint32_t> calls;              ///< the instructions of the calls that led there, innermost first

  void fields(Archive& a) {
    a(kind, instruction, cta, thread, space, access, lane_bytes, address, detail, finding, calls);
  }
};

/// The accesses of one instruction past the end of an allocation that did not fault.
struct Overrun {
  Trap first;              ///< of the lowest thread of the lowest CTA
  std::uint64_t count = 0; ///< number of accesses by threads

  void fields(Archive& a) { a(first, count); }
};

} // namespace warplens::exec
