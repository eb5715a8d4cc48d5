// SPDX-License-Identifier: Apache-2.0
// Warp-level instructions and special registers, compared with tests/data/hardware/warp_level.jsonl, which
// ask/warp_level.py recorded on an H200.
#include "tests/hardware/emulated.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <sstream>

namespace warplens::tests {
namespace warp_level_test {

std::string filled_in(std::string text, const std::string& word, const std::string& value) {
  return text.replace(text.find(word), word.size(), value);
}

struct Answer {
  std::string words, predicates; ///< as in the file
};

// Runs one form; returns the reason if that is not possible.
std::string run_form(const std::string& kernel, const nlohmann::json& form, Answer& answer) {
  std::string text = filled_in(kernel, "NAME", "k");
  text = filled_in(text, "SHARED", form.value("shared", ""));
  Emulated machine(filled_in(text, "BODY", form["body"]), "form.ptx");
  const std::uint32_t threads = form["threads"];
  std::vector<std::uint32_t> untouched(2 * threads, 0);
  for (std::uint32_t t = 0; t < threads; ++t) untouched[2 * t] = 0xcccccccc;
  Emulated::Request request;
  request.kernel = "k";
  request.shape.block[0] = threads;
  const std::uint64_t buffer = machine.buffer(untouched);
  request.arguments.push_back({buffer, 8});
  std::string why = machine.run(request);
  const auto* const words = reinterpret_cast<const std::uint32_t*>(buffer);
  std::vector<int> digits((threads + 3) / 4, 0); // lowest first
  for (std::uint32_t t = 0; t < threads; ++t) {
    char word[12];
    std::snprintf(word, sizeof word, "%s%x", t == 0 ? "" : " ", words[2 * t]);
    answer.words += word;
    digits[t / 4] |= static_cast<int>(words[2 * t + 1]) << t % 4;
  }
  while (digits.size() > 1 && digits.back() == 0) digits.pop_back();
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) answer.predicates += "0123456789abcdef"[*digit];
  machine.free_buffers();
  return why;
}

TEST(WarpLevel, AsOnHardware) {
  std::istringstream lines(data_file("hardware/warp_level.jsonl"));
  std::string line;
  std::getline(lines, line);
  const std::string kernel = nlohmann::json::parse(line)["kernel"];
  int compared = 0, open = 0, open_and_equal = 0;
  while (std::getline(lines, line)) {
    const auto form = nlohmann::json::parse(line);
    Answer answer;
    const std::string what = form["body"].get<std::string>() + " with " + form["threads"].dump() + " threads";
    EXPECT_EQ(run_form(kernel, form, answer), "") << what;
    const bool equal =
        answer.words == form["result"].get<std::string>() && answer.predicates == form["p"].get<std::string>();
    if (form.value("open", false)) {
      ++open;
      open_and_equal += equal ? 1 : 0;
      continue;
    }
    ++compared;
    EXPECT_EQ(answer.words, form["result"].get<std::string>()) << what;
    EXPECT_EQ(answer.predicates, form["p"].get<std::string>()) << what;
  }
  RecordProperty("open", open);
  RecordProperty("open_and_equal", open_and_equal);
  EXPECT_GE(compared, 500);
}

} // namespace warp_level_test
} // namespace warplens::tests
