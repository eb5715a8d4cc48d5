// SPDX-License-Identifier: Apache-2.0
#include "emulator/ir/build.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace warplens::ir {

Builder::Builder(std::string_view file) { module_.file = file; }

void Builder::error(SourceLocation where, std::string message, std::string hint) {
  if (!has_too_many_errors()) diagnostics_.error(where, std::move(message), std::move(hint));
}

std::optional<std::uint32_t> Builder::unsigned_of(Lexeme number) {
  ConstantError wrong;
  const auto value = ir::number(Term{.kind = TermKind::integer, .where = number.where, .text = number.text}, wrong);
  if (value && value->bits >= 0 && value->bits < kNone) return static_cast<std::uint32_t>(value->bits);
  error(number.where,
        fmt::format("expected a number of at most {} but found '{}'", kNone - 1, number.text.substr(0, 40)));
  return std::nullopt;
}

// ---- directives of the module --------------------------------------------------------------------------------------

void Builder::file(Lexeme number, std::string_view name) {
  const auto value = unsigned_of(number);
  if (!value) return;
  if (in_body_) return error(number.where, "'.file' is allowed only outside functions");
  if (!file_numbers_.insert(*value).second)
    return error(number.where, fmt::format("file {} is declared twice", *value));
  module_.files.push_back({*value, module_.intern(name)});
}

void Builder::location(const std::vector<Lexeme>& numbers, const std::vector<Lexeme>& call) {
  if (!in_body_) return error(numbers[0].where, "'.loc' is allowed only inside functions");
  const auto file = unsigned_of(numbers[0]);
  const auto line = unsigned_of(numbers[1]);
  if (!file || !line) return;
  source_ = {*file, *line};
  const auto column = unsigned_of(numbers[2]);
  if (!column) return;
  if (!call.empty()) source_.inlined_at = call_site(call);
  if (source_.inlined_at != kNone || !inlined_.empty())
    inlined_.insert_or_assign({*file, *line, *column}, source_.inlined_at);
}

// A call in a function that was itself inlined has a `.loc` of its own before it (LLVM, DwarfDebug.cpp; nvcc).
std::uint32_t Builder::call_site(const std::vector<Lexeme>& numbers) {
  const auto file = unsigned_of(numbers[0]), line = unsigned_of(numbers[1]), column = unsigned_of(numbers[2]);
  if (!file || !line || !column) return kNone;
  const auto known = inlined_.find({*file, *line, *column});
  const std::uint32_t outer = known == inlined_.end() ? kNone : known->second;
  const auto next = static_cast<std::uint32_t>(module_.call_sites.size());
  const auto [found, fresh] = call_sites_.try_emplace({*file, *line, *column, outer}, next);
  if (fresh) module_.call_sites.push_back({{*file, *line, outer}, *column});
  return found->second;
}

void Builder::pragma(const std::vector<std::string_view>& strings, SourceLocation where) {
  requires_version(20, {".pragma", where});
  if (!in_body_) return; // at module scope, a pragma is only a hint to the optimising assembler
  for (const std::string_view text : strings) {
    function().pragmas.push_back(module_.intern(text));
    if (text == "nounroll") function().kept_loops.push_back(static_cast<std::uint32_t>(function().instructions.size()));
  }
}

void Builder::alias(Lexeme name, Lexeme aliasee) {
  requires_version(63, {".alias", name.where});
  const auto symbol = globals_.find(name.text);
  const auto target = globals_.find(aliasee.text);
  if (!symbol || symbol->kind != OperandKind::function) return undeclared("function", name.text, name.where);
  if (!target || target->kind != OperandKind::function) return undeclared("function", aliasee.text, aliasee.where);
  const Function& named = module_.functions[symbol->index];
  if (named.has_body) return error(name.where, fmt::format("'{}' has a body and cannot be an alias", name.text));
  if (!named.alias_of.empty()) return error(name.where, fmt::format("'{}' is already an alias", name.text));
  if (module_.functions[target->index].is_entry)
    return error(aliasee.where, fmt::format("'{}' is a kernel and cannot have an alias", aliasee.text));
  module_.functions[symbol->index].alias_of = module_.functions[target->index].name;
}

// ---- functions
// -------------------------------------------------------------------------------------------------------

void Builder::function_directive(Function& target, const FunctionDirectiveSyntax& directive) {
  const std::string_view name = directive.name.text;
  if (name == ".pragma") {
    requires_version(20, directive.name);
    (target.is_entry ? needs_body_ : forbids_body_) = directive.name;
    for (const std::string_view text : directive.values) target.pragmas.push_back(module_.intern(text));
    return;
  }
  struct Known {
    std::string_view name;
    int ptx;                 ///< version times ten that introduced it
    std::size_t least, most; ///< values
    std::uint32_t* first;
    bool of_function = false; ///< for functions; otherwise for kernels
    bool positive = false;
  };
  LaunchBounds& bounds = target.bounds;
  std::uint32_t unused[1] = {};
  const Known known[] = {{".maxntid", 13, 1, 3, bounds.max_threads.data(), false, true},
                         {".reqntid", 21, 1, 3, bounds.required_threads.data(), false, true},
                         {".minnctapersm", 20, 1, 1, &bounds.min_ctas_per_sm, false, true},
                         {".maxnctapersm", 13, 1, 1, &bounds.max_ctas_per_sm},
                         {".maxnreg", 13, 1, 1, &bounds.max_registers, false, true},
                         {".reqnctapercluster", 78, 1, 3, bounds.required_cluster.data()},
                         {".maxclusterrank", 78, 1, 1, &bounds.max_cluster_rank},
                         {".abi_preserve", 90, 1, 1, unused, true},
                         {".abi_preserve_control", 90, 1, 1, unused, true},
                         {".noreturn", 64, 0, 0, nullptr, true},
                         {".explicitcluster", 78, 0, 0, nullptr},
                         {".blocksareclusters", 90, 0, 0, nullptr}};
  const auto* const found =
      std::find_if(std::begin(known), std::end(known), [&](const Known& k) { return k.name == name; });
  if (found == std::end(known)) {
    std::vector<std::string_view> names;
    for (const Known& k : known) names.push_back(k.name);
    return error(directive.name.where, fmt::format("unknown directive '{}'", name), did_you_mean(name, names));
  }
  requires_version(found->ptx, directive.name);
  if (found->of_function == target.is_entry)
    return error(directive.name.where,
                 fmt::format("'{}' is allowed only for {}", name, found->of_function ? "functions" : "kernels"));
  if (!found->of_function) needs_body_ = directive.name;
  if (name == ".maxnctapersm" && module_.version >= 21)
    error(directive.name.where, "'.maxnctapersm' is allowed only before PTX ISA .version 2.1", "use '.minnctapersm'");
  const std::size_t count = directive.values.size();
  if (count < found->least || count > found->most)
    return error(directive.name.where,
                 fmt::format("expected {} numbers after '{}' but found {}",
                             found->least == found->most ? std::to_string(found->least)
                                                         : fmt::format("{} to {}", found->least, found->most),
                             name, count));
  for (std::size_t i = 0; i < found->most; ++i)
    found->first[i] = i < count ? unsigned_of({directive.values[i], directive.name.where}).value_or(0) : 1;
  for (std::size_t i = 0; i < count; ++i)
    if (found->positive && found->first[i] == 0)
      error(directive.name.where, fmt::format("'{}' expects numbers greater than 0", name));
  if (target.no_return && name == ".noreturn") error(directive.name.where, "'.noreturn' is written twice");
  target.no_return |= name == ".noreturn";
  bounds.explicit_cluster |= name == ".explicitcluster";
  bounds.blocks_are_clusters |= name == ".blocksareclusters";
}

std::vector<Variable> Builder::parameters(const std::vector<ParameterSyntax>& list) {
  std::vector<Variable> result;
  for (const ParameterSyntax& parameter : list) {
    auto variable = variable_of(parameter.declaration, parameter.declarator);
    if (!variable) continue;
    if (variable->space != Space::param && variable->space != Space::reg) {
      error(parameter.declaration.space.where,
            fmt::format("expected '.param' or '.reg' but found '{}'", parameter.declaration.space.text));
      continue;
    }
    result.push_back(std::move(*variable));
  }
  return result;
}

void Builder::declare_parameters(std::vector<Variable>& list, VariableOwner owner) {
  for (std::uint32_t i = 0; i < list.size(); ++i) {
    const Variable& parameter = list[i];
    if (parameter.name == "_") continue;
    Symbol symbol{OperandKind::variable, variable_index(owner, i)};
    if (parameter.space == Space::reg) {
      symbol = {OperandKind::reg, static_cast<std::uint32_t>(function().registers.size())};
      function().registers.push_back({parameter.name, parameter.type, parameter.vector});
    }
    if (!scopes_.declare(parameter.name, symbol))
      error(parameter.where, fmt::format("'{}' is declared twice", parameter.name));
  }
}

std::uint32_t Builder::function_named(const FunctionSyntax& head) {
  const std::string_view name = module_.intern(head.name.text);
  const auto known = globals_.find(name);
  if (known && known->kind == OperandKind::function) return known->index;
  if (known) {
    error(head.name.where, fmt::format("'{}' is declared twice", name));
  } else {
    globals_.declare(name, {OperandKind::function, static_cast<std::uint32_t>(module_.functions.size())});
  }
  module_.functions.emplace_back().name = name;
  return static_cast<std::uint32_t>(module_.functions.size() - 1);
}

void Builder::begin_function(const FunctionSyntax& head) {
  function_ = function_named(head);
  Function next;
  next.name = function().name;
  next.is_entry = head.is_entry;
  next.linkage = linkage_of(head.linkages);
  next.where = head.name.where;
  next.results = parameters(head.results);
  next.params = parameters(head.params);
  needs_body_ = forbids_body_ = {};
  for (const FunctionDirectiveSyntax& directive : head.directives) function_directive(next, directive);
  const LaunchBounds& bounds = next.bounds;
  if (bounds.max_threads[0] != 0 && bounds.required_threads[0] != 0)
    error(head.name.where, fmt::format("'{}' has both .maxntid and .reqntid", next.name));
  if (bounds.blocks_are_clusters && (bounds.required_threads[0] == 0 || bounds.required_cluster[0] == 0))
    error(head.name.where,
          fmt::format("'{}' has .blocksareclusters without .reqntid and .reqnctapercluster", next.name));
  parameters_in_body_ = head.is_entry && head.params.empty() && module_.version < (head.has_parameter_list ? 14 : 20);
  Function& known = function();
  check_head(head, next, known.where.line == 0 ? nullptr : &known);
  if (known.has_body) { // a second body replaces nothing: begin_body() reports it
    if (known.is_entry != next.is_entry) error(head.name.where, fmt::format("'{}' is declared twice", next.name));
    return;
  }
  next.alias_of = known.alias_of;
  known = std::move(next);
}

void Builder::no_body() {
  if (function().has_body)
    error(function().where, fmt::format("'{}' is declared again after its body", function().name));
  if (!needs_body_.text.empty())
    error(needs_body_.where, fmt::format("'{}' is allowed only for a {} with a body", needs_body_.text,
                                         function().is_entry ? "kernel" : "function"));
}

void Builder::begin_body(SourceLocation where) {
  check_body(where);
  if (function().has_body) {
    error(where, fmt::format("function '{}' is defined twice", function().name));
    function_ = static_cast<std::uint32_t>(module_.functions.size());
    module_.functions.emplace_back(); // holds the second body, so that its errors are still found
  }
  function().has_body = true;
  in_body_ = true;
  source_ = {};
  inlined_.clear();
  scopes_.clear();
  references_.clear();
  used_registers_.clear();
  labels_ = {}; // clear() would visit all buckets of the largest function so far
  scope_parents_.assign(1, kNone);
  open_scopes_.assign(1, 0);
  pending_label_ = {};
  declare_parameters(function().results, VariableOwner::result);
  declare_parameters(function().params, VariableOwner::parameter);
  check_parameter_bytes(where);
}

void Builder::enter_scope(SourceLocation where) {
  flush_label();
  if (open_scopes_.size() == most_scopes())
    static_cast<void>(admit(limits::kBlockDepth, open_scopes_.size() + 1, {function().name, where}));
  const bool own = open_scopes_.size() < most_scopes(); // deeper ones are only parsed for errors
  if (own) scopes_.enter();
  if (own) scope_parents_.push_back(open_scopes_.back());
  open_scopes_.push_back(own ? static_cast<std::uint32_t>(scope_parents_.size() - 1) : open_scopes_.back());
}

void Builder::leave_scope() {
  flush_label();
  open_scopes_.pop_back();
  if (open_scopes_.size() < most_scopes()) scopes_.leave();
}

void Builder::end_body(SourceLocation) {
  flush_label();
  resolve_references();
  Function& done = function();
  done.registers.shrink_to_fit();
  done.instructions.shrink_to_fit();
  done.operand_pool.shrink_to_fit();
  in_body_ = false;
}

// ---- labels
// ------------------------------------------------------------------------------------------------------------

void Builder::label(Lexeme name) {
  flush_label();
  pending_label_ = name;
}

void Builder::flush_label() {
  if (pending_label_.text.empty()) return;
  const Lexeme name = pending_label_;
  pending_label_ = {};
  Function& current = function();
  const auto position = static_cast<std::uint32_t>(current.labels.size());
  if (!labels_.emplace(ScopedName{name.text, open_scopes_.back()}, position).second)
    return error(name.where, fmt::format("label '{}' is declared twice", name.text));
  current.labels.push_back({module_.intern(name.text), static_cast<std::uint32_t>(current.instructions.size())});
}

std::uint32_t Builder::label_of(std::string_view name, std::uint32_t scope) const {
  for (; scope != kNone; scope = scope_parents_[scope])
    if (const auto found = labels_.find({name, scope}); found != labels_.end()) return found->second;
  return kNone;
}

void Builder::table(Table::Kind kind, const std::vector<Lexeme>& words, SourceLocation where) {
  constexpr int kVersions[] = {60, 21, 21};
  constexpr std::string_view kNames[] = {".branchtargets", ".calltargets", ".callprototype"};
  requires_version(kVersions[static_cast<int>(kind)], {kNames[static_cast<int>(kind)], where});
  if (pending_label_.text.empty()) return error(where, "expected a label before this directive");
  const Lexeme name = pending_label_;
  pending_label_ = {};
  Table table;
  table.kind = kind;
  table.name = module_.intern(name.text);
  for (const Lexeme& word : words) {
    if (kind == Table::Kind::call_targets) {
      table.functions.push_back(module_.intern(word.text));
      call_targets_.push_back({table.functions.back(), word.where});
      continue;
    }
    table.labels.push_back(static_cast<std::uint32_t>(references_.size()));
    references_.push_back({word.text, word.where, open_scopes_.back(), true});
  }
  const Symbol symbol{OperandKind::table, static_cast<std::uint32_t>(function().tables.size())};
  if (!scopes_.declare(name.text, symbol)) error(name.where, fmt::format("'{}' is declared twice", name.text));
  function().tables.push_back(std::move(table));
}

void Builder::prototype(const FunctionSyntax& head, SourceLocation where) {
  table(Table::Kind::call_prototype, {}, where);
  if (function().tables.empty()) return;
  if (head.name.text != "_")
    error(head.name.where, fmt::format("expected '_' in place of the function's name but found '{}'", head.name.text));
  Table& table = function().tables.back();
  table.results = parameters(head.results);
  table.params = parameters(head.params);
  check_parameters(table.results, false);
  check_parameters(table.params, false);
  Function directives;
  for (const FunctionDirectiveSyntax& directive : head.directives) function_directive(directives, directive);
  table.no_return = directives.no_return;
}

/// Labels are resolved when the body ends; functions that are declared below it, when the module ends.
void Builder::resolve_references() {
  Function& current = function();
  for (std::uint32_t i = 0; i < current.operand_pool.size(); ++i) {
    Operand& operand = current.operand_pool[i];
    if (operand.kind != OperandKind::label) continue;
    const Reference& reference = references_[operand.index];
    operand.index = label_of(reference.name, reference.scope);
    if (operand.index != kNone) continue;
    if (const auto table = scopes_.find(reference.name)) { // used before its declaration
      operand.kind = table->kind;
      operand.index = table->index;
      continue;
    }
    operand = {.kind = OperandKind::label, .column = operand.column, .value = operand.value};
    if (reference.is_branch)
      undeclared("label", reference.name, reference.where);
    else
      late_references_.push_back({function_, i, module_.intern(reference.name), reference.where});
  }
  for (Table& table : current.tables)
    for (std::uint32_t& label : table.labels) {
      const Reference& reference = references_[label];
      label = label_of(reference.name, reference.scope);
      if (label == kNone) undeclared("label", reference.name, reference.where);
    }
}

Expected<Module> Builder::finish(SourceLocation end) {
  for (const LateReference& late : late_references_) {
    Operand& operand = module_.functions[late.function].operand_pool[late.operand];
    const auto symbol = globals_.find(late.name);
    if (!symbol) {
      undeclared(late.name.starts_with('%') ? "register" : "name", late.name, late.where);
      continue;
    }
    operand.kind = symbol->kind;
    operand.index = symbol->index;
  }
  check_late_names();
  if (!saw_item_) end_header(end);
  if (diagnostics_.has_errors()) {
    // Names are resolved late, but users read from the top.
    std::vector<Diagnostic> sorted = diagnostics_.list();
    std::stable_sort(sorted.begin(), sorted.end(), [](const Diagnostic& a, const Diagnostic& b) {
      return a.where.line != b.where.line ? a.where.line < b.where.line : a.where.column < b.where.column;
    });
    Diagnostics result;
    for (Diagnostic& d : sorted) result.error(d.where, std::move(d.message), std::move(d.hint));
    result.in_file(module_.file);
    return failure(std::move(result));
  }
  return std::move(module_);
}

} // namespace warplens::ir
