// SPDX-License-Identifier: Apache-2.0
// Builds instructions: converts operands and resolves names.
#include "emulator/ir/build.hpp"

#include <fmt/format.h>

#include <utility>

namespace warplens::ir {

namespace {

constexpr int kLastWithoutBrackets = 11; // PTX
constexpr std::size_t kMaxLabels = 4000;
constexpr std::size_t kMaxHints = 50; // edit distances are slow, and users read only the first few errors

/// Parses the text after the dot of an operand; component 0 if it is not one. The digits of a selection are in `value`.
Operand component_named(std::string_view suffix) {
  constexpr std::string_view kNames = "xyzwrgba";
  Operand result;
  if (suffix.size() == 1) {
    const std::size_t at = kNames.find(suffix[0]);
    if (at != std::string_view::npos) result.component = static_cast<std::uint8_t>(at % 4 + 1);
    return result;
  }
  const bool bytes = suffix[0] == 'b';
  if (!bytes && suffix[0] != 'h') return result;
  const std::size_t digits = suffix.size() - 1;
  if (digits > (bytes ? 4u : 2u)) return result;
  const bool some = bytes && (digits == 2 || digits == 3); // only in destinations
  for (std::size_t i = 2; some && i < suffix.size(); ++i)
    if (suffix[1] > '3' || suffix[i] >= suffix[i - 1]) return result;
  for (const char c : suffix.substr(1)) {
    if (c < '0' || c > (digits == 1 ? (bytes ? '3' : '1') : (bytes ? '7' : '3'))) return result;
    result.value = result.value << 4 | (c - '0');
  }
  if (digits != 1)
    result.component = some ? kSomeBytes : bytes ? kBytes : kHalves;
  else
    result.component = static_cast<std::uint8_t>((bytes ? kByte0 : kHalf0) + std::exchange(result.value, 0));
  return result;
}

} // namespace

void Builder::undeclared(std::string_view what, std::string_view name, SourceLocation where) {
  std::string hint;
  const std::uint32_t count = scopes_.range_like(name);
  if (count != 0 && what != "label") {
    const std::string_view prefix = name.substr(0, name.find_last_not_of("0123456789") + 1);
    hint = fmt::format("the registers are {}0 to {}{}", prefix, prefix, count - 1);
  } else if (diagnostics_.error_count() < kMaxHints) {
    std::vector<std::string> names = scopes_.candidates(name);
    if (what == "label") {
      const std::vector<Label>& labels = function().labels;
      for (std::size_t i = 0; i < std::min(labels.size(), kMaxLabels); ++i) names.emplace_back(labels[i].name);
    }
    for (std::string& global : globals_.candidates(name)) names.push_back(std::move(global));
    const std::string near = closest(name, {names.begin(), names.end()});
    if (near == name)
      hint = "a label is visible only inside the braces that contain it";
    else if (!near.empty())
      hint = fmt::format("did you mean '{}'?", near);
  }
  error(where, fmt::format("undeclared {} '{}'", what, name.substr(0, 200)), std::move(hint));
}

std::uint32_t Builder::append(std::span<const Operand> operands) {
  auto& pool = function().operand_pool;
  const auto first = static_cast<std::uint32_t>(pool.size());
  pool.insert(pool.end(), operands.begin(), operands.end());
  return first;
}

/// Interns an opcode; faster than the module, which holds all names.
std::string_view Builder::opcode_named(std::string_view text) {
  const std::uint32_t known = opcodes_.find(text);
  if (known != kNone) return opcode_list_[known];
  const std::string_view kept = module_.intern(text);
  opcodes_[kept] = static_cast<std::uint32_t>(opcode_list_.size());
  return opcode_list_.emplace_back(kept);
}

void Builder::instruction(const InstructionSyntax& written) {
  flush_label();
  Instruction instruction;
  instruction.opcode = opcode_named(written.opcode.text);
  instruction.where = written.guard.text.empty() ? written.opcode.where : written.guard.where;
  instruction.source = source_;
  opcode_ = instruction.opcode;
  is_call_ = opcode_ == "call" || opcode_.starts_with("call.");
  is_branch_ = opcode_ == "bra" || opcode_.starts_with("bra.");
  instruction_line_ = instruction.where.line;
  if (!written.guard.text.empty()) {
    instruction.where = written.guard.where;
    auto guard = scopes_.find(written.guard.text);
    if (!guard && (guard = globals_.find(written.guard.text)) && guard->kind == OperandKind::reg)
      guard->index = register_of_module(guard->index);
    if (!guard || guard->kind != OperandKind::reg)
      undeclared("predicate", written.guard.text, written.guard.where);
    else
      instruction.guard = guard->index;
    instruction.guard_negated = written.guard_negated;
  }
  const std::size_t base = scratch_.size();
  const std::vector<Expression> bracketed =
      module_.version <= kLastWithoutBrackets ? with_brackets(written) : std::vector<Expression>{};
  const std::vector<Expression>& operands = bracketed.empty() ? written.operands : bracketed;
  for (const Expression& expression : operands) {
    const Operand converted = whole_vector(operand(expression));
    scratch_.push_back(converted);
  }
  instruction.first_operand = append(std::span(scratch_).subspan(base));
  instruction.operand_count = static_cast<std::uint32_t>(operands.size());
  scratch_.resize(base);
  function().instructions.push_back(instruction);
}

/// PTX 1.0 and 1.1 allowed addresses without brackets: ld.global.u32 r, x+4; tex.1d.v4.f32.f32 {…}, t, x. Empty if
/// there are none.
std::vector<Expression> Builder::with_brackets(const InstructionSyntax& written) {
  const bool texture = opcode_.starts_with("tex.");
  const std::size_t place = opcode_.starts_with("st.") ? 0 : opcode_.starts_with("ld.") || texture ? 1 : kNone;
  const std::size_t parts = texture ? 2 : 1;
  if (place + parts > written.operands.size()) return {};
  const Term first = syntax.of(written.operands[place])[0];
  if (first.kind == TermKind::brackets || first.kind == TermKind::indexed) return {};
  Term brackets;
  brackets.kind = TermKind::brackets;
  brackets.where = first.where;
  brackets.first_child = static_cast<std::uint32_t>(syntax.expressions.size());
  brackets.child_count = static_cast<std::uint32_t>(parts);
  std::vector<Expression> result = written.operands;
  const auto begin = result.begin() + static_cast<std::ptrdiff_t>(place);
  syntax.expressions.insert(syntax.expressions.end(), begin, begin + static_cast<std::ptrdiff_t>(parts));
  *begin = {static_cast<std::uint32_t>(syntax.terms.size()), 1};
  syntax.terms.push_back(brackets);
  if (texture) result.erase(begin + 1);
  return result;
}

/// A register of `.reg .v2 .f32 v` stands for its elements: v is {v.x, v.y}.
Operand Builder::whole_vector(const Operand& operand) {
  if (operand.kind != OperandKind::reg || operand.component != 0) return operand;
  const std::uint32_t count = function().registers[operand.index].components;
  if (count == 1) return operand;
  const std::size_t base = scratch_.size();
  for (std::uint32_t i = 1; i <= count; ++i) {
    scratch_.push_back(operand);
    scratch_.back().component = static_cast<std::uint8_t>(i);
  }
  const Operand result{.kind = OperandKind::vector,
                       .index = append(std::span(scratch_).subspan(base)),
                       .count = count,
                       .column = operand.column};
  scratch_.resize(base);
  return result;
}

Operand Builder::operand(const Expression& expression) {
  const auto terms = syntax.of(expression);
  const Term& first = terms[0];
  Operand result;
  if (terms.size() == 1) {
    result = single(first);
  } else if (terms[1].operation == Operation::bit_or && first.text != "WARP_SZ" &&
             (first.kind == TermKind::word || first.kind == TermKind::braces)) { // {a, b, c, d}|p of textures
    if (terms.size() != 2 || terms[1].kind != TermKind::word) {
      error(terms[1].where, "expected a register after '|'");
    } else {
      const Operand both[] = {first.kind == TermKind::word ? name(first) : single(first), name(terms[1])};
      result = {.kind = OperandKind::pair, .index = append(both), .count = 2};
    }
  } else if (first.kind == TermKind::word && first.text != "WARP_SZ") {
    result = name(first);
    if (terms[1].operation == Operation::subtract)
      error(terms[1].where, "expected '+' after a name in an expression", "write a negative offset as name+-4");
    ConstantError wrong;
    const auto offset = evaluate_offset(syntax, expression, wrong);
    if (!offset)
      error(wrong.where, wrong.message, wrong.hint);
    else if (result.kind == OperandKind::reg || result.kind == OperandKind::special)
      error(terms[1].where, fmt::format("expected ',' or ';': '{}' is not a constant", first.text),
            "a register can be added only in an address");
    result.value = offset.value_or(0);
  } else {
    result = constant(expression);
  }
  result.column = first.where.line == instruction_line_ ? first.where.column : 0;
  return result;
}

Operand Builder::single(const Term& term) {
  switch (term.kind) {
  case TermKind::word: return whole(name(term));
  case TermKind::brackets: return address(term);
  case TermKind::indexed: return indexed(term);
  case TermKind::braces:
    if (syntax.children(term).empty()) error(term.where, "a vector must have at least one element");
    return elements(OperandKind::vector, syntax.children(term));
  case TermKind::parentheses:
    if (is_call_) return elements(OperandKind::list, syntax.children(term));
    [[fallthrough]];
  default: {
    ConstantError wrong;
    const auto index = static_cast<std::uint32_t>(&term - syntax.terms.data());
    return constant({index, 1});
  }
  }
}

Operand Builder::constant(const Expression& expression) {
  ConstantError wrong;
  const auto value = evaluate(syntax, expression, wrong);
  if (!value) {
    error(wrong.where, wrong.message, wrong.hint);
    return {};
  }
  if (!value->symbol.empty()) {
    error(syntax.of(expression)[0].where, fmt::format("expected a constant but found '{}'", value->symbol));
    return {};
  }
  Operand result{.value = value->bits};
  result.kind = value->kind == Constant::Kind::real32   ? OperandKind::real32
                : value->kind == Constant::Kind::real64 ? OperandKind::real64
                                                        : OperandKind::integer;
  return result;
}

Operand Builder::elements(OperandKind kind, std::span<const Expression> children) {
  const std::size_t base = scratch_.size();
  for (const Expression& child : children) {
    const Operand converted = operand(child);
    scratch_.push_back(converted);
  }
  Operand result{.kind = kind,
                 .index = append(std::span(scratch_).subspan(base)),
                 .count = static_cast<std::uint32_t>(children.size())};
  scratch_.resize(base);
  return result;
}

/// A whole vector register, or a special register of several components, stands for its components: %tid is
/// {%tid.x, %tid.y, %tid.z, %tid.w}.
Operand Builder::whole(const Operand& named) {
  const bool special = named.kind == OperandKind::special;
  if ((named.kind != OperandKind::reg && !special) || named.component != 0) return named;
  const int components = special ? isa::info(static_cast<isa::Special>(named.index)).components
                                 : function().registers[named.index].components;
  if (components == 1) return named;
  std::array<Operand, 4> parts{named, named, named, named};
  for (std::size_t i = 0; i < parts.size(); ++i) parts[i].component = static_cast<std::uint8_t>(i + 1);
  return {.kind = OperandKind::vector,
          .index = append(std::span(parts).first(static_cast<std::size_t>(components))),
          .count = static_cast<std::uint32_t>(components)};
}

/// A name with its sign and suffix: !%p, -%r1, %tid.x, texture.unified
Operand Builder::name(const Term& term) {
  std::string_view text = term.text;
  if (text == "_") return {.kind = OperandKind::sink};
  if (text == "WARP_SZ") {
    if (term.prefix_count == 0) return {.kind = OperandKind::warp_size};
    return constant({static_cast<std::uint32_t>(&term - syntax.terms.data()), 1});
  }
  Operand component;
  bool unified = false;
  const auto suffix = [&](std::string_view word) {
    const Operand named = component_named(word);
    if (word == "unified")
      unified = true;
    else if (component.component == 0 && named.component != 0)
      component = named;
    else
      error(term.where, fmt::format("unknown component '.{}' of '{}'", word, text.substr(0, text.find('.'))),
            "components are .x .y .z .w; operands of video instructions also have .b0 to .b3, .h0 and .h1");
  };
  if (const std::size_t dot = text.find('.'); dot != std::string_view::npos) {
    std::string_view rest = text.substr(dot);
    text = text.substr(0, dot);
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('.', 1), rest.size());
      suffix(rest.substr(1, end - 1));
      rest.remove_prefix(end);
    }
  }
  for (std::uint32_t i = 0; i < term.suffix_count; ++i) suffix(syntax.suffixes[term.first_suffix + i].substr(1));
  Operand result = resolve(text, term.where);
  const bool is_register = result.kind == OperandKind::reg;
  const bool is_predicate =
      (is_register && function().registers[result.index].type == Type::pred) ||
      (result.kind == OperandKind::special && isa::info(static_cast<isa::Special>(result.index)).type == Type::pred);
  if (component.component != 0 && (result.kind == OperandKind::variable || result.kind == OperandKind::function))
    error(term.where, fmt::format("'{}' is not a register and has no components", text));
  result.component = component.component;
  result.value = component.value;
  result.unified = unified;
  result.column = term.where.line == instruction_line_ ? term.where.column : 0;
  for (const char prefix : syntax.prefixes_of(term)) {
    const bool sign = prefix == '-' && is_register && !is_predicate;
    const bool complement = prefix == '!' && is_predicate;
    if ((!sign && !complement) || result.negated) {
      error(term.where, fmt::format("'{}' cannot be applied to '{}'", prefix, text));
      break;
    }
    result.negated = true;
  }
  return result;
}

/// The function's own name for a register at module scope.
std::uint32_t Builder::register_of_module(std::uint32_t number) {
  const auto [found, fresh] = used_registers_.emplace(number, static_cast<std::uint32_t>(function().registers.size()));
  if (fresh) {
    function().registers.push_back(registers_[number]);
    function().registers.back().shared = number;
  }
  return found->second;
}

/// Innermost scope first; then special registers, the module, and labels, which may come later.
Operand Builder::resolve(std::string_view name, SourceLocation where) {
  if (const auto local = scopes_.find(name)) return {.kind = local->kind, .index = local->index};
  if (name[0] == '%') {
    if (const auto special = isa::special_register_named(name))
      return {.kind = OperandKind::special, .index = static_cast<std::uint32_t>(*special)};
    if (!is_branch_ && scopes_.range_like(name) != 0) {
      undeclared("register", name, where);
      return {};
    }
  }
  if (!is_branch_)
    if (const auto global = globals_.find(name))
      return {.kind = global->kind,
              .index = global->kind == OperandKind::reg ? register_of_module(global->index) : global->index};
  references_.push_back({name, where, open_scopes_.back(), is_branch_});
  return {.kind = OperandKind::label, .index = static_cast<std::uint32_t>(references_.size() - 1)};
}

Operand Builder::address(const Term& term) {
  const auto children = syntax.children(term);
  const auto terms = syntax.of(children[0]);
  Operand result{.kind = OperandKind::address, .index = 0, .count = 0};
  if (terms[0].kind != TermKind::word || terms[0].text == "WARP_SZ") {
    const Operand absolute = constant(children[0]);
    if (absolute.kind != OperandKind::integer && absolute.kind != OperandKind::sink)
      error(terms[0].where, "expected an integer address");
    if (children.size() > 1) error(terms[0].where, "expected a symbol or register before ','");
    result.value = absolute.value;
    return result;
  }
  Operand base = name(terms[0]);
  base.column = terms[0].where.line == instruction_line_ ? terms[0].where.column : 0;
  if (terms.size() > 1 && terms[1].operation != Operation::add) {
    error(terms[1].where, "expected '+' or ']' after the base of an address", "write a negative offset as [base+-4]");
  } else if (terms.size() == 2 && terms[1].kind == TermKind::word && terms[1].text != "WARP_SZ") {
    Operand index = name(terms[1]);
    index.value = 1;
    index.column = terms[1].where.line == instruction_line_ ? terms[1].where.column : 0;
    const Operand both[] = {base, index};
    base = {.kind = OperandKind::indexed, .index = append(both), .count = 2, .column = base.column};
  } else if (terms.size() > 1) {
    ConstantError wrong;
    const auto offset = evaluate_offset(syntax, children[0], wrong);
    if (!offset) error(wrong.where, wrong.message, wrong.hint);
    result.value = offset.value_or(0);
  }
  const std::size_t start = scratch_.size();
  scratch_.push_back(base);
  for (const Expression& child : children.subspan(1)) {
    const Operand converted = operand(child);
    scratch_.push_back(converted);
  }
  result.index = append(std::span(scratch_).subspan(start));
  result.count = static_cast<std::uint32_t>(children.size());
  scratch_.resize(start);
  return result;
}

namespace {

/// Addresses are computed modulo 2^64, as by ptxas.
std::int64_t wrapping_product(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

} // namespace

/// table[4], table[%r1], table[%r1+2]: an element of an array, by number (manual, section 6.4.2).
Operand Builder::indexed(const Term& term) {
  Operand base = resolve(term.text, term.where);
  const Expression& index = syntax.children(term)[0];
  if (base.kind != OperandKind::variable) {
    error(term.where, fmt::format("expected an array before '[' but found '{}'", term.text));
    return {};
  }
  const Variable& variable = module_.variable(function(), base.index);
  std::int64_t element = static_cast<std::int64_t>(isa::bytes(variable.type)) * variable.vector;
  for (std::size_t i = 1; i < variable.extents.size(); ++i)
    element = wrapping_product(element, static_cast<std::int64_t>(variable.extents[i]));
  const Term& first = syntax.of(index)[0];
  ConstantError wrong;
  // mov uses the address of the element; all other instructions use the element at that address.
  const bool by_value = opcode_.starts_with("mov") || opcode_.starts_with("cvta");
  const auto finished = [&](const Operand& operand) -> Operand {
    if (by_value) return operand;
    return {.kind = OperandKind::address, .index = append({&operand, 1}), .count = 1};
  };
  if (first.kind != TermKind::word || first.text == "WARP_SZ") {
    const Operand known = constant(index);
    if (known.kind != OperandKind::integer && known.kind != OperandKind::warp_size && known.kind != OperandKind::sink)
      error(first.where, "expected an integer as index");
    const std::int64_t offset = wrapping_product(element, known.value);
    if (by_value) {
      base.value = offset;
      return base;
    }
    return {.kind = OperandKind::address, .index = append({&base, 1}), .count = 1, .value = offset};
  }
  Operand number = name(first);
  number.value = element;
  number.column = first.where.line == instruction_line_ ? first.where.column : 0;
  const auto offset = evaluate_offset(syntax, index, wrong);
  if (!offset) error(wrong.where, wrong.message, wrong.hint);
  base.value = wrapping_product(element, offset.value_or(0));
  const Operand both[] = {base, number};
  return finished({.kind = OperandKind::indexed, .index = append(both), .count = 2});
}

} // namespace warplens::ir
