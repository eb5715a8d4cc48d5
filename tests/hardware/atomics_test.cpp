// SPDX-License-Identifier: Apache-2.0
// atom and red, compared with tests/data/hardware/atomics.jsonl, which ask/atomics.py recorded on an H200.
#include "tests/hardware/emulated.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstring>
#include <map>
#include <sstream>

namespace warplens::tests {
namespace atomics_test {

std::vector<std::uint32_t> words_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::uint32_t> words;
  for (std::uint32_t w = 0; in >> std::hex >> w;) words.push_back(w);
  return words;
}

TEST(Atomics, LeaveAndReturnWhatHardwareDoes) {
  Emulated machine(data_file("hardware/atomics.ptx"), "atomics.ptx");
  std::map<std::string, std::vector<std::uint32_t>> sets;
  std::istringstream lines(data_file("hardware/atomics.jsonl"));
  int forms = 0;
  for (std::string line; std::getline(lines, line);) {
    const auto form = nlohmann::json::parse(line);
    if (form.contains("words")) {
      sets[form["set"]] = words_of(form["words"]);
      continue;
    }
    ++forms;
    const auto expected = words_of(form["out"]);
    const std::uint64_t in = machine.buffer(sets.at(form["set"]));
    const std::uint64_t out = machine.buffer(std::vector<std::uint32_t>(expected.size(), 0));
    Emulated::Request request;
    request.kernel = form["kernel"];
    request.shape.block[0] = 32;
    request.arguments = {{in, 8}, {out, 8}};
    ASSERT_EQ(machine.run(request), "") << form["op"];
    std::vector<std::uint32_t> got(expected.size());
    std::memcpy(got.data(), reinterpret_cast<const void*>(out), 4 * got.size());
    EXPECT_EQ(got, expected) << form["op"];
    machine.free_buffers();
  }
  EXPECT_EQ(forms, 229);
}

} // namespace atomics_test
} // namespace warplens::tests
