// SPDX-License-Identifier: Apache-2.0
#include "rules/keys.hpp"

#include <fmt/format.h>

#include <vector>

namespace warplens::rules {

namespace {

using T = Key::Takes;

constexpr Key choice(std::string_view table, std::string_view name, std::string_view meaning,
                     std::array<std::string_view, 3> choices, std::string_view otherwise = {}) {
  return {table, name, meaning, T::choice, otherwise, 0, 0, choices};
}

/// Keys of both kinds of rule.
constexpr Key kOfBoth[] = {
    choice("", "rule", "which memory the rule is for: global (coalescing) or shared (banks)", {"coalescing", "banks"}),
    {"", "name", "part of the counter names; must differ from the names of built-in rules", T::name},
    {"", "title", "a short description of the rule", T::text},
    {"", "source", "the publication that the rule comes from", T::text, "none"},
};

constexpr Key kKeys[] = {
    choice("coalescing", "order",
           "any: a request causes a transaction for each segment that its lanes access; kth_word: only if lane k "
           "accesses word k of an aligned segment, else each lane causes its own",
           {"any", "kth_word"}),
    {"coalescing", "shrink", "whether a transaction is halved while only one half of it is used, down to `smallest`",
     T::flag, "false"},
    {"coalescing", "smallest", "bytes of the smallest transaction; for kth_word, of a lane's own transaction", T::power,
     "", 4, 4096},
    choice("coalescing", "equal_addresses",
           "joined: lanes that access the same address share its transaction; in_turns: they repeat it one after the "
           "other",
           {"joined", "in_turns"}, "joined"),
    choice("coalescing", "atomics",
           "as_stores: atomics are served like stores; in_turns: lanes that access the same address repeat its "
           "transaction; undescribed: the rule leaves atomics out, and so do models and findings",
           {"as_stores", "in_turns", "undescribed"}, "as_stores"),
    {"coalescing", "split_vectors", "whether the elements of a vector access are requested one after the other",
     T::flag, "false"},
    choice("coalescing", "unit",
           "the unit in which the report and its findings count waste: sectors of 32 bytes, or bytes; for kth_word, "
           "always transactions",
           {"sectors", "bytes"}, "sectors if all segments have 32 bytes, else bytes"),
    {"coalescing", "word",
     "how words of one size are served, ascending by size; other sizes like the next smaller one, for kth_word each "
     "lane on its own",
     T::tables},
    {"coalescing", "store", "the same for stores, if they differ", T::tables, "as `word`"},
    {"coalescing", "atomic", "the same for atomics, if they differ", T::tables, "as `store`"},
    {"coalescing", "vector", "the same for vector accesses, if they differ", T::tables, "as scalar accesses"},

    {"coalescing.word", "bytes", "bytes that a lane accesses", T::power, "", 1, 32},
    {"coalescing.word", "lanes", "consecutive lanes that make up one request", T::power, "32", 1, 32},
    {"coalescing.word", "groups", "the lanes of each request, if they are not consecutive", T::groups, "by `lanes`"},
    {"coalescing.word", "segment", "bytes of a segment, and of a transaction before it shrinks", T::power, "", 4, 4096},
    {"coalescing.word", "alignment",
     "alignment of a segment in bytes: the lowest unserved address is rounded down to a multiple of it", T::power,
     "the segment", 4, 4096},
    {"coalescing.word", "sector", "bytes of a sector: a transaction transfers only the accessed sectors of a segment",
     T::power, "the segment", 4, 4096},

    {"banks", "banks", "number of banks: a power of two, or a prime number if `index` is prime", T::count, "", 1, 256},
    {"banks", "bank_bytes", "bytes of a bank's word", T::power, "", 1, 32},
    choice("banks", "index",
           "modulo: the bank is the word number modulo the banks; xor: likewise, after an XOR of the word number with "
           "itself shifted right by `xor_shift`; prime: modulo a prime number of banks",
           {"modulo", "xor", "prime"}, "modulo"),
    {"banks", "xor_shift", "the lowest bit of the word number that the XOR applies to the bank number", T::count,
     "the first bit above the bank number", 1, 16},
    {"banks", "row_bytes", "bytes of a row: in each bank, a pass serves the words of one aligned block of this size",
     T::count, "all banks together", 1, 65536},
    choice("banks", "broadcast",
           "every_word: in each bank, a pass serves all lanes that access one row; one_word: all lanes that access one "
           "word, and one lane of each other bank; none: one lane of each bank",
           {"every_word", "one_word", "none"}),
    {"banks", "split_words", "whether words wider than a bank are split into requests of one bank word", T::flag, ""},
    {"banks", "merge_equal_pairs",
     "whether two neighbouring requests of a load are merged if all active lanes i and i^1 have the same address, or "
     "all i and i^2",
     T::flag, "false"},
    choice("banks", "atomics",
           "one_lane: a pass of an atomic serves one lane of each bank; own_unit: likewise, but models leave its "
           "conflicts out; as_stores: like a store",
           {"one_lane", "own_unit", "as_stores"}, "one_lane"),
    {"banks", "constants",
     "whether constants and parameters use the same unit, with one pass for each further address of a request", T::flag,
     "false"},
    {"banks", "word", "how words of one size are served, ascending by size; other sizes like the next smaller one",
     T::tables},
    {"banks", "store", "the same for stores, if they differ", T::tables, "as `word`"},
    {"banks", "atomic", "the same for atomics, if they differ", T::tables, "as `store`"},
    {"banks", "vector", "the same for vector accesses, if they differ", T::tables, "as scalar accesses"},

    {"banks.word", "bytes", "bytes that a lane accesses", T::power, "", 1, 16},
    {"banks.word", "lanes", "consecutive lanes that make up one request", T::power, "32", 1, 32},
    {"banks.word", "groups", "the lanes of each request, if they are not consecutive", T::groups, "by `lanes`"},
    {"banks.word", "extra", "additional passes of each request", T::count, "0", 0, 32},
};

} // namespace

std::span<const Key> keys() {
  // Never destroyed: a program may ask while it ends.
  static const std::vector<Key>& list = *new std::vector<Key>([] {
    std::vector<Key> all;
    for (const Key& key : kKeys) {
      const bool is_part = key.table.find('.') != key.table.npos;
      if (!is_part && (all.empty() || all.back().table != key.table))
        for (const Key& one : kOfBoth) all.emplace_back(one).table = key.table;
      all.push_back(key);
    }
    return all;
  }());
  return list;
}

const Key* find_key(std::string_view table, std::string_view name) {
  for (const Key& key : keys())
    if (key.table == table && key.name == name) return &key;
  return nullptr;
}

std::string takes(const Key& key) {
  switch (key.takes) {
  case T::text: return "a string";
  case T::name: return "a string of letters, digits, '.', '_', '+' and '-'";
  case T::flag: return "true or false";
  case T::power: return fmt::format("a power of two from {} to {}", key.least, key.most);
  case T::count: return fmt::format("a whole number from {} to {}", key.least, key.most);
  case T::groups: return "a list of strings, such as [\"0-7,16-23\", \"8-15,24-31\"]";
  case T::tables: return fmt::format("[[{}]] tables", key.name);
  case T::choice: break;
  }
  std::string list;
  for (const std::string_view one : key.choices)
    if (!one.empty()) list += fmt::format("{}{}", list.empty() ? "one of " : ", ", one);
  return list;
}

} // namespace warplens::rules
