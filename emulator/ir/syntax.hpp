// SPDX-License-Identifier: Apache-2.0
// An operand or constant expression as written, with unresolved names: what the reader passes to the builder.
//
//   [%rd1+4], -5, p|q     becomes three Expressions; the first has one Term `open_bracket` with one child Expression
//                         of two Terms, %rd1 and 4, the second of which has operation '+'.
#pragma once

#include "emulator/base/diagnostic.hpp"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace warplens::ir {

/// A binary operator, or `none` before the first term of an expression.
enum class Operation : std::uint8_t {
  none,
  multiply,
  divide,
  remainder,
  add,
  subtract,
  shift_left,
  shift_right,
  less,
  greater,
  less_equal,
  greater_equal,
  equal,
  not_equal,
  bit_and,
  bit_xor,
  bit_or,
  logical_and,
  logical_or,
  question,
  colon
};

struct OperationInfo {
  std::string_view text;
  int precedence; ///< the highest binds first (manual, table 5); 0: not a binary operator
};
constexpr OperationInfo kOperations[] = { // by Operation
    {"", 0},   {"*", 10}, {"/", 10}, {"%", 10}, {"+", 9}, {"-", 9}, {"<<", 8}, {">>", 8}, {"<", 7}, {">", 7}, {"<=", 7},
    {">=", 7}, {"==", 6}, {"!=", 6}, {"&", 5},  {"^", 4}, {"|", 3}, {"&&", 2}, {"||", 1}, {"?", 0}, {":", 0}};

enum class TermKind : std::uint8_t {
  word,        ///< a name, with its dotted suffixes: %tid.x
  indexed,     ///< word[child]
  applied,     ///< word(child): generic(symbol)
  integer,     ///< as written: 0x10U
  masked,      ///< integer(child): 0xFF00(symbol)
  decimal,     ///< 1.5e3
  hexadecimal, ///< 0f3F800000, 0d…
  cast,        ///< (.type) child
  parentheses, ///< (child, …)
  braces,      ///< {child, …}
  brackets,    ///< [child, …]
};

struct Term {
  TermKind kind{};
  Operation operation = Operation::none; ///< between the term before and this one
  SourceLocation where;
  std::string_view text;          ///< the word, the number, or the type of a cast; points into the PTX text
  std::uint32_t first_prefix = 0; ///< into Syntax::prefixes: '-', '+', '!', '~', outermost first
  std::uint32_t prefix_count = 0;
  std::uint32_t first_suffix = 0; ///< into Syntax::suffixes: dotted words written separately from the word
  std::uint32_t suffix_count = 0;
  std::uint32_t first_child = 0; ///< into Syntax::expressions
  std::uint32_t child_count = 0;
};

struct Expression {
  std::uint32_t first_term = 0; ///< into Syntax::terms
  std::uint32_t term_count = 0;
};

/// Stores one piece of text; cleared before the next.
struct Syntax {
  std::vector<Term> terms;
  std::vector<Expression> expressions;
  std::vector<char> prefixes;
  std::vector<std::string_view> suffixes;

  void clear() {
    terms.clear();
    expressions.clear();
    prefixes.clear();
    suffixes.clear();
  }
  [[nodiscard]] std::span<const Term> of(const Expression& e) const {
    return {terms.data() + e.first_term, e.term_count};
  }
  [[nodiscard]] std::span<const Expression> children(const Term& t) const {
    return {expressions.data() + t.first_child, t.child_count};
  }
  [[nodiscard]] std::span<const char> prefixes_of(const Term& t) const {
    return {prefixes.data() + t.first_prefix, t.prefix_count};
  }
};

/// A word and its location.
struct Lexeme {
  std::string_view text;
  SourceLocation where;
};

/// `.managed`, `.unified(1, 2)` in `.attribute(…)`.
struct AttributeSyntax {
  Lexeme name;
  std::size_t values = 0; ///< how many numbers
};

/// The part of a declaration that all its names share: `.visible .global .align 4 .u32`.
struct DeclarationSyntax {
  std::vector<Lexeme> linkages;
  Lexeme space;
  std::string_view bank;      ///< of `.const[2]`; empty if absent
  std::vector<Lexeme> words;  ///< dotted words in order: types, .v4, .ptr, .global
  std::string_view alignment; ///< the last `.align` outside `.ptr`
  std::string_view pointee_alignment;
  std::vector<AttributeSyntax> attributes;
};

/// One name of a declaration: `x[4][2]`, `%r<10>`.
struct DeclaratorSyntax {
  Lexeme name;
  std::string_view count; ///< of a range; empty if absent
  SourceLocation count_where;
  std::vector<Expression> extents; ///< term_count == 0 for []
};

struct ParameterSyntax {
  DeclarationSyntax declaration;
  DeclaratorSyntax declarator;
};

/// `.maxntid 16, 16`, `.noreturn`, `.pragma "…";`
struct FunctionDirectiveSyntax {
  Lexeme name;
  std::vector<std::string_view> values; ///< numbers, or the strings of a pragma without quotes
};

/// Everything up to the body: `.visible .func (.reg .u32 r) f (.reg .u32 a) .noreturn`, or a .callprototype.
struct FunctionSyntax {
  std::vector<Lexeme> linkages;
  bool is_entry = false;
  bool has_parameter_list = false;
  Lexeme name;
  std::vector<ParameterSyntax> results, params;
  std::vector<AttributeSyntax> attributes;
  std::vector<FunctionDirectiveSyntax> directives;
};

struct InstructionSyntax {
  Lexeme opcode; ///< includes modifiers that were written separately
  Lexeme guard;  ///< empty text if absent
  bool guard_negated = false;
  std::vector<Expression> operands;
};

} // namespace warplens::ir
