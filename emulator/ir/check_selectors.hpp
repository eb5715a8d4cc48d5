// SPDX-License-Identifier: Apache-2.0
// Selectors of bytes and halves of registers in video instructions (manual, 9.7.18): %r1.b0, %r1.h10, %r1.b7531.
#pragma once

#include "emulator/ir/module.hpp"

#include <string_view>

namespace warplens::ir {

/// True if the operand can have its selector.
bool selector_fits(const Operand& operand, const isa::OperandSpec& spec);
/// The valid selectors, as a hint.
std::string_view selectors_of(const isa::OperandSpec& spec);

} // namespace warplens::ir
