// SPDX-License-Identifier: Apache-2.0
// Checks a module against the instruction table: sets Instruction::form and reports errors.
//
//   Checked c = check(module);   c.errors: "'add.f32' expects a value of type .f32, got register '%r1' of type .u32"
//
// There are two kinds of findings. Errors: code that ptxas rejects, too (wrong types, missing operands, a kernel that
// is declared twice). Unsupported: instructions that are not in the table. Kernels that contain one cannot be launched;
// all others run.
#pragma once

#include "emulator/base/expected.hpp"
#include "emulator/ir/module.hpp"
#include "emulator/isa/table.hpp"

namespace warplens::ir {

struct Unsupported {
  std::uint32_t function = 0;
  std::uint32_t instruction = 0;
  Diagnostic why;
};

struct Checked {
  Diagnostics errors;
  std::vector<Unsupported> unsupported; ///< in the order of the text
};

/// Fills Module::spellings and every Instruction::form.
Checked check(Module& module);

} // namespace warplens::ir
