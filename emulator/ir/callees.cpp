// SPDX-License-Identifier: Apache-2.0
#include "emulator/ir/callees.hpp"

#include <algorithm>

namespace warplens::ir {

FunctionIndex::FunctionIndex(const Module& module) : definitions_(module.functions.size(), kNone) {
  by_name_.reserve(module.functions.size());
  for (std::uint32_t f = 0; f < module.functions.size(); ++f) by_name_.emplace(module.functions[f].name, f);
  std::vector<std::uint32_t> way; // a chain of aliases
  for (std::uint32_t first = 0; first < definitions_.size(); ++first) {
    std::uint32_t f = first;
    for (way.clear(); definitions_[f] == kNone;) {
      definitions_[f] = f; // the end of the chain, or a cycle of aliases
      way.push_back(f);
      const Function& function = module.functions[f];
      const std::uint32_t next = function.has_body || function.alias_of.empty() ? kNone : named(function.alias_of);
      if (next == kNone) break;
      f = next;
    }
    for (const std::uint32_t passed : way) definitions_[passed] = definitions_[f];
  }
}

std::uint32_t FunctionIndex::named(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? kNone : found->second;
}

CallGraph::Shape CallGraph::shape_of(const std::vector<Variable>& params, const std::vector<Variable>& results) {
  Shape shape;
  for (const Variable& v : params) shape.first.push_back(v.size);
  for (const Variable& v : results) shape.second.push_back(v.size);
  return shape;
}

bool CallGraph::can_be_called(std::uint32_t function) const {
  return module_.functions[function].has_body && !module_.functions[function].is_entry;
}

void CallGraph::find_addressed() {
  knows_addressed_ = true;
  std::vector<bool> addressed(module_.functions.size(), false);
  for (const Function& f : module_.functions)
    for (const Instruction& i : f.instructions) {
      if (is_call(i)) continue;
      for (const Operand& o : f.operands(i))
        if (o.kind == OperandKind::function) addressed[index_.definition_of(o.index)] = true;
    }
  for (const Variable& v : module_.variables)
    for (const Relocation& r : v.relocations)
      if (const std::uint32_t f = index_.named(r.symbol); f != kNone) addressed[index_.definition_of(f)] = true;
  for (std::uint32_t f = 0; f < addressed.size(); ++f)
    if (addressed[f] && can_be_called(f))
      addressed_[shape_of(module_.functions[f].params, module_.functions[f].results)].push_back(f);
}

std::span<const std::uint32_t> CallGraph::of(const Function& caller, const Instruction& call) {
  const CallOperands operands = call_operands(caller, call);
  if (operands.target == nullptr) return {};
  if (operands.target->kind == OperandKind::function) {
    direct_ = index_.definition_of(operands.target->index);
    return {&direct_, 1};
  }
  if (operands.table == nullptr || operands.table->kind != OperandKind::table) return {};
  const Table& table = caller.tables[operands.table->index];
  if (table.kind == Table::Kind::call_prototype) {
    if (!knows_addressed_) find_addressed();
    const auto found = addressed_.find(shape_of(table.params, table.results));
    if (found == addressed_.end()) return {};
    return found->second;
  }
  const auto [found, fresh] = listed_.try_emplace(table.functions.data());
  std::vector<std::uint32_t>& list = found->second;
  if (!fresh) return list;
  for (const std::string_view name : table.functions)
    if (const std::uint32_t f = index_.named(name); f != kNone && can_be_called(index_.definition_of(f)))
      list.push_back(index_.definition_of(f));
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return list;
}

} // namespace warplens::ir
