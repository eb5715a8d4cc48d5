// SPDX-License-Identifier: Apache-2.0
// The lexer behind the ANTLR parser: makes tokens from the text, one piece at a time. Include it from parse*.cpp only.
//
// ANTLR's own lexer needs locks and two virtual calls per character, and keeps every token of a file. This one runs the
// automaton that ANTLR builds from Ptx.g4 with a plain table, and keeps only the tokens of one piece.
#pragma once

#include "emulator/base/diagnostic.hpp"

#include <antlr4-runtime/antlr4-runtime.h>

#include "PtxLexer.h"

#include <array>
#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace warplens::ir {

/// A statement that cannot be parsed. Thrown inside the generated parser, caught by the reader.
struct SyntaxError {
  SourceLocation where;
  std::string message;
  std::string hint;
};

class TokenReader;

/// A token: a type and a stretch of the text.
class TextToken final : public antlr4::Token {
public:
  [[nodiscard]] std::string_view text() const { return text_; }
  [[nodiscard]] SourceLocation where() const { return where_; }
  [[nodiscard]] bool first_on_line() const { return first_on_line_; }

  std::string getText() const override { return std::string(text_); }
  size_t getType() const override { return type_; }
  size_t getLine() const override { return where_.line; }
  size_t getCharPositionInLine() const override { return where_.column - 1; }
  size_t getChannel() const override { return antlr4::Token::DEFAULT_CHANNEL; }
  size_t getTokenIndex() const override { return ~size_t{0}; }
  size_t getStartIndex() const override { return 0; }
  size_t getStopIndex() const override { return 0; }
  antlr4::TokenSource* getTokenSource() const override { return nullptr; }
  antlr4::CharStream* getInputStream() const override { return nullptr; }
  std::string toString() const override { return getText(); }

private:
  friend class TokenReader;
  std::string_view text_;
  size_t type_ = 0;
  SourceLocation where_;
  bool first_on_line_ = false;
};

/// The lexer of Ptx.g4 as a table of next states by character, filled on demand. The whole process shares one.
class TokenTable : private antlr4::atn::LexerATNSimulator {
public:
  static TokenTable& instance();

  struct Match {
    size_t type = 0; ///< 0: no token starts here
    size_t length = 0;
    bool skipped = false;
  };
  /// The longest token at the start of `text`, which is not empty.
  Match longest(std::string_view text);

private:
  struct State {
    antlr4::dfa::DFAState* dfa = nullptr;
    size_t type = 0; ///< of the token that may end here; 0: none
    bool skipped = false;
    std::array<std::atomic<const State*>, 128> next{}; ///< null: not known yet; kDead
  };
  explicit TokenTable(antlr4::atn::LexerATNSimulator& generated);
  const State* after(const State& state, char character) {
    // A non-ASCII byte is valid wherever any character is: in comments and strings.
    const auto byte = static_cast<unsigned char>(character);
    const unsigned char known = byte < 128 ? byte : 1;
    const State* const next = state.next[known].load(std::memory_order_acquire);
    return next != nullptr ? next : step(state, known);
  }
  const State* step(const State& from, unsigned char character);
  const State* add(antlr4::dfa::DFAState* dfa);

  static const State kDead; ///< no token continues this way
  std::mutex mutex_;        ///< protects the members below; look-ups in a State need no lock
  std::deque<State> states_;
  std::unordered_map<antlr4::dfa::DFAState*, State*> known_;
  const State* start_ = nullptr;
};

/// The tokens of the current piece. `next_piece()` forgets those that were consumed.
class TokenReader final : public antlr4::TokenStream {
public:
  explicit TokenReader(std::string_view text);

  TextToken& current() { return *current_; }
  /// Moves past the current token, which stays valid until the piece ends. Does nothing at the end of the text.
  void advance();

  /// The next token and its type.
  const TextToken& peek() { return *current_; }
  size_t peek_type() { return current_->getType(); }
  void next_piece();
  /// The braces of this piece that are still open.
  [[nodiscard]] int open_braces() const { return braces_; }

  antlr4::Token* LT(ssize_t k) override;
  antlr4::Token* get(size_t index) const override { return &at(index); }
  antlr4::TokenSource* getTokenSource() const override { return nullptr; }
  std::string getText(const antlr4::misc::Interval&) override { return {}; }
  std::string getText() override { return {}; }
  std::string getText(antlr4::RuleContext*) override { return {}; }
  std::string getText(antlr4::Token*, antlr4::Token*) override { return {}; }
  void consume() override { advance(); }
  size_t LA(ssize_t i) override { return i == 1 ? current_->getType() : LT(i)->getType(); }
  ssize_t mark() override { return 0; }
  void release(ssize_t) override {}
  size_t index() override { return position_; }
  void seek(size_t) override {} // only the parser's constructor calls it
  size_t size() override { return count_; }
  std::string getSourceName() const override { return {}; }

private:
  static constexpr size_t kBlock = 64;
  [[nodiscard]] TextToken& at(size_t position) const { return blocks_[position / kBlock][position % kBlock]; }
  TextToken& token(size_t position);
  void bracket(char bracket);
  void read(TextToken& token);
  void skip(std::string_view skipped);
  void skip_blanks();

  std::string_view text_;
  TokenTable& table_ = TokenTable::instance();
  size_t offset_ = 0; ///< of the first character that is not in a token yet
  size_t line_start_ = 0;
  std::uint32_t line_ = 1;
  bool at_line_start_ = true;
  std::vector<std::unique_ptr<TextToken[]>> blocks_; ///< of kBlock tokens each; the first `count_` are of this piece
  size_t count_ = 0;
  size_t position_ = 0;
  TextToken* current_ = nullptr; ///< at `position_`
  bool after_cast_ = false;      ///< the previous token is the type of a cast
  int depth_ = 0;                ///< of open brackets of all kinds in this piece
  int braces_ = 0;
};

/// How a diagnostic names a token: 'ret', a number, end of file. Throws SyntaxError if the token is not valid PTX.
std::string described(const TextToken& token);
[[noreturn]] void fail_expected(std::string_view expected, const TextToken& got);

} // namespace warplens::ir
