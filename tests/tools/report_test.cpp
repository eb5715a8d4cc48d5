// SPDX-License-Identifier: Apache-2.0
// The options of reports, as users give them: --details, --show, --fail-on, --sarif, --junit, --csv; on a terminal,
// too.
#include "tests/api/kernels.hpp"
#include "tests/tools/program.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <sstream>

namespace warplens::testing {
namespace report_test {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

const std::string kTranspose = WARPLENS_SOURCE_DIR "/samples/transpose";

Words with(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

void expect_part(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), text.npos) << "'" << part << "' is not in:\n" << text;
}

TEST(Report, BeginsWithATableAndShowsOneKernel) {
  const Output o = run_program({"run", kTranspose});
  ASSERT_EQ(o.status, 0) << o.err;
  EXPECT_EQ(o.out.find("4 launches of 4 kernels on NVIDIA H200"), 0u) << o.out;
  expect_part(o.out, "--details SECTION shows more: speed-of-light, memory, ");
  expect_part(o.out, "--show 2 shows the second kernel");
  EXPECT_EQ(o.out.find("Global memory:"), o.out.npos);
  const Output all = run_program({"run", kTranspose, "--details", "all"});
  for (const char* kernel : {"transpose_1d on", "transpose_2d on", "Global memory:", "Findings: by kind"})
    expect_part(all.out, kernel);
  const Output one = run_program({"run", kTranspose, "--show", "transpose_1d", "--details", "memory,occupancy"});
  EXPECT_EQ(one.out.find("transpose_2d on"), one.out.npos) << one.out;
  expect_part(one.out, "Global memory:");
  // The speedup of the worst finding fits into the table; the place of the finding need not.
  expect_part(run_program({"run", kTranspose, "--device", "c1060"}).out,
              "memory      UncoalescedGlobalAccess (5.06 x)\n");
  // Without bank conflicts and barriers, with ideal transactions; one pass.
  expect_part(all.out, " with ideal transactions\n");
  expect_part(all.out, " without bank conflicts\n");
  expect_part(all.out, ": 1 pass per request instead of");
}

TEST(Report, AChoiceThatNamesNoKernelStillGivesTheReport) {
  const Output o = run_program({"run", kTranspose, "--show", "9"});
  EXPECT_EQ(o.status, 2);
  expect_part(o.err, "--show: there is no kernel 9: the table has 4");
  expect_part(o.out, "4 launches of 4 kernels");
}

TEST(Report, IsTheSameInEveryEnvironment) {
  const Output plain = run_program({"run", kTranspose});
  ASSERT_EQ(setenv("COLUMNS", "50", 1), 0);
  ASSERT_EQ(setenv("TERM", "xterm-256color", 1), 0);
  ASSERT_EQ(setenv("LC_ALL", "C", 1), 0);
  EXPECT_EQ(run_program({"run", kTranspose}).out, plain.out);
  unsetenv("COLUMNS");
  unsetenv("LC_ALL");
}

/// The output on a terminal with so many columns, as `script` (util-linux) makes one.
std::string on_terminal(int columns, const std::string& arguments) {
  const Folder folder;
  const std::string out = (folder.path() / "out").string();
  const std::string command = "stty cols " + std::to_string(columns) + "; '" WARPLENS_PROGRAM "' " + arguments;
  const std::string script = folder.write("run.sh", command + "\n");
  if (std::system(("script -qec 'sh " + script + "' /dev/null >'" + out + "' 2>&1 </dev/null").c_str()) != 0) return "";
  return read_text(out);
}

std::size_t columns_of(const std::string& line) {
  std::size_t n = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\033')
      i = line.find('m', i);
    else if ((line[i] & 0xc0) != 0x80 && line[i] != '\r')
      ++n;
  }
  return n;
}

TEST(Report, FollowsTheWidthOfTheTerminal) {
  if (std::system("command -v script >/dev/null") != 0) GTEST_SKIP() << "there is no 'script'";
  for (const int columns : {60, 80, 120}) {
    const std::string text = on_terminal(columns, "run " WARPLENS_SOURCE_DIR "/samples/vector_add");
    expect_part(text, "█");
    expect_part(text, "\033[1m");
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
      if (line.find("as expected in") == line.npos) { // a path
        EXPECT_LE(columns_of(line), static_cast<std::size_t>(columns)) << line;
      }
  }
}

TEST(FailOn, HasAnExitStatusOfItsOwnAndSaysWhere) {
  const Output o = run_program({"run", kTranspose, "--fail-on", "sectors_per_request>8"});
  EXPECT_EQ(o.status, 4);
  expect_part(o.err, "--fail-on: transpose_1d, transpose.cu:9 (PTX line ");
  expect_part(o.err, "sectors_per_request is 32, which meets 'sectors_per_request>8'");
  expect_part(o.out, "4 launches of 4 kernels");
  EXPECT_EQ(run_program({"run", kTranspose, "--fail-on", "sectors_per_request>32"}).status, 0);
  EXPECT_EQ(run_program({"run", kTranspose, "--fail-on", "sectors_per_request>32", "--fail-on", "findings>0"}).status,
            4);
}

TEST(FailOn, IsCheckedBeforeTheRun) {
  const std::vector<std::pair<Words, std::string>> cases = {
      {{"--fail-on", "sector_per_request>8"}, "did you mean 'sectors_per_request'?"},
      {{"--fail-on", "findings"}, "expected a name, a comparison and a number"},
      {{"--fail-on", "reuse_again>0"}, "only with --analyzers reuse_distance"},
      {{"--fail-on", "findings>0", "--no-analyze"}, "cannot be combined with --no-analyze"},
      {{"--details", "memry"}, "did you mean 'memory'?"},
      {{"--print", "otu"}, "there is no buffer 'otu'"},
      {{"--json", "-", "--csv", "-"}, "--csv -: another file is '-', too"},
      {{"--detals", "x"}, "did you mean '--details'?"}};
  for (const auto& [words, message] : cases) {
    const Output o = run_program(with({"run", kTranspose}, words));
    EXPECT_EQ(o.status, 2) << message;
    expect_part(o.err, message);
    EXPECT_EQ(o.out, "") << message;
  }
}

TEST(FailOn, RefusesWhatWasNotCounted) {
  const Output o = run_program({"run", kTranspose, "--fail-on", "dram__sectors_read.sum<1000000"});
  EXPECT_EQ(o.status, 2);
  expect_part(o.err, "'dram__sectors_read.sum' is counted only with --analyzers caches");
  expect_part(o.out, "4 launches of 4 kernels");
  EXPECT_EQ(
      run_program({"run", kTranspose, "--analyzers", "caches", "--fail-on", "dram__sectors_read.sum<1000000"}).status,
      4);
}

TEST(ReportFiles, AreWrittenByRunAndExec) {
  const Folder folder;
  const auto file = [&](const char* name) { return (folder.path() / name).string(); };
  const Words files = {"--json",  file("r.json"),  "--csv",   file("r.csv"),
                       "--sarif", file("r.sarif"), "--junit", file("r.xml")};
  for (const Words& command : {Words{"run", kTranspose}, Words{"exec"}}) {
    Words words = with(command, files);
    if (command[0] == "exec") words = with(words, {"--", WARPLENS_LAUNCHES, "2"});
    for (const auto& entry : std::filesystem::directory_iterator(folder.path())) std::filesystem::remove(entry.path());
    const Output o = run_program(words);
    ASSERT_EQ(o.status, 0) << o.err;
    EXPECT_EQ(Json::parse(read_text(file("r.json")))["launches"].size(), command[0] == "exec" ? 2u : 4u);
    EXPECT_EQ(Json::parse(read_text(file("r.sarif")))["version"], "2.1.0");
    expect_part(read_text(file("r.csv")), "\"Metric Name\"");
    expect_part(read_text(file("r.xml")), "<testsuites ");
    if (std::system("command -v xmllint >/dev/null") == 0) {
      EXPECT_EQ(std::system(("xmllint --noout '" + file("r.xml") + "'").c_str()), 0);
    }
  }
}

// The disk fills up or standard output is closed: what can be written is written.
// The libraries write the files while the program ends, when objects of static duration are gone.
TEST(ReportFiles, ExecNamesTheFindings) {
  const Folder folder;
  const std::string sarif = (folder.path() / "r.sarif").string(), junit = (folder.path() / "r.xml").string();
  const Output o = run_program({"exec", "--sarif", sarif, "--junit", junit, "--", WARPLENS_LAUNCHES, "1", "ragged"});
  ASSERT_EQ(o.status, 0) << o.err;
  expect_part(read_text(sarif), "\"ruleId\": \"BlockSize\"");
  expect_part(read_text(junit), "name=\"BlockSize\"");
}

TEST(ReportFiles, AFailureDoesNotLoseTheReport) {
  const Folder folder;
  const std::string json = (folder.path() / "r.json").string(), program = WARPLENS_PROGRAM;
  const Output full = run_program({"run", kTranspose, "--csv", "/dev/full", "--json", json});
  EXPECT_EQ(full.status, 2);
  EXPECT_EQ(full.out, "") << "refused before the run";
  ASSERT_NE(std::system(("'" + program + "' run '" + kTranspose + "' --json '" + json + "' >/dev/full 2>&1").c_str()),
            0);
  EXPECT_EQ(Json::parse(read_text(json))["launches"].size(), 4u);
}

TEST(ReportFiles, TheJsonHasASummaryOfTheKernels) {
  const Output o = run_program({"run", kTranspose, "--json", "-"});
  ASSERT_EQ(o.status, 0) << o.err;
  const Json report = Json::parse(o.out);
  ASSERT_EQ(report["summary"].size(), 4u);
  double share = 0;
  for (const Json& kernel : report["summary"]) {
    EXPECT_EQ(kernel["launches"], 1);
    EXPECT_EQ(kernel["identical"].size(), 1u);
    share += kernel["share"].get<double>();
  }
  EXPECT_NEAR(share, 1, 1e-9);
}

TEST(ReportFiles, EqualLaunchesOfAProgramAreFolded) {
  const Folder folder;
  const std::string whole = (folder.path() / "w.json").string(), folded = (folder.path() / "f.json").string();
  const auto run = [](const Words& options) {
    return run_program(with(with({"exec"}, options), {"--", WARPLENS_LAUNCHES, "300"}));
  };
  ASSERT_EQ(run({"--json", whole}).status, 0);
  ASSERT_EQ(run({"--json", folded, "--json-fold"}).status, 0);
  const Json launches = Json::parse(read_text(folded))["launches"];
  ASSERT_EQ(launches.size(), 300u);
  EXPECT_TRUE(launches[0].contains("metrics"));
  EXPECT_EQ(launches[299]["same_as"], 0);
  EXPECT_LT(read_text(folded).size() * 20, read_text(whole).size());
  // Whoever reads reports reads both.
  const Output compared = run_program({"compare", whole, folded});
  EXPECT_EQ(compared.status, 0) << compared.err;
  const auto predicted = [](const std::string& file) { return run_program({"predict", file, "--device", "h200"}).out; };
  EXPECT_EQ(predicted(folded), predicted(whole));
  const Output alone = run({"--json-fold"});
  EXPECT_EQ(alone.status, 2);
  expect_part(alone.err, "--json-fold needs --json");
}

TEST(Exec, TakesTheOptionsOfRun) {
  const Folder folder;
  const std::string json = (folder.path() / "r.json").string();
  const Output o = run_program({"exec", "--rule", "1.2", "--analyzers", "caches", "--per-block", "--registers", "40",
                                "--json", json, "--details", "memory,workload", "--", WARPLENS_LAUNCHES, "1"});
  ASSERT_EQ(o.status, 0) << o.err;
  expect_part(o.err, "Global memory under rule 1.2:");
  expect_part(o.err, "Caches:");
  expect_part(o.err, "Blocks:");
  const Json launch = Json::parse(read_text(json))["launches"].at(0);
  EXPECT_EQ(launch["occupancy"]["registers_per_thread"], 40);
  EXPECT_FALSE(launch["blocks"].empty());
}

TEST(Exec, FailsOnConditionsOnlyIfTheProgramSucceeds) {
  const auto run = [](const Words& program) {
    return run_program(with({"exec", "--fail-on", "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum>0", "--"}, program));
  };
  const Output met = run({WARPLENS_LAUNCHES, "2"});
  EXPECT_EQ(met.status, 4);
  EXPECT_EQ(met.out, "4 4\n");
  expect_part(met.err, "--fail-on: scale, PTX line ");
  expect_part(met.err, "(the first of 2 launches)");
  EXPECT_EQ(run({WARPLENS_LAUNCHES, "2", "exit", "7"}).status, 7);
  EXPECT_EQ(run({WARPLENS_LAUNCHES, "2", "abort"}).status, 128 + 6);
  EXPECT_EQ(run({"sh", "-c", "exit 3"}).status, 3);
  EXPECT_EQ(run({"true"}).status, 0);
  // A process that the program starts counts, too.
  EXPECT_EQ(run({"sh", "-c", "'" WARPLENS_LAUNCHES "' 1; true"}).status, 4);
}

TEST(Run, NamesTheFolderThatIsNotThere) {
  const Output o = run_program({"run", "/no/such/folder"});
  EXPECT_EQ(o.status, 2);
  expect_part(o.err, "cannot read '/no/such/folder': No such file or directory");
}

TEST(Run, ANumberForAPointerGetsAHint) {
  const Folder folder;
  const std::string ptx = folder.write("k.ptx", api::testing::kScale);
  const Words start = {"run", ptx, "--kernel", "scale", "--grid", "1", "--block", "32"};
  const Output narrow = run_program(with(start, {"--arg", "s32=0", "--arg", "f32=1", "--arg", "u32=4"}));
  EXPECT_EQ(narrow.status, 2);
  expect_part(narrow.err, "if it is a pointer, pass a buffer: --arg NAME:TYPE[COUNT]");
  const Output wide = run_program(with(start, {"--arg", "u64=64", "--arg", "f32=1", "--arg", "u32=4"}));
  EXPECT_EQ(wide.status, 1);
  expect_part(wide.err, "argument 0 is a number; if the parameter is a pointer, pass a buffer");
}

TEST(Predict, SaysThatTheCostOfBankConflictsIsUnknown) {
  const Folder folder;
  const std::string json = (folder.path() / "r.json").string();
  ASSERT_EQ(run_program({"run", kTranspose, "--json", json}).status, 0);
  const Output o = run_program({"predict", json, "--device", "h200"});
  ASSERT_EQ(o.status, 0) << o.err;
  expect_part(o.out, "passes per warp beyond the first; the device has no cost of a pass");
  expect_part(o.out, "unknown  124 passes per warp beyond the first");
}

} // namespace report_test
} // namespace warplens::testing
