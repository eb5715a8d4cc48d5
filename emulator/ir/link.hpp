// SPDX-License-Identifier: Apache-2.0
// Links a kernel and every function that it can reach into one function, which the emulator decodes.
//
//   .entry k { … call f, (a); ret; }  .func f(.param .b32 x) { … ret; }
//   ->  Function{name: "k", instructions: k's, then f's, parts: [{k, 0..9}, {f, 9..14, params: [x]}]}
//
// Registers, labels, tables and variables are renumbered so that one register file serves all. The formal parameters of
// the functions become variables in .param space, which are in their frames.
#pragma once

#include "emulator/base/expected.hpp"
#include "emulator/ir/calls.hpp"

namespace warplens::ir {

/// True if the kernel calls, uses the stack, or declares .param variables, which are in a frame.
bool needs_linking(const Function& kernel);

/// The functions that a kernel can reach, starting with the kernel itself.
std::vector<std::uint32_t> reachable(const Module& module, const Function& kernel);

/// Requires check(). Error: a called function is not defined.
Expected<Function> link(const Module& module, const Function& kernel);

} // namespace warplens::ir
