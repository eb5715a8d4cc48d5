// The reader's side of ANTLR: tokens made straight from the text, a piece at a time. Include it from parse*.cpp only.
//
// ANTLR's own lexer takes locks and two virtual calls for each character, and keeps every token of a file. This one
// walks the automaton that ANTLR builds from Ptx.g4 through a plain table, and keeps the tokens of one piece.
#pragma once

#include "emulator/base/diagnostic.hpp"

#include <antlr4-runtime/antlr4-runtime.h>

#include "PtxLexer.h"

#include <array>
#include <deque>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace warplens::ir {

/// A statement that cannot be read: thrown from inside the generated parser, caught by the reader.
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
  size_t getTokenIndex() const override { return index_; }
  size_t getStartIndex() const override { return 0; }
  size_t getStopIndex() const override { return 0; }
  antlr4::TokenSource* getTokenSource() const override { return nullptr; }
  antlr4::CharStream* getInputStream() const override { return nullptr; }
  std::string toString() const override { return getText(); }

private:
  friend class TokenReader;
  std::string_view text_;
  size_t type_ = 0;
  size_t index_ = 0;
  SourceLocation where_;
  bool first_on_line_ = false;
};

/// The lexer of Ptx.g4, run from a table of next states by character.
class TokenTable : private antlr4::atn::LexerATNSimulator {
public:
  explicit TokenTable(antlr4::atn::LexerATNSimulator& generated);

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
    std::array<std::int32_t, 128> next{}; ///< index of a state; kUnknown, kDead
  };
  std::int32_t step(std::int32_t from, unsigned char character);
  std::int32_t add(antlr4::dfa::DFAState* dfa);

  std::vector<State> states_;
  std::unordered_map<antlr4::dfa::DFAState*, std::int32_t> index_;
};

/// The tokens of the current piece. `next_piece()` forgets those that were consumed.
class TokenReader final : public antlr4::TokenStream {
public:
  TokenReader(std::string_view text, antlr4::atn::LexerATNSimulator& generated);

  /// The token that comes next, and its type.
  const TextToken& peek() { return token(position_); }
  size_t peek_type() { return token(position_).getType(); }
  void next_piece();
  /// The braces of this piece that are still open.
  [[nodiscard]] int open_braces() const { return braces_; }

  antlr4::Token* LT(ssize_t k) override;
  antlr4::Token* get(size_t index) const override { return const_cast<TextToken*>(&tokens_[index]); }
  antlr4::TokenSource* getTokenSource() const override { return nullptr; }
  std::string getText(const antlr4::misc::Interval&) override { return {}; }
  std::string getText() override { return {}; }
  std::string getText(antlr4::RuleContext*) override { return {}; }
  std::string getText(antlr4::Token*, antlr4::Token*) override { return {}; }
  void consume() override;
  size_t LA(ssize_t i) override { return LT(i)->getType(); }
  ssize_t mark() override { return 0; }
  void release(ssize_t) override {}
  size_t index() override { return position_; }
  void seek(size_t index) override { position_ = index; }
  size_t size() override { return tokens_.size(); }
  std::string getSourceName() const override { return {}; }

private:
  TextToken& token(size_t position);
  void read(TextToken& token);
  void skip(std::string_view skipped);

  std::string_view text_;
  TokenTable table_;
  size_t offset_ = 0; ///< of the first character that is no token yet
  size_t line_start_ = 0;
  std::uint32_t line_ = 1;
  bool at_line_start_ = true;
  std::deque<TextToken> tokens_; ///< stable addresses; the first `count_` are of this piece
  size_t count_ = 0;
  size_t position_ = 0;
  int depth_ = 0; ///< of open brackets of all kinds in this piece
  int braces_ = 0;
};

/// Throws SyntaxError at the first token that does not fit; the reader then finds the next statement.
class StopAtFirstError final : public antlr4::ANTLRErrorStrategy {
public:
  void reset(antlr4::Parser*) override {}
  antlr4::Token* recoverInline(antlr4::Parser* parser) override;
  void recover(antlr4::Parser* parser, std::exception_ptr) override;
  void sync(antlr4::Parser*) override {}
  bool inErrorRecoveryMode(antlr4::Parser*) override { return false; }
  void reportMatch(antlr4::Parser*) override {}
  void reportError(antlr4::Parser*, const antlr4::RecognitionException&) override {}
};

/// How a diagnostic names a token: 'ret', a number, end of file. Throws SyntaxError for what is no PTX at all.
std::string described(const TextToken& token);
[[noreturn]] void fail_expected(std::string_view expected, const TextToken& got);

} // namespace warplens::ir
