// SPDX-License-Identifier: Apache-2.0
#include "emulator/ir/print.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace warplens::ir {

namespace {

using Names = std::unordered_set<std::string>;

bool ends_in_digit(std::string_view name) { return !name.empty() && name.back() >= '0' && name.back() <= '9'; }

std::string_view linkage_text(Linkage linkage) {
  constexpr std::string_view kTexts[] = {"", ".visible ", ".extern ", ".weak ", ".common "};
  return kTexts[static_cast<int>(linkage)];
}

/// The names of a function after its scopes are flattened: all are unique.
struct LocalNames {
  std::vector<std::string> registers, variables, params, results, labels, tables;
};

class Printer {
public:
  explicit Printer(const Module& module) : module_(module) {
    for (const Variable& variable : module.variables) global_names_.emplace(variable.name);
    for (const Function& function : module.functions) {
      global_names_.emplace(function.name);
      for (const Register& r : function.registers)
        if (r.shared != kNone && global_names_.emplace(r.name).second) shared_registers_.push_back(r);
    }
  }

  std::string module() {
    put(".version {}.{}\n.target {}", module_.version / 10, module_.version % 10, module_.target);
    for (const std::string_view option : module_.target_options) put(", {}", option);
    put("\n");
    if (module_.address_size != 32 || module_.version >= 23) put(".address_size {}\n", module_.address_size);
    for (const SourceFile& file : module_.files) put(".file {} \"{}\"\n", file.number, file.name);
    for (const Register& r : shared_registers_) single_register(r, r.name);
    if (needs_prototypes())
      for (const Function& function : module_.functions) {
        head(function);
        put(";\n");
      }
    for (const Variable& each : module_.variables) {
      variable(each, each.name);
      put(";\n");
    }
    for (const Function& function : module_.functions) {
      put("\n");
      head(function);
      if (function.has_body)
        body(function);
      else
        put(";\n");
    }
    for (const Function& function : module_.functions)
      if (!function.alias_of.empty()) put(".alias {}, {};\n", function.name, function.alias_of);
    return std::move(out_);
  }

  std::vector<std::string> lines(const Function& function, std::span<const Instruction> instructions) {
    name_locals(function);
    std::vector<std::string> list;
    for (const Instruction& instruction : instructions) {
      instruction_line(function, instruction);
      list.push_back(std::exchange(out_, {}));
    }
    return list;
  }

private:
  template <class... Args> void put(fmt::format_string<Args...> format, Args&&... args) {
    out_ += fmt::format(format, std::forward<Args>(args)...); // format_to would compile {fmt} itself once more
  }

  /// Gives every register, variable, label and table a unique name that hides no name of the module.
  void name_locals(const Function& function) {
    names_ = {};
    Names used;
    std::unordered_map<std::string_view, int> suffixes; // the last suffix of each name
    const auto unique = [&](std::string_view name) {
      std::string text(name);
      if (name == "_") return text;
      while (global_names_.contains(text) || !used.insert(text).second)
        text = fmt::format("{}_{}", name, ++suffixes[name]);
      return text;
    };
    std::size_t next = 0; // parameters in registers are the first registers
    const auto parameter = [&](const Variable& variable) {
      std::string name = unique(variable.name);
      if (variable.space == Space::reg && name != "_" && next < function.registers.size()) {
        names_.registers.push_back(name);
        ++next;
      }
      return name;
    };
    for (const Variable& result : function.results) names_.results.push_back(parameter(result));
    for (const Variable& param : function.params) names_.params.push_back(parameter(param));
    for (; next < function.registers.size(); ++next) {
      const Register& r = function.registers[next];
      names_.registers.push_back(r.shared != kNone ? std::string(r.name) : unique(r.name));
    }
    for (const Variable& local : function.variables) names_.variables.push_back(unique(local.name));
    for (const Table& each : function.tables) names_.tables.push_back(unique(each.name));
    for (const Label& label : function.labels) names_.labels.push_back(unique(label.name));
  }

  void variable(const Variable& variable, std::string_view name, bool with_initial = true) {
    put("{}.{}", linkage_text(variable.linkage), isa::name(variable.space));
    if (variable.constant_bank != 0) put("[{}]", variable.constant_bank);
    if (variable.managed) put(" .attribute(.managed)");
    const auto natural = static_cast<std::uint32_t>(std::max(1, isa::bytes(variable.type)) * variable.vector);
    if (variable.alignment != natural) put(" .align {}", variable.alignment);
    if (variable.vector > 1) put(" .v{}", variable.vector);
    put(" .{}", isa::name(variable.type));
    if (variable.pointee != Space::none) {
      put(" .ptr");
      if (variable.pointee != Space::generic) put(" .{}", isa::name(variable.pointee));
      if (variable.pointee_alignment != 0) put(" .align {}", variable.pointee_alignment);
    }
    put(" {}", name);
    for (const std::uint64_t extent : variable.extents) {
      if (extent == 0 && &extent == variable.extents.data())
        put("[]");
      else
        put("[{}]", extent);
    }
    if (with_initial) initializer(variable);
  }

  void initializer(const Variable& variable) {
    if (!variable.options.empty()) {
      put(" = {{");
      for (const VariableOption& option : variable.options)
        put("{}{} = {}", &option == variable.options.data() ? "" : ", ", option.name, option.value);
      put("}}");
    }
    if (variable.initial.empty()) return;
    std::vector<std::uint64_t> extents = variable.extents;
    if (variable.vector > 1) extents.push_back(variable.vector);
    put(" = ");
    level(variable, extents, 0, 0, variable.initial.size() / static_cast<std::uint64_t>(isa::bytes(variable.type)));
  }

  /// Prints the elements from `start` on in the braces of `depth`, up to `count` elements of the whole.
  void level(const Variable& variable, const std::vector<std::uint64_t>& extents, std::size_t depth,
             std::uint64_t start, std::uint64_t count) {
    if (depth == extents.size()) return value(variable, start * static_cast<std::uint64_t>(isa::bytes(variable.type)));
    std::uint64_t step = 1;
    for (std::size_t i = depth + 1; i < extents.size(); ++i) step *= extents[i];
    put("{{");
    for (std::uint64_t i = 0; i < extents[depth] && start + i * step < count; ++i) {
      if (i != 0) put(", ");
      level(variable, extents, depth + 1, start + i * step, count);
    }
    put("}}");
  }

  void value(const Variable& variable, std::uint64_t offset) {
    const auto relocation = std::lower_bound(variable.relocations.begin(), variable.relocations.end(), offset,
                                             [](const Relocation& r, std::uint64_t at) { return r.offset < at; });
    if (relocation != variable.relocations.end() && relocation->offset == offset) {
      std::string symbol(relocation->symbol);
      if (relocation->generic) symbol = fmt::format("generic({})", symbol);
      if (relocation->addend != 0) symbol += fmt::format("+{}", relocation->addend);
      if (relocation->bytes == 1) symbol = fmt::format("0x{:X}({})", std::uint64_t{0xff} << relocation->shift, symbol);
      put("{}", symbol);
      return;
    }
    std::uint64_t bits = 0;
    const auto bytes = static_cast<std::size_t>(isa::bytes(variable.type));
    std::memcpy(&bits, variable.initial.data() + offset, std::min(bytes, sizeof bits));
    if (isa::is_float(variable.type) && bytes == 4)
      put("0f{:08X}", bits);
    else if (isa::is_float(variable.type))
      put("0d{:016X}", bits);
    else
      put("{}", bits);
  }

  void parameters(const std::vector<Variable>& list, const std::vector<std::string>& names) {
    put("(");
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (i != 0) put(", ");
      variable(list[i], i < names.size() ? std::string_view(names[i]) : list[i].name, false);
    }
    put(")");
  }

  /// Before PTX 1.4, a kernel has no list of parameters: its body declares them.
  bool parameters_in_body(const Function& function) const {
    constexpr int kFirstWithParameterLists = 14;
    return function.is_entry && module_.version < kFirstWithParameterLists;
  }

  void head(const Function& function) {
    name_locals(function);
    put("{}{} ", linkage_text(function.linkage), function.is_entry ? ".entry" : ".func");
    if (!function.results.empty()) {
      parameters(function.results, names_.results);
      put(" ");
    }
    put("{}", function.name);
    if (!parameters_in_body(function)) parameters(function.params, names_.params);
    if (function.no_return) put(" .noreturn");
    bounds(function.bounds);
    if (!function.has_body)
      for (const std::string_view text : function.pragmas) put(" .pragma \"{}\";", text);
  }

  void bounds(const LaunchBounds& bounds) {
    const auto triple = [&](std::string_view name, const std::array<std::uint32_t, 3>& values) {
      if (values[0] != 0) put(" {} {}, {}, {}", name, values[0], values[1], values[2]);
    };
    const auto single = [&](std::string_view name, std::uint32_t value) {
      if (value != 0) put(" {} {}", name, value);
    };
    triple(".maxntid", bounds.max_threads);
    triple(".reqntid", bounds.required_threads);
    single(".minnctapersm", bounds.min_ctas_per_sm);
    single(".maxnctapersm", bounds.max_ctas_per_sm);
    single(".maxnreg", bounds.max_registers);
    triple(".reqnctapercluster", bounds.required_cluster);
    single(".maxclusterrank", bounds.max_cluster_rank);
    if (bounds.explicit_cluster) put(" .explicitcluster");
    if (bounds.blocks_are_clusters) put(" .blocksareclusters");
  }

  void body(const Function& function) {
    put("\n{{\n");
    for (const std::string_view text : function.pragmas) put("  .pragma \"{}\";\n", text);
    if (parameters_in_body(function)) declarations(function.params, names_.params);
    registers(function);
    declarations(function.variables, names_.variables);
    for (std::size_t i = 0; i < function.tables.size(); ++i) table(function.tables[i], i);
    std::size_t label = 0;
    SourcePosition source;
    for (std::size_t i = 0; i <= function.instructions.size(); ++i) {
      for (; label < function.labels.size() && function.labels[label].instruction <= i; ++label)
        put("{}:\n", names_.labels[label]);
      if (i == function.instructions.size()) break;
      const Instruction& instruction = function.instructions[i];
      if (instruction.source != source) {
        source = instruction.source;
        location(source, 0);
      }
      put("  ");
      instruction_line(function, instruction);
      put("\n");
    }
    put("}}\n");
  }

  void declarations(const std::vector<Variable>& list, const std::vector<std::string>& names) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      put("  ");
      variable(list[i], names[i]);
      put(";\n");
    }
  }

  // Calls in inlined functions come before the functions that are inlined there, as the parser expects.
  void location(const SourcePosition& p, std::uint32_t column) {
    const CallSite* const call = p.inlined_at == kNone ? nullptr : &module_.call_sites[p.inlined_at];
    if (call != nullptr) location(call->where, call->column);
    put("  .loc {} {} {}", p.file, p.line, column);
    if (call != nullptr) put(", inlined_at {} {} {}", call->where.file, call->where.line, call->column);
    put("\n");
  }

  void registers(const Function& function) {
    const auto& names = names_.registers;
    std::size_t i = 0;
    for (const auto* list : {&function.results, &function.params})
      for (const Variable& variable : *list) i += variable.space == Space::reg && variable.name != "_" ? 1 : 0;
    while (i < names.size()) {
      const Register& first = function.registers[i];
      if (first.shared != kNone) {
        ++i;
        continue;
      }
      const std::string_view prefix = std::string_view(names[i]).substr(0, names[i].size() - 1);
      std::size_t count = 0;
      if (names[i].ends_with('0') && !prefix.empty() && !ends_in_digit(prefix))
        while (i + count < names.size() && function.registers[i + count].type == first.type &&
               function.registers[i + count].components == first.components &&
               function.registers[i + count].shared == kNone && names[i + count] == fmt::format("{}{}", prefix, count))
          ++count;
      put("  ");
      single_register(first, count > 1 ? fmt::format("{}<{}>", prefix, count) : names[i]);
      i += std::max<std::size_t>(count, 1);
    }
  }

  void single_register(const Register& r, std::string_view name) {
    put(".reg ");
    if (r.components > 1) put(".v{} ", r.components);
    put(".{} {};\n", isa::name(r.type), name);
  }

  void table(const Table& table, std::size_t i) {
    put("  {}: ", names_.tables[i]);
    std::string_view separator = " ";
    switch (table.kind) {
    case Table::Kind::branch_targets:
      put(".branchtargets");
      for (const std::uint32_t label : table.labels) put("{}{}", std::exchange(separator, ", "), names_.labels[label]);
      break;
    case Table::Kind::call_targets:
      put(".calltargets");
      for (const std::string_view function : table.functions) put("{}{}", std::exchange(separator, ", "), function);
      break;
    case Table::Kind::call_prototype:
      put(".callprototype ");
      if (!table.results.empty()) {
        parameters(table.results, {});
        put(" ");
      }
      put("_ ");
      parameters(table.params, {});
      if (table.no_return) put(" .noreturn");
      break;
    }
    put(";\n");
  }

  void instruction_line(const Function& function, const Instruction& instruction) {
    if (instruction.guard != kNone)
      put("@{}{} ", instruction.guard_negated ? "!" : "", names_.registers[instruction.guard]);
    put("{}", instruction.opcode);
    if (instruction.operand_count != 0) put(" ");
    operands(function, function.operands(instruction));
    put(";");
  }

  void operand(const Function& function, const Operand& operand) {
    switch (operand.kind) {
    case OperandKind::reg: {
      const bool predicate = function.registers[operand.index].type == Type::pred;
      if (operand.negated) put("{}", predicate ? '!' : '-');
      return named(names_.registers[operand.index], operand);
    }
    case OperandKind::variable: return named(variable_name(operand.index), operand);
    case OperandKind::function: return named(module_.functions[operand.index].name, operand);
    case OperandKind::label: return named(names_.labels[operand.index], operand);
    case OperandKind::table: return named(names_.tables[operand.index], operand);
    case OperandKind::special: return named(isa::kSpecialRegisters[operand.index].name, operand);
    case OperandKind::integer: return put("{}", operand.value);
    case OperandKind::real32: return put("0f{:08X}", static_cast<std::uint32_t>(operand.value));
    case OperandKind::real64: return put("0d{:016X}", static_cast<std::uint64_t>(operand.value));
    case OperandKind::warp_size: return put("WARP_SZ");
    case OperandKind::sink: return put("_");
    case OperandKind::address: return address(function, operand);
    case OperandKind::vector: put("{{"); break;
    case OperandKind::list: put("("); break;
    case OperandKind::pair:
      this->operand(function, function.elements(operand)[0]);
      put("|");
      return this->operand(function, function.elements(operand)[1]);
    case OperandKind::indexed: {
      const auto both = function.elements(operand);
      put("{}[{}", variable_name(both[0].index), names_.registers[both[1].index]);
      if (both[0].value != 0) put("+{}", both[0].value / both[1].value);
      return put("]");
    }
    }
    operands(function, function.elements(operand));
    put("{}", operand.kind == OperandKind::vector ? '}' : ')');
  }

  void operands(const Function& function, std::span<const Operand> list) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (i != 0) put(", ");
      operand(function, list[i]);
    }
  }

  void named(std::string_view name, const Operand& operand) {
    put("{}", name);
    if (operand.component == kBytes)
      put(".b{:04x}", operand.value);
    else if (operand.component == kSomeBytes)
      put(".b{:x}", operand.value);
    else if (operand.component == kHalves)
      put(".h{:02x}", operand.value);
    else if (operand.component >= kHalf0)
      put(".h{}", operand.component - kHalf0);
    else if (operand.component >= kByte0)
      put(".b{}", operand.component - kByte0);
    else if (operand.component != 0)
      put(".{}", "xyzw"[operand.component - 1]);
    if (operand.unified) put(".unified");
    if (operand.value != 0 && operand.component < kHalves) put("+{}", operand.value);
  }

  void address(const Function& function, const Operand& operand) {
    const auto parts = function.elements(operand);
    if (!parts.empty() && parts[0].kind == OperandKind::indexed && function.elements(parts[0])[1].value != 1)
      return this->operand(function, parts[0]);
    put("[");
    if (parts.empty()) {
      put("{}", operand.value);
    } else if (parts[0].kind == OperandKind::indexed) {
      const auto both = function.elements(parts[0]);
      put("{}+{}", variable_name(both[0].index), names_.registers[both[1].index]);
    } else {
      this->operand(function, parts[0]);
      if (operand.value != 0) put("+{}", operand.value);
    }
    if (parts.size() > 1) put(", ");
    if (!parts.empty()) operands(function, parts.subspan(1));
    put("]");
  }

  [[nodiscard]] std::string_view variable_name(std::uint32_t index) const {
    const std::uint32_t i = variable_position(index);
    switch (variable_owner(index)) {
    case VariableOwner::local: return names_.variables[i];
    case VariableOwner::parameter: return names_.params[i];
    case VariableOwner::result: return names_.results[i];
    case VariableOwner::module: break;
    }
    return module_.variables[i].name;
  }

  /// Finds a use of a function before its declaration. If there is one, all functions are declared at the top, in
  /// order.
  [[nodiscard]] bool needs_prototypes() const {
    for (std::uint32_t i = 0; i < module_.functions.size(); ++i)
      for (const Operand& operand : module_.functions[i].operand_pool)
        if (operand.kind == OperandKind::function && operand.index > i) return true;
    return false;
  }

  const Module& module_;
  Names global_names_;
  std::vector<Register> shared_registers_; ///< at module scope
  LocalNames names_;
  std::string out_;
};

} // namespace

std::string print(const Module& module) { return Printer(module).module(); }

std::vector<std::string> print_lines(const Module& module, const Function& function) {
  std::vector<std::string> list;
  for (const Part& part : function.parts) { // each uses the names of its own function
    std::vector<std::string> own = print_lines(module, module.functions[part.function]);
    own.resize(part.end - part.first, "ret;"); // where link() had to add one
    std::move(own.begin(), own.end(), std::back_inserter(list));
  }
  if (!list.empty()) return list;
  return Printer(module).lines(function, function.instructions);
}

} // namespace warplens::ir
