// SPDX-License-Identifier: Apache-2.0
// Speedups of remedies as a GPU measured them: tests/data/hardware/advice.jsonl, from ask/advice.cpp.
#include "api/files/input_file.hpp"
#include "api/launch/launch.hpp"
#include "tests/api/advice_launches.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>

namespace warplens::api {
namespace advice_measured_test {

using Json = nlohmann::json;
using tests::AdvicePair;

std::map<std::string, Json> answers() {
  std::map<std::string, Json> all;
  std::ifstream in(WARPLENS_SOURCE_DIR "/tests/data/hardware/advice.jsonl");
  for (std::string line; std::getline(in, line);) {
    Json one = Json::parse(line);
    const std::string name = one["pair"];
    all.emplace(name, std::move(one));
  }
  return all;
}

/// Nanoseconds of the two launches of each pair in turn, as Nsight Compute measured them.
std::vector<std::pair<std::string, double>> profiled() {
  std::vector<std::pair<std::string, double>> all;
  std::ifstream in(WARPLENS_SOURCE_DIR "/tests/data/hardware/advice_profiled.csv");
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line))
    all.emplace_back(line.substr(0, line.find(',')), std::stod(line.substr(line.find(',') + 1)));
  return all;
}

/// What each buffer holds after a launch, as weighted_sum() gives it.
std::map<std::string, double> emulated_sums(const AdvicePair& pair, const tests::PairLaunch& launch) {
  const auto context = *Context::create();
  const auto file = *read_file(std::filesystem::path(WARPLENS_SOURCE_DIR) / pair.module);
  const auto module = *Module::load(context, file, pair.module);
  std::map<std::string, std::shared_ptr<Buffer>> buffers;
  for (const tests::PairBuffer& b : pair.buffers) {
    const std::vector<std::uint32_t> words = content(b);
    buffers[b.name] = *Buffer::allocate(context, 4 * words.size(), b.name);
    std::memcpy(buffers[b.name]->bytes().data(), words.data(), 4 * words.size());
  }
  LaunchRequest request;
  request.kernel = *module->kernel(launch.kernel);
  request.grid = {launch.grid[0], launch.grid[1], launch.grid[2]};
  request.block = {launch.block[0], launch.block[1], launch.block[2]};
  for (const tests::PairArgument& a : launch.arguments) {
    if (const auto* name = std::get_if<std::string>(&a)) request.arguments.push_back(Argument::buffer(*buffers[*name]));
    if (const auto* number = std::get_if<int>(&a))
      request.arguments.push_back(Argument::raw(std::as_bytes(std::span(number, 1))));
    if (const auto* number = std::get_if<float>(&a))
      request.arguments.push_back(Argument::raw(std::as_bytes(std::span(number, 1))));
  }
  request.device = *load_device("h200");
  request.options.analyze = false;
  EXPECT_FALSE((*api::launch(request)).trap) << launch.kernel;
  std::map<std::string, double> sums;
  for (const tests::PairBuffer& b : pair.buffers) {
    std::vector<std::uint32_t> words(b.count);
    std::memcpy(words.data(), buffers[b.name]->bytes().data(), 4 * words.size());
    sums[b.name] = weighted_sum(b, words);
  }
  return sums;
}

std::vector<AdvicePair> asked() {
  std::vector<AdvicePair> list = tests::advice_pairs();
  for (AdvicePair& pair : tests::close_calls()) list.push_back(std::move(pair));
  std::erase_if(list, [](const AdvicePair& pair) { return pair.device != "h200"; });
  return list;
}

class AdviceMeasured : public ::testing::Test {
protected:
  void SetUp() override { ASSERT_FALSE(answers_.empty()); }
  const std::map<std::string, Json> answers_ = answers();
};

TEST_F(AdviceMeasured, EachPairWasAsked) {
  for (const AdvicePair& pair : asked()) EXPECT_TRUE(answers_.contains(name_of(pair))) << name_of(pair);
}

// Both computed the same: a GPU that ran something else would have measured something else. Sums of floats in any order
// differ.
TEST_F(AdviceMeasured, ResultsAreThoseOfTheEmulator) {
  for (const AdvicePair& pair : asked()) {
    const auto answer = answers_.find(name_of(pair));
    if (answer == answers_.end()) continue;
    for (const char* which : {"before", "after"}) {
      const auto sums = emulated_sums(pair, which == std::string_view("before") ? pair.before : pair.after);
      for (const auto& [name, sum] : sums)
        EXPECT_NEAR(answer->second[which]["sums"][name].get<double>(), sum, 1e-2 * std::abs(sum))
            << name_of(pair) << ", " << which << ": " << name;
    }
  }
}

// The model's error is in both times; what the finding promises is compared with the prediction elsewhere.
TEST_F(AdviceMeasured, SpeedupsAreThoseOfTheGpu) {
  const auto times = profiled();
  const std::vector<AdvicePair> pairs = asked();
  std::ifstream in(WARPLENS_SOURCE_DIR "/docs/findings.md");
  const std::string page{std::istreambuf_iterator<char>(in), {}};
  ASSERT_EQ(times.size(), 2 * (pairs.size() + tests::pairs_without_speedup().size()));
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const AdvicePair& pair = pairs[i];
    const auto &before = times[2 * i], &after = times[2 * i + 1];
    ASSERT_EQ(before.first, pair.before.kernel);
    ASSERT_EQ(after.first, pair.after.kernel);
    const std::vector<LaunchReport> reports = run(pair);
    const double measured = before.second / after.second, predicted = predicted_speedup(reports.at(0), reports.at(1));
    const analyzers::Finding* const found = find(pair, reports[0]);
    const double promised = found == nullptr ? 0 : found->speedup.value_or(0);
    const std::string row = fmt::format("| {} | {:.2f} | {:.2f} | {} |", name_of(pair), measured, predicted,
                                        found == nullptr ? "none" : fmt::format("{:.2f}", promised));
    EXPECT_NE(page.find(row), std::string::npos) << "docs/findings.md lacks\n" << row;
    for (const double speedup : {predicted, found == nullptr ? predicted : promised}) {
      EXPECT_LT(speedup, kTolerance * measured) << name_of(pair);
      EXPECT_GT(speedup, measured / kTolerance) << name_of(pair);
    }
  }
}

// They come last. The findings are only about what takes much time.
TEST_F(AdviceMeasured, FindingsWithoutASpeedupSaveTimeOnTheGpu) {
  const auto times = profiled();
  const std::vector<AdvicePair> pairs = tests::pairs_without_speedup();
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const auto &before = times.at(times.size() - 2 * (pairs.size() - i)),
               &after = times.at(times.size() - 2 * (pairs.size() - i) + 1);
    ASSERT_EQ(before.first, pairs[i].before.kernel);
    ASSERT_EQ(after.first, pairs[i].after.kernel);
    EXPECT_GT(before.second / after.second, 2) << name_of(pairs[i]);
    const std::vector<LaunchReport> reports = run(pairs[i]);
    const analyzers::Finding* const found = find(pairs[i], reports.at(0));
    ASSERT_NE(found, nullptr) << list_of(reports[0].findings);
    EXPECT_FALSE(found->speedup);
    EXPECT_FALSE(found->values.empty());
    EXPECT_EQ(find(pairs[i], reports.at(1)), nullptr) << list_of(reports[1].findings);
  }
}

/// Nanoseconds of the only launch of a kernel in tests/data/hardware/times.jsonl.
double measured_once(const std::string& kernel) {
  std::ifstream in(WARPLENS_SOURCE_DIR "/tests/data/hardware/times.jsonl");
  for (std::string line; std::getline(in, line);)
    if (line.find("\"kernel\": \"" + kernel + "\"") != std::string::npos)
      return Json::parse(line)["counters"]["gpu__time_duration.sum"];
  return 0;
}

TEST_F(AdviceMeasured, WiderAccessesSaveWhatTheyDoOnTheGpu) {
  const AdvicePair pair = tests::pairs_not_asked().back();
  ASSERT_EQ(pair.before.kernel, "shift_char");
  const double measured = measured_once("shift_char") / measured_once("shift_4");
  const std::vector<LaunchReport> reports = run(pair);
  const analyzers::Finding* const found = find(pair, reports.at(0));
  ASSERT_NE(found, nullptr) << list_of(reports[0].findings);
  std::printf("| %s | %.2f | %.2f | %.2f |\n", name_of(pair).c_str(), measured,
              predicted_speedup(reports[0], reports.at(1)), found->speedup.value_or(0));
  EXPECT_LT(found->speedup.value_or(0), kTolerance * measured);
  EXPECT_GT(found->speedup.value_or(0), measured / kTolerance);
}

} // namespace advice_measured_test
} // namespace warplens::api
