// SPDX-License-Identifier: Apache-2.0
// bfe and bfi with any position and length, compared with tests/data/hardware/bit_fields.jsonl. ask/bit_fields.py
// recorded the file on an H200 and describes its format.
#include "tests/hardware/emulated.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstring>
#include <sstream>

namespace warplens::tests {
namespace bit_fields_test {

struct Inputs {
  explicit Inputs(const nlohmann::json& line) {
    const auto numbers = line["numbers"].get<std::vector<std::uint32_t>>();
    for (std::size_t i = 0; i < numbers.size() * numbers.size(); ++i) {
      for (auto [array, name] : {std::pair{&a, "a"}, {&b, "b"}}) {
        const std::string text = line[name][i % line[name].size()];
        const std::uint64_t word = std::stoull(text, nullptr, 16);
        array->push_back(static_cast<std::uint32_t>(word));
        array->push_back(static_cast<std::uint32_t>(word >> 32));
      }
      positions.push_back(numbers[i / numbers.size()]);
      lengths.push_back(numbers[i % numbers.size()]);
    }
    for (auto* const array : {&a, &b, &positions, &lengths}) array->resize(array->size() + 128); // of the last group
  }
  std::vector<std::uint32_t> a, b, positions, lengths;
};

TEST(BitFields, AsOnHardware) {
  std::istringstream lines(data_file("hardware/bit_fields.jsonl"));
  std::string text;
  std::getline(lines, text);
  const Inputs inputs(nlohmann::json::parse(text));
  int asked = 0;
  for (; std::getline(lines, text); ++asked) {
    const auto line = nlohmann::json::parse(text);
    std::vector<std::uint64_t> expected;
    std::istringstream in(line["results"].get<std::string>());
    for (std::uint64_t word = 0; in >> std::hex >> word;) expected.push_back(word);
    Emulated machine(line["ptx"], "bit_fields.ptx");
    const bool constant = line.contains("constant");
    const std::uint64_t out = machine.buffer(std::vector<std::uint32_t>(2 * expected.size() + 128));
    Emulated::Request request;
    request.kernel = "k";
    request.shape.block[0] = constant ? 1 : 64;
    request.shape.grid[0] = constant ? 1 : static_cast<std::uint32_t>(expected.size() + 63) / 64;
    for (const auto* const array : {&inputs.a, &inputs.b, &inputs.positions, &inputs.lengths})
      request.arguments.push_back({machine.buffer(*array), 8});
    request.arguments.push_back({out, 8});
    ASSERT_EQ(machine.run(request), "") << line["op"];
    std::vector<std::uint64_t> got(expected.size());
    std::memcpy(got.data(), reinterpret_cast<const void*>(out), 8 * got.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      const std::size_t at = constant ? i * line["step"].get<std::size_t>() : i;
      ASSERT_EQ(got[i], expected[i]) << line["op"] << " position " << inputs.positions[at] << " length "
                                     << inputs.lengths[at];
    }
  }
  EXPECT_EQ(asked, 9);
}

} // namespace bit_fields_test
} // namespace warplens::tests
