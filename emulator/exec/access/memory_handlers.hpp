// SPDX-License-Identifier: Apache-2.0
// Selects the load or store handler of an instruction; each level compiles its own.
#pragma once

#include "emulator/exec/state/warp.hpp"
#include "emulator/isa/types.hpp"

namespace warplens::exec {

struct MemoryHandlerKey {
  enum class Kind : std::uint8_t { load, store, param } kind{}; ///< param: a kernel parameter at a fixed offset
  isa::Type type{};                                             ///< of an element in memory
  int register_bytes = 0;                                       ///< of an element's register; may be wider
  int vector = 1;                                               ///< elements per lane
  /// A lane's bytes are read or written atomically, as other blocks may access them: for strong accesses (manual, 8.3)
  /// of 8 and 16 bytes.
  bool whole = false;
};

} // namespace warplens::exec
