// SPDX-License-Identifier: Apache-2.0
// Which elements a vector of two or more can have, as the assembler has it: registers of one width, whose types count
// only if the type of the instruction is a number of 32 or 64 bits, and only together:
//
//   * An untyped register makes the vector untyped, and so fit for each type of its width: {%b32, %f32} for .s32.
//   * Elements that follow each other are both integers, both floats or both .f16x2, or one of them is untyped.
//   * Integers fit floats in memory, but not in fragments; floats do not fit integers.
//
//   VectorElements vector(module, function, elements, spec, Type::f16x2);
//   vector.fits(elements[1])   // %u32_1 does, and so does 7 if the instruction reads it
#pragma once

#include "emulator/ir/module.hpp"

#include <span>

namespace warplens::ir {

/// Which kinds of elements a vector has together: see above.
struct ElementKinds {
  bool untyped = false; ///< a register
  bool mixed = false;   ///< elements that cannot follow each other
};
ElementKinds kinds_of(const Function& function, std::span<const Operand> elements);

class VectorElements {
public:
  VectorElements(const Module& module, const Function& function, std::span<const Operand> elements,
                 const isa::OperandSpec& spec, Type type, const isa::Spelling& spelling);
  [[nodiscard]] bool fits(const Operand& element) const;

private:
  [[nodiscard]] bool integers_are_floats() const { return !spec_.braces; }
  [[nodiscard]] bool register_fits(Type have) const;
  [[nodiscard]] bool special_fits(const Operand& element) const;

  const Module& module_;
  const Function& function_;
  const isa::OperandSpec& spec_;
  Type type_;
  int width_; ///< bits of each element
  ElementKinds kinds_;
  bool specials_;
};

} // namespace warplens::ir
