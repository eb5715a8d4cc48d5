#include "emulator/ir/calls.hpp"

#include <algorithm>

namespace warplens::ir {

CallOperands call_operands(const Function& function, const Instruction& call) {
  const std::span<const Operand> all = function.operands(call);
  CallOperands result;
  std::size_t next = 0;
  const auto list = [&](std::span<const Operand>& elements) {
    if (next == all.size() || all[next].kind != OperandKind::list) return;
    elements = function.elements(all[next++]);
  };
  list(result.results);
  if (next == all.size()) return result;
  const Operand* const target = &all[next++];
  list(result.arguments);
  if (next < all.size()) result.table = &all[next++];
  if (next == all.size()) result.target = target;
  return result;
}

bool is_call(const Instruction& instruction) {
  return instruction.opcode == "call" || instruction.opcode.starts_with("call.");
}

std::uint32_t definition_of(const Module& module, std::uint32_t function) {
  // Aliases of aliases end: each step needs one more function.
  for (std::size_t steps = 0; steps < module.functions.size() && !module.functions[function].has_body; ++steps) {
    const std::string_view aliasee = module.functions[function].alias_of;
    const std::uint32_t next = aliasee.empty() ? kNone : module.function_named(aliasee);
    if (next == kNone) break;
    function = next;
  }
  return function;
}

namespace {

bool same_shape(const std::vector<Variable>& a, const std::vector<Variable>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Variable& x, const Variable& y) { return x.size == y.size; });
}

} // namespace

Callees::Callees(const Module& module) : module_(module), addressed_(module.functions.size(), false) {
  for (const Function& f : module.functions)
    for (const Instruction& i : f.instructions) {
      if (is_call(i)) continue;
      for (const Operand& o : f.operands(i))
        if (o.kind == OperandKind::function) addressed_[definition_of(module, o.index)] = true;
    }
  for (const Variable& v : module.variables)
    for (const Relocation& r : v.relocations)
      if (const std::uint32_t f = module.function_named(r.symbol); f != kNone)
        addressed_[definition_of(module, f)] = true;
}

std::vector<std::uint32_t> Callees::of(const Function& caller, const Instruction& call) const {
  const CallOperands operands = call_operands(caller, call);
  if (operands.target == nullptr) return {};
  if (operands.target->kind == OperandKind::function) return {definition_of(module_, operands.target->index)};
  if (operands.table == nullptr || operands.table->kind != OperandKind::table) return {};
  std::vector<std::uint32_t> list;
  const Table& table = caller.tables[operands.table->index];
  for (const std::string_view name : table.functions)
    if (const std::uint32_t f = module_.function_named(name); f != kNone) list.push_back(definition_of(module_, f));
  if (table.kind == Table::Kind::call_prototype)
    for (std::uint32_t f = 0; f < addressed_.size(); ++f)
      if (addressed_[f] && same_shape(module_.functions[f].params, table.params) &&
          same_shape(module_.functions[f].results, table.results))
        list.push_back(f);
  std::erase_if(list, [&](std::uint32_t f) { return !module_.functions[f].has_body || module_.functions[f].is_entry; });
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return list;
}

} // namespace warplens::ir
