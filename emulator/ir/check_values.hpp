// SPDX-License-Identifier: Apache-2.0
// Checks which operands can be used as a value of a type, and describes operands in messages.
//
//   register_fits(Type::b32, Type::f32, false)  ->  true      described(f, o)  ->  "register '%r1' of type .u32"
#pragma once

#include "emulator/ir/module.hpp"

#include <string>

namespace warplens::ir {

/// True if a register of type `have` can be used for type `want`. With `relaxed`, wider registers are valid, too.
bool register_fits(Type have, Type want, bool relaxed);

/// The same for an operand whose type is part of its instruction, and not a word of the spelling: an integer or 64 bits
/// there take no float, and no .f16x2.
bool register_fits_fixed(Type have, Type want, bool relaxed);

/// True if an immediate of this kind can be used for a value of type `want`.
bool immediate_fits(const Operand& operand, Type want);

/// Whether a number may stand for a predicate. Comparisons of .bf16 are macros, which pass on registers only.
bool number_is_predicate(const isa::Form& form);

/// Takes the braces off an operand that is not a vector, where assemblers accept them: where the table says so, and
/// around a value of .bf16 or .bf16x2.
void remove_braces(Function& function, const Instruction& instruction, const isa::Spelling& spelling);

/// For messages: with `relaxed`, wider registers fit integer and bit types, but no other floats fit.
std::string types_that_fit(Type type, bool relaxed);

std::string described(const Function& function, const Operand& operand);

} // namespace warplens::ir
