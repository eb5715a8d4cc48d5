// SPDX-License-Identifier: Apache-2.0
#include "emulator/ir/group_registers.hpp"

#include "emulator/ir/effects.hpp"

#include <algorithm>

namespace warplens::ir {

namespace {

bool is_product(const Module& module, const Instruction& i) {
  return i.form != kNone && module.spellings[i.form].entry->family == isa::Family::group_multiply;
}

std::vector<std::uint32_t> registers_of(const Function& function, const Operand& vector) {
  std::vector<std::uint32_t> list;
  if (vector.kind != OperandKind::vector) return list; // a descriptor
  for (const Operand& element : function.elements(vector))
    if (element.kind == OperandKind::reg) list.push_back(element.index);
  return list;
}

bool is_simple_move(const Function& function, std::uint32_t instruction, const Effect& effect) {
  return function.instructions[instruction].head() == "mov" && effect.writes.size() == 1 &&
         function.operands(function.instructions[instruction]).size() == 2;
}

// From one register to another.
bool is_move(const Function& function, std::uint32_t instruction, const Effect& effect) {
  return is_simple_move(function, instruction, effect) &&
         function.operands(function.instructions[instruction])[1].kind == OperandKind::reg;
}

} // namespace

GroupRegisters group_registers(const Module& module, const Function& function) {
  GroupRegisters result;
  std::vector<bool> concerned(function.registers.size());
  for (std::uint32_t i = 0; i < function.instructions.size(); ++i) {
    if (!is_product(module, function.instructions[i])) continue;
    const auto operands = function.operands(function.instructions[i]);
    GroupProduct& product = result.products[i];
    product.d = registers_of(function, operands[0]);
    product.a = registers_of(function, operands[1]);
    for (const auto* const list : {&product.d, &product.a})
      for (const std::uint32_t r : *list) concerned[r] = true;
  }
  if (result.products.empty()) return result;

  const std::vector<Effect> all = effects(module, function);
  std::vector<std::uint32_t> moves;
  for (std::uint32_t i = 0; i < all.size(); ++i)
    if (is_move(function, i, all[i])) moves.push_back(i);
  for (bool grown = true; grown;) { // registers that values of these are moved to or from
    grown = false;
    for (const std::uint32_t i : moves) {
      const std::uint32_t from = function.operands(function.instructions[i])[1].index, to = all[i].writes[0];
      if (concerned[from] == concerned[to]) continue;
      concerned[from] = concerned[to] = true;
      grown = true;
    }
  }

  for (std::uint32_t i = 0; i < all.size(); ++i) {
    if (result.products.contains(i)) continue;
    GroupUse use;
    use.moves = std::binary_search(moves.begin(), moves.end(), i);
    if (use.moves) {
      if (!concerned[all[i].writes[0]]) continue;
      use.reads = {function.operands(function.instructions[i])[1].index};
      use.writes = all[i].writes;
    } else {
      const auto is_concerned = [&](std::uint32_t r) { return concerned[r]; };
      std::copy_if(all[i].reads.begin(), all[i].reads.end(), std::back_inserter(use.reads), is_concerned);
      std::copy_if(all[i].writes.begin(), all[i].writes.end(), std::back_inserter(use.writes), is_concerned);
      use.constant = is_simple_move(function, i, all[i]);
    }
    if (!use.reads.empty() || !use.writes.empty()) result.uses.emplace(i, std::move(use));
  }
  return result;
}

} // namespace warplens::ir
