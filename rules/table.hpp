// Reads the TOML of a rule as keys.hpp declares it, and reports unknown keys and impossible values with their place.
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

/// One table of a rule file. Only declared keys may be asked for. After an error, what holds otherwise, or the least.
class RuleTable {
public:
  /// `table`: its name in keys.hpp.
  RuleTable(std::string_view text, std::string_view file, std::string_view table);
  ~RuleTable();
  RuleTable(RuleTable&&) noexcept;

  std::string text(std::string_view key);
  bool flag(std::string_view key);
  /// Of a power of two or a count.
  std::uint32_t number(std::string_view key);
  /// None: the key is left out.
  std::optional<std::uint32_t> given(std::string_view key);
  /// The position of the word among the choices; none: the key is left out, and what holds then is none of them.
  std::optional<std::size_t> choice(std::string_view key);
  /// The lanes of each request; empty where the key is left out.
  std::vector<std::uint32_t> groups(std::string_view key);
  /// Empty where the key is left out and need not be there.
  std::vector<RuleTable> tables(std::string_view key);

  void error(std::string message, std::string hint = {});
  /// Of a key, where it stands.
  void wrong(std::string_view key, std::string message, std::string hint = {});
  [[nodiscard]] bool has_errors() const;
  /// Everything that was wrong, in the order of reading; with the keys that are not declared.
  Diagnostics finish();
  /// The same without them: when too little is known to say which keys there should be.
  Diagnostics finish_early();

private:
  struct State;
  explicit RuleTable(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

} // namespace warplens::rules
