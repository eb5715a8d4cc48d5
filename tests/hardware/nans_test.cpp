// SPDX-License-Identifier: Apache-2.0
// Which NaN arithmetic gives, at every level, compared with tests/data/hardware/nans.jsonl, which ask/nans.py recorded
// on an H200. Processors differ in this, so that only equal bits give equal reports.
#include "tests/hardware/emulated.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <sstream>

namespace warplens::tests {
namespace nans_test {

constexpr std::size_t kWords = 4; // of a thread in the buffer: three operands and the result

std::vector<std::uint64_t> numbers_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t x = 0; in >> std::hex >> x;) numbers.push_back(x);
  return numbers;
}

// The buffer of the kernel: in digits to the base of their number, the number of a thread says what its operands are.
std::vector<std::uint64_t> combinations(const std::vector<std::uint64_t>& values, int operands, std::size_t threads) {
  std::vector<std::uint64_t> words(kWords * threads);
  for (std::size_t i = 0; i < threads; ++i) {
    std::size_t rest = i;
    for (std::size_t j = 0; j < static_cast<std::size_t>(operands); ++j, rest /= values.size())
      words[kWords * i + j] = values[rest % values.size()];
  }
  return words;
}

std::vector<std::uint64_t> run(Emulated& machine, const exec::Level& level, const std::vector<std::uint64_t>& words) {
  std::vector<std::uint32_t> halves(2 * words.size());
  std::memcpy(halves.data(), words.data(), 8 * words.size());
  const std::uint64_t buffer = machine.buffer(halves);
  Emulated::Request request;
  request.kernel = "k";
  request.shape.block[0] = static_cast<std::uint32_t>(words.size() / kWords);
  request.arguments = {{buffer, 8}};
  request.level = &level;
  EXPECT_EQ(machine.run(request), "");
  std::vector<std::uint64_t> results(words.size());
  std::memcpy(results.data(), reinterpret_cast<const void*>(buffer), 8 * words.size());
  machine.free_buffers();
  return results;
}

class NaNs : public testing::TestWithParam<int> {};

TEST_P(NaNs, AsOnHardware) {
  const exec::Level& level = exec::levels()[static_cast<std::size_t>(GetParam())];
  std::istringstream lines(data_file("hardware/nans.jsonl"));
  std::string text;
  std::getline(lines, text);
  const auto values = nlohmann::json::parse(text);
  int asked = 0;
  for (; std::getline(lines, text); ++asked) {
    const auto line = nlohmann::json::parse(text);
    std::vector<std::uint64_t> of_type;
    for (const std::string word : values[line["from"].get<std::string>()])
      of_type.push_back(std::stoull(word, nullptr, 16));
    const auto expected = numbers_of(line["results"]);
    Emulated machine(line["ptx"], "nans.ptx");
    const auto words = combinations(of_type, line["operands"], expected.size());
    const auto got = run(machine, level, words);
    int wrong = 0;
    std::ostringstream first;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const std::size_t at = kWords * i;
      if (got[at + 3] == expected[i] || wrong++ > 2) continue;
      first << std::hex << "\n  (";
      for (std::size_t j = 0; j < 3; ++j) first << ' ' << words[at + j];
      first << " ): got " << got[at + 3] << ", hardware " << expected[i];
    }
    EXPECT_EQ(wrong, 0) << line["op"] << " at " << level.name << first.str();
  }
  EXPECT_EQ(asked, 62);
}

INSTANTIATE_TEST_SUITE_P(Levels, NaNs, testing::Range(0, static_cast<int>(exec::levels().size())), [](const auto& one) {
  std::string name(exec::levels()[static_cast<std::size_t>(one.param)].name);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

} // namespace nans_test
} // namespace warplens::tests
