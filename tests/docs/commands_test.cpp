// SPDX-License-Identifier: Apache-2.0
// Every command of Warplens that a page shows in a code block succeeds.
//
// The commands of a page run in order, in a folder of their own that contains what the pages assume: samples/,
// build/bin/warplens and the programs of the tests, as in the source tree, and what the script
// tests/docs/prepare/PAGE.sh makes, such as the user's kernel.ptx. A command that is meant to fail says so: "# exit
// status 1". One that takes longer than kSeconds is stopped, and passes: its options and files have been read by then.
// With WARPLENS_WHOLE_COMMANDS in the environment, as in ./dev check docs, all commands run to their end.
#include "tests/tools/folder.hpp"

#include <gtest/gtest.h>

#include <sys/wait.h>

#include <algorithm>
#include <cctype>
#include <regex>
#include <sstream>
#include <vector>

namespace warplens::docs {
namespace commands_test {

namespace fs = std::filesystem;
using testing::Folder;
using testing::read_text;

const fs::path kRoot = WARPLENS_SOURCE_DIR;
constexpr int kSeconds = 10;
constexpr int kStopped = 124; // timeout's exit status

/// The lines of code blocks, indented or fenced, that call Warplens.
std::vector<std::string> commands(const std::string& page) {
  static const std::regex call(R"(^\s*(for [^;]+; do )?(build/bin/)?warplens [a-z].*)");
  std::vector<std::string> list;
  std::istringstream lines(page);
  bool fenced = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) fenced = !fenced;
    if ((fenced || line.starts_with("    ")) && std::regex_match(line, call)) list.push_back(line);
  }
  return list;
}

/// 0, unless the page says something else: warplens sweep … # exit status 1
int documented_status(const std::string& command) {
  static const std::regex remark(R"(# exit status ([0-9])$)");
  std::smatch found;
  return std::regex_search(command, found, remark) ? std::stoi(found[1]) : 0;
}

/// Pages with commands, by their path without the suffix, in letters that the name of a test may have.
std::vector<fs::path> pages() {
  std::vector<fs::path> list = {kRoot / "README.md"};
  for (const char* folder : {"docs", "samples"})
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder))
      if (entry.path().extension() == ".md" && !commands(read_text(entry.path())).empty()) list.push_back(entry.path());
  std::sort(list.begin(), list.end());
  return list;
}

std::string name_of(const fs::path& page) {
  std::string name = fs::relative(page, kRoot).replace_extension().generic_string();
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

/// A folder as the pages assume it.
class Place {
public:
  Place() {
    fs::create_directory_symlink(kRoot / "samples", folder_.path() / "samples");
    fs::create_directories(folder_.path() / "tests");
    for (const char* folder : {"tests/data", "tests/programs"})
      fs::create_directory_symlink(kRoot / folder, folder_.path() / folder);
    fs::create_directories(folder_.path() / "build/bin");
    fs::create_symlink(WARPLENS_PROGRAM, folder_.path() / "build/bin/warplens");
    fs::create_directory_symlink(WARPLENS_TEST_PROGRAMS, folder_.path() / "build/tests");
  }
  /// The exit status; the output is in `output`.
  int run(const std::string& command, bool to_the_end, std::string& output) const {
    const std::string script = folder_.write("command.sh", command + "\n"), out = (folder_.path() / "output").string();
    const std::string limit = to_the_end ? "" : "timeout " + std::to_string(kSeconds) + " ";
    const int status =
        std::system(("cd '" + folder_.path().string() +
                     "' && export PATH=$PWD/build/bin:$PWD:$PATH WARPLENS_CACHE=off WARPLENS_EXAMPLES='" +
                     WARPLENS_EXAMPLES_DIR "' WARPLENS_LAUNCHES='" WARPLENS_LAUNCHES "' WARPLENS_PLAY='" WARPLENS_PLAY
                                           "' WARPLENS_FAULTS='" +
                     (kRoot / "tests/data/faults").string() + "' && exec " + limit + "bash -e '" + script + "' >'" +
                     out + "' 2>&1 </dev/null")
                        .c_str());
    output = read_text(out);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

private:
  Folder folder_;
};

class DocumentedCommands : public ::testing::TestWithParam<fs::path> {};

TEST_P(DocumentedCommands, Succeed) {
  const Place place;
  std::string output;
  const fs::path preparation = kRoot / "tests/docs/prepare" / (name_of(GetParam()) + ".sh");
  if (fs::exists(preparation)) {
    ASSERT_EQ(place.run(read_text(preparation), true, output), 0) << preparation << ": " << output;
  }
  const bool whole = std::getenv("WARPLENS_WHOLE_COMMANDS") != nullptr;
  for (const std::string& command : commands(read_text(GetParam()))) {
    const int status = place.run(command, whole, output);
    if (whole || status != kStopped) {
      EXPECT_EQ(status, documented_status(command)) << command << "\n" << output;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Of, DocumentedCommands, ::testing::ValuesIn(pages()),
                         [](const auto& page) { return name_of(page.param); });

TEST(Commands, AreFoundInCodeBlocks) {
  EXPECT_EQ(commands("Run `warplens list`:\n\n    warplens run a\n        b\n\n    build/bin/warplens demo\n"
                     "```\nwarplens check a.ptx\nwarplens 1.2\n```\nwarplens explain x\n"
                     "    for n in 1 2; do warplens run $n; done\n    docker run warplens list\n"),
            (std::vector<std::string>{"    warplens run a", "    build/bin/warplens demo", "warplens check a.ptx",
                                      "    for n in 1 2; do warplens run $n; done"}));
}

TEST(Commands, TheStatusIsZeroUnlessThePageSaysOtherwise) {
  EXPECT_EQ(documented_status("    warplens run a"), 0);
  EXPECT_EQ(documented_status("    warplens run a    # compiled first"), 0);
  EXPECT_EQ(documented_status("    warplens run a    # exit status 1"), 1);
}

TEST(Commands, ThatFailAreNoticed) {
  const Place place;
  std::string output;
  EXPECT_EQ(place.run("build/bin/warplens list devices", true, output), 0) << output;
  EXPECT_EQ(place.run("warplens run samples/nosuch", true, output), 2);
  EXPECT_NE(output.find("error: warplens: "), output.npos) << output;
  EXPECT_EQ(place.run("for n in 1 2; do warplens run $n; done", false, output), 2);
}

TEST(Commands, EveryPreparationHasItsPage) {
  std::vector<std::string> names;
  for (const fs::path& page : pages()) names.push_back(name_of(page) + ".sh");
  for (const auto& entry : fs::directory_iterator(kRoot / "tests/docs/prepare"))
    EXPECT_EQ(std::count(names.begin(), names.end(), entry.path().filename().string()), 1) << entry.path();
}

} // namespace commands_test
} // namespace warplens::docs
