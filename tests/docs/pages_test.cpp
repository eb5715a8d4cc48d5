// SPDX-License-Identifier: Apache-2.0
// Statements of the pages about the tree are correct: the named files, functions, links, counters and opcodes exist.
#include "analyzers/analyzers.hpp"
#include "emulator/base/limits.hpp"
#include "emulator/isa/table.hpp"
#include "tests/docs/instruction_coverage.hpp"
#include "tests/docs/metric_tables.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>

namespace warplens::docs {
namespace pages_test {

namespace fs = std::filesystem;

const fs::path kRoot = WARPLENS_SOURCE_DIR;

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Page {
  std::string name; ///< from the root
  std::string text; ///< without fenced blocks
};

std::string without_blocks(const std::string& text) {
  std::istringstream lines(text);
  std::string out;
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    const bool fence = line.starts_with("```");
    if (fence) inside = !inside;
    if (!inside && !fence) out += line + "\n";
  }
  EXPECT_FALSE(inside);
  return out;
}

const std::vector<Page>& pages() {
  static const std::vector<Page> list = [] {
    std::vector<fs::path> paths = {kRoot / "README.md", kRoot / "CONTRIBUTING.md", kRoot / "CHANGELOG.md",
                                   kRoot / "SECURITY.md"};
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / "docs"))
      if (entry.path().extension() == ".md") paths.push_back(entry.path());
    std::vector<Page> result;
    for (const fs::path& path : paths)
      result.push_back({fs::relative(path, kRoot).generic_string(), without_blocks(text_of(path))});
    return result;
  }();
  return list;
}

/// All matches of the first group, with repetitions.
std::vector<std::string> matches(const std::string& text, const std::regex& pattern) {
  std::vector<std::string> list;
  for (std::sregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at) list.push_back((*at)[1]);
  return list;
}

TEST(Pages, NameFilesThatExist) {
  static const std::regex path("`((?:emulator|rules|analyzers|model|api|tools|tests|bench|samples|docs|grammar|runtime|"
                               "python)/[A-Za-z0-9_./-]*)`");
  std::size_t seen = 0;
  for (const Page& page : pages())
    for (const std::string& name : matches(page.text, path)) {
      ++seen;
      EXPECT_TRUE(fs::exists(kRoot / name)) << page.name << " names " << name;
    }
  EXPECT_GT(seen, 30u);
}

TEST(Pages, LinkToFilesThatExist) {
  static const std::regex link(R"(\]\(([^)#:]+)\))");
  std::size_t seen = 0;
  for (const Page& page : pages())
    for (const std::string& target : matches(page.text, link)) {
      ++seen;
      EXPECT_TRUE(fs::exists((kRoot / page.name).parent_path() / target)) << page.name << " links to " << target;
    }
  EXPECT_GT(seen, 10u);
}

// A function that a page names in backticks, f() or a::f(), is called or declared somewhere in the code.
TEST(Pages, NameFunctionsThatExist) {
  std::set<std::string> called;
  static const std::regex call(R"((\w+)\()");
  for (const char* folder : {"emulator", "rules", "analyzers", "model", "api", "runtime", "tools", "python"})
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder))
      if (entry.is_regular_file())
        for (std::string& name : matches(text_of(entry.path()), call)) called.insert(std::move(name));
  static const std::regex function(R"(`(?:\w+::)*(\w+)\(\)`)");
  std::size_t seen = 0;
  for (const Page& page : pages())
    for (const std::string& name : matches(page.text, function)) {
      ++seen;
      EXPECT_TRUE(called.contains(name)) << page.name << " names " << name << "()";
    }
  EXPECT_GT(seen, 10u);
}

TEST(Pages, ListTheMetricsAsDeclared) {
  EXPECT_EQ(text_of(kRoot / "docs/metrics.md"), metrics_page())
      << "docs/metrics.md is stale: ninja -C build docs-metrics";
  const std::string schema = text_of(kRoot / "docs/json-schema.json");
  EXPECT_EQ(schema, with_metrics(schema)) << "docs/json-schema.json is stale: ninja -C build docs-metrics";
}

TEST(Pages, ExplainTheMetricsOfEachAnalyzer) {
  for (const analyzers::MetricGroup& group : analyzers::metric_groups()) {
    const std::string page(group.page.substr(0, group.page.find('#')));
    EXPECT_TRUE(std::filesystem::exists(kRoot / "docs" / page)) << group.page;
    EXPECT_FALSE(analyzers::metrics_of(group.analyzer).empty()) << group.analyzer;
  }
  for (const analyzers::AnalyzerInfo* analyzer : analyzers::analyzers())
    EXPECT_TRUE(std::any_of(analyzers::metric_groups().begin(), analyzers::metric_groups().end(),
                            [&](const auto& group) { return group.analyzer == analyzer->id; }))
        << analyzer->id;
}

TEST(Pages, ListTheInstructionsOfTheTable) {
  EXPECT_EQ(text_of(kRoot / "docs/instructions.md"), instruction_coverage())
      << "docs/instructions.md is stale: ninja -C build docs-instructions";
  EXPECT_EQ(instruction_coverage().find("Not in the manual"), std::string::npos)
      << "tests/docs/manual.txt lacks an instruction of the table";
}

// A class of which ptxas was not asked would have no numbers.
TEST(Pages, EverySpellingInRealFilesWasAsked) {
  const std::string page = text_of(kRoot / "docs/coverage.md");
  EXPECT_EQ(page.find("not asked"), page.npos);
  const std::regex row(R"(\n\| (?:\*\*)?[a-z0-9, -]+(?:\*\*)? \| (\d+) \| (\d+) \| (\d+) \| )");
  const auto rows = std::distance(std::sregex_iterator(page.begin(), page.end(), row), std::sregex_iterator());
  EXPECT_EQ(rows, 7) << "a class has no numbers of ptxas";
}

TEST(Pages, EveryLimitIsInTheTable) {
  const std::string page = text_of(kRoot / "docs/limits.md");
  for (const Limit* limit : limits::all())
    EXPECT_NE(page.find(std::string("`").append(limit->name()).append("`")), page.npos) << limit->name();
}

} // namespace pages_test
} // namespace warplens::docs
