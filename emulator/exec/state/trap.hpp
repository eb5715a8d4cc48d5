// Why a launch stopped, and what it was let do beyond the ends of allocations.
#pragma once

#include "emulator/exec/state/events.hpp"

#include <cstdint>
#include <string>

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
    out_of_memory
  } kind{};
  std::uint32_t instruction = 0;
  std::uint64_t cta = 0;    ///< linear
  std::uint32_t thread = 0; ///< linear in the CTA
  isa::Space space{};
  AccessKind access{};
  std::uint32_t lane_bytes = 0;
  std::uint64_t address = 0;
  std::string detail; ///< nearest allocation, who waits where, ...
};

/// What went past the end of an allocation at one instruction, and passed.
struct Overrun {
  Trap first;              ///< of the CTA with the lowest number, and of its thread with the lowest one
  std::uint64_t count = 0; ///< accesses of threads
};

} // namespace warplens::exec
