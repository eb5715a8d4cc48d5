// SPDX-License-Identifier: Apache-2.0
// Parses PTX text to an ir::Module. Only parse.cpp uses the grammar and ANTLR.
//
//   Expected<Module> m = parse("… .entry k () { ret; }", "k.ptx");
#pragma once

#include "emulator/base/expected.hpp"
#include "emulator/ir/module.hpp"

namespace warplens::ir {

/// Parses a whole module of any PTX version (1.0 to 9.x). `file` is the name that diagnostics give it.
/// On failure: every syntax error and unresolved name, in the order of the text.
Expected<Module> parse(std::string_view text, std::string_view file);

} // namespace warplens::ir
