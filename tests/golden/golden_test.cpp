// SPDX-License-Identifier: Apache-2.0
// Golden tests: comments in each *.ptx file here give the command and the expected output.
//
//   // RUN: run %s --kernel k --grid 1 --block 32 --no-analyze --print x      %s: this file
//   // ARG: x:u32[32]=iota                                                    one --arg per line
//   // LAUNCH: module = "%s"                                                   a line of a launch file; RUN names it %l
//   // CHECK: 0 2 4                                                           expected in stdout, in this order
//   // ERROR: misaligned                                                      expected in stderr, in this order
//   // EXIT: 1                                                                the exit status; 0 unless given
//
// WARPLENS_UPDATE=1 in the environment replaces the CHECK and ERROR lines by the current output: review the diff.
#include "tests/tools/program.hpp"

#include <algorithm>
#include <sstream>

namespace warplens::testing {
namespace golden_test {

struct Golden {
  std::vector<std::string> run; ///< arguments of the program
  std::vector<std::string> checks, errors;
  std::string launch_file; ///< its text
  int exit = 0;
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

bool directive(const std::string& line, std::string_view name, std::string& rest) {
  const std::string start = "// " + std::string(name) + ":";
  if (!line.starts_with(start)) return false;
  rest = line.substr(std::min(line.size(), start.size() + 1));
  return true;
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

Golden read(const std::string& file) {
  Golden golden;
  std::vector<std::string> arguments;
  for (const std::string& line : lines_of(read_text(file))) {
    std::string rest;
    if (directive(line, "RUN", rest)) {
      std::istringstream words(rest);
      for (std::string word; words >> word;) golden.run.push_back(word == "%s" ? file : word);
    }
    if (directive(line, "LAUNCH", rest)) {
      replace_all(rest, "%s", file);
      golden.launch_file += rest + "\n";
    }
    if (directive(line, "ARG", rest)) arguments.insert(arguments.end(), {"--arg", rest});
    if (directive(line, "CHECK", rest)) golden.checks.push_back(rest);
    if (directive(line, "ERROR", rest)) golden.errors.push_back(rest);
    if (directive(line, "EXIT", rest)) golden.exit = std::stoi(rest);
  }
  golden.run.insert(golden.run.end(), arguments.begin(), arguments.end());
  return golden;
}

void expect_in_order(const std::vector<std::string>& wanted, const std::string& text, std::string_view what) {
  std::size_t from = 0;
  for (const std::string& w : wanted) {
    const std::size_t at = text.find(w, from);
    if (at == text.npos) {
      ADD_FAILURE() << what << " '" << w << "' is not in what is left of the output:\n" << text.substr(from);
      return;
    }
    from = at + w.size();
  }
}

/// PTX is ASCII, comments too: a line up to its first other character, such as the dots of what was left out.
std::string ascii_part(const std::string& line) {
  return {line.begin(), std::find_if(line.begin(), line.end(), [](char c) { return (c & 0x80) != 0; })};
}

void update(const std::string& file, const Output& output) {
  std::string kept;
  for (const std::string& line : lines_of(read_text(file))) {
    std::string rest;
    if (directive(line, "CHECK", rest) || directive(line, "ERROR", rest) || directive(line, "EXIT", rest)) continue;
    const bool last = directive(line, "RUN", rest);
    kept += line + "\n";
    if (!last) continue;
    if (output.status != 0) kept += "// EXIT: " + std::to_string(output.status) + "\n";
    for (const auto& [name, text] : {std::pair{"CHECK", &output.out}, std::pair{"ERROR", &output.err}})
      for (const std::string& printed : lines_of(*text))
        if (!printed.empty()) kept += "// " + std::string(name) + ": " + ascii_part(printed) + "\n";
  }
  std::ofstream(file, std::ios::binary) << kept;
}

std::string temporary(const std::string& file, std::string_view ending) {
  return ::testing::TempDir() + "golden_" + std::filesystem::path(file).stem().string() + std::string(ending);
}

void place_launch_file(Golden& golden, const std::string& launch_file) {
  if (!golden.launch_file.empty()) std::ofstream(launch_file, std::ios::binary) << golden.launch_file;
  std::replace(golden.run.begin(), golden.run.end(), std::string("%l"), launch_file);
}

class GoldenTest : public ::testing::TestWithParam<std::string> {};
class TracedGoldenTest : public GoldenTest {};

TEST_P(GoldenTest, Holds) {
  const std::string file = GetParam();
  Golden golden = read(file);
  ASSERT_FALSE(golden.run.empty()) << "no RUN line";
  const std::string launch_file = temporary(file, ".toml");
  place_launch_file(golden, launch_file);
  const auto run = [&] {
    Output output = run_program(golden.run);
    for (std::string* text : {&output.out, &output.err}) {
      replace_all(*text, file, "%s");
      replace_all(*text, launch_file, "%l");
    }
    return output;
  };
  if (std::getenv("WARPLENS_UPDATE") != nullptr) {
    // Twice: more or fewer comments move the lines that messages name.
    update(file, run());
    return update(file, run());
  }
  const Output output = run();
  ASSERT_FALSE(golden.checks.empty() && golden.errors.empty()) << "nothing is expected";
  EXPECT_EQ(output.status, golden.exit) << output.err;
  expect_in_order(golden.checks, output.out, "CHECK");
  expect_in_order(golden.errors, output.err, "ERROR");
  if (golden.errors.empty()) {
    EXPECT_EQ(output.err, "");
  }
}

// Live = replayed: what a run reports, its trace reports too, byte for byte.
TEST_P(TracedGoldenTest, TraceGivesTheSameReport) {
  const std::string file = GetParam();
  Golden golden = read(file);
  place_launch_file(golden, temporary(file, ".trace.toml"));
  std::vector<std::string> run;
  for (std::size_t i = 0; i < golden.run.size(); ++i) {
    if (golden.run[i] == "--json" || golden.run[i] == "--print")
      ++i;
    else if (golden.run[i] != "--no-analyze")
      run.push_back(golden.run[i]);
  }
  const std::string trace = temporary(file, ".h5"), live = temporary(file, ".live"),
                    replayed = temporary(file, ".json");
  run.insert(run.end(), {"--trace", trace, "--json", live});
  const Output ran = run_program(run);
  ASSERT_LE(ran.status, 1) << ran.err;
  const Output analyzed = run_program({"analyze", trace, "--json", replayed});
  ASSERT_LE(analyzed.status, 1) << analyzed.err;
  EXPECT_EQ(read_text(live), read_text(replayed));
  EXPECT_NE(read_text(live), "");
  for (const std::string& made : {trace, live, replayed}) std::filesystem::remove(made);
}

std::vector<std::string> files() {
  std::vector<std::string> list;
  for (const auto& entry : std::filesystem::directory_iterator(WARPLENS_SOURCE_DIR "/tests/golden"))
    if (entry.path().extension() == ".ptx") list.push_back(entry.path().string());
  std::sort(list.begin(), list.end());
  return list;
}

/// Those that run something.
std::vector<std::string> files_that_run() {
  std::vector<std::string> list = files();
  std::erase_if(list, [](const std::string& file) {
    const Golden golden = read(file);
    return golden.run.empty() || golden.run[0] != "run" || golden.exit > 1;
  });
  return list;
}

std::string name_of(const ::testing::TestParamInfo<std::string>& file) {
  return std::filesystem::path(file.param).stem().string();
}

INSTANTIATE_TEST_SUITE_P(Files, GoldenTest, ::testing::ValuesIn(files()), name_of);
INSTANTIATE_TEST_SUITE_P(Files, TracedGoldenTest, ::testing::ValuesIn(files_that_run()), name_of);

} // namespace golden_test
} // namespace warplens::testing
