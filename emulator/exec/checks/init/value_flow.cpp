// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/checks/init/value_flow.hpp"

#include "emulator/exec/block/paths.hpp"
#include "emulator/exec/state/shuffle_source.hpp"

#include <algorithm>

namespace warplens::exec::init {

using ir::Operand;
using ir::OperandKind;
using isa::Word;

void forget_reported(UndefinedRegisters& registers) {
  for (auto at = registers.begin(); at != registers.end();) {
    UndefinedRow& row = at->second;
    for (const int lane : EachLane(row.lanes))
      if (row.of[lane].load->reported) row.lanes &= ~(Mask{1} << lane);
    at = row.lanes == 0 ? registers.erase(at) : std::next(at);
  }
}

ValueFlow::ValueFlow(const Program& program)
    : program_(program), function_(*program.function), effects_(ir::effects(*program.module, function_)),
      rules_(function_.instructions.size(), ValueRule::unknown), bits_(function_.instructions.size()) {
  for (std::size_t i = 0; i < bits_.size(); ++i)
    for (const auto* const list : {&effects_[i].reads, &effects_[i].writes})
      for (const std::uint32_t r : *list) bits_[i] |= bit_of(r);
}

bool ValueFlow::concerns(std::uint32_t index, const UndefinedRegisters& registers) const {
  const auto known = [&](std::uint32_t r) { return registers.contains(r); };
  const ir::Effect& e = effects_[index];
  return std::any_of(e.reads.begin(), e.reads.end(), known) || std::any_of(e.writes.begin(), e.writes.end(), known);
}

Mask ValueFlow::acting(const Warp& warp, const ir::Instruction& i) const {
  if (i.guard == ir::kNone) return warp.active;
  const Mask guard = predicate(const_cast<Warp*>(&warp), program_.register_rows[i.guard]);
  return warp.active & (i.guard_negated ? ~guard : guard);
}

void ValueFlow::need(std::uint32_t reg, Mask lanes, const UndefinedRegisters& registers) {
  if (const auto found = registers.find(reg); found != registers.end())
    for (const int lane : EachLane(found->second.lanes & lanes))
      if (UnwrittenLoad* const load = undefined(registers, reg, lane).load) needed_.push_back(load);
}

void ValueFlow::instruction(const Warp& warp, std::uint32_t index, UndefinedRegisters& registers) {
  if (!concerns(index, registers)) return;
  const ir::Instruction& i = function_.instructions[index];
  ValueRule& rule = rules_[index];
  if (rule == ValueRule::unknown) rule = value_rule(program_, index);
  if (i.guard != ir::kNone) need(i.guard, warp.active, registers);
  const Mask lanes = acting(warp, i);
  if (lanes == 0) return;
  if (rule < ValueRule::computes) need_operands(index, rule, lanes, registers);
  if (rule != ValueRule::shuffles) write(index, rule, lanes, warp, registers);
}

void ValueFlow::need_operands(std::uint32_t index, ValueRule rule, Mask lanes, const UndefinedRegisters& registers) {
  const ir::Instruction& i = function_.instructions[index];
  const auto operands = function_.operands(i);
  const auto is_value = [&](std::uint32_t r) {
    if (rule == ValueRule::needs || operands.size() < 2) return false;
    const auto values = function_.each_of(operands[1]);
    return std::any_of(values.begin(), values.end(),
                       [&](const Operand& o) { return o.kind == OperandKind::reg && o.index == r; });
  };
  for (const std::uint32_t r : effects_[index].reads)
    if (r != i.guard && !is_value(r)) need(r, lanes, registers);
}

// What an instruction writes, from its sources before it writes any.
void ValueFlow::write(std::uint32_t index, ValueRule rule, Mask lanes, const Warp& warp,
                      UndefinedRegisters& registers) {
  const ir::Instruction& i = function_.instructions[index];
  const ir::Effect& effect = effects_[index];
  std::vector<std::pair<std::uint32_t, UndefinedRow>> rows;
  const bool flows = rule >= ValueRule::computes && std::any_of(effect.reads.begin(), effect.reads.end(),
                                                                [&](auto r) { return registers.contains(r); });
  if (flows) {
    const Operand& first = function_.operands(i)[0];
    const auto results = first.kind == OperandKind::pair ? function_.elements(first) : function_.each_of(first);
    for (std::size_t e = 0; e < results.size(); ++e) {
      if (results[e].kind != OperandKind::reg) continue;
      UndefinedRow row;
      const unsigned all = (1u << std::min(8, register_bytes(program_, results[e].index))) - 1;
      for (const int lane : EachLane(lanes)) {
        Undefined u = ValueStep{program_, index, warp, registers, lane}.result(rule, e);
        u.bytes = static_cast<std::uint8_t>(u.bytes & all);
        if (u.bytes != 0) row.set(lane, u);
      }
      rows.emplace_back(results[e].index, row);
    }
  }
  for (const std::uint32_t r : effect.writes) put(r, lanes, {}, registers);
  for (const auto& [r, row] : rows) put(r, lanes, row, registers);
}

// New values of a register; a value that cannot be followed is needed.
void ValueFlow::put(std::uint32_t reg, Mask lanes, const UndefinedRow& values, UndefinedRegisters& registers) {
  if (values.lanes != 0 && (!program_.unwritten.followed[reg] || register_bytes(program_, reg) > 8)) {
    for (const int lane : EachLane(values.lanes)) needed_.push_back(values.of[lane].load);
    return;
  }
  if (values.lanes == 0 && !registers.contains(reg)) return;
  UndefinedRow& row = registers[reg];
  row.lanes &= ~lanes;
  for (const int lane : EachLane(values.lanes)) row.set(lane, values.of[lane]);
  if (row.lanes == 0) registers.erase(reg);
}

void ValueFlow::shuffled(const WarpStep& step, UndefinedRegisters& registers) {
  const ir::Instruction& i = function_.instructions[step.instruction];
  if (!concerns(step.instruction, registers)) return;
  const auto operands = function_.operands(i);
  const isa::Spelling& spelling = program_.module->spellings[i.form];
  const Shuffle mode = spelling.has(Word::w_up)     ? Shuffle::up
                       : spelling.has(Word::w_down) ? Shuffle::down
                       : spelling.has(Word::w_bfly) ? Shuffle::butterfly
                                                    : Shuffle::index;
  Warp* const warp = const_cast<Warp*>(step.warp); // rows are read only
  const auto* const b = row<std::uint32_t>(warp, step.op->src[1]);
  const auto* const c = row<std::uint32_t>(warp, step.op->src[2]);
  UndefinedRow row;
  if (operands[1].kind == OperandKind::reg)
    for (const int lane : EachLane(step.mask)) {
      const int from = shuffle_source(mode, lane, b[lane], c[lane]).lane;
      const bool sent = (step.mask >> from & 1) != 0;
      if (const Undefined u = undefined(registers, operands[1].index, from, 4); sent && u.bytes != 0) row.set(lane, u);
    }
  for (const std::uint32_t r : effects_[step.instruction].writes) put(r, step.mask, {}, registers);
  const Operand& first = operands[0].kind == OperandKind::pair ? function_.elements(operands[0])[0] : operands[0];
  if (first.kind == OperandKind::reg) put(first.index, step.mask, row, registers);
}

} // namespace warplens::exec::init
