// SPDX-License-Identifier: Apache-2.0
#include "emulator/ir/link.hpp"

#include "emulator/base/limits.hpp"
#include "emulator/ir/callees.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace warplens::ir {

namespace {

// Does the body need an additional ret at the end?
bool falls_off(const Function& f) {
  if (f.instructions.empty()) return true;
  const auto end = static_cast<std::uint32_t>(f.instructions.size());
  if (std::any_of(f.labels.begin(), f.labels.end(), [&](const Label& l) { return l.instruction >= end; })) return true;
  const Instruction& last = f.instructions.back();
  const std::string_view op = last.head();
  return last.guard != kNone || (op != "ret" && op != "exit" && op != "bra" && op != "brx" && op != "trap");
}

class Linker {
public:
  Linker(const Module& module, const Function& kernel) : module_(module), kernel_(kernel), callees_(module) {}

  std::vector<std::uint32_t> reachable() {
    std::vector<std::uint32_t> list{static_cast<std::uint32_t>(&kernel_ - module_.functions.data())};
    std::vector<bool> seen(module_.functions.size(), false);
    std::unordered_set<const std::uint32_t*> lists; // of indirect calls
    seen[list.front()] = true;
    for (std::size_t next = 0; next < list.size(); ++next) {
      const Function& f = module_.functions[list[next]];
      for (const Instruction& i : f.instructions) {
        if (!is_call(i)) continue;
        const std::span<const std::uint32_t> callees = callees_.of(f, i);
        targets_ += callees.size();
        if (callees.size() > 1 && !lists.insert(callees.data()).second) continue;
        for (const std::uint32_t callee : callees) {
          if (!seen[callee]) list.push_back(callee);
          seen[callee] = true;
        }
      }
    }
    return list;
  }

  Expected<Function> run() {
    linked_.name = kernel_.name;
    linked_.is_entry = linked_.has_body = true;
    linked_.linkage = kernel_.linkage;
    linked_.bounds = kernel_.bounds;
    linked_.pragmas = kernel_.pragmas;
    linked_.params = kernel_.params;
    linked_.where = kernel_.where;
    linked_.file = kernel_.file;
    for (const std::uint32_t f : reachable()) append(f);
    const Limit& limit = limits::kCallTargets; // each needs a few hundred bytes
    if (!limit.admits(targets_))
      errors_.error(kernel_.where, limit.exceeded(fmt::format("kernel '{}'", kernel_.name), targets_), limit.hint());
    else
      find_cycles();
    if (errors_.has_errors()) {
      errors_.in_file(module_.file);
      return failure(std::move(errors_));
    }
    return std::move(linked_);
  }

private:
  // The start of the lists of the appended part in those of the linked function.
  struct Bases {
    std::uint32_t registers, pool, labels, tables, variables, params, results;
  };

  template <class List> static std::uint32_t size(const List& list) { return static_cast<std::uint32_t>(list.size()); }

  void append(std::uint32_t index) {
    const Function& f = module_.functions[index];
    const bool is_kernel = linked_.parts.empty();
    Part part;
    part.function = index;
    part.first = size(linked_.instructions);
    part.first_variable = size(linked_.variables);
    Bases base{
        size(linked_.registers), size(linked_.operand_pool), size(linked_.labels), size(linked_.tables), 0, 0, 0};
    std::uint32_t next_register = base.registers; // results in registers come first, then parameters
    base.results = size(linked_.variables);
    part.results = formals(f.results, f.has_body, next_register);
    base.params = size(linked_.variables);
    if (!is_kernel) part.params = formals(f.params, f.has_body, next_register);
    base.variables = size(linked_.variables);
    linked_.variables.insert(linked_.variables.end(), f.variables.begin(), f.variables.end());
    linked_.registers.insert(linked_.registers.end(), f.registers.begin(), f.registers.end());
    for (Operand o : f.operand_pool) {
      if (o.kind == OperandKind::reg)
        o.index = moved_register(f, o.index, base);
      else
        o = moved(o, base, is_kernel);
      linked_.operand_pool.push_back(o);
    }
    for (const Label& l : f.labels) linked_.labels.push_back({l.name, part.first + l.instruction});
    for (Table t : f.tables) {
      for (std::uint32_t& label : t.labels) label += base.labels;
      linked_.tables.push_back(std::move(t));
    }
    for (const std::uint32_t i : f.kept_loops) linked_.kept_loops.push_back(part.first + i);
    for (Instruction i : f.instructions) {
      if (i.guard != kNone) i.guard = moved_register(f, i.guard, base);
      i.first_operand += base.pool;
      linked_.instructions.push_back(i);
    }
    if (f.has_body && falls_off(f)) linked_.instructions.push_back(plain_return(f));
    part.end = size(linked_.instructions);
    part.end_variable = size(linked_.variables);
    if (!f.has_body && library_named(f.name) == Library::none)
      errors_.error(f.where, fmt::format("function '{}' is called but not defined", f.name),
                    fmt::format("kernel '{}' cannot be launched without it", kernel_.name));
    linked_.parts.push_back(std::move(part));
  }

  // Without a body there are no registers: a device library function takes all its arguments from the frame.
  std::vector<Formal> formals(const std::vector<Variable>& list, bool has_body, std::uint32_t& next_register) {
    std::vector<Formal> result;
    for (Variable v : list) {
      const bool in_register = has_body && v.space == Space::reg && v.name != "_";
      result.push_back({size(linked_.variables), in_register ? next_register++ : kNone});
      v.space = Space::param;
      linked_.variables.push_back(std::move(v));
    }
    return result;
  }

  // A register at module scope uses the number from the first part that names it.
  std::uint32_t moved_register(const Function& f, std::uint32_t index, const Bases& base) {
    const std::uint32_t moved = base.registers + index, shared = f.registers[index].shared;
    return shared == kNone ? moved : shared_registers_.try_emplace(shared, moved).first->second;
  }

  static Operand moved(Operand o, const Bases& base, bool is_kernel) {
    switch (o.kind) {
    case OperandKind::label: o.index += base.labels; break;
    case OperandKind::table: o.index += base.tables; break;
    case OperandKind::vector:
    case OperandKind::pair:
    case OperandKind::address:
    case OperandKind::list:
    case OperandKind::indexed: o.index += base.pool; break;
    case OperandKind::variable: o.index = moved_variable(o.index, base, is_kernel); break;
    default: break;
    }
    return o;
  }

  static std::uint32_t moved_variable(std::uint32_t index, const Bases& base, bool is_kernel) {
    const std::uint32_t position = variable_position(index);
    switch (variable_owner(index)) {
    case VariableOwner::module: return index;
    case VariableOwner::local: return variable_index(VariableOwner::local, base.variables + position);
    case VariableOwner::result: return variable_index(VariableOwner::local, base.results + position);
    case VariableOwner::parameter: break;
    }
    return is_kernel ? index : variable_index(VariableOwner::local, base.params + position);
  }

  Instruction plain_return(const Function& f) {
    Instruction i;
    i.opcode = "ret";
    i.where = f.instructions.empty() ? f.where : f.instructions.back().where;
    for (std::uint32_t s = 0; s < module_.spellings.size() && plain_return_ == kNone; ++s)
      if (module_.spellings[s].entry->family == isa::Family::ret && module_.spellings[s].form.count == 0)
        plain_return_ = s;
    i.form = plain_return_;
    i.instruction_class = isa::InstructionClass::control;
    return i;
  }

  // Recursive parts: their registers must be saved while a part of the same cycle runs.
  void find_cycles() {
    const std::uint32_t count = size(linked_.parts);
    std::vector<std::uint32_t> part_of(module_.functions.size(), kNone);
    for (std::uint32_t p = 0; p < count; ++p) part_of[linked_.parts[p].function] = p;
    std::vector<std::vector<std::uint32_t>> calls(count);
    for (std::uint32_t p = 0; p < count; ++p) {
      const Function& f = module_.functions[linked_.parts[p].function];
      for (const Instruction& i : f.instructions)
        if (is_call(i))
          for (const std::uint32_t callee : callees_.of(f, i)) calls[p].push_back(part_of[callee]);
    }
    std::vector<std::vector<std::uint32_t>> callers(count);
    for (std::uint32_t p = 0; p < count; ++p)
      for (const std::uint32_t q : calls[p]) callers[q].push_back(p);
    // Kosaraju: walks backwards from each part, in reverse order of completion of a forward walk.
    std::vector<bool> seen(count, false);
    std::vector<std::uint32_t> order, members;
    for (std::uint32_t p = 0; p < count; ++p) walk(calls, p, seen, order);
    seen.assign(count, false);
    for (std::size_t i = order.size(); i-- > 0;) {
      members.clear();
      walk(callers, order[i], seen, members);
      const bool itself = members.size() == 1 &&
                          std::find(calls[order[i]].begin(), calls[order[i]].end(), order[i]) != calls[order[i]].end();
      if (members.size() > 1 || itself)
        for (const std::uint32_t p : members) linked_.parts[p].cycle = order[i];
    }
  }

  // Appends the unseen parts that are reachable from a part, in the order of completion.
  static void walk(const std::vector<std::vector<std::uint32_t>>& edges, std::uint32_t from, std::vector<bool>& seen,
                   std::vector<std::uint32_t>& left) {
    if (seen[from]) return;
    seen[from] = true;
    std::vector<std::pair<std::uint32_t, std::size_t>> running{{from, 0}};
    while (!running.empty()) {
      auto& [part, next] = running.back();
      if (next == edges[part].size()) {
        left.push_back(part);
        running.pop_back();
        continue;
      }
      const std::uint32_t to = edges[part][next++];
      if (!seen[to]) running.emplace_back(to, 0);
      seen[to] = true;
    }
  }

  const Module& module_;
  const Function& kernel_;
  CallGraph callees_;
  std::size_t targets_ = 0; ///< of all calls
  std::uint32_t plain_return_ = kNone;
  Function linked_;
  std::unordered_map<std::uint32_t, std::uint32_t> shared_registers_; ///< by number in the module
  Diagnostics errors_;
};

} // namespace

bool needs_linking(const Function& kernel) {
  const auto in_frame = [](const Variable& v) { return v.space == Space::param; };
  if (std::any_of(kernel.variables.begin(), kernel.variables.end(), in_frame)) return true;
  return std::any_of(kernel.instructions.begin(), kernel.instructions.end(), [](const Instruction& i) {
    return is_call(i) || i.opcode.starts_with("alloca") || i.opcode.starts_with("stack");
  });
}

std::vector<std::uint32_t> reachable(const Module& module, const Function& kernel) {
  return Linker(module, kernel).reachable();
}

Expected<Function> link(const Module& module, const Function& kernel) { return Linker(module, kernel).run(); }

} // namespace warplens::ir
