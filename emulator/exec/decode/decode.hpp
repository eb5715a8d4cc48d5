// SPDX-License-Identifier: Apache-2.0
// Decodes a kernel into the program that warps run.
#pragma once

#include "emulator/base/expected.hpp"
#include "emulator/exec/decode/levels.hpp"
#include "emulator/exec/state/program.hpp"

#include <memory>
#include <vector>

namespace warplens::exec {

/// Addresses of the module's variables (global, const), by index into Module::variables.
using VariableAddresses = std::vector<std::uint64_t>;

struct DecodeOptions {
  const Level* level = nullptr; ///< nullptr: the best
  bool watched = false;
  bool checked = false; ///< reports steps to the checkers of a launch (exec/state/checker.hpp)
};

/// Error: an instruction of the kernel is not supported (the checker's finding is repeated), or the kernel has no body.
Expected<std::shared_ptr<const Program>> decode(const ir::Module& module, const ir::Function& kernel,
                                                const VariableAddresses& variables, const DecodeOptions& options);

} // namespace warplens::exec
