// SPDX-License-Identifier: Apache-2.0
// Modules with valid and invalid directives and declarations, and ptxas's verdict on each:
// tests/data/assembler/mutations.txt.
//
//   mutations()[0]  ->  {"declarations", ".shared .u32 x = 1;", 64, "sm_70", false, "the whole module"}
#pragma once

#include <string>
#include <vector>

namespace warplens::assembler {

struct Mutation {
  std::string part; ///< the list in mutations.py
  std::string text; ///< without the surrounding module
  int ptx = 0;      ///< version times ten
  std::string target;
  bool taken = false; ///< whether ptxas accepts it
  std::string module;
};

/// Each text once for every tested version and target, except those that crashed ptxas.
std::vector<Mutation> mutations();

/// The checker's objection to a module; empty if it accepts the module.
std::string refusal(const std::string& module);

} // namespace warplens::assembler
