// SPDX-License-Identifier: Apache-2.0
// Divisions, roots and reciprocals that round tell of special operands: see lanes/special_operands.hpp.
#include "emulator/exec/decode/decoder.hpp"
#include "emulator/ir/opcode_parts.hpp"

namespace warplens::exec {

void Decoder::tell_special_operands(const isa::Spelling& spelling) {
  const auto operands = function_.operands(*current_);
  const isa::Type type = spelling.form.type();
  const std::string_view head = current_->head();
  const bool divides = head == "div", root = head == "sqrt", reciprocal = head == "rcp", wide = type == isa::Type::f64;
  if (!(wide || type == isa::Type::f32) || !(divides || root || reciprocal) || !ir::rounds(*current_)) return;
  using enum WarpOperation;
  const WarpOperation operation = divides ? (wide ? special_division_64 : special_division_32)
                                  : root  ? (wide ? special_root_64 : special_root_32)
                                          : (wide ? special_reciprocal_64 : special_reciprocal_32);
  const std::uint32_t a = source(operands[1], type, false);
  emit(level_.warp({.operation = operation}), {}, {a, divides ? source(operands[2], type, false) : a});
}

} // namespace warplens::exec
