// SPDX-License-Identifier: Apache-2.0
// The language of rule files: each key with its values and its meaning. The reader, its errors, `warplens list rules
// --explain` and docs/extending/rule.md use these declarations.
//
//   const Key* key = find_key("coalescing", "smallest");
//   takes(*key) == "a power of two from 4 to 4096", key->meaning == "bytes of the smallest transaction; …"
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace warplens::rules {

struct Key {
  enum class Takes : std::uint8_t { text, name, flag, choice, power, count, groups, tables };
  std::string_view table; ///< "coalescing", "banks", and "coalescing.word", "banks.word" for their [[tables]]
  std::string_view name;
  std::string_view meaning;
  Takes takes = Takes::text;
  std::string_view otherwise{};              ///< default if the key is missing; empty: the key is required
  std::uint32_t least = 0, most = 0;         ///< of powers of two and counts
  std::array<std::string_view, 3> choices{}; ///< unused ones are empty
};

/// Every key, table by table.
std::span<const Key> keys();
/// Null: no such key.
const Key* find_key(std::string_view table, std::string_view name);
/// "true or false", "one of any, kth_word", "a power of two from 1 to 32".
std::string takes(const Key& key);

} // namespace warplens::rules
