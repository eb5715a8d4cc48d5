// SPDX-License-Identifier: Apache-2.0
#include "emulator/ir/parse_syntax.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace warplens::ir {

using grammar::PtxParser;

namespace {

Operation operation_of(std::string_view text) {
  const auto* const found = std::find_if(std::begin(kOperations), std::end(kOperations),
                                         [&](const OperationInfo& operation) { return operation.text == text; });
  return static_cast<Operation>(found - std::begin(kOperations));
}

} // namespace

FunctionSyntax ContextReader::function_of(PtxParser::ItemContext& item) {
  FunctionSyntax head;
  head.linkages = words_of(item.linkages);
  head.is_entry = item.kernel != nullptr;
  if (head.is_entry) {
    PtxParser::EntryContext& entry = *item.kernel;
    head.name = word_of(entry.name);
    head.has_parameter_list = entry.params != nullptr;
    head.params = parameters_of(entry.params);
    head.directives = directives_of(entry.directives);
  } else {
    PtxParser::FuncContext& func = *item.function;
    DeclarationSyntax attributes;
    attributes_of(func.attributes, attributes);
    head.attributes = attributes.attributes;
    if (!attributes.words.empty() || !attributes.alignment.empty()) {
      const TextToken& found = of(func.attributes[0]->start);
      const Lexeme word = attributes.words.empty() ? Lexeme{found.text(), found.where()} : attributes.words.front();
      throw SyntaxError{word.where, fmt::format("expected a function name but found '{}'", word.text),
                        "directives of a function follow its parameters"};
    }
    head.name = word_of(func.name);
    head.has_parameter_list = func.params != nullptr;
    head.results = parameters_of(func.results);
    head.params = parameters_of(func.params);
    for (FunctionDirectiveSyntax& directive : directives_of(func.directives))
      head.directives.push_back(std::move(directive));
  }
  return head;
}

std::vector<FunctionDirectiveSyntax>
ContextReader::directives_of(const grammar::Labels<PtxParser::FunctionDirectiveContext*>& list) {
  std::vector<FunctionDirectiveSyntax> result;
  for (PtxParser::FunctionDirectiveContext* context : list) {
    FunctionDirectiveSyntax& directive = result.emplace_back();
    directive.name = word_of(context->start);
    for (const antlr4::Token* value : context->values) directive.values.push_back(of(value).text());
    for (const antlr4::Token* string : context->strings) directive.values.push_back(unquoted(string));
  }
  return result;
}

std::vector<ParameterSyntax> ContextReader::parameters_of(PtxParser::ParametersContext* parameters) {
  std::vector<ParameterSyntax> result;
  if (parameters == nullptr) return result;
  for (PtxParser::ParameterContext* parameter : parameters->list)
    result.push_back({declaration_of(*parameter->head), declarator_of(*parameter->named)});
  return result;
}

DeclarationSyntax ContextReader::declaration_of(PtxParser::DeclarationContext& declaration) {
  DeclarationSyntax result;
  result.space = word_of(declaration.space);
  if (declaration.bank != nullptr) result.bank = of(declaration.bank).text();
  attributes_of(declaration.attributes, result);
  return result;
}

void ContextReader::attributes_of(const grammar::Labels<PtxParser::AttributeContext*>& list,
                                  DeclarationSyntax& result) {
  bool after_pointer = false;
  for (PtxParser::AttributeContext* attribute : list) {
    if (attribute->word != nullptr) {
      result.words.push_back(word_of(attribute->word));
      after_pointer |= result.words.back().text == ".ptr";
    } else if (attribute->alignment != nullptr) {
      (after_pointer ? result.pointee_alignment : result.alignment) = of(attribute->alignment).text();
    }
    for (PtxParser::AttributeItemContext* item : attribute->items) {
      const AttributeSyntax written{word_of(item->name), item->values.size()};
      if (!result.words.empty())
        throw SyntaxError{written.name.where, "expected a name but found '.attribute'", "attributes precede the type"};
      result.attributes.push_back(written);
    }
  }
}

DeclaratorSyntax ContextReader::declarator_of(PtxParser::DeclaratorContext& declarator) {
  DeclaratorSyntax result;
  result.name = word_of(declarator.name);
  if (declarator.count != nullptr) {
    result.count = of(declarator.count).text();
    result.count_where = of(declarator.count).where();
  }
  for (PtxParser::ExtentContext* extent : declarator.extents)
    result.extents.push_back(extent->size != nullptr ? expression_of(*extent->size) : Expression{});
  return result;
}

Expression ContextReader::expression_of(PtxParser::OperandContext& operand) {
  const auto count = static_cast<std::uint32_t>(operand.terms.size());
  const auto first = static_cast<std::uint32_t>(syntax_.terms.size());
  syntax_.terms.resize(first + count); // keeps them together: their children follow
  for (std::uint32_t i = 0; i < count; ++i) {
    Term term = term_of(*operand.terms[i]);
    if (i > 0) term.operation = operation_of(of(operand.operators[i - 1]).text());
    syntax_.terms[first + i] = term;
  }
  return {first, count};
}

void ContextReader::expressions_of(const grammar::Labels<PtxParser::OperandContext*>& operands, Term& parent) {
  parent.first_child = static_cast<std::uint32_t>(syntax_.expressions.size());
  parent.child_count = static_cast<std::uint32_t>(operands.size());
  syntax_.expressions.resize(parent.first_child + parent.child_count);
  for (std::uint32_t i = 0; i < parent.child_count; ++i) {
    const Expression child = expression_of(*operands[i]);
    syntax_.expressions[parent.first_child + i] = child;
  }
}

Term ContextReader::term_of(PtxParser::TermContext& context) {
  Term term;
  term.where = of(context.start).where();
  term.first_prefix = static_cast<std::uint32_t>(syntax_.prefixes.size());
  term.prefix_count = static_cast<std::uint32_t>(context.prefixes.size());
  for (const antlr4::Token* prefix : context.prefixes) syntax_.prefixes.push_back(of(prefix).text()[0]);
  const char open = context.open != nullptr ? of(context.open).text()[0] : '\0';
  if (context.word != nullptr) {
    term.kind = open == '[' ? TermKind::indexed : open == '(' ? TermKind::applied : TermKind::word;
    term.text = of(context.word).text();
    term.first_suffix = static_cast<std::uint32_t>(syntax_.suffixes.size());
    term.suffix_count = static_cast<std::uint32_t>(context.suffixes.size());
    for (const antlr4::Token* suffix : context.suffixes) syntax_.suffixes.push_back(of(suffix).text());
  } else if (context.number != nullptr) {
    const size_t type = context.number->getType();
    term.kind = open == '('                  ? TermKind::masked
                : type == PtxParser::INTEGER ? TermKind::integer
                : type == PtxParser::FLOAT   ? TermKind::decimal
                                             : TermKind::hexadecimal;
    term.text = of(context.number).text();
  } else if (context.cast != nullptr) {
    term.kind = TermKind::cast;
    term.text = of(context.cast).text();
    term.first_child = static_cast<std::uint32_t>(syntax_.expressions.size());
    term.child_count = 1;
    syntax_.expressions.emplace_back();
    const auto inner = static_cast<std::uint32_t>(syntax_.terms.size());
    syntax_.terms.emplace_back();
    const Term child = term_of(*context.inner);
    syntax_.terms[inner] = child;
    syntax_.expressions[term.first_child] = {inner, 1};
    return term;
  } else {
    term.kind = open == '(' ? TermKind::parentheses : open == '{' ? TermKind::braces : TermKind::brackets;
  }
  if (open != '\0') expressions_of(context.operands, term);
  return term;
}

} // namespace warplens::ir
