// SPDX-License-Identifier: Apache-2.0
#include "emulator/ir/parse_tokens.hpp"

#include "PtxParser.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <mutex>

namespace warplens::ir {

using grammar::PtxParser;

namespace {
constexpr int kMaxDepth = 100;
constexpr std::size_t kMaxShownToken = 60;
} // namespace

const TokenTable::State TokenTable::kDead;

TokenTable& TokenTable::instance() {
  static grammar::PtxLexer lexer(nullptr);
  static TokenTable table(*lexer.getInterpreter<antlr4::atn::LexerATNSimulator>());
  return table;
}

TokenTable::TokenTable(antlr4::atn::LexerATNSimulator& generated)
    : LexerATNSimulator(generated.atn, generated._decisionToDFA, generated.getSharedContextCache()) {
  antlr4::ANTLRInputStream one(" "); // the first match creates the start state
  generated.match(&one, antlr4::Lexer::DEFAULT_MODE);
  start_ = add(_decisionToDFA[antlr4::Lexer::DEFAULT_MODE].s0);
}

const TokenTable::State* TokenTable::add(antlr4::dfa::DFAState* dfa) {
  State*& known = known_[dfa];
  if (known != nullptr) return known;
  known = &states_.emplace_back();
  known->dfa = dfa;
  known->type = dfa->isAcceptState ? dfa->prediction : 0;
  known->skipped = dfa->isAcceptState && dfa->lexerActionExecutor != nullptr; // `-> skip` is the only action
  return known;
}

const TokenTable::State* TokenTable::step(const State& from, unsigned char character) {
  const std::scoped_lock lock(mutex_);
  antlr4::dfa::DFAState* target = getExistingTargetState(from.dfa, character);
  if (target == nullptr) target = computeTargetState(nullptr, from.dfa, character);
  const State* const to = target == ERROR.get() ? &kDead : add(target);
  known_[from.dfa]->next[character].store(to, std::memory_order_release);
  return to;
}

TokenTable::Match TokenTable::longest(std::string_view text) {
  const State* state = start_;
  std::size_t length = 0;
  for (; length < text.size(); ++length) {
    const State* const next = after(*state, text[length]);
    if (next == &kDead) break;
    state = next;
  }
  if (state->type != 0) return {state->type, length, state->skipped};
  // Not a whole token: the last place where one ended.
  Match best;
  state = start_;
  for (std::size_t i = 0; i < length; ++i) {
    state = after(*state, text[i]);
    if (state->type != 0) best = {state->type, i + 1, state->skipped};
  }
  return best;
}

TokenReader::TokenReader(std::string_view text) : text_(text) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) offset_ = line_start_ = kByteOrderMark.size();
  current_ = &token(0);
}

void TokenReader::skip(std::string_view skipped) {
  const char* at = skipped.data();
  const char* const end = at + skipped.size();
  if (skipped.size() <= 2 && *at != '\n' && *(end - 1) != '\n') return;
  while ((at = static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at)))) != nullptr) {
    ++line_;
    ++at;
    line_start_ = static_cast<std::size_t>(at - text_.data());
    at_line_start_ = true;
    if (at == end) break;
  }
}

/// Skips most of the white space and comments, faster than with the table.
void TokenReader::skip_blanks() {
  for (; offset_ < text_.size(); ++offset_) {
    const char character = text_[offset_];
    if (character == '\n') {
      ++line_;
      line_start_ = offset_ + 1;
      at_line_start_ = true;
    } else if (character != ' ' && character != '\t' && character != '\r') {
      return;
    }
  }
}

void TokenReader::read(TextToken& token) {
  skip_blanks();
  while (offset_ < text_.size()) {
    const TokenTable::Match match = table_.longest(text_.substr(offset_));
    const std::string_view text = text_.substr(offset_, std::max<std::size_t>(match.length, 1));
    const std::size_t start = offset_;
    offset_ += text.size();
    if (match.skipped) {
      skip(text);
      skip_blanks();
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
  for (; count_ <= position; ++count_) {
    if (count_ == blocks_.size() * kBlock) blocks_.push_back(std::make_unique<TextToken[]>(kBlock));
    read(at(count_));
  }
  return at(position);
}

antlr4::Token* TokenReader::LT(ssize_t k) {
  if (k > 0) return &token(position_ + static_cast<size_t>(k) - 1);
  return position_ == 0 ? nullptr : &at(position_ - 1);
}

void TokenReader::advance() {
  const TextToken& now = *current_;
  if (now.type_ == antlr4::Token::EOF) return;
  if (now.text_.size() == 1) bracket(now.text_[0]);
  after_cast_ = now.type_ == PtxParser::DOTTED;
  current_ = &token(++position_);
}

void TokenReader::bracket(char bracket) {
  switch (bracket) {
  case '{': ++braces_; [[fallthrough]];
  case '(':
  case '[':
    if (++depth_ > kMaxDepth)
      throw SyntaxError{current_->where_, fmt::format("brackets nested deeper than {}", kMaxDepth), {}};
    break;
  case ')': depth_ -= after_cast_ ? 0 : 1; break; // (.u64)(.u64)… nests, although its brackets close
  case '}': --braces_; [[fallthrough]];
  case ']': --depth_; break;
  default: break;
  }
}

void TokenReader::next_piece() {
  std::size_t kept = 0;
  for (std::size_t i = position_; i < count_; ++i, ++kept) at(kept) = at(i);
  count_ = kept;
  position_ = 0;
  current_ = &token(0);
  after_cast_ = false;
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
    if (character >= 128)
      throw SyntaxError{token.where(), fmt::format("expected ASCII but found the byte 0x{:02x}", character),
                        "PTX allows other characters only in comments and strings"};
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

} // namespace warplens::ir
