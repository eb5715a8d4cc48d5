// SPDX-License-Identifier: Apache-2.0
#include "emulator/ir/check_calls.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace warplens::ir {

namespace {

class CallChecker {
public:
  CallChecker(const Module& module, const FunctionIndex& index, const Function& caller, const Instruction& call,
              const Complaint& complain)
      : module_(module), index_(index), caller_(caller), call_(call), complain_(complain),
        operands_(call_operands(caller, call)) {}

  std::optional<Diagnostic> run() {
    if (operands_.target == nullptr) {
      complain_(nullptr, fmt::format("'{}' needs a function between its results and its arguments", call_.opcode),
                "call (result), function, (argument);");
      return std::nullopt;
    }
    if (operands_.target->kind == OperandKind::function) return direct();
    indirect();
    if (!unsupported_.message.empty()) return unsupported_;
    return std::nullopt;
  }

private:
  std::optional<Diagnostic> direct() {
    const Function& f = module_.functions[index_.definition_of(operands_.target->index)];
    if (f.is_entry) {
      complain_(operands_.target, fmt::format("'{}' is a kernel: only functions (.func) can be called", f.name), {});
      return std::nullopt;
    }
    if (operands_.table != nullptr)
      complain_(operands_.table, "only indirect calls take a table of targets or a prototype", {});
    match(f.name, f.params, f.results);
    if (!unsupported_.message.empty()) return unsupported_;
    if (f.has_body || library_named(f.name) != Library::none) return std::nullopt;
    if (is_of_device_runtime(f.name))
      return unsupported(fmt::format("'{}' is a function of CUDA's device runtime that is not supported", f.name), {});
    return unsupported(fmt::format("'{}' is declared but not defined", f.name),
                       "load the PTX file that defines it together with this one");
  }

  Diagnostic unsupported(std::string message, std::string hint) const {
    Diagnostic d;
    d.where = call_.where;
    d.message = std::move(message);
    d.hint = std::move(hint);
    return d;
  }

  void indirect() {
    const Operand& target = *operands_.target;
    const Type type = target.kind == OperandKind::reg ? caller_.registers[target.index].type : Type::none;
    if (!isa::is_address(type)) {
      complain_(&target, "the target of a call must be a function, or a 32- or 64-bit register that holds its address",
                {});
      return;
    }
    const bool known = operands_.table != nullptr && operands_.table->kind == OperandKind::table &&
                       caller_.tables[operands_.table->index].kind != Table::Kind::branch_targets;
    if (!known) {
      complain_(operands_.table, "an indirect call needs the label of a .calltargets or a .callprototype", {});
      return;
    }
    const Table& table = caller_.tables[operands_.table->index];
    if (table.kind == Table::Kind::call_prototype) return match(table.name, table.params, table.results);
    for (const std::string_view name : table.functions) {
      const std::uint32_t f = index_.named(name);
      const Function* const listed = f == kNone ? nullptr : &module_.functions[index_.definition_of(f)];
      if (listed == nullptr || listed->is_entry)
        complain_(operands_.table, fmt::format("'{}' lists '{}', which is not a function", table.name, name), {});
      else
        match(name, listed->params, listed->results);
    }
  }

  void match(std::string_view name, const std::vector<Variable>& params, const std::vector<Variable>& results) {
    if (std::any_of(params.begin(), params.end(), [](const Variable& v) { return v.size == 0; })) {
      unsupported_ =
          unsupported(fmt::format("'{}' takes a variable number of arguments, which is not supported", name), {});
      return;
    }
    const auto count = [&](std::string_view what, std::size_t wanted, std::size_t got) {
      if (wanted != got)
        complain_(operands_.target,
                  fmt::format("'{}' has {} {}{}, but the call has {}", name, wanted, what, wanted == 1 ? "" : "s", got),
                  {});
    };
    count("parameter", params.size(), operands_.arguments.size());
    count("result", results.size(), operands_.results.size());
    for (std::size_t i = 0; i < std::min(params.size(), operands_.arguments.size()); ++i)
      place_ = fmt::format("argument {} of '{}'", i + 1, name), fits(operands_.arguments[i], params[i], false);
    for (std::size_t i = 0; i < std::min(results.size(), operands_.results.size()); ++i)
      place_ = fmt::format("result {} of '{}'", i + 1, name), fits(operands_.results[i], results[i], true);
  }

  void fits(const Operand& actual, const Variable& formal, bool is_result) {
    switch (actual.kind) {
    case OperandKind::sink:
      if (is_result) return;
      break;
    case OperandKind::integer:
    case OperandKind::real32:
    case OperandKind::real64:
    case OperandKind::warp_size:
      if (!is_result && formal.extents.empty()) return;
      break;
    case OperandKind::reg: return register_fits(actual, formal);
    case OperandKind::vector:
      if (is_whole_register(actual)) return vector_fits(actual, formal);
      break;
    case OperandKind::variable: return variable_fits(actual, formal);
    default: break;
    }
    complain_(&actual, fmt::format("this operand cannot be {}", place_),
              is_result ? "use a register or a .param variable" : "use a register, a number or a .param variable");
  }

  static std::string described(const Variable& v) {
    return fmt::format(".{} of {} byte{}", isa::name(v.type), v.size, v.size == 1 ? "" : "s");
  }

  void register_fits(const Operand& actual, const Variable& formal) {
    const Register& r = caller_.registers[actual.index];
    const bool both_registers = formal.space == Space::reg;
    const bool mixed = isa::is_float(r.type) != isa::is_float(formal.type) &&
                       isa::info(r.type).kind != isa::Class::untyped &&
                       isa::info(formal.type).kind != isa::Class::untyped;
    const auto bytes = static_cast<std::uint64_t>(isa::bits(r.type) + 7) / 8;
    const bool predicates = (r.type == Type::pred) == (formal.type == Type::pred);
    if (bytes == formal.size && predicates && !(both_registers && mixed)) return;
    complain_(&actual,
              fmt::format("register '{}' of type .{} does not fit {}, which is {}", r.name, isa::name(r.type), place_,
                          described(formal)),
              {});
  }

  // A register of `.reg .v2`, which the builder has split into components; explicit braces are rejected.
  bool is_whole_register(const Operand& actual) const {
    const auto elements = caller_.elements(actual);
    if (elements.empty() || elements[0].kind != OperandKind::reg) return false;
    for (std::size_t i = 0; i < elements.size(); ++i)
      if (elements[i].kind != OperandKind::reg || elements[i].index != elements[0].index ||
          elements[i].component != i + 1)
        return false;
    return elements.size() == caller_.registers[elements[0].index].components;
  }

  void vector_fits(const Operand& actual, const Variable& formal) {
    const Register& r = caller_.registers[caller_.elements(actual)[0].index];
    const auto bytes = static_cast<std::uint64_t>(isa::bytes(r.type)) * r.components;
    if (bytes == formal.size && formal.extents.empty()) return;
    complain_(&actual,
              fmt::format("register '{}' of type .v{} .{} does not fit {}, which is {}", r.name, r.components,
                          isa::name(r.type), place_, described(formal)),
              {});
  }

  void variable_fits(const Operand& actual, const Variable& formal) {
    const Variable& v = module_.variable(caller_, actual.index);
    if (v.space != Space::param || variable_owner(actual.index) != VariableOwner::local) {
      complain_(&actual, fmt::format("'{}' cannot be passed to a call", v.name),
                "pass a register, a number or a .param variable of the body");
      return;
    }
    if (v.size != formal.size || v.alignment < formal.alignment)
      complain_(&actual,
                fmt::format("'{}', {} aligned to {}, does not fit {}, which is {} aligned to {}", v.name, described(v),
                            v.alignment, place_, described(formal), formal.alignment),
                {});
  }

  const Module& module_;
  const FunctionIndex& index_;
  const Function& caller_;
  const Instruction& call_;
  const Complaint& complain_;
  CallOperands operands_;
  std::string place_;      ///< "argument 2 of 'f'"
  Diagnostic unsupported_; ///< valid code that cannot run
};

} // namespace

std::optional<Diagnostic> check_call(const Module& module, const FunctionIndex& index, const Function& caller,
                                     const Instruction& call, const Complaint& complain) {
  return CallChecker(module, index, caller, call, complain).run();
}

void check_param_variable(const Module& module, const Function& function, const Instruction& instruction,
                          const Operand& variable, const Complaint& complain) {
  const Variable& v = module.variable(function, variable.index);
  if (v.space != Space::param) return;
  const VariableOwner owner = variable_owner(variable.index);
  const isa::Family family = module.spellings[instruction.form].entry->family;
  const bool stores = family == isa::Family::store, loads = family == isa::Family::load;
  if (stores && owner == VariableOwner::parameter)
    complain(&variable, fmt::format("'{}' is a parameter, which cannot be written", v.name), {});
  else if (loads && owner == VariableOwner::result)
    complain(&variable, fmt::format("'{}' is a result, which cannot be read", v.name), {});
  else if ((loads || stores) && owner == VariableOwner::local && instruction.guard != kNone)
    complain(&variable, fmt::format("'{}' belongs to a call: accesses to it cannot have a guard", v.name), {});
  else if (!loads && !stores && owner == VariableOwner::local)
    complain(&variable, fmt::format("'{}' has no address: it can only be passed to a call", v.name), {});
}

} // namespace warplens::ir
