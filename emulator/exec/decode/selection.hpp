// SPDX-License-Identifier: Apache-2.0
// Encodes the selectors and types of a video instruction as the number that its functor takes: see isa/selection.hpp.
#pragma once

#include "emulator/ir/module.hpp"

namespace warplens::exec {

/// `operands` are those that were written, d, a, b and perhaps c, as the checker lets them pass; `sm` is the target.
std::uint64_t selection(const isa::Spelling& spelling, std::span<const ir::Operand> operands, int sm);

} // namespace warplens::exec
