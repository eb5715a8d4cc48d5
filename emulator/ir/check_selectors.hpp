// Selectors of bytes and halves on the registers of video instructions (manual, 9.7.18): %r1.b0, %r1.h10, %r1.b7531.
#pragma once

#include "emulator/ir/module.hpp"

#include <string_view>

namespace warplens::ir {

/// May the operand have the selector that it has?
bool selector_fits(const Operand& operand, const isa::OperandSpec& spec);
/// Which ones it may have, as a hint.
std::string_view selectors_of(const isa::OperandSpec& spec);

} // namespace warplens::ir
