// What operands may stand for a value of a type, and how messages name an operand.
//
//   register_fits(Type::b32, Type::f32, false)  ->  true      described(f, o)  ->  "register '%r1' of type .u32"
#pragma once

#include "emulator/ir/module.hpp"

#include <string>

namespace warplens::ir {

/// May a register of type `have` stand where an instruction wants `want`? With `relaxed`, wider ones too.
bool register_fits(Type have, Type want, bool relaxed);

/// May an immediate of this kind stand for a value of type `want`?
bool immediate_fits(const Operand& operand, Type want);

std::string described(const Function& function, const Operand& operand);

} // namespace warplens::ir
