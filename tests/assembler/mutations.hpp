// Modules with right and wrong directives and declarations, and what ptxas says to each:
// tests/data/assembler/mutations.txt.
//
//   mutations()[0]  ->  {"declarations", ".shared .u32 x = 1;", 64, "sm_70", false, "the whole module"}
#pragma once

#include <string>
#include <vector>

namespace warplens::assembler {

struct Mutation {
  std::string part; ///< which list of mutations.py it is of
  std::string text; ///< without what stands around it
  int ptx = 0;      ///< version times ten
  std::string target;
  bool taken = false; ///< by ptxas
  std::string module;
};

/// Each text once for every version and target that was asked, but for those that made ptxas crash.
std::vector<Mutation> mutations();

/// What the checker has against a module; empty where it takes it.
std::string refusal(const std::string& module);

} // namespace warplens::assembler
