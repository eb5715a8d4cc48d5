// SPDX-License-Identifier: Apache-2.0
#include "emulator/ir/origins.hpp"

#include "emulator/ir/opcode_parts.hpp"
#include "emulator/isa/special_registers.hpp"

#include <algorithm>

namespace warplens::ir {

namespace {

/// Of the instruction itself, without the registers that it reads.
Origins own_origins(const Function& function, const Instruction& i) {
  const std::string_view head = i.head();
  Origins own;
  own.memory = (head == "ld" && !has_part(i, "param")) || head == "atom" || head == "tex";
  own.own_value =
      head == "atom" || head == "shfl" || head == "tex" || head == "call" || head == "match" || has_part(i, "local");
  for (const Operand& o : function.operands(i)) {
    if (o.kind != OperandKind::special) continue;
    const auto special = static_cast<isa::Special>(o.index);
    own.lane = own.lane || special == isa::Special::tid || special == isa::Special::laneid;
  }
  return own;
}

} // namespace

void Origins::add(const Origins& other) {
  lane = lane || other.lane;
  memory = memory || other.memory;
  own_value = own_value || other.own_value;
}

OriginFinder::OriginFinder(const Module& module, const Function& function)
    : function_(function), effects_(ir::effects(module, function)), writers_(function.registers.size()) {
  for (const Instruction& i : function.instructions) own_.push_back(own_origins(function, i));
  for (std::size_t i = 0; i < effects_.size(); ++i)
    for (const std::uint32_t written : effects_[i].writes) writers_[written].push_back(static_cast<std::uint32_t>(i));
}

Origins OriginFinder::of(std::uint32_t reg) const {
  Origins found;
  std::vector<bool> seen(writers_.size());
  seen[reg] = true;
  std::vector<std::uint32_t> open{reg};
  while (!open.empty()) {
    const std::uint32_t next = open.back();
    open.pop_back();
    for (const std::uint32_t i : writers_[next]) {
      found.add(own_[i]);
      for (const std::uint32_t read : effects_[i].reads) {
        if (seen[read]) continue;
        seen[read] = true;
        open.push_back(read);
      }
    }
  }
  return found;
}

Origins OriginFinder::of_address(const Instruction& instruction) const {
  Origins found;
  for (const Operand& o : function_.operands(instruction))
    if (o.kind == OperandKind::address)
      for (const Operand& part : function_.elements(o))
        if (part.kind == OperandKind::reg) found.add(of(part.index));
  return found;
}

} // namespace warplens::ir
