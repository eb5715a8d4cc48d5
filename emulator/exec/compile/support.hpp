// SPDX-License-Identifier: Apache-2.0
// The functions of the emulator that compiled code calls.
#pragma once

#include "emulator/exec/access/atomics.hpp"
#include "emulator/exec/decode/levels.hpp"

#include <string>
#include <utility>
#include <vector>

namespace warplens::exec {

/// For code of a level: by name, as the bitcode declares them; those of atomic operations, as OpMeaning::atomic says.
std::vector<std::pair<const char*, void*>> support_functions(const Level& level);

/// An atomic operation on one element: a spelling that has its handler.
struct AtomicOperation {
  isa::Spelling spelling;
  std::string name;            ///< of `lanes` among support_functions(const Level& level)
  AtomicLanes lanes = nullptr; ///< of integers
};
const std::vector<AtomicOperation>& atomic_operations();

} // namespace warplens::exec
