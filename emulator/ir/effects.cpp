// SPDX-License-Identifier: Apache-2.0
#include "emulator/ir/effects.hpp"

#include "emulator/ir/calls.hpp"

namespace warplens::ir {

namespace {

enum class Use : std::uint8_t { read, written, both };

// How the operands are used.
std::vector<Use> uses(const Module& module, const Function& function, const Instruction& i) {
  std::vector<Use> list;
  if (i.form == kNone) return {Use::written};
  if (is_call(i)) return {call_operands(function, i).results.empty() ? Use::read : Use::written};
  const isa::OperandList& operands = module.spellings[i.form].entry->operands;
  for (int n = 0; n < operands.count; ++n)
    if (const isa::OperandSpec& o = operands.items[n]; o.is_written())
      list.push_back(o.accumulates ? Use::both : o.destination ? Use::written : Use::read);
  return list;
}

void collect(const Function& function, const Operand& o, bool writes, Effect& effect) {
  switch (o.kind) {
  case OperandKind::reg:
    (writes ? effect.writes : effect.reads).push_back(o.index);
    if (writes && o.component != 0 && o.component < kByte0) effect.certain = false;
    break;
  case OperandKind::vector:
  case OperandKind::pair:
  case OperandKind::list:
    for (const Operand& element : function.elements(o)) collect(function, element, writes, effect);
    break;
  case OperandKind::address:
  case OperandKind::indexed:
    for (const Operand& element : function.elements(o)) collect(function, element, false, effect);
    break;
  default: break;
  }
}

} // namespace

std::vector<Effect> effects(const Module& module, const Function& function) {
  std::vector<Effect> list;
  list.reserve(function.instructions.size());
  for (const Instruction& i : function.instructions) {
    Effect& effect = list.emplace_back();
    const std::vector<Use> use = uses(module, function, i);
    const std::span<const Operand> operands = function.operands(i);
    for (std::size_t n = 0; n < operands.size(); ++n) {
      const Use of = n < use.size() ? use[n] : Use::read;
      if (of != Use::written) collect(function, operands[n], false, effect);
      if (of != Use::read) collect(function, operands[n], true, effect);
    }
    if (i.guard == kNone) continue;
    effect.reads.push_back(i.guard);
    effect.certain = false;
  }
  return list;
}

} // namespace warplens::ir
