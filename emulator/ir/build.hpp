// Builds an ir::Module from the pieces of text that the reader hands over: resolves names, folds constants, lays out
// initialisers. Knows nothing of ANTLR.
//
//   Builder b("k.ptx"); b.version({"9.0", …}); … b.begin_function(head); b.begin_body(); b.instruction(i);
//   b.end_body(); Expected<Module> m = b.finish(end_of_text);
#pragma once

#include "emulator/base/expected.hpp"
#include "emulator/ir/constant.hpp"
#include "emulator/ir/module.hpp"
#include "emulator/ir/names.hpp"
#include "emulator/ir/syntax.hpp"

#include <functional>
#include <string>
#include <unordered_map>

namespace warplens::ir {

class Builder {
public:
  explicit Builder(std::string_view file);

  Syntax syntax; ///< of the piece at hand; the Expressions below are in it

  // Directives of the module.
  void version(Word number);
  void target(const std::vector<Word>& words);
  void address_size(Word number);
  void file(Word number, std::string_view name);
  void alias(Word name, Word aliasee);
  void location(const std::vector<Word>& numbers);
  void pragma(const std::vector<std::string_view>& strings);

  // Functions.
  void begin_function(const FunctionSyntax& head);
  void begin_body(SourceLocation where);
  void end_body(SourceLocation where);
  void enter_scope(SourceLocation where);
  void leave_scope();
  void label(Word name);
  void table(Table::Kind kind, const std::vector<Word>& words, SourceLocation where);
  void prototype(const FunctionSyntax& head, SourceLocation where);
  void instruction(const InstructionSyntax& instruction);

  // Variables, of the module or of the function whose body is open. `value`s follow `declare` where there is a '='.
  void declare(const DeclarationSyntax& head, const DeclaratorSyntax& name);
  void begin_initializer(SourceLocation where);
  void open_brace(SourceLocation where);
  void close_brace(SourceLocation where);
  void value(const Expression& expression);
  void option(const Expression& name, const Expression& value); ///< of a samplerref: addr_mode_0 = wrap
  void end_initializer(SourceLocation where);

  void error(SourceLocation where, std::string message, std::string hint = {});
  [[nodiscard]] bool has_too_many_errors() const { return diagnostics_.error_count() >= kMaxErrors; }
  Expected<Module> finish(SourceLocation end);

private:
  static constexpr std::size_t kMaxErrors = 1000;
  static constexpr std::size_t kMaxScopes = 200; ///< inside one another

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
  struct LateReference { ///< to a function that is declared further down
    std::uint32_t function, operand;
    std::string_view name;
    SourceLocation where;
  };
  struct Initializer {
    Variable* variable = nullptr;       ///< null where its declaration was wrong
    std::vector<std::uint64_t> extents; ///< with the vector's components last
    std::vector<std::uint64_t> starts;  ///< of the open braces, in elements
    std::uint64_t position = 0;         ///< in elements
    std::uint64_t end = 0;              ///< of what was written, in elements
    bool failed = false;
  };

  // build.cpp
  Function& function() { return module_.functions[function_]; }
  void requires_version(int ptx, Word directive);
  void function_directive(Function& target, const FunctionDirectiveSyntax& directive);
  void attributes_of(Function& target, const std::vector<Word>& attributes);
  std::vector<Variable> parameters(const std::vector<ParameterSyntax>& list);
  void declare_parameters(std::vector<Variable>& list, VariableOwner owner);
  std::uint32_t function_named(const FunctionSyntax& head);
  void resolve_references();
  std::uint32_t label_of(std::string_view name, std::uint32_t scope) const;
  std::optional<std::uint32_t> unsigned_of(Word number);
  void flush_label();

  // build_variables.cpp
  std::optional<Variable> variable_of(const DeclarationSyntax& head, const DeclaratorSyntax& name);
  bool words_of(const DeclarationSyntax& head, Variable& variable);
  bool extents_of(const DeclaratorSyntax& name, Variable& variable);
  void declare_registers(const Variable& variable, const DeclaratorSyntax& name);
  void declare_variable(Variable variable);
  Linkage linkage_of(const std::vector<Word>& words);
  std::uint64_t elements_inside(std::size_t depth) const;
  bool store(const Constant& constant, SourceLocation where);

  // build_operands.cpp
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
  std::uint32_t append(std::span<const Operand> operands);
  void undeclared(std::string_view what, std::string_view name, SourceLocation where);

  Module module_;
  Diagnostics diagnostics_;
  Scopes globals_, scopes_;
  bool saw_version_ = false, saw_target_ = false;
  std::uint64_t register_total_ = 0, initial_total_ = 0;

  // Of the function at hand.
  std::uint32_t function_ = kNone;
  bool in_body_ = false;
  bool parameters_in_body_ = false; ///< PTX 1.0 to 1.3: `.entry f { .param .u32 a; … }`
  SourcePosition source_;
  std::vector<Reference> references_;
  std::unordered_map<ScopedName, std::uint32_t, ScopedNameHash> labels_; ///< to Function::labels
  std::vector<std::uint32_t> scope_parents_, open_scopes_;
  Word pending_label_; ///< it may turn out to name a table
  std::string_view opcode_;
  bool is_call_ = false, is_branch_ = false;
  std::uint32_t instruction_line_ = 0;
  std::vector<Operand> scratch_;

  std::vector<LateReference> late_references_;
  Initializer initializer_;
};

} // namespace warplens::ir
