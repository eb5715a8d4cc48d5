// SPDX-License-Identifier: Apache-2.0
// Where the checker and ptxas differ on purpose: docs/fuzzing.md, "The checker and ptxas".
//
//   why_different(false, "ld.global.u32 %r1, [x+%r2];", "Illegal operand")  ->  "a register is added to a variable"
#pragma once

#include <string_view>

namespace warplens::fuzz {

/// Empty: no rule explains it. `complaint` is of the one that refuses the line.
std::string_view why_different(bool only_ptxas_accepts, std::string_view line, std::string_view complaint);

} // namespace warplens::fuzz
