// Holds a module against the instruction table: sets Instruction::form, and reports what does not fit.
//
//   Checked c = check(module);   c.diagnostics: "k.ptx:12:2: error: 'add.f32' wants f32, got register %r1 of type b64"
//
// Two kinds of findings. Errors: what ptxas would refuse too (wrong types, missing operands, a kernel that is declared
// twice). Unsupported: instructions that the table does not know; the kernels that contain one refuse to launch, all
// others run.
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
