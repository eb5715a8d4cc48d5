// SPDX-License-Identifier: Apache-2.0
// Converts the results of the generated parser to the structs of syntax.hpp. Include it from parse*.cpp only.
//
//   ContextReader contexts(syntax); Expression e = contexts.expression_of(*parser.operand());
#pragma once

#include "emulator/ir/parse_tokens.hpp"
#include "emulator/ir/syntax.hpp"

#include "PtxParser.h"

namespace warplens::ir {

inline const TextToken& of(const antlr4::Token* token) { return static_cast<const TextToken&>(*token); }
inline Lexeme word_of(const antlr4::Token* token) { return {of(token).text(), of(token).where()}; }

inline std::vector<Lexeme> words_of(const grammar::Labels<antlr4::Token*>& tokens) {
  std::vector<Lexeme> words;
  for (const antlr4::Token* token : tokens) words.push_back(word_of(token));
  return words;
}

inline std::string_view unquoted(const antlr4::Token* token) {
  const std::string_view text = of(token).text();
  return text.substr(1, text.size() - 2);
}

/// Converts contexts; keeps only their text. Expressions go into `syntax`.
class ContextReader {
public:
  explicit ContextReader(Syntax& syntax) : syntax_(syntax) {}

  using Parser = grammar::PtxParser;
  FunctionSyntax function_of(Parser::ItemContext& item);
  std::vector<FunctionDirectiveSyntax> directives_of(const grammar::Labels<Parser::FunctionDirectiveContext*>& list);
  std::vector<ParameterSyntax> parameters_of(Parser::ParametersContext* parameters); ///< null: none
  DeclarationSyntax declaration_of(Parser::DeclarationContext& declaration);
  DeclaratorSyntax declarator_of(Parser::DeclaratorContext& declarator);
  Expression expression_of(Parser::OperandContext& operand);

private:
  void attributes_of(const grammar::Labels<Parser::AttributeContext*>& list, DeclarationSyntax& result);
  void expressions_of(const grammar::Labels<Parser::OperandContext*>& operands, Term& parent);
  Term term_of(Parser::TermContext& term);

  Syntax& syntax_;
};

} // namespace warplens::ir
