// SPDX-License-Identifier: Apache-2.0
// Programs of `warplens exec` that end in an unusual way (tests/runtime/programs/ends.cpp): their status and signals
// pass through, and what their launches did is reported where that is possible.
#include "tests/tools/program.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <csignal>
#include <optional>
#include <thread>

namespace warplens::testing {
namespace exec_ends_test {

constexpr int kStatus = 7;

/// A run of `warplens exec --json FILE ends HOW…`, with the number of launches in the report.
struct Ending {
  explicit Ending(std::vector<std::string> how) {
    const std::string file = (folder.path() / "r.json").string();
    std::vector<std::string> words = {"exec", "--json", file, "--", WARPLENS_ENDS};
    words.insert(words.end(), how.begin(), how.end());
    output = run_program(words);
    if (std::filesystem::exists(file)) launches = nlohmann::json::parse(read_text(file)).at("launches").size();
  }
  Folder folder;
  Output output;
  std::optional<std::size_t> launches; ///< empty: no report
};

TEST(ExecEnds, AThreadExits) {
  for (const char* how : {"first-thread", "quick_exit"}) {
    const Ending run({how});
    EXPECT_EQ(run.output.status, kStatus) << how << run.output.err;
    EXPECT_EQ(run.launches, 1u) << how;
  }
  const Ending waiting({"thread-exit"}); // its kernel ends as a deadlock, which the report has, too
  EXPECT_EQ(waiting.output.status, kStatus) << waiting.output.err;
  EXPECT_EQ(waiting.launches, 2u);
  EXPECT_EQ(Ending({"thread-_exit"}).output.status, kStatus);
}

TEST(ExecEnds, SignalsThatUsersSendLeaveAReport) {
  for (const int signal : {SIGHUP, SIGINT, SIGPIPE, SIGTERM}) {
    std::signal(signal, SIG_DFL); // programs inherit what nohup and a shell's & ignore
    const auto begin = std::chrono::steady_clock::now();
    const Ending run({"signal", std::to_string(signal)});
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(4)) << signal;
    EXPECT_EQ(run.output.status, 128 + signal) << run.output.err;
    EXPECT_EQ(run.launches, 1u) << signal;
    EXPECT_NE(run.output.err.find("warplens: the program is ended: "), run.output.err.npos) << run.output.err;
  }
}

TEST(ExecEnds, OtherSignalsAndFaultsPassThrough) {
  for (const int signal : {SIGKILL, SIGUSR1, SIGALRM})
    EXPECT_EQ(Ending({"signal", std::to_string(signal)}).output.status, 128 + signal);
  EXPECT_EQ(Ending({"crash"}).output.status, 128 + SIGSEGV);
  const Ending run({"terminate"});
  EXPECT_EQ(run.output.status, 128 + SIGABRT);
  EXPECT_EQ(run.launches, 1u);
}

// The program runs as a child then.
TEST(ExecEnds, ConditionsOfAReportChangeNoSignal) {
  const Output o = run_program({"exec", "--fail-on", "warnings > 1000", "--", WARPLENS_ENDS, "signal", "15"});
  EXPECT_EQ(o.status, 128 + SIGTERM) << o.err;
}

TEST(ExecEnds, BecomesAnotherProgram) {
  EXPECT_EQ(Ending({"exec", "sh", "-c", "exit 9"}).output.status, 9);
  const Ending run({"exec", WARPLENS_ENDS, "quick_exit"});
  EXPECT_EQ(run.output.status, kStatus) << run.output.err;
  EXPECT_EQ(run.launches, 1u); // of the second program
}

TEST(ExecEnds, Daemons) {
  const Folder folder;
  const std::filesystem::path file = folder.path() / "count";
  const Ending run({"daemon", file.string()});
  EXPECT_EQ(run.output.status, 0) << run.output.err;
  constexpr int kTries = 300;
  const auto reported = [&] { // under a name with the number of the process
    for (const auto& entry : std::filesystem::directory_iterator(run.folder.path()))
      if (entry.path().filename().string().rfind("r.json.", 0) == 0 && entry.path().extension() != ".part") return true;
    return false;
  };
  for (int i = 0; i < kTries && !reported(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_TRUE(reported());
  EXPECT_EQ(read_text(file), "1\n");
}

TEST(ExecEnds, ChildrenAndLibrariesComeAndGo) {
  const Ending children({"children"});
  EXPECT_EQ(children.output.status, kStatus) << children.output.err;
  EXPECT_GE(children.launches.value_or(0), 2u);
  for (const char* seed : {"1", "2", "3"}) {
    const Ending run({"libraries", seed});
    EXPECT_EQ(run.output.status, kStatus) << seed << run.output.err;
    EXPECT_GE(run.launches.value_or(0), 20u) << seed;
  }
}

} // namespace exec_ends_test
} // namespace warplens::testing
