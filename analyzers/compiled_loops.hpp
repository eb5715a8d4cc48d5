// SPDX-License-Identifier: Apache-2.0
// Which loops ptxas unrolls by four, where the PTX does not say how often they turn: those of one block that count by a
// constant to a bound that the loop does not change.
#pragma once

#include "analyzers/compiled_code.hpp"
#include "emulator/ir/effects.hpp"

namespace warplens::analyzers {

void mark_unrolled(CompiledCode& code, const ir::Function& function, const std::vector<ir::Effect>& effects);

} // namespace warplens::analyzers
