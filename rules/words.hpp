// SPDX-License-Identifier: Apache-2.0
// Reads the parts that both kinds of rule share: the label, the requests, and the tables of words.
#pragma once

#include "rules/label.hpp"
#include "rules/requests.hpp"
#include "rules/table.hpp"

#include <array>
#include <string_view>
#include <vector>

namespace warplens::rules {

template <class Word> using Words = std::array<std::vector<Word>, kServed>;

/// The entry for `bytes` in the table for `served`: the largest that is not wider, or the first.
template <class Word> const Word& word_of(const Words<Word>& words, std::uint32_t bytes, Served served) {
  auto table = static_cast<std::size_t>(served);
  if (served == Served::vector && words[table].empty()) table = 0;
  while (table > 0 && words[table].empty()) --table;
  const Word* found = &words[table].front();
  for (const Word& candidate : words[table])
    if (candidate.bytes <= bytes) found = &candidate;
  return *found;
}

/// `read` makes a word from a table and reports its errors.
template <class Word, class Read> void read_words(RuleTable& table, Words<Word>& words, Read&& read) {
  constexpr std::string_view kNames[kServed] = {"word", "store", "atomic", "vector"};
  for (std::size_t of = 0; of < kServed; ++of) {
    words[of].clear();
    for (RuleTable& entry : table.tables(kNames[of])) {
      Word word = read(entry);
      if (!words[of].empty() && words[of].back().bytes >= word.bytes) entry.error("words must ascend by bytes");
      words[of].push_back(std::move(word));
      entry.finish();
    }
  }
}

Requests read_requests(RuleTable& entry);
void read_label(RuleTable& table, std::string_view text, Label& label);

} // namespace warplens::rules
