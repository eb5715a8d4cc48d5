// SPDX-License-Identifier: Apache-2.0
#include "emulator/ir/parse.hpp"

#include "emulator/ir/build.hpp"
#include "emulator/ir/parse_syntax.hpp"

#include "PtxParser.h"

#include <fmt/format.h>

namespace warplens::ir {

namespace {

using grammar::PtxParser;

/// Parses the pieces of Ptx.g4 in the order of the text and passes each to the builder.
class Reader {
public:
  Reader(std::string_view text, std::string_view file)
      : text_(text), builder_(file), tokens_(text), parser_(&tokens_) {}

  Expected<Module> read() {
    if (text_.starts_with("\xff\xfe") || text_.starts_with("\xfe\xff"))
      builder_.error({1, 1}, "expected ASCII or UTF-8 but found UTF-16", "save the file as UTF-8");
    else
      module();
    return builder_.finish(tokens_.peek().where());
  }

private:
  // The pieces and what follows them.
  void module() {
    while (!at_end()) {
      guarded(true, [&] {
        if (next_is(PtxParser::SECTION)) return section();
        if (next_is("}")) {
          const SourceLocation where = tokens_.peek().where();
          tokens_.consume();
          return builder_.error(where, "expected a directive, function or variable but found '}'");
        }
        item();
      });
    }
  }

  void item() {
    PtxParser::ItemContext& item = *parser_.item();
    const bool of_header = item.number != nullptr || !item.words.empty();
    if (!of_header || item.alias != nullptr) builder_.end_header(of(item.start).where());
    if (item.other != nullptr) return common(*item.other);
    if (item.alias != nullptr) return builder_.alias(word_of(item.words[0]), word_of(item.words[1]));
    if (!item.words.empty()) return builder_.target(words_of(item.words));
    if (item.variable != nullptr) {
      DeclarationSyntax head = contexts_.declaration_of(*item.variable);
      head.linkages = words_of(item.linkages);
      return variables(head);
    }
    if (item.kernel != nullptr || item.function != nullptr) {
      const bool is_entry = item.kernel != nullptr;
      builder_.begin_function(contexts_.function_of(item));
      return function_end(is_entry);
    }
    const bool version = of(item.start).getType() == PtxParser::VERSION;
    if (version)
      builder_.version(word_of(item.number));
    else
      builder_.address_size(word_of(item.number));
  }

  void function_end(bool is_entry) {
    const TextToken& next = tokens_.peek();
    if (next.text() == ";") {
      if (is_entry) builder_.requires_version(30, {"a kernel without a body", next.where()});
      builder_.no_body();
      return tokens_.consume();
    }
    if (!is_entry && starts_item()) return builder_.no_body(); // CUDA 2 and 3 wrote prototypes without ';'
    if (!accept("{")) {
      // If statements follow, only the brace is missing.
      const bool statement = next.getType() == PtxParser::WORD || next.text() == "@";
      if (!statement) fail_expected("'{' or ';'", next);
      builder_.error(next.where(), fmt::format("expected '{{' or ';' but found {}", described(next)));
    }
    builder_.begin_body(next.where());
    body();
  }

  void body() {
    std::size_t depth = 1;
    while (depth > 0 && !at_end() && !at_function()) {
      guarded(false, [&] {
        if (next_is("{")) {
          ++depth;
          builder_.enter_scope(tokens_.peek().where());
          return tokens_.consume();
        }
        if (next_is("}")) {
          if (--depth == 0)
            builder_.end_body(tokens_.peek().where());
          else
            builder_.leave_scope();
          tokens_.consume();
          return;
        }
        statement();
      });
    }
    if (depth == 0) return;
    while (--depth > 0) builder_.leave_scope();
    const TextToken& end = tokens_.peek();
    builder_.end_body(end.where());
    builder_.error(end.where(), fmt::format("expected '}}' but found {}", described(end)));
  }

  void statement() {
    PtxParser::StatementContext& statement = *parser_.statement();
    if (statement.rest != nullptr) return instruction(statement);
    if (statement.colon != nullptr) return builder_.label(word_of(statement.word));
    if (statement.other != nullptr) return common(*statement.other);
    if (statement.variable != nullptr) {
      DeclarationSyntax head = contexts_.declaration_of(*statement.variable);
      head.linkages = words_of(statement.linkages);
      return variables(head);
    }
    const SourceLocation where = of(statement.start).where();
    if (statement.table != nullptr) {
      const bool branch = of(statement.table).getType() == PtxParser::BRANCHTARGETS;
      return builder_.table(branch ? Table::Kind::branch_targets : Table::Kind::call_targets, words_of(statement.words),
                            where);
    }
    FunctionSyntax head;
    head.name = word_of(statement.name);
    head.results = contexts_.parameters_of(statement.results);
    head.params = contexts_.parameters_of(statement.params);
    head.directives = contexts_.directives_of(statement.directives);
    builder_.prototype(head, where);
  }

  void instruction(PtxParser::StatementContext& statement) {
    PtxParser::InstructionRestContext& rest = *statement.rest;
    instruction_.opcode = word_of(statement.word);
    if (!rest.suffixes.empty()) { // add .s32
      joined_opcode_ = instruction_.opcode.text;
      for (const antlr4::Token* suffix : rest.suffixes) joined_opcode_ += of(suffix).text();
      instruction_.opcode.text = joined_opcode_;
    }
    instruction_.guard = statement.guard != nullptr ? word_of(statement.guard) : Lexeme{};
    instruction_.guard_negated = statement.negated != nullptr;
    instruction_.operands.clear();
    for (PtxParser::OperandContext* operand : rest.operands)
      instruction_.operands.push_back(contexts_.expression_of(*operand));
    builder_.instruction(instruction_);
  }

  void variables(const DeclarationSyntax& head) {
    if (head.space.text == ".reg" && head.words.size() == 1 && accept(";"))
      return; // the assembler accepts `.reg .u32;`
    do {
      PtxParser::DeclaratorContext& declarator = *parser_.declarator();
      builder_.declare(head, contexts_.declarator_of(declarator));
      if (!next_is("=")) {
        builder_.no_initializer();
        continue;
      }
      builder_.begin_initializer(tokens_.peek().where());
      tokens_.consume();
      initializer();
      // The tokens of a long initialiser are gone, so start a new piece. `head` holds text, not tokens.
    } while (accept(","));
    expect(";");
  }

  void initializer() {
    constexpr std::size_t kMaxBraces = 100;
    std::size_t depth = 0;
    do {
      begin_piece();
      while (next_is("{")) {
        const SourceLocation where = tokens_.peek().where();
        builder_.open_brace(where);
        tokens_.consume();
        tokens_.next_piece();
        if (++depth > kMaxBraces) throw SyntaxError{where, fmt::format("braces nested deeper than {}", kMaxBraces), {}};
      }
      const Expression value = contexts_.expression_of(*parser_.operand());
      if (depth > 0 && accept("="))
        builder_.option(value, contexts_.expression_of(*parser_.operand()));
      else
        builder_.value(value);
      while (depth > 0 && next_is("}")) {
        builder_.close_brace(tokens_.peek().where());
        tokens_.consume();
        --depth;
      }
    } while (depth > 0 && accept(","));
    if (depth > 0) fail_expected("',' or '}'", tokens_.peek());
    builder_.end_initializer(tokens_.peek().where());
    begin_piece();
  }

  /// Debug information is parsed to find errors in it, and then dropped.
  void section() {
    parser_.section();
    expect("{");
    while (!at_end() && !next_is("}")) guarded(false, [&] { parser_.sectionLine(); });
    begin_piece();
    expect("}");
  }

  void common(PtxParser::CommonContext& common) {
    if (common.string != nullptr) {
      if (common.stamp != nullptr) builder_.requires_version(32, {"a time in .file", of(common.stamp).where()});
      return builder_.file(word_of(common.number), unquoted(common.string));
    }
    if (common.loc != nullptr) {
      std::vector<Lexeme> call; // of inlined_at
      for (const PtxParser::LocAttributeContext* attribute : common.attributes)
        if (call.empty()) call = words_of(attribute->values);
      return builder_.location(words_of(common.values), call);
    }
    if (common.pragma == nullptr) return; // @@DWARF
    std::vector<std::string_view> strings;
    for (const antlr4::Token* string : common.strings) strings.push_back(unquoted(string));
    builder_.pragma(strings, of(common.pragma).where());
  }

  void begin_piece() {
    parser_.forget_contexts();
    tokens_.next_piece();
    builder_.syntax.clear();
  }

  /// Runs `piece`. After a syntax error, continues at the next statement or, outside functions, the next declaration.
  template <class Piece> void guarded(bool in_module, Piece piece) {
    begin_piece();
    try {
      piece();
    } catch (const SyntaxError& error) {
      builder_.error(error.where, error.message, error.hint);
      if (in_module)
        skip_declaration();
      else
        skip_statement();
    }
  }

  /// Skips past the next ';', or to the first word of a line, or to a brace that does not belong to a vector.
  void skip_statement() {
    int braces = tokens_.open_braces();
    bool moved = tokens_.index() != 0;
    for (; !at_end(); moved = true) {
      begin_piece();
      const TextToken& token = tokens_.peek();
      const bool word = token.getType() == PtxParser::WORD || token.text() == "@";
      if (moved && (starts_line_as_directive() || (token.first_on_line() && word))) return;
      if (accept(";")) return;
      if (next_is("{")) {
        if (token.first_on_line() && moved) return;
        ++braces;
      } else if (next_is("}")) {
        if (braces == 0) return;
        --braces;
      }
      tokens_.consume();
    }
  }

  /// Skips past the next ';' or body, or to a directive at the start of a line.
  void skip_declaration() {
    int bodies = 0;
    bool moved = tokens_.index() != 0;
    for (; !at_end(); moved = true) {
      begin_piece();
      const size_t type = tokens_.peek_type();
      const bool head = type == PtxParser::ENTRY || type == PtxParser::FUNC || type == PtxParser::LINKAGE;
      if (moved && starts_line_as_directive() && (bodies == 0 || head)) return;
      if (next_is("{")) ++bodies;
      const bool last = bodies == 0 ? next_is(";") : next_is("}") && --bodies == 0;
      tokens_.consume();
      if (!last) continue;
      begin_piece();
      accept(";");
      return;
    }
  }

  bool starts_line_as_directive() {
    const TextToken& token = tokens_.peek();
    return token.first_on_line() && !token.text().empty() && token.text()[0] == '.';
  }

  /// A function inside another: the brace of the first is missing.
  bool at_function() {
    const size_t type = next_is(PtxParser::LINKAGE) ? tokens_.LA(2) : tokens_.LA(1);
    return type == PtxParser::ENTRY || type == PtxParser::FUNC;
  }

  /// Tokens that can follow a function declaration without ';'.
  bool starts_item() {
    switch (tokens_.peek_type()) {
    case antlr4::Token::EOF:
    case PtxParser::LINKAGE:
    case PtxParser::ENTRY:
    case PtxParser::FUNC:
    case PtxParser::SPACE:
    case PtxParser::FILE:
    case PtxParser::LOC:
    case PtxParser::PRAGMA:
    case PtxParser::SECTION:
    case PtxParser::ALIAS:
    case PtxParser::DWARF: return true;
    default: return false;
    }
  }

  [[nodiscard]] bool next_is(size_t type) { return tokens_.peek_type() == type; }
  [[nodiscard]] bool next_is(std::string_view text) { return tokens_.peek().text() == text; }

  bool accept(std::string_view text) {
    if (!next_is(text)) return false;
    tokens_.consume();
    return true;
  }

  void expect(std::string_view text) {
    if (!accept(text)) fail_expected(fmt::format("'{}'", text), tokens_.peek());
  }

  [[nodiscard]] bool at_end() { return next_is(antlr4::Token::EOF) || builder_.has_too_many_errors(); }

  std::string_view text_;
  Builder builder_;
  ContextReader contexts_{builder_.syntax};
  TokenReader tokens_;
  PtxParser parser_;
  InstructionSyntax instruction_;
  std::string joined_opcode_;
};

// ---- pieces
// --------------------------------------------------------------------------------------------------------------

} // namespace

Expected<Module> parse(std::string_view text, std::string_view file) {
  try {
    return Reader(text, file).read();
  } catch (const std::exception& error) { // ANTLR's runtime reports internal errors this way
    Diagnostics diagnostics;
    diagnostics.error({}, fmt::format("internal error of the parser: {}", error.what()));
    diagnostics.in_file(file);
    return failure(std::move(diagnostics));
  }
}

} // namespace warplens::ir
