// SPDX-License-Identifier: Apache-2.0
// Declarations of registers and variables, and their initialisers.
#include "emulator/ir/build.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

namespace warplens::ir {

namespace {

constexpr std::uint32_t kMaxRange = 1u << 16; // of variables
constexpr int kLastWithoutStack = 30;         // PTX without frames: registers and .local are allowed at module scope

Space space_named(std::string_view word) {
  constexpr Space kSpaces[] = {Space::reg,   Space::sreg,  Space::constant, Space::global,
                               Space::local, Space::param, Space::shared,   Space::texture};
  for (const Space space : kSpaces)
    if (isa::name(space) == word.substr(1)) return space;
  return Space::none;
}

std::string type_hint(std::string_view word) {
  std::vector<std::string_view> names;
  for (const isa::TypeInfo& type : isa::kTypes) names.push_back(type.name);
  const std::string near = closest(word.substr(1), names);
  return near.empty() ? "" : fmt::format("did you mean '.{}'?", near);
}

} // namespace

Linkage Builder::linkage_of(const std::vector<Lexeme>& words) {
  Linkage linkage = Linkage::internal;
  for (const Lexeme& word : words) {
    if (linkage != Linkage::internal)
      error(word.where, fmt::format("expected one linkage directive but found '{}' too", word.text));
    if (word.text == ".extern")
      linkage = Linkage::external;
    else if (word.text == ".weak")
      linkage = Linkage::weak, requires_version(31, word);
    else if (word.text == ".common")
      linkage = Linkage::common, requires_version(50, word);
    else
      linkage = Linkage::visible;
  }
  return linkage;
}

/// Types, vector widths and `.ptr` in any order. Reports an error and returns false if a word is invalid.
bool Builder::words_of(const DeclarationSyntax& head, Variable& variable) {
  bool after_pointer = false;
  for (const Lexeme& word : head.words) {
    const std::string_view text = word.text;
    if (text == ".ptr") {
      if (after_pointer) {
        error(word.where, "expected a name but found a second '.ptr'");
        return false;
      }
      after_pointer = true;
      variable.pointee = Space::generic;
    } else if (const Space space = space_named(text); space != Space::none) {
      if (!after_pointer) {
        error(word.where, fmt::format("expected a type but found '{}'", text));
        return false;
      }
      variable.pointee = space;
    } else if (text == ".v2" || text == ".v4") {
      variable.vector = text == ".v2" ? 2 : 4;
    } else if (const auto type = isa::type_named(text.substr(1)); type && isa::is_fundamental(*type)) {
      if (variable.type != Type::none) {
        error(word.where, fmt::format("expected a name but found a second type '{}'", text));
        return false;
      }
      variable.type = *type;
    } else {
      error(word.where, fmt::format("unknown type '{}'", text), type_hint(text));
      return false;
    }
  }
  return true;
}

bool Builder::admit(const Limit& limit, Checked number, Lexeme what) {
  if (limit.admits(number)) return true;
  error(what.where, limit.exceeded(fmt::format("'{}'", what.text), number), limit.hint());
  return false;
}

bool Builder::extents_of(const DeclaratorSyntax& name, Variable& variable) {
  const std::uint64_t element = static_cast<std::uint64_t>(isa::info(variable.type).bits + 7) / 8 * variable.vector;
  Checked size = element, row = element; // `row`: omitted or zero extents count as 1
  for (const Expression& extent : name.extents) {
    std::uint64_t count = 0;
    if (extent.term_count > 1) {
      error(syntax.of(extent)[1].where,
            fmt::format("expected ']': the size of '{}' must be a single number", name.name.text));
      return false;
    }
    if (extent.term_count != 0) {
      ConstantError wrong;
      const auto value = evaluate(syntax, extent, wrong);
      if (!value || value->is_real() || !value->symbol.empty() || value->bits < 0) {
        error(value ? name.name.where : wrong.where,
              value ? fmt::format("expected a number of elements for '{}'", name.name.text) : wrong.message);
        return false;
      }
      count = static_cast<std::uint64_t>(value->bits);
    } else if (!variable.extents.empty()) {
      error(name.name.where, fmt::format("only the first extent of '{}' can be omitted", name.name.text));
      return false;
    }
    variable.extents.push_back(count);
    row *= std::max(count, std::uint64_t{1});
    size *= count;
  }
  if (!admit(limits::kVariableBytes, row, name.name)) return false;
  variable.size = size.saturated();
  return true;
}

std::optional<Variable> Builder::variable_of(const DeclarationSyntax& head, const DeclaratorSyntax& name) {
  Variable variable;
  variable.where = name.name.where;
  variable.space = space_named(head.space.text);
  variable.linkage = linkage_of(head.linkages);
  if (!words_of(head, variable)) return std::nullopt;
  if (variable.type == Type::none) {
    error(name.name.where, fmt::format("expected a type but found '{}'", name.name.text));
    return std::nullopt;
  }
  if (name.name.text.find('.') != std::string_view::npos || name.name.text == "WARP_SZ") {
    error(name.name.where, fmt::format("expected a name but found '{}'", name.name.text));
    return std::nullopt;
  }
  if (!name.count.empty() && !name.extents.empty()) {
    error(name.count_where, "a range cannot consist of arrays");
    return std::nullopt;
  }
  for (const AttributeSyntax& attribute : head.attributes) variable.managed |= attribute.name.text == ".managed";
  check_attributes(head.attributes, variable.space == Space::global, variable.space == Space::global);
  if (!head.bank.empty()) variable.constant_bank = unsigned_of({head.bank, head.space.where}).value_or(0);
  variable.name = module_.intern(name.name.text);
  if (!extents_of(name, variable)) return std::nullopt;
  const auto natural = static_cast<std::uint32_t>(std::max(1, isa::bytes(variable.type)) * variable.vector);
  variable.alignment =
      head.alignment.empty() ? natural : unsigned_of({head.alignment, name.name.where}).value_or(natural);
  if (!head.pointee_alignment.empty())
    variable.pointee_alignment = unsigned_of({head.pointee_alignment, name.name.where}).value_or(0);
  for (const std::uint32_t alignment :
       {variable.alignment, head.pointee_alignment.empty() ? 1 : variable.pointee_alignment})
    if (!std::has_single_bit(alignment)) {
      error(name.name.where, fmt::format("expected a power of two as alignment but found {}", alignment));
      return std::nullopt;
    }
  return variable;
}

void Builder::declare_registers(const Variable& variable, const DeclaratorSyntax& name) {
  if (!in_body_ && module_.version > kLastWithoutStack)
    return error(name.name.where, "registers cannot be declared outside a function from PTX ISA .version 3.1 on");
  auto& registers = in_body_ ? function().registers : registers_;
  Scopes& scopes = in_body_ ? scopes_ : globals_;
  const auto first = static_cast<std::uint32_t>(registers.size());
  const std::uint32_t count = name.count.empty() ? 1 : unsigned_of({name.count, name.count_where}).value_or(0);
  if (!admit(limits::kRegisters, Checked(register_total_) + count, name.name)) return;
  register_total_ += count;
  if (name.count.empty()) {
    if (!scopes.declare(variable.name, {OperandKind::reg, first}))
      return error(variable.where, fmt::format("'{}' is declared twice", variable.name));
    registers.push_back({variable.name, variable.type, variable.vector});
    return;
  }
  const std::string_view prefix = variable.name;
  constexpr std::uint64_t kMostDigits = 7;
  const Checked names = Checked(register_names_) + Checked(count) * (prefix.size() + kMostDigits);
  if (!admit(limits::kRegisterNameBytes, names, name.name)) return;
  register_names_ = names.saturated();
  const bool single =
      prefix.back() >= '0' && prefix.back() <= '9'; // %f1<3>: prefix and number could not be separated later
  bool fresh = single || count == 0 || scopes.declare_range(prefix, count, first);
  for (std::uint32_t i = 0; i < count; ++i) {
    registers.push_back({module_.numbered(prefix, i), variable.type, variable.vector});
    if (single) fresh &= scopes.declare(registers.back().name, {OperandKind::reg, first + i});
  }
  if (!fresh) error(variable.where, fmt::format("a register of '{}<{}>' is declared twice", prefix, count));
}

/// The module's name of a .global or .const variable of a body: k$x, or k$x$7 if the name is already used.
std::string_view Builder::name_of_static(std::string_view name) {
  std::string own = fmt::format("{}${}", function().name, name);
  for (std::size_t n = module_.variables.size(); globals_.find(own); ++n)
    own = fmt::format("{}${}${}", function().name, name, n);
  return module_.intern(own);
}

void Builder::declare_variable(Variable variable) {
  const bool is_static = in_body_ && (variable.space == Space::global || variable.space == Space::constant);
  const bool as_parameter = parameters_in_body_ && variable.space == Space::param && scopes_.depth() == 0;
  const VariableOwner owner = !in_body_ || is_static ? VariableOwner::module
                              : as_parameter         ? VariableOwner::parameter
                                                     : VariableOwner::local;
  auto& list = owner == VariableOwner::module ? module_.variables
               : as_parameter                 ? function().params
                                              : function().variables;
  Scopes& scopes = in_body_ ? scopes_ : globals_;
  if (!in_body_) {
    // A variable may be declared .extern any number of times, before or after its definition.
    const auto known = globals_.find(variable.name);
    if (known && known->kind == OperandKind::variable) {
      Variable& earlier = module_.variables[known->index];
      if (earlier.linkage == Linkage::external || variable.linkage == Linkage::external) {
        if (earlier.linkage == Linkage::external) earlier = std::move(variable);
        initializer_.variable = &earlier;
        return;
      }
    }
  }
  const auto index = static_cast<std::uint32_t>(list.size());
  if (!scopes.declare(variable.name, {OperandKind::variable, variable_index(owner, index)}))
    error(variable.where, fmt::format("'{}' is declared twice", variable.name));
  list.push_back(std::move(variable));
  initializer_.variable = &list.back();
  if (!is_static) return;
  list.back().name = name_of_static(list.back().name);
  globals_.declare(list.back().name, {OperandKind::variable, variable_index(owner, index)});
}

void Builder::declare(const DeclarationSyntax& head, const DeclaratorSyntax& name) {
  initializer_.variable = nullptr;
  initializer_.of_register = head.space.text == ".reg";
  auto variable = variable_of(head, name);
  if (!variable || wrong_type(*variable) || wrong_place(*variable, head)) return;
  if (variable->space == Space::reg) return declare_registers(*variable, name);
  if (variable->space == Space::sreg) return error(head.space.where, "special registers cannot be declared");
  if (name.count.empty()) return declare_variable(std::move(*variable));
  const std::uint32_t count = unsigned_of({name.count, name.count_where}).value_or(0);
  if (count > kMaxRange) return error(name.count_where, fmt::format("more than {} variables in a range", kMaxRange));
  for (std::uint32_t i = 0; i < count; ++i) {
    Variable one = *variable;
    one.name = module_.numbered(variable->name, i);
    declare_variable(std::move(one));
  }
}

// ---- initialisers
// ------------------------------------------------------------------------------------------------------

void Builder::no_initializer() {
  if (initializer_.variable != nullptr) check_size(*initializer_.variable);
}

void Builder::begin_initializer(SourceLocation where) {
  Variable* const variable = initializer_.variable;
  const bool of_register = initializer_.of_register;
  initializer_ = {};
  if (variable == nullptr) {
    initializer_.failed = true; // already reported, except for a register
    if (of_register) error(where, "expected ';' but found '=': only .global and .const variables can be initialised");
    return;
  }
  if (variable->space != Space::global && variable->space != Space::constant) {
    error(where, "expected ';' but found '=': only .global and .const variables can be initialised");
    initializer_.failed = true;
    return;
  }
  initializer_.variable = variable;
  initializer_.extents = variable->extents;
  if (variable->vector > 1) initializer_.extents.push_back(variable->vector);
}

/// The number of elements in each item of a brace at `depth`.
std::uint64_t Builder::elements_inside(std::size_t depth) const {
  std::uint64_t count = 1;
  for (std::size_t i = depth; i < initializer_.extents.size(); ++i) count *= initializer_.extents[i];
  return count;
}

void Builder::open_brace(SourceLocation where) {
  if (initializer_.failed) return;
  const Variable& variable = *initializer_.variable;
  if (variable.type == Type::samplerref || variable.type == Type::texref || variable.type == Type::surfref) return;
  const std::size_t depth = initializer_.starts.size();
  if (depth == initializer_.extents.size()) {
    error(where, fmt::format("expected a value but found '{{': '{}' has {} dimensions", variable.name, depth));
    initializer_.failed = true;
    return;
  }
  initializer_.starts.push_back(initializer_.position);
}

void Builder::close_brace(SourceLocation where) {
  if (initializer_.failed || initializer_.starts.empty()) return;
  const std::size_t depth = initializer_.starts.size();
  const std::uint64_t start = initializer_.starts.back();
  initializer_.starts.pop_back();
  const bool open_ended = depth == 1 && initializer_.extents[0] == 0;
  const std::uint64_t whole = elements_inside(depth - 1);
  if (open_ended) return;
  if (initializer_.position > start + whole) {
    error(where,
          fmt::format("too many initial values for '{}': expected at most {}", initializer_.variable->name, whole));
    initializer_.failed = true;
    return;
  }
  const Variable& variable = *initializer_.variable;
  const Checked end = Checked(start) + whole;
  initializer_.failed = !admit(limits::kVariableBytes, end * static_cast<std::uint64_t>(isa::bytes(variable.type)),
                               {variable.name, where});
  initializer_.position = end.saturated();
}

void Builder::option(const Expression& name, const Expression& value) {
  const Term& key = syntax.of(name)[0];
  const Term& term = syntax.of(value)[0];
  if (initializer_.failed) return;
  const bool opaque = isa::info(initializer_.variable->type).kind == isa::Class::opaque;
  if (!opaque || key.kind != TermKind::word || name.term_count != 1 || value.term_count != 1)
    return error(key.where, "expected a value but found an option");
  initializer_.variable->options.push_back({module_.intern(key.text), module_.intern(term.text)});
}

void Builder::value(const Expression& expression) {
  if (initializer_.failed) return;
  const SourceLocation where = syntax.of(expression)[0].where;
  ConstantError wrong;
  const auto constant = evaluate(syntax, expression, wrong);
  initializer_.failed = true;
  if (!constant) return error(wrong.where, wrong.message, wrong.hint);
  if (initializer_.starts.size() != initializer_.extents.size())
    return error(where, fmt::format("expected '{{' but found a value: '{}' has {} dimensions",
                                    initializer_.variable->name, initializer_.extents.size()));
  initializer_.failed = !store(*constant, where);
  ++initializer_.position;
  initializer_.end = initializer_.position;
}

/// The module's name of a symbol in an initialiser.
std::string_view Builder::symbol_named(std::string_view name) {
  if (in_body_)
    if (const auto local = scopes_.find(name);
        local && local->kind == OperandKind::variable && variable_owner(local->index) == VariableOwner::module)
      return module_.variables[variable_position(local->index)].name;
  return module_.intern(name);
}

bool Builder::store(const Constant& constant, SourceLocation where) {
  Variable& variable = *initializer_.variable;
  const auto bytes = static_cast<std::uint64_t>(isa::bytes(variable.type));
  const Checked place = Checked(initializer_.position) * bytes;
  const bool open_ended = !variable.extents.empty() && variable.extents[0] == 0;
  if (!admit(limits::kVariableBytes, place + bytes, {variable.name, where})) return false;
  const std::uint64_t offset = place.saturated();
  if (!open_ended && offset + bytes > variable.size) {
    error(where, fmt::format("too many initial values for '{}'", variable.name));
    return false;
  }
  if (!constant.symbol.empty()) {
    requires_version(constant.masked ? 71 : 21, {"an address as initial value", where});
    initial_symbols_.push_back({symbol_named(constant.symbol), where});
    if (constant.masked ? bytes != 1 : bytes != 4 && bytes != 8) {
      error(where, fmt::format("the address of '{}' does not fit in a .{}", constant.symbol, isa::name(variable.type)));
      return false;
    }
    variable.relocations.push_back({.offset = offset,
                                    .bytes = static_cast<std::uint32_t>(bytes),
                                    .symbol = symbol_named(constant.symbol),
                                    .addend = constant.bits,
                                    .generic = constant.generic,
                                    .shift = constant.mask_shift});
  }
  std::uint64_t bits = constant.symbol.empty() ? static_cast<std::uint64_t>(constant.bits) : 0;
  const isa::Class kind = isa::info(variable.type).kind;
  if (constant.is_real() != (kind == isa::Class::floating) && !(kind == isa::Class::untyped)) {
    error(where, fmt::format("expected {} number for '{}', which is a .{}",
                             kind == isa::Class::floating ? "a floating-point" : "an integer", variable.name,
                             isa::name(variable.type)));
    return false;
  }
  if (constant.is_real() && bytes < 4) {
    error(where, fmt::format("a floating-point number does not fit in a .{}", isa::name(variable.type)));
    return false;
  }
  if (constant.kind == Constant::Kind::real64 && bytes == 4)
    bits = std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(constant.bits)));
  if (constant.kind == Constant::Kind::real32 && bytes == 8)
    bits = std::bit_cast<std::uint64_t>(
        static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(constant.bits))));
  if (variable.initial.size() < offset + bytes) {
    const Checked total = Checked(initial_total_) + (offset + bytes - variable.initial.size());
    if (!admit(limits::kInitialBytes, total, {variable.name, where})) return false;
    initial_total_ = total.saturated();
    variable.initial.resize(offset + bytes);
  }
  std::memcpy(variable.initial.data() + offset, &bits, std::min<std::size_t>(bytes, sizeof bits));
  return true;
}

void Builder::end_initializer(SourceLocation) {
  if (initializer_.failed) return;
  Variable& variable = *initializer_.variable;
  if (variable.extents.empty() || variable.extents[0] != 0) return;
  const std::uint64_t row = elements_inside(1);
  variable.extents[0] = row == 0 ? 0 : Checked(initializer_.end).aligned(row).saturated() / row;
  const Checked size = Checked(variable.extents[0]) * row * static_cast<std::uint64_t>(isa::bytes(variable.type));
  if (admit(limits::kVariableBytes, size, {variable.name, variable.where})) variable.size = size.saturated();
}

void Builder::check_parameter_bytes(SourceLocation where) {
  if (!function().is_entry) return;
  Checked end = 0;
  for (const Variable& p : function().params) end = end.aligned(p.alignment) + p.size;
  admit(limits::kParameterBytes, end.at_most(std::numeric_limits<std::uint32_t>::max()) ? end : Checked(0) - 1,
        {function().name, where});
}

} // namespace warplens::ir
