#include "rules/keys.hpp"

#include <fmt/format.h>

#include <vector>

namespace warplens::rules {

namespace {

using T = Key::Takes;

/// Every rule has them, whatever memory it is for.
constexpr Key kOfBoth[] = {
    {"",
     "rule",
     "which memory the rule is for: global (coalescing) or shared (banks)",
     T::choice,
     "",
     0,
     0,
     {"coalescing", "banks"}},
    {"", "name", "part of the names of counters; not that of a built-in rule", T::name},
    {"", "title", "the rule in a few words", T::text},
    {"", "source", "where the rule was read", T::text, "none"},
};

constexpr Key kKeys[] = {
    {"coalescing",
     "order",
     "any: a request makes a transaction for each segment that its lanes touch; kth_word: only if lane k asks for word "
     "k of an aligned segment, else each lane makes its own",
     T::choice,
     "",
     0,
     0,
     {"any", "kth_word"}},
    {"coalescing", "shrink", "whether a transaction of which only one half is used is halved, down to `smallest`",
     T::flag, "false"},
    {"coalescing", "smallest", "bytes of the smallest transaction; of a lane's own one where order is kth_word",
     T::power, "", 4, 4096},
    {"coalescing",
     "equal_addresses",
     "joined: lanes that ask for one address share its transaction; in_turns: they repeat it, one after the other",
     T::choice,
     "joined",
     0,
     0,
     {"joined", "in_turns"}},
    {"coalescing",
     "atomics",
     "as_stores: atomics are served as stores are; in_turns: lanes that ask for one address repeat its transaction; "
     "undescribed: the rule leaves them out, and so do models and findings",
     T::choice,
     "as_stores",
     0,
     0,
     {"as_stores", "in_turns", "undescribed"}},
    {"coalescing", "split_vectors", "whether the elements of a vector access are requested one after the other",
     T::flag, "false"},
    {"coalescing",
     "unit",
     "what the report and its findings count waste in: sectors of 32 bytes, or bytes; where order is kth_word, always "
     "transactions",
     T::choice,
     "sectors where all segments have 32 bytes, else bytes",
     0,
     0,
     {"sectors", "bytes"}},
    {"coalescing", "word",
     "how words of one size are served, ascending by size; other sizes as the next smaller one, under kth_word never "
     "together",
     T::tables},
    {"coalescing", "store", "the same for stores, where they differ", T::tables, "as `word`"},
    {"coalescing", "atomic", "the same for atomics, where they differ", T::tables, "as `store`"},
    {"coalescing", "vector", "the same for vector accesses, where they differ", T::tables, "as scalar ones"},

    {"coalescing.word", "bytes", "bytes that a lane asks for", T::power, "", 1, 32},
    {"coalescing.word", "lanes", "consecutive lanes that make up one request", T::power, "32", 1, 32},
    {"coalescing.word", "groups", "the lanes of each request, where they are not consecutive", T::groups, "by `lanes`"},
    {"coalescing.word", "segment", "bytes of a segment, and of a transaction before it shrinks", T::power, "", 4, 4096},
    {"coalescing.word", "alignment",
     "bytes of which a segment starts at a multiple: the lowest address that waits is rounded down to one", T::power,
     "the segment", 4, 4096},
    {"coalescing.word", "sector", "bytes of the parts of a segment, of which a transaction moves only those touched",
     T::power, "the segment", 4, 4096},

    {"banks", "banks", "how many banks there are: a power of two, or a prime number where `index` is prime", T::count,
     "", 1, 256},
    {"banks", "bank_bytes", "bytes of a bank's word", T::power, "", 1, 32},
    {"banks",
     "index",
     "how the number of a word gives its bank: modulo the banks; xor: modulo the banks, after the bits from "
     "`xor_shift` "
     "on were xored to it; prime: modulo a prime number of banks",
     T::choice,
     "modulo",
     0,
     0,
     {"modulo", "xor", "prime"}},
    {"banks", "xor_shift", "the lowest bit of a word's number that is xored to its bank", T::count,
     "the first above those of the bank", 1, 16},
    {"banks", "row_bytes", "bytes of a row: a pass serves, in each bank, the words of one aligned block of this size",
     T::count, "all banks together", 1, 65536},
    {"banks",
     "broadcast",
     "every_word: a pass serves all lanes of the row of each bank; one_word: all lanes of one word, and one lane of "
     "each "
     "other bank; none: one lane of each bank",
     T::choice,
     "",
     0,
     0,
     {"every_word", "one_word", "none"}},
    {"banks", "split_words", "whether words wider than a bank are requested a bank's word at a time", T::flag, ""},
    {"banks", "merge_equal_pairs",
     "whether two neighbouring requests of a load are one where all active lanes i and i^1 have the same address, or "
     "all i and i^2",
     T::flag, "false"},
    {"banks",
     "atomics",
     "one_lane: an atomic serves one lane of each bank in a pass; own_unit: likewise, and models leave its conflicts "
     "out; as_stores: as a store",
     T::choice,
     "one_lane",
     0,
     0,
     {"one_lane", "own_unit", "as_stores"}},
    {"banks", "constants",
     "whether constants and parameters pass through the same unit, and cost a pass for each further address of a "
     "request",
     T::flag, "false"},
    {"banks", "word", "how words of one size are served, ascending by size; other sizes as the next smaller one",
     T::tables},
    {"banks", "store", "the same for stores, where they differ", T::tables, "as `word`"},
    {"banks", "atomic", "the same for atomics, where they differ", T::tables, "as `store`"},
    {"banks", "vector", "the same for vector accesses, where they differ", T::tables, "as scalar ones"},

    {"banks.word", "bytes", "bytes that a lane asks for", T::power, "", 1, 16},
    {"banks.word", "lanes", "consecutive lanes that make up one request", T::power, "32", 1, 32},
    {"banks.word", "groups", "the lanes of each request, where they are not consecutive", T::groups, "by `lanes`"},
    {"banks.word", "extra", "passes that each request takes besides", T::count, "0", 0, 32},
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
  case T::text: return "a text";
  case T::name: return "a text of letters, digits, '.', '_', '+' and '-'";
  case T::flag: return "true or false";
  case T::power: return fmt::format("a power of two from {} to {}", key.least, key.most);
  case T::count: return fmt::format("a whole number from {} to {}", key.least, key.most);
  case T::groups: return "a list of texts, such as [\"0-7,16-23\", \"8-15,24-31\"]";
  case T::tables: return fmt::format("[[{}]] tables", key.name);
  case T::choice: break;
  }
  std::string list;
  for (const std::string_view one : key.choices)
    if (!one.empty()) list += fmt::format("{}{}", list.empty() ? "one of " : ", ", one);
  return list;
}

} // namespace warplens::rules
