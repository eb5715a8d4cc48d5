// SPDX-License-Identifier: Apache-2.0
// Kernels of all kinds give the same report with a trace, without one, and from it.
#include "tests/tools/program.hpp"

#include <map>
#include <sstream>

namespace warplens::testing {
namespace golden_traces_test {

/// How a program of tests/golden is run, without options for what is shown.
std::vector<std::string> golden_arguments(const std::filesystem::path& file) {
  std::vector<std::string> arguments;
  std::istringstream lines(read_text(file.string()));
  for (std::string line; std::getline(lines, line) && line.starts_with("//");) {
    std::istringstream words(line);
    std::string word;
    words >> word >> word;
    if (word == "ARG:") {
      words >> word;
      arguments.insert(arguments.end(), {"--arg", word});
    } else if (word == "RUN:") {
      while (words >> word) {
        if (word == "--print" || word == "--details")
          words >> word;
        else if (word != "--no-analyze" && word != "--counters")
          arguments.push_back(word == "%s" ? file.string() : word);
      }
    }
  }
  return arguments;
}

TEST(GoldenTraces, GiveTheSameReportFromTheirTraces) {
  const Folder folder;
  const std::string trace = (folder.path() / "t.h5").string(), live = (folder.path() / "live.json").string(),
                    traced = (folder.path() / "traced.json").string(),
                    replayed = (folder.path() / "replayed.json").string();
  int compared = 0;
  std::map<std::string, int> kinds;
  for (const auto& entry : std::filesystem::directory_iterator(WARPLENS_SOURCE_DIR "/tests/golden")) {
    if (entry.path().extension() != ".ptx") continue;
    std::vector<std::string> arguments = golden_arguments(entry.path());
    if (arguments.size() < 2 || arguments[0] != "run") continue;
    const auto with = [&](const std::vector<std::string>& more) {
      std::vector<std::string> all = arguments;
      all.insert(all.end(), more.begin(), more.end());
      return run_program(all).status;
    };
    if (with({"--json", live, "--analyzers", "all"}) != 0) continue;
    ASSERT_EQ(with({"--trace", trace, "--json", traced, "--analyzers", "all"}), 0) << entry.path();
    ASSERT_EQ(run_program({"analyze", trace, "--json", replayed, "--analyzers", "all"}).status, 0) << entry.path();
    EXPECT_EQ(read_text(live), read_text(traced)) << entry.path();
    EXPECT_EQ(read_text(traced), read_text(replayed)) << entry.path();
    ++compared;
    for (const char* metric : {"tma_bytes", "\"async_", "matrix_multiply_adds_"})
      kinds[metric] += read_text(replayed).find(metric) != std::string::npos;
  }
  EXPECT_GT(compared, 50);
  for (const auto& [metric, programs] : kinds) EXPECT_GT(programs, 0) << metric;
}

} // namespace golden_traces_test
} // namespace warplens::testing
