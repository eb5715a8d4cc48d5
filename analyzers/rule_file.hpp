// The TOML of a rule: the built-in texts, and a reader that reports unknown keys and impossible values with their
// place.
//
//   RuleTable table(text, "mine.toml");
//   auto smallest = table.number("smallest", {32, 64, 128});
//   if (table.finish().has_errors()) …
#pragma once

#include "emulator/base/expected.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warplens::analyzers {

struct EmbeddedRule {
  std::string_view file; ///< "coalescing_1.0.toml"
  std::string_view text;
};

/// Every rule that is compiled in, by file name.
std::span<const EmbeddedRule> embedded_rules();

/// Reads one table of a rule file. Every key that is asked for is required unless a default is given; finish() adds
/// an error for each key that nobody asked for.
class RuleTable {
public:
  RuleTable(std::string_view text, std::string_view file);
  ~RuleTable();
  RuleTable(RuleTable&&) noexcept;

  std::string text(std::string_view key);
  std::string text_or(std::string_view key, std::string_view otherwise);
  /// A text that can be part of the name of a metric: letters, digits, '.', '_', '+', '-'.
  std::string name(std::string_view key);
  bool flag(std::string_view key);
  /// One of `allowed`, in bytes, lanes or banks; the first allowed one after an error.
  std::uint32_t number(std::string_view key, std::initializer_list<std::uint32_t> allowed);
  std::uint32_t number_or(std::string_view key, std::initializer_list<std::uint32_t> allowed, std::uint32_t otherwise);
  /// The position of the word in `allowed`.
  std::size_t word(std::string_view key, std::initializer_list<std::string_view> allowed);
  /// An array of tables; at least one.
  std::vector<RuleTable> tables(std::string_view key);

  void error(std::string message, std::string hint = {});
  [[nodiscard]] bool has_errors() const;
  /// Everything that was wrong, in the order of reading; with the keys that nobody asked for.
  Diagnostics finish();
  /// The same without them: when too little is known to say which keys there should be.
  Diagnostics finish_early();

private:
  struct State;
  explicit RuleTable(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

} // namespace warplens::analyzers
