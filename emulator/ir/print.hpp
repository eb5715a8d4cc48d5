// SPDX-License-Identifier: Apache-2.0
// Prints an ir::Module as PTX text that parses to the same module.
#pragma once

#include "emulator/ir/module.hpp"

#include <string>
#include <vector>

namespace warplens::ir {

/// The whole module. Scopes are flattened: a name that occurs in two scopes of a function gets a suffix.
std::string print(const Module& module);

/// The instructions of a function as lines without indentation or newline: `@%p1 add.s32 %r1, %r2, 5;`
std::vector<std::string> print_lines(const Module& module, const Function& function);

} // namespace warplens::ir
