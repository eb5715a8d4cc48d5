// SPDX-License-Identifier: Apache-2.0
// Builds an ir::Module from the pieces of text that the reader hands over: resolves names, folds constants, lays out
// initialisers. It does not depend on ANTLR.
//
//   Builder b("k.ptx"); b.version({"9.0", …}); … b.begin_function(head); b.begin_body(); b.instruction(i);
//   b.end_body(); Expected<Module> m = b.finish(end_of_text);
#pragma once

#include "emulator/base/expected.hpp"
#include "emulator/base/limits.hpp"
#include "emulator/ir/constant.hpp"
#include "emulator/ir/module.hpp"
#include "emulator/ir/names.hpp"
#include "emulator/ir/syntax.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>

namespace warplens::ir {

class Builder {
public:
  explicit Builder(std::string_view file);

  Syntax syntax; ///< of the current piece; holds the Expressions below

  // Directives of the module.
  void version(Lexeme number);
  void target(const std::vector<Lexeme>& words);
  void address_size(Lexeme number);
  void file(Lexeme number, std::string_view name);
  void alias(Lexeme name, Lexeme aliasee);
  /// `call`: the numbers of inlined_at, or none.
  void location(const std::vector<Lexeme>& numbers, const std::vector<Lexeme>& call);
  void pragma(const std::vector<std::string_view>& strings, SourceLocation where);
  void end_header(SourceLocation where); ///< an item that is none of .version, .target and .address_size

  // Functions.
  void begin_function(const FunctionSyntax& head);
  void no_body();
  void begin_body(SourceLocation where);
  void end_body(SourceLocation where);
  void enter_scope(SourceLocation where);
  void leave_scope();
  void label(Lexeme name);
  void table(Table::Kind kind, const std::vector<Lexeme>& words, SourceLocation where);
  void prototype(const FunctionSyntax& head, SourceLocation where);
  void instruction(const InstructionSyntax& instruction);

  // Variables, of the module or of the function whose body is open. `value`s follow `declare` if there is a '='.
  void declare(const DeclarationSyntax& head, const DeclaratorSyntax& name);
  void no_initializer();
  void begin_initializer(SourceLocation where);
  void open_brace(SourceLocation where);
  void close_brace(SourceLocation where);
  void value(const Expression& expression);
  void option(const Expression& name, const Expression& value); ///< of a samplerref: addr_mode_0 = wrap
  void end_initializer(SourceLocation where);

  /// Reports an error if the module's PTX version (times ten) is older than `ptx`, which `what` requires.
  void requires_version(int ptx, Lexeme what);
  void error(SourceLocation where, std::string message, std::string hint = {});
  [[nodiscard]] bool has_too_many_errors() const { return diagnostics_.error_count() >= kMaxErrors; }
  Expected<Module> finish(SourceLocation end);

private:
  static constexpr std::size_t kMaxErrors = 1000;
  /// Returns false and reports an error that names the limit if `what` exceeds it.
  bool admit(const Limit& limit, Checked number, Lexeme what);
  void check_parameter_bytes(SourceLocation where);
  /// The number of nested blocks with their own names, including the body.
  static std::size_t most_scopes() { return std::max<std::uint64_t>(limits::kBlockDepth.most(), 1); }

  struct Reference { ///< an operand that is resolved when the function, or the module, ends
    std::string_view name;
    SourceLocation where;
    std::uint32_t scope = 0;
    bool is_branch = false;
  };
  struct ScopedName {
    std::string_view name;
    std::uint32_t scope = 0;
    bool operator==(const ScopedName&) const = default;
  };
  struct ScopedNameHash {
    std::size_t operator()(const ScopedName& n) const {
      return std::hash<std::string_view>{}(n.name) + n.scope * std::size_t{0x9e3779b97f4a7c15};
    }
  };
  struct LateReference { ///< to a function that is declared later
    std::uint32_t function, operand;
    std::string_view name;
    SourceLocation where;
  };
  struct Initializer {
    Variable* variable = nullptr;       ///< null if its declaration was wrong
    std::vector<std::uint64_t> extents; ///< with the vector's components last
    std::vector<std::uint64_t> starts;  ///< of the open braces, in elements
    std::uint64_t position = 0;         ///< in elements
    std::uint64_t end = 0;              ///< of the written values, in elements
    bool failed = false;
    bool of_register = false;
  };

  // build.cpp
  Function& function() { return module_.functions[function_]; }
  void function_directive(Function& target, const FunctionDirectiveSyntax& directive);
  std::vector<Variable> parameters(const std::vector<ParameterSyntax>& list);
  void declare_parameters(std::vector<Variable>& list, VariableOwner owner);
  std::uint32_t function_named(const FunctionSyntax& head);
  void resolve_references();
  std::uint32_t label_of(std::string_view name, std::uint32_t scope) const;
  std::optional<std::uint32_t> unsigned_of(Lexeme number);
  void flush_label();

  // build_rules.cpp
  std::uint32_t call_site(const std::vector<Lexeme>& numbers);
  bool refuse(SourceLocation where, std::string message, std::string hint = {}); ///< true
  bool wrong_type(const Variable& variable);
  bool wrong_place(const Variable& variable, const DeclarationSyntax& head);
  void check_parameter(const Variable& parameter, bool of_entry);
  void check_parameters(const std::vector<Variable>& list, bool of_entry);
  void check_attributes(const std::vector<AttributeSyntax>& attributes, bool can_be_managed, bool can_be_unified);
  void check_head(const FunctionSyntax& head, const Function& next, const Function* again);
  void check_body(SourceLocation where);
  void check_size(const Variable& variable);
  void check_late_names();

  // build_variables.cpp
  std::optional<Variable> variable_of(const DeclarationSyntax& head, const DeclaratorSyntax& name);
  bool words_of(const DeclarationSyntax& head, Variable& variable);
  bool extents_of(const DeclaratorSyntax& name, Variable& variable);
  void declare_registers(const Variable& variable, const DeclaratorSyntax& name);
  void declare_variable(Variable variable);
  std::string_view name_of_static(std::string_view name);
  Linkage linkage_of(const std::vector<Lexeme>& words);
  std::uint64_t elements_inside(std::size_t depth) const;
  std::string_view symbol_named(std::string_view name);
  bool store(const Constant& constant, SourceLocation where);

  // build_operands.cpp
  std::vector<Expression> with_brackets(const InstructionSyntax& written);
  std::string_view opcode_named(std::string_view text);
  Operand whole_vector(const Operand& operand);
  Operand operand(const Expression& expression);
  Operand single(const Term& term);
  Operand whole(const Operand& named);
  Operand name(const Term& term);
  Operand address(const Term& term);
  Operand indexed(const Term& term);
  Operand constant(const Expression& expression);
  Operand elements(OperandKind kind, std::span<const Expression> children);
  Operand resolve(std::string_view name, SourceLocation where);
  std::uint32_t register_of_module(std::uint32_t number);
  std::uint32_t append(std::span<const Operand> operands);
  void undeclared(std::string_view what, std::string_view name, SourceLocation where);

  Module module_;
  Diagnostics diagnostics_;
  Scopes globals_, scopes_;
  NameTable opcodes_; ///< to opcode_list_
  std::vector<std::string_view> opcode_list_;
  bool saw_version_ = false, saw_target_ = false, saw_item_ = false;
  std::unordered_set<std::uint32_t> file_numbers_;
  std::vector<Lexeme> call_targets_;    ///< names that must resolve to functions
  std::vector<Lexeme> initial_symbols_; ///< names that must be declared by the end
  std::uint64_t register_total_ = 0, register_names_ = 0, initial_total_ = 0;
  std::vector<Register> registers_; ///< at module scope

  // Of the current function.
  std::uint32_t function_ = kNone;
  Lexeme needs_body_;   ///< a directive of its head that a declaration cannot have
  Lexeme forbids_body_; ///< … that only a declaration can have
  bool in_body_ = false;
  bool parameters_in_body_ = false; ///< PTX 1.0 to 1.3: `.entry f { .param .u32 a; … }`
  SourcePosition source_;
  std::map<std::array<std::uint32_t, 3>, std::uint32_t> inlined_;    ///< file, line, column: inlined_at of that `.loc`
  std::map<std::array<std::uint32_t, 4>, std::uint32_t> call_sites_; ///< and its inlined_at: to Module::call_sites
  std::unordered_map<std::uint32_t, std::uint32_t> used_registers_;  ///< from registers_ to its number in the function
  std::vector<Reference> references_;
  std::unordered_map<ScopedName, std::uint32_t, ScopedNameHash> labels_; ///< to Function::labels
  std::vector<std::uint32_t> scope_parents_, open_scopes_;
  Lexeme pending_label_; ///< it may name a table
  std::string_view opcode_;
  bool is_call_ = false, is_branch_ = false;
  std::uint32_t instruction_line_ = 0;
  std::vector<Operand> scratch_;

  std::vector<LateReference> late_references_;
  Initializer initializer_;
};

} // namespace warplens::ir
