// SPDX-License-Identifier: Apache-2.0
// What a compiler makes of a PTX instruction for a current GPU: some become many machine instructions, others none.
//
//   machine_work(div.rn.f64)  ->  16 instructions that issue, 13 operations of the units for double precision
#pragma once

#include "emulator/ir/module.hpp"

namespace warplens::analyzers {

/// Of a warp that executes the instruction once.
struct MachineWork {
  double instructions = 1; ///< that issue
  double doubles = 0;      ///< cycles of the units for double precision, in those that an addition takes
  double alu = 0;          ///< instructions that only the ALU executes; sums of two numbers run on other units, too
  double special = 0;      ///< instructions of the special-function units that isa::InstructionClass does not show
  bool joined = false;     ///< is a part of another instruction; only machine_code() knows
  double text = 0;         ///< instructions in the program, several of an unrolled loop; likewise

  void add(const MachineWork& other, double times);
};

MachineWork machine_work(const ir::Instruction& instruction);
/// The class by what machine code does: roots and reciprocals of doubles are counted as operations on doubles, but are
/// code of their own.
isa::InstructionClass machine_class(const ir::Instruction& instruction);
/// A floating-point number becomes another type, or the other way round, and one of the two has 64 bits. Among
/// integers, such conversions are moves and shifts.
bool converts_wide(const ir::Instruction& instruction);
/// Machine instructions of the subroutine that a division, root or reciprocal calls for special operands, by the rates
/// in tests/data/hardware/special_operands_h200.csv.
double instructions_of_special(const ir::Instruction& instruction);

} // namespace warplens::analyzers
