// SPDX-License-Identifier: Apache-2.0
// `warplens exec --analyze-processes N` writes what it writes without copies of the program's process; if a copy is
// lost, it says so and writes no report. The program is runtime/programs/copies.cpp.
#include "tests/tools/program.hpp"

#include <algorithm>

namespace warplens::testing {
namespace analyze_processes_test {

class AnalyzeProcesses : public ::testing::Test {
protected:
  void SetUp() override { setenv("WARPLENS_COPY_FROM", "0", 1); } // short launches, too
  void TearDown() override { unsetenv("WARPLENS_COPY_FROM"); }

  [[nodiscard]] std::string file(const std::string& name) const { return (folder_.path() / name).string(); }

  /// With the names of files in `words` replaced by those of this run.
  Output run(const std::string& how, const std::vector<std::string>& options, int processes) {
    std::vector<std::string> words = {"exec"};
    words.insert(words.end(), options.begin(), options.end());
    if (processes != 0) words.insert(words.end(), {"--analyze-processes", std::to_string(processes)});
    words.insert(words.end(), {"--", WARPLENS_COPIES, how});
    return run_program(words);
  }

  /// Runs the program in each way; expects the same output, reports and status.
  void compare(const std::string& how, const std::vector<std::string>& options = {}) {
    const std::vector<std::string> kinds = {"json", "csv", "html", "sarif"};
    const auto all = [&](const std::string& name) {
      std::vector<std::string> words = {"--analyze", "--details", "all"};
      for (const std::string& kind : kinds) words.insert(words.end(), {"--" + kind, file(name + "." + kind)});
      words.insert(words.end(), options.begin(), options.end());
      return words;
    };
    const Output one = run(how, all("one"), 0);
    EXPECT_FALSE(read_text(file("one.json")).empty()) << one.err;
    for (const int processes : {1, 3}) {
      const Output many = run(how, all("many"), processes);
      EXPECT_EQ(many.status, one.status) << how << " " << many.err;
      EXPECT_EQ(many.out, one.out) << how;
      EXPECT_EQ(many.err, one.err) << how;
      for (const std::string& kind : kinds)
        EXPECT_TRUE(read_text(file("many." + kind)) == read_text(file("one." + kind))) << how << " " << kind;
    }
  }

  /// Runs the program with long launches, and the words of the shell when it has $copies, processes; $program is the
  /// program's. The launches take far longer than the shell needs to find the copies.
  Output run_with(const std::string& words, const std::string& before = "", const std::string& options = "") {
    const std::string script = before + R"(
      WARPLENS=$0; COPIES=$1; JSON=$2
      $WARPLENS exec --json $JSON --analyze-processes 2 )" +
                               options +
                               R"( -- $COPIES long 100000 &
      exec_=$!
      for i in $(seq 500); do
        program=$(pgrep -P $exec_) && copies=$(pgrep -P $program) && break
        sleep 0.01
      done
      )" + words + R"(
      wait $exec_
      exit $?)";
    return run_command({"bash", "-c", script, WARPLENS_PROGRAM, WARPLENS_COPIES, file("r.json")});
  }

  const Folder folder_;
};

TEST_F(AnalyzeProcesses, GiveTheSameReport) {
  compare("many");
  compare("many", {"--analyzers", "all", "--per-block", "--registers", "40"});
  compare("many", {"--kernel-name", "more|say", "--launch-skip", "1", "--launch-count", "4"});
  compare("many", {"--fail-on", "launches>3"});
  compare("many", {"--json-fold", "--sample", "0.5", "--device", "gtx480"});
}

TEST_F(AnalyzeProcesses, StopWhereTheProgramStops) { compare("stop"); }

// A launch that needs the host or a heap is not left to a copy, nor one whose memory a copy would share.
TEST_F(AnalyzeProcesses, DisturbNothing) {
  for (const char* const how : {"map", "register", "heap", "reap"}) compare(how);
  const Output o = run("wait", {"--json", file("r.json")}, 2); // its counts depend on time
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_EQ(o.out, "7\n");
  EXPECT_EQ(o.err, "");
  EXPECT_NE(read_text(file("r.json")).find("\"kernel\": \"wait\""), std::string::npos);
}

TEST_F(AnalyzeProcesses, MeetThreadsOfTheProgram) {
  for (int i = 0; i < 3; ++i) {
    const Output o = run("threads", {"--json", file("r.json")}, 3);
    EXPECT_EQ(o.status, 0) << o.err;
    EXPECT_EQ(o.out, "done\n");
    EXPECT_EQ(o.err, "");
    const std::string text = read_text(file("r.json"));
    std::size_t launches = 0;
    for (std::size_t at = 0; (at = text.find("\"kernel\": \"more\"", at)) != text.npos; ++at) ++launches;
    EXPECT_GE(launches, 40u);
  }
}

TEST_F(AnalyzeProcesses, RunWithoutCopiesWhereThereCanBeNone) {
  const Output o = run_command(
      {"bash", "-c", "ulimit -n 12; for i in 3 4 5 6 7 8 9 10; do eval \"exec $i</dev/null\"; done; exec \"$@\"",
       "bash", WARPLENS_PROGRAM, "exec", "--json", file("r.json"), "--analyze-processes", "2", "--", WARPLENS_COPIES,
       "many"});
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_NE(o.err.find("the program itself analyses launches"), o.err.npos) << o.err;
  const Output one = run("many", {"--json", file("one.json")}, 0);
  EXPECT_TRUE(read_text(file("r.json")) == read_text(file("one.json")));
}

TEST_F(AnalyzeProcesses, SayThatOneWasKilled) {
  const Output o = run_with("kill -9 $copies");
  EXPECT_EQ(o.status, 3) << o.err;
  EXPECT_NE(o.err.find("('more') was not analysed, and there is no report: signal 9"), o.err.npos) << o.err;
  EXPECT_FALSE(std::filesystem::exists(file("r.json")));
  EXPECT_NE(o.out.find("300000 300000"), o.out.npos) << "the program goes on: " << o.out;
}

TEST_F(AnalyzeProcesses, MayBeSlow) {
  const Output one = run_program({"exec", "--json", file("one.json"), "--", WARPLENS_COPIES, "long", "100000"});
  const Output o = run_with("kill -STOP $copies; sleep 1; kill -CONT $copies");
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_EQ(o.out, one.out);
  EXPECT_TRUE(read_text(file("r.json")) == read_text(file("one.json")));
}

TEST_F(AnalyzeProcesses, EndWithTheProgram) {
  const Output o = run_with("kill -9 $program; sleep 0.5; for c in $copies; do grep -q '^State:.[^Z]' /proc/$c/status "
                            "2>/dev/null && echo alive; done");
  EXPECT_EQ(o.status, 128 + 9) << o.err;
  EXPECT_EQ(o.out.find("alive"), o.out.npos);
}

TEST_F(AnalyzeProcesses, SayThatThereIsNoRoom) {
  const Output o = run_with("", "ulimit -f 2");
  EXPECT_EQ(o.status, 3) << o.err;
  EXPECT_NE(o.err.find("there was no room for its result"), o.err.npos) << o.err;
  EXPECT_FALSE(std::filesystem::exists(file("r.json")));
}

TEST_F(AnalyzeProcesses, EndAtTheTimeLimit) {
  const Output o = run_program({"exec", "--json", file("r.json"), "--analyze-processes", "1", "--time-limit", "0.15",
                                "--", WARPLENS_COPIES, "long", "4000000000"}); // hours
  EXPECT_EQ(o.status, 1) << o.err;
  EXPECT_NE(o.err.find("time limit reached"), o.err.npos) << o.err;
}

// The program has ended; the process that analyses does not go on.
TEST_F(AnalyzeProcesses, EndAtTheTimeLimitOfTheProgram) {
  const Output o = run_with("kill -STOP $copies", "", "--time-limit 5");
  EXPECT_EQ(o.status, 1) << o.err;
  EXPECT_NE(o.err.find("were not analysed before the time limit"), o.err.npos) << o.err;
  EXPECT_NE(o.out.find("300000 300000"), o.out.npos) << o.out;
}

TEST_F(AnalyzeProcesses, BadUsage) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"--analyze-processes", "2"}, "--analyze-processes needs a report"},
      {{"--analyze", "--analyze-processes", "0"}, "expected 1 to 9999, got '0'"},
      {{"--analyze", "--analyze-processes", "two"}, "expected a number, got 'two'"},
      {{"--analyze", "--analyze-processes", "2", "--trace", file("t.h5")}, "cannot be combined with --trace"},
      {{"--analyze", "--analyze-processes", "2", "--tool", "memcheck"}, "cannot be combined with --tool"},
  };
  for (const auto& [options, message] : cases) {
    const Output o = run("many", options, 0);
    EXPECT_EQ(o.status, 2) << message;
    EXPECT_NE(o.err.find(message), o.err.npos) << o.err;
  }
}

} // namespace analyze_processes_test
} // namespace warplens::testing
