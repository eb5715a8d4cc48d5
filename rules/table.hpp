// SPDX-License-Identifier: Apache-2.0
// Reads the TOML of a rule as keys.hpp declares it, and reports unknown keys and invalid values with their location.
//
//   RuleTable table(text, "mine.toml", "coalescing");
//   std::uint32_t smallest = table.number("smallest");
//   for (RuleTable& word : table.tables("word")) …
//   if (table.finish().has_errors()) …
#pragma once

#include "emulator/base/expected.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warplens::rules {

/// One table of a rule file. Only declared keys can be read. After an error, a key has its default or its least value.
class RuleTable {
public:
  /// `table`: its name in keys.hpp.
  RuleTable(std::string_view text, std::string_view file, std::string_view table);
  ~RuleTable();
  RuleTable(RuleTable&&) noexcept;

  std::string text(std::string_view key);
  bool flag(std::string_view key);
  /// The value of a power of two or a count.
  std::uint32_t number(std::string_view key);
  /// None: the key is missing.
  std::optional<std::uint32_t> given(std::string_view key);
  /// The position of the word among the choices; none: the key is missing, and its default is none of them.
  std::optional<std::size_t> choice(std::string_view key);
  /// The lanes of each request; empty if the key is missing.
  std::vector<std::uint32_t> groups(std::string_view key);
  /// Empty if the key is missing and optional.
  std::vector<RuleTable> tables(std::string_view key);

  void error(std::string message, std::string hint = {});
  /// An error at the location of a key.
  void wrong(std::string_view key, std::string message, std::string hint = {});
  [[nodiscard]] bool has_errors() const;
  /// All errors in the order of reading, including undeclared keys.
  Diagnostics finish();
  /// The same without undeclared keys: for use before the kind of rule is known.
  Diagnostics finish_early();

private:
  struct State;
  explicit RuleTable(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

} // namespace warplens::rules
