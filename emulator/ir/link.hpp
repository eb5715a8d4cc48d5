// A kernel and every function that it may reach, as one function: what the emulator decodes where a kernel calls.
//
//   .entry k { … call f, (a); ret; }  .func f(.param .b32 x) { … ret; }
//   ->  Function{name: "k", instructions: k's, then f's, parts: [{k, 0..9}, {f, 9..14, params: [x]}]}
//
// Registers, labels, tables and variables are renumbered so that one register file serves all. The formal parameters of
// the functions become variables of .param space, which lie in their frames.
#pragma once

#include "emulator/base/expected.hpp"
#include "emulator/ir/calls.hpp"

namespace warplens::ir {

/// Does it call, use the stack, or declare .param variables, which lie in a frame?
bool needs_linking(const Function& kernel);

/// The functions that a kernel may reach, itself first.
std::vector<std::uint32_t> reachable(const Module& module, const Function& kernel);

/// Comes after check(). Errors: a function that is called is defined nowhere.
Expected<Function> link(const Module& module, const Function& kernel);

} // namespace warplens::ir
