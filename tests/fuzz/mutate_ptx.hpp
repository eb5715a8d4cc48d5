// SPDX-License-Identifier: Apache-2.0
// Changes PTX in units of its grammar: instructions of the table with operands that fit, modifiers, registers,
// statements. Most results are still valid and reach the emulator.
//
//   mutate_ptx(text, {random, ptx_dictionary(), other});
//   random_statement(random, names)  ->  "@%p1 atom.global.add.u32 %r3, [%rd0+16], %r5;"
#pragma once

#include "tests/fuzz/mutate.hpp"

#include <map>

namespace warplens::fuzz {

/// The names that a module declares, by the type of registers: "b32" -> {"%r0", "%r1"}.
struct PtxNames {
  std::map<std::string, std::vector<std::string>, std::less<>> registers;
  std::vector<std::string> labels, functions, variables;
  std::string address = {}; ///< the register of all addresses; empty: those of random_module()
};
PtxNames names_in(std::string_view text);

/// An instruction of the table. Some are not valid: the table does not say everything.
std::string random_statement(Random& random, const PtxNames& names);

/// A module with a kernel `k(.param .u64 data, .param .u32 n)` of so many random statements.
std::string random_module(Random& random, std::size_t statements);

Mutator mutate_ptx;

/// Opcodes and their words, directives and special registers.
std::vector<std::string> ptx_dictionary();

} // namespace warplens::fuzz
