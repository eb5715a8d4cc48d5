// SPDX-License-Identifier: Apache-2.0
// The runtime of the generated parser, instead of ANTLR's own: see `options` in Ptx.g4. The generated code is the same,
// but the members that it names (match, _input, _tracker, …) are found here first. ANTLR's runtime needs a dozen
// virtual calls, a dynamic_cast and two allocations for each rule. If a piece does not match, ANTLR's automaton
// provides the expected tokens. Include it from parse*.cpp only.
#pragma once

#include "emulator/ir/parse_tokens.hpp"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

namespace warplens::ir::grammar {

/// The base of the generated contexts. They hold the elements that the grammar labels; there is no tree.
class PieceContext {
public:
  PieceContext(antlr4::ParserRuleContext*, size_t) {}
  PieceContext(const PieceContext&) = delete;
  PieceContext& operator=(const PieceContext&) = delete;
  virtual size_t getRuleIndex() const = 0;

  antlr4::Token* start = nullptr;
  struct {
    void operator=(const std::exception_ptr&) {}
    operator std::exception_ptr() const { return {}; } // NOLINT: the generated code passes it on
  } exception;                                         ///< not used: errors leave the parser as exceptions

protected:
  ~PieceContext() = default; // never called: see PieceMemory
  // The generated getters of a tree's children need these declarations; they are never called.
  static antlr4::tree::TerminalNode* getToken(size_t, size_t) { return nullptr; }
  static std::vector<antlr4::tree::TerminalNode*> getTokens(size_t) { return {}; }
  template <class Context> static Context* getRuleContext(size_t) { return nullptr; }
  template <class Context> static std::vector<Context*> getRuleContexts() { return {}; }
};

/// Memory for the contexts of one piece and their lists. The next piece reuses it; no destructors run.
class PieceMemory {
public:
  PieceMemory() : outer_(std::exchange(current_, this)) {}
  PieceMemory(const PieceMemory&) = delete;
  PieceMemory& operator=(const PieceMemory&) = delete;
  ~PieceMemory() { current_ = outer_; }

  /// The memory of the parser that runs on this thread.
  static PieceMemory& current() { return *current_; }

  void* take(size_t bytes) {
    bytes = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    if (bytes > left_) return take_elsewhere(bytes);
    left_ -= bytes;
    return std::exchange(next_, next_ + bytes);
  }
  template <class Context> Context* createInstance(antlr4::ParserRuleContext* parent, size_t state) {
    return new (take(sizeof(Context))) Context(parent, state);
  }
  void clear() {
    large_.clear();
    block_ = 0;
    begin_block();
  }

private:
  static constexpr size_t kBlock = 16384, kAlignment = alignof(std::max_align_t);
  void* take_elsewhere(size_t bytes);
  void begin_block();

  static thread_local PieceMemory* current_;
  PieceMemory* outer_;
  std::vector<std::unique_ptr<std::byte[]>> blocks_, large_;
  size_t block_ = 0; ///< the one that is being filled
  std::byte* next_ = nullptr;
  size_t left_ = 0;
};

/// A list that the grammar collects with `+=`.
template <class Item> class Labels {
public:
  void push_back(Item item) {
    if (size_ == capacity_) grow();
    items_[size_++] = item;
  }
  [[nodiscard]] const Item* begin() const { return items_; }
  [[nodiscard]] const Item* end() const { return items_ + size_; }
  [[nodiscard]] size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  Item operator[](size_t i) const { return items_[i]; }

private:
  void grow() {
    const size_t more = capacity_ == 0 ? 4 : capacity_ * 2;
    auto* const items = static_cast<Item*>(PieceMemory::current().take(more * sizeof(Item)));
    std::copy_n(items_, size_, items);
    items_ = items;
    capacity_ = more;
  }
  Item* items_ = nullptr;
  size_t size_ = 0, capacity_ = 0;
};

class ParserRuntime : public antlr4::Parser {
public:
  explicit ParserRuntime(antlr4::TokenStream* tokens) : Parser(tokens), _input(static_cast<TokenReader*>(tokens)) {}

  void forget_contexts() { _tracker.clear(); }

protected:
  // Names that the generated code uses.
  struct ErrorStrategy {
    ParserRuntime* parser;
    const ErrorStrategy* operator->() const { return this; }
    void sync(antlr4::Parser*) const {}
    void reportMatch(antlr4::Parser*) const {}
    void reportError(antlr4::Parser*, const antlr4::RecognitionException&) const {}
    [[noreturn]] void recover(antlr4::Parser*, const std::exception_ptr&) const { parser->fail(); }
    [[noreturn]] antlr4::Token* recoverInline(antlr4::Parser*) const { parser->fail(); }
  };
  template <class Exit> struct AtExit {
    Exit exit;
    ~AtExit() { exit(); }
  };

  antlr4::Token* match(size_t type) final {
    TextToken& token = _input->current();
    if (token.getType() != type) fail();
    _input->advance();
    return &token;
  }
  antlr4::Token* consume() final {
    TextToken& token = _input->current();
    _input->advance();
    return &token;
  }
  using antlr4::Parser::enterRule;
  void enterRule(PieceContext* context, size_t state, size_t rule) {
    context->start = &_input->current();
    rules_.push_back({state_, rule, context->start});
    state_ = state;
  }
  void exitRule() {
    state_ = rules_.back().invoked_from;
    rules_.pop_back();
  }
  static void enterOuterAlt(PieceContext*, size_t) {}
  void setState(size_t state) { state_ = state; }
  size_t getState() const final { return state_; }
  template <class Exit> static AtExit<Exit> finally(Exit exit) { return {exit}; }

  TokenReader* const _input;
  PieceMemory _tracker;
  const ErrorStrategy _errHandler{this};

private:
  [[noreturn]] void fail();
  std::string expectation();

  struct Rule { ///< that is being read
    size_t invoked_from, rule;
    antlr4::Token* start;
  };
  std::vector<Rule> rules_; ///< outermost first
  size_t state_ = antlr4::atn::ATNState::INVALID_STATE_NUMBER;
};

} // namespace warplens::ir::grammar
