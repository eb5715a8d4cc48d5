// SPDX-License-Identifier: Apache-2.0
#include "emulator/ir/parse_runtime.hpp"

#include "PtxParser.h"

#include <fmt/format.h>

#include <deque>

namespace warplens::ir::grammar {

namespace {

std::string_view named(size_t type) {
  switch (type) {
  case PtxParser::WORD: return "a name";
  case PtxParser::INTEGER: return "an integer";
  case PtxParser::FLOAT:
  case PtxParser::HEX_FLOAT: return "a number";
  case PtxParser::STRING: return "a string";
  case PtxParser::DOTTED: return "a directive";
  case PtxParser::SPACE: return "a state space";
  case PtxParser::LINKAGE: return "a linkage directive";
  default: return {};
  }
}

/// What a rule reads, in words, if a description is clearer than the list of tokens.
std::string_view purpose(size_t rule, bool at_start) {
  switch (rule) {
  case PtxParser::RuleItem: return at_start ? "a directive, function or variable" : "a function or variable";
  case PtxParser::RuleStatement: return at_start ? "a statement" : "an operand or ';'";
  case PtxParser::RuleInstructionRest: return "an operand or ';'";
  case PtxParser::RuleOperand:
  case PtxParser::RuleTerm: return "an operand";
  case PtxParser::RuleDeclaration:
  case PtxParser::RuleParameter: return "a declaration";
  case PtxParser::RuleAttribute: return "a type or an attribute";
  case PtxParser::RuleSectionLine: return "data of the section or '}'";
  case PtxParser::RuleSectionValue:
  case PtxParser::RuleSectionWord: return "a number or a label";
  default: return {};
  }
}

} // namespace

thread_local PieceMemory* PieceMemory::current_ = nullptr;

void PieceMemory::begin_block() {
  if (block_ == blocks_.size()) blocks_.push_back(std::make_unique_for_overwrite<std::byte[]>(kBlock));
  next_ = blocks_[block_].get();
  left_ = kBlock;
}

void* PieceMemory::take_elsewhere(size_t bytes) {
  if (bytes > kBlock / 4) return large_.emplace_back(std::make_unique_for_overwrite<std::byte[]>(bytes)).get();
  if (next_ != nullptr) ++block_;
  begin_block();
  return take(bytes);
}

// A missing token at the end of a line is reported there, not on the line where the parser detects it.
void ParserRuntime::fail() {
  const TextToken& got = _input->current();
  const auto* const before = static_cast<const TextToken*>(_input->LT(-1));
  const std::string expected = expectation();
  const bool closes = expected.starts_with('\'') || expected.ends_with("';'"); // a bracket, a comma, or a semicolon
  if (before == nullptr || !closes || !got.first_on_line() || got.getType() == antlr4::Token::EOF)
    fail_expected(expected, got);
  static_cast<void>(described(got)); // throws if it is not valid PTX
  SourceLocation end = before->where();
  end.column += static_cast<std::uint32_t>(before->text().size());
  throw SyntaxError{end, fmt::format("expected {} but the line ends", expected), {}};
}

std::string ParserRuntime::expectation() {
  std::deque<antlr4::ParserRuleContext> stack; // ANTLR uses it to find the tokens that can follow a rule
  for (const Rule& rule : rules_) stack.emplace_back(stack.empty() ? nullptr : &stack.back(), rule.invoked_from);
  std::string list;
  std::size_t count = 0;
  for (const ssize_t type : getATN().getExpectedTokens(state_, &stack.back()).toList()) {
    if (type <= 0) continue;
    std::string_view name = named(static_cast<size_t>(type));
    const std::string literal = getVocabulary().getLiteralName(static_cast<size_t>(type));
    if (name.empty()) name = literal;
    if (name.empty() || list.find(name) != std::string::npos) continue;
    if (count++ != 0) list += " or ";
    list += name;
  }
  const std::string_view words = purpose(rules_.back().rule, rules_.back().start == &_input->current());
  if (count > 3 || count == 0) return words.empty() ? "something else" : std::string(words);
  return list;
}

} // namespace warplens::ir::grammar
