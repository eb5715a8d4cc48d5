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

/// True if an immediate of this kind can be used for a value of type `want`.
bool immediate_fits(const Operand& operand, Type want);

std::string described(const Function& function, const Operand& operand);

} // namespace warplens::ir
