// SPDX-License-Identifier: Apache-2.0
// Conversions to and from narrow formats, packing, halves of a word and logic with a predicate,
// compared with tests/data/hardware/conversions.jsonl, which ask/conversions.py recorded on an H200.
#include "tests/exec/kernel_test.hpp"

#include <nlohmann/json.hpp>

#include <map>
#include <sstream>

namespace warplens::tests {
namespace conversions_test {

template <class T> std::vector<T> numbers_of(const std::string& text) {
  std::vector<T> list;
  std::istringstream words(text);
  for (std::string word; words >> word;) list.push_back(static_cast<T>(std::stoull(word, nullptr, 16)));
  return list;
}

TEST(Conversions, AsOnHardware) {
  std::istringstream lines(data_file("hardware/conversions.jsonl"));
  std::map<std::string, std::vector<std::uint32_t>> sets;
  int bodies = 0;
  for (std::string line; std::getline(lines, line);) {
    const auto json = nlohmann::json::parse(line);
    if (json.contains("set")) {
      sets[json["set"]] = numbers_of<std::uint32_t>(json["words"]);
      continue;
    }
    ++bodies;
    const std::string body = json["body"], of = json["of"];
    const auto expected = numbers_of<std::uint64_t>(json["result"]);
    const auto got = run_words("sm_90a", "8.6", ".reg .b128 %x<4>; " + body, 3, sets.at(of));
    ASSERT_EQ(got.size(), 2 * expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_EQ(std::uint64_t{got[2 * i + 1]} << 32 | got[2 * i], expected[i])
          << body << "\n of " << of << ", thread " << i << std::hex << ": " << sets.at(of)[3 * i] << " "
          << sets.at(of)[3 * i + 1] << " " << sets.at(of)[3 * i + 2];
  }
  EXPECT_EQ(bodies, 220);
}

} // namespace conversions_test
} // namespace warplens::tests
