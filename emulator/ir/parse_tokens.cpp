#include "emulator/ir/parse_tokens.hpp"

#include "PtxParser.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <mutex>

namespace warplens::ir {

using grammar::PtxParser;

namespace {
constexpr std::int32_t kUnknown = -1;
constexpr std::int32_t kDead = -2;
constexpr int kMaxDepth = 100;
constexpr std::size_t kMaxShownToken = 60;

/// ANTLR shares one automaton between all parsers of a program and extends it while it reads.
std::mutex& automaton_mutex() {
  static std::mutex mutex;
  return mutex;
}
} // namespace

TokenTable::TokenTable(antlr4::atn::LexerATNSimulator& generated)
    : LexerATNSimulator(generated.atn, generated._decisionToDFA, generated.getSharedContextCache()) {
  antlr4::dfa::DFA& dfa = _decisionToDFA[antlr4::Lexer::DEFAULT_MODE];
  const std::scoped_lock lock(automaton_mutex());
  if (dfa.s0 == nullptr) {
    antlr4::ANTLRInputStream one(" "); // the first match makes the start state
    generated.match(&one, antlr4::Lexer::DEFAULT_MODE);
  }
  add(dfa.s0);
}

std::int32_t TokenTable::add(antlr4::dfa::DFAState* dfa) {
  const auto [found, added] = index_.emplace(dfa, static_cast<std::int32_t>(states_.size()));
  if (!added) return found->second;
  State& state = states_.emplace_back();
  state.dfa = dfa;
  state.type = dfa->isAcceptState ? dfa->prediction : 0;
  state.skipped = dfa->isAcceptState && dfa->lexerActionExecutor != nullptr; // `-> skip` is the only action there is
  state.next.fill(kUnknown);
  return found->second;
}

std::int32_t TokenTable::step(std::int32_t from, unsigned char character) {
  const std::scoped_lock lock(automaton_mutex());
  antlr4::dfa::DFAState* dfa = states_[from].dfa;
  antlr4::dfa::DFAState* target = getExistingTargetState(dfa, character);
  if (target == nullptr) target = computeTargetState(nullptr, dfa, character);
  const std::int32_t to = target == ERROR.get() ? kDead : add(target);
  states_[from].next[character] = to;
  return to;
}

TokenTable::Match TokenTable::longest(std::string_view text) {
  Match best;
  std::int32_t state = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto character = static_cast<unsigned char>(text[i]);
    // A byte that is not ASCII was reported already; it may stand where any character may.
    const unsigned char known = character < 128 ? character : 1;
    std::int32_t next = states_[state].next[known];
    if (next == kUnknown) next = step(state, known);
    if (next == kDead) break;
    state = next;
    if (states_[state].type != 0) best = {states_[state].type, i + 1, states_[state].skipped};
  }
  return best;
}

TokenReader::TokenReader(std::string_view text, antlr4::atn::LexerATNSimulator& generated)
    : text_(text), table_(generated) {}

void TokenReader::skip(std::string_view skipped) {
  const char* at = skipped.data();
  const char* const end = at + skipped.size();
  while ((at = static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at)))) != nullptr) {
    ++line_;
    ++at;
    line_start_ = static_cast<std::size_t>(at - text_.data());
    at_line_start_ = true;
    if (at == end) break;
  }
}

void TokenReader::read(TextToken& token) {
  while (offset_ < text_.size()) {
    const TokenTable::Match match = table_.longest(text_.substr(offset_));
    const std::string_view text = text_.substr(offset_, std::max<std::size_t>(match.length, 1));
    const std::size_t start = offset_;
    offset_ += text.size();
    if (match.skipped) {
      skip(text);
      continue;
    }
    token.type_ = match.type != 0 ? match.type : size_t{PtxParser::STRAY};
    token.text_ = text;
    token.where_ = {line_, static_cast<std::uint32_t>(start - line_start_ + 1)};
    token.first_on_line_ = at_line_start_;
    at_line_start_ = false;
    if (token.type_ == PtxParser::OPEN_COMMENT) offset_ = text_.size();
    return;
  }
  token.type_ = antlr4::Token::EOF;
  token.text_ = {};
  token.where_ = {line_, static_cast<std::uint32_t>(offset_ - line_start_ + 1)};
  token.first_on_line_ = true;
}

TextToken& TokenReader::token(size_t position) {
  while (count_ <= position) {
    if (count_ == tokens_.size()) tokens_.emplace_back();
    tokens_[count_].index_ = count_;
    read(tokens_[count_]);
    ++count_;
  }
  return tokens_[position];
}

antlr4::Token* TokenReader::LT(ssize_t k) {
  if (k > 0) return &token(position_ + static_cast<size_t>(k) - 1);
  return position_ == 0 ? nullptr : &tokens_[position_ - 1];
}

void TokenReader::consume() {
  const TextToken& now = token(position_);
  if (now.type_ == antlr4::Token::EOF) return;
  const bool after_cast = position_ > 0 && tokens_[position_ - 1].type_ == PtxParser::DOTTED;
  ++position_;
  if (now.text_.size() != 1) return;
  const char bracket = now.text_[0];
  if (bracket == '(' || bracket == '[' || bracket == '{') {
    if (++depth_ > kMaxDepth)
      throw SyntaxError{now.where_, fmt::format("brackets nested deeper than {}", kMaxDepth), {}};
    braces_ += bracket == '{' ? 1 : 0;
  } else if (bracket == ')') {
    depth_ -= after_cast ? 0 : 1; // (.u64)(.u64)… nests, although its brackets close
  } else if (bracket == ']' || bracket == '}') {
    --depth_;
    braces_ -= bracket == '}' ? 1 : 0;
  }
}

void TokenReader::next_piece() {
  std::size_t kept = 0;
  for (std::size_t i = position_; i < count_; ++i, ++kept) {
    tokens_[kept] = tokens_[i];
    tokens_[kept].index_ = kept;
  }
  count_ = kept;
  position_ = 0;
  depth_ = 0;
  braces_ = 0;
}

std::string described(const TextToken& token) {
  switch (token.getType()) {
  case antlr4::Token::EOF: return "end of file";
  case PtxParser::OPEN_COMMENT: throw SyntaxError{token.where(), "comment is not closed", "add '*/'"};
  case PtxParser::OPEN_STRING: throw SyntaxError{token.where(), "string is not closed", "add '\"'"};
  case PtxParser::BAD_NUMBER:
    throw SyntaxError{token.where(), fmt::format("malformed number '{}'", token.text().substr(0, kMaxShownToken)), {}};
  case PtxParser::STRAY: {
    const auto character = static_cast<unsigned char>(token.text()[0]);
    const std::string shown =
        character > 32 && character < 127 ? std::string(1, token.text()[0]) : fmt::format("\\x{:02x}", character);
    throw SyntaxError{token.where(), fmt::format("unexpected character '{}'", shown), {}};
  }
  default: break;
  }
  if (token.text().size() > kMaxShownToken) return fmt::format("'{}…'", token.text().substr(0, kMaxShownToken));
  return fmt::format("'{}'", token.text());
}

void fail_expected(std::string_view expected, const TextToken& got) {
  const std::string found = described(got);
  throw SyntaxError{got.where(), fmt::format("expected {} but found {}", expected, found), {}};
}

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

/// What a rule reads, in words, where one word says more than the list of tokens.
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

std::string expectation(antlr4::Parser* parser) {
  std::string list;
  std::size_t count = 0;
  for (const ssize_t type : parser->getExpectedTokens().toList()) {
    if (type <= 0) continue;
    std::string_view name = named(static_cast<size_t>(type));
    const std::string literal = parser->getVocabulary().getLiteralName(static_cast<size_t>(type));
    if (name.empty()) name = literal;
    if (name.empty() || list.find(name) != std::string::npos) continue;
    if (count++ != 0) list += " or ";
    list += name;
  }
  const antlr4::ParserRuleContext& rule = *parser->getRuleContext();
  const std::string_view words = purpose(rule.getRuleIndex(), rule.start == parser->getCurrentToken());
  if (count > 3 || count == 0) return words.empty() ? "something else" : std::string(words);
  return list;
}

} // namespace

antlr4::Token* StopAtFirstError::recoverInline(antlr4::Parser* parser) {
  fail_expected(expectation(parser), static_cast<const TextToken&>(*parser->getCurrentToken()));
}

void StopAtFirstError::recover(antlr4::Parser* parser, std::exception_ptr) {
  fail_expected(expectation(parser), static_cast<const TextToken&>(*parser->getCurrentToken()));
}

} // namespace warplens::ir
