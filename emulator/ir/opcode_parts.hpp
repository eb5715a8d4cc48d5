// SPDX-License-Identifier: Apache-2.0
// Asks the spelling of an instruction for its modifiers.
//
//   has_part(instruction, "shared")   // true for ld.shared.f32 and for ld.shared::cta.f32
#pragma once

#include "emulator/ir/module.hpp"

#include <initializer_list>
#include <string_view>

namespace warplens::ir {

/// Whether the opcode has a modifier, with or without a qualifier.
bool has_part(const Instruction& instruction, std::string_view part);
bool has_any_part(const Instruction& instruction, std::initializer_list<std::string_view> parts);
/// Of f64.
bool of_doubles(const Instruction& instruction);
/// Of integers or bits of 64 bits.
bool of_wide_integers(const Instruction& instruction);
/// Whether it states how the result is rounded to a floating-point number: .rn, .rz, .rm, .rp.
bool rounds(const Instruction& instruction);

} // namespace warplens::ir
