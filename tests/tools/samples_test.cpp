// SPDX-License-Identifier: Apache-2.0
// Every sample runs, gives the expected results, and has a page that the list of samples names.
#include "tests/tools/program.hpp"

#include <algorithm>

namespace warplens::testing {
namespace samples_test {

const std::filesystem::path kSamples = WARPLENS_SOURCE_DIR "/samples";

std::vector<std::string> samples() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kSamples))
    if (entry.is_directory()) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) ++n;
  return n;
}

class Sample : public ::testing::TestWithParam<std::string> {};

TEST_P(Sample, RunsWithTheExpectedResults) {
  const std::filesystem::path folder = kSamples / GetParam();
  EXPECT_TRUE(std::filesystem::exists(folder / "launch.toml")) << "what 'warplens run samples/NAME' runs";
  const bool has_small = std::filesystem::exists(folder / "small.toml");
  const std::filesystem::path file = folder / (has_small ? "small.toml" : "launch.toml");
  const Output o = run_program({"run", file.string()});
  EXPECT_EQ(o.status, 0) << o.err;
  const std::string text = read_text(file);
  EXPECT_EQ(count(o.out, ": as expected in "), count(text, "\nexpect = "));
  if (has_small) {
    // All kernels of the sample run.
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() != ".ptx") continue;
      const std::string ptx = read_text(entry.path());
      for (std::size_t at = ptx.find(".entry "); at != ptx.npos; at = ptx.find(".entry ", at + 1)) {
        const std::string name = ptx.substr(at + 7, ptx.find('(', at) - at - 7);
        EXPECT_NE(text.find("kernel = \"" + name + '"'), text.npos) << name;
      }
    }
  }
}

// Live = replayed.
TEST_P(Sample, TraceGivesTheSameReport) {
  const std::filesystem::path folder = kSamples / GetParam();
  const bool has_small = std::filesystem::exists(folder / "small.toml");
  const Folder made;
  const std::string trace = (made.path() / "t.h5").string(), live = (made.path() / "live.json").string(),
                    replayed = (made.path() / "replayed.json").string();
  const Output ran = run_program(
      {"run", (folder / (has_small ? "small.toml" : "launch.toml")).string(), "--trace", trace, "--json", live});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const Output analyzed = run_program({"analyze", trace, "--json", replayed});
  ASSERT_EQ(analyzed.status, 0) << analyzed.err;
  EXPECT_EQ(read_text(live), read_text(replayed));
}

TEST_P(Sample, HasAPageThatTheListNames) {
  EXPECT_TRUE(std::filesystem::exists(kSamples / GetParam() / "README.md"));
  const std::string list = read_text(kSamples / "README.md");
  EXPECT_NE(list.find("[" + GetParam() + "](" + GetParam() + ")"), list.npos);
}

INSTANTIATE_TEST_SUITE_P(All, Sample, ::testing::ValuesIn(samples()), [](const auto& s) { return s.param; });

TEST(Samples, AFolderWithoutALaunchFileIsRefused) {
  const Folder folder;
  const Output o = run_program({"run", folder.path().string()});
  EXPECT_EQ(o.status, 2);
  EXPECT_NE(o.err.find("there is no launch.toml in the folder"), o.err.npos) << o.err;
}

} // namespace samples_test
} // namespace warplens::testing
