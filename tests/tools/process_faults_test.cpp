// SPDX-License-Identifier: Apache-2.0
// What happens to the program itself: killed, interrupted, without disk, files, memory, descriptors, processes or a
// locale. It ends with a message, and what it has written is complete or says that it is not.
#include "tests/api/kernels.hpp"
#include "tests/tools/program.hpp"

#include <nlohmann/json.hpp>

#include <sys/types.h>

#include <chrono>
#include <csignal>
#include <thread>

namespace warplens::testing {
namespace process_faults_test {

using api::testing::kForever;
namespace fs = std::filesystem;

constexpr std::string_view kLaunch = R"(module = "k.ptx"
kernel = "scale"
grid = 40
block = 128
arg = [{ buffer = "x" }, { f32 = 2 }, { u32 = 5120 }]
[buffer.x]
type = "f32"
count = 5120
iota = [0, 1]
)";

constexpr std::string_view kForeverLaunch = R"(module = "forever.ptx"
kernel = "forever"
grid = 40
block = 32
arg = [{ buffer = "x" }]
[buffer.x]
type = "u32"
count = 32
zeros = true
)";

/// A folder with k.ptx, forever.ptx and launch files of both, in which scripts run.
class Scene {
public:
  Scene() {
    (void)folder_.write("k.ptx", api::testing::kScale);
    (void)folder_.write("forever.ptx", kForever);
    (void)folder_.write("l.toml", kLaunch);
    (void)folder_.write("forever.toml", kForeverLaunch);
  }
  /// Runs a script of bash, in which $W is the program and $FOREVER a command that does not end.
  [[nodiscard]] Output run(const std::string& script) const {
    const std::string all =
        "cd '" + folder_.path().string() + "'\nW='" WARPLENS_PROGRAM "'\n" +
        "FOREVER=\"$W run forever.ptx --kernel forever --grid 1 --block 32 --max-steps 0 --arg x:u32[32]=zeros\"\n" +
        script;
    const std::string file = folder_.write("script", all);
    const std::string out = (folder_.path() / "out").string(), err = (folder_.path() / "err").string();
    const int status = std::system(("bash '" + file + "' >'" + out + "' 2>'" + err + "' </dev/null").c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read_text(out), read_text(err)};
  }
  [[nodiscard]] std::string text(const std::string& name) const { return read_text(folder_.path() / name); }
  void write(const std::string& name, std::string_view content) const { (void)folder_.write(name, content); }
  [[nodiscard]] bool has(const std::string& name) const { return fs::exists(folder_.path() / name); }
  [[nodiscard]] std::size_t unfinished() const {
    std::size_t count = 0;
    for (const auto& entry : fs::directory_iterator(folder_.path()))
      count += entry.path().extension() == ".part" ? 1 : 0;
    return count;
  }

private:
  Folder folder_;
};

constexpr const char* kSweep = "$W sweep l.toml --block 32,64,96,128 --jobs 2 --resume rows";

TEST(ProcessFaults, ASweepTellsWhyItsFileCannotGrow) {
  const Scene scene;
  const Output o = scene.run(std::string("(ulimit -f 4; ") + kSweep + ")");
  EXPECT_EQ(o.status, 2);
  EXPECT_NE(o.err.find("File too large"), o.err.npos) << o.err;
  const Output resumed = scene.run(kSweep); // what is there is complete, and the rest can follow
  EXPECT_EQ(resumed.status, 0) << resumed.err;
}

TEST(ProcessFaults, ASweepResumesWhereverItsFileWasCut) {
  const Scene scene;
  const Output whole = scene.run(kSweep);
  ASSERT_EQ(whole.status, 0) << whole.err;
  const std::string rows = scene.text("rows");
  const std::size_t first = rows.find('\n') + 1;
  for (const std::size_t size :
       {std::size_t{1}, std::size_t{12}, first / 2, first - 1, first, first + 10, rows.size() - 1}) {
    scene.write("rows", rows.substr(0, size));
    const Output resumed = scene.run(kSweep);
    EXPECT_EQ(resumed.status, 0) << resumed.err;
    EXPECT_EQ(resumed.out, whole.out) << "cut after " << size;
  }
  scene.write("rows", "notes"); // no table that was cut
  EXPECT_EQ(scene.run(kSweep).status, 2);
  EXPECT_EQ(scene.text("rows"), "notes");
}

TEST(ProcessFaults, AKilledSweepResumes) {
  const Scene scene;
  const Output whole = scene.run(std::string(kSweep) + "; rm rows");
  for (int i = 1; i <= 6; ++i) (void)scene.run(std::string("timeout -s KILL 0.0") + std::to_string(i) + " " + kSweep);
  const Output resumed = scene.run(kSweep);
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_EQ(resumed.out, whole.out);
}

TEST(ProcessFaults, AKilledTraceIsReadable) {
  const Scene scene;
  Output inspected;
  for (double seconds = 0.3; inspected.status != 0 && seconds < 30; seconds *= 2) { // until it has accesses
    (void)scene.run("rm -f *.part; timeout -s KILL " + std::to_string(seconds) +
                    " $FOREVER --trace t.h5 --trace-lines 7 --json r.json");
    EXPECT_FALSE(scene.has("t.h5"));
    EXPECT_FALSE(scene.has("r.json"));
    inspected = scene.run("$W inspect t.h5.*.part --limit 1");
  }
  EXPECT_EQ(inspected.status, 0) << inspected.err;
  for (int i = 1; i <= 9; ++i) { // also while it begins
    (void)scene.run("rm -f *.part; timeout -s KILL 0.0" + std::to_string(i) + " $W run l.toml --trace t.h5");
    const Output o = scene.run("ls *.part >/dev/null 2>&1 || exit 0; $W analyze *.part");
    EXPECT_LE(o.status, 2) << o.err;
    EXPECT_EQ(o.err.find("internal error"), o.err.npos) << o.err;
  }
}

// A part of a trace can be analysed while its run goes on.
TEST(ProcessFaults, AGrowingTraceIsAnalysed) {
  const Scene scene;
  const Output o = scene.run("$FOREVER --trace t.h5 --trace-lines 7 & run=$!\n"
                             "for i in $(seq 300); do\n"
                             "  sleep 0.1; $W inspect t.h5.*.part --limit 1 >/dev/null 2>&1 && break\ndone\n"
                             "$W analyze t.h5.*.part && kill -0 $run && echo 'runs on'; kill -KILL $run");
  EXPECT_NE(o.out.find("runs on"), o.out.npos) << o.err;
  EXPECT_NE(o.out.find("the run that wrote the trace was interrupted"), o.out.npos) << o.out;
}

TEST(ProcessFaults, SignalsEndARunAtOnce) {
  const Scene scene;
  struct Signal {
    const char* name;
    int number;
  };
  for (const Signal signal : {Signal{"INT", SIGINT}, {"TERM", SIGTERM}, {"HUP", SIGHUP}}) {
    for (const char* command : {"$FOREVER", "$W sweep forever.toml --max-steps 0 --block 32,64 --jobs 2"}) {
      const auto begin = std::chrono::steady_clock::now();
      const Output o =
          scene.run(std::string("timeout --preserve-status --foreground -s ") + signal.name + " 0.6 " + command);
      EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(4)) << signal.name << " " << command;
      EXPECT_EQ(o.status, 128 + signal.number) << command << ": " << o.err;
    }
  }
  EXPECT_EQ(scene.unfinished(), 0u);
}

TEST(ProcessFaults, FullDisk) {
  const Scene scene;
  for (const char* command :
       {"$W run l.toml >/dev/full", "$W run l.toml --json - >/dev/full", "$W list instructions >/dev/full",
        "(ulimit -f 4; $W run l.toml --json r.json)", "(ulimit -f 4; $W run l.toml --trace t.h5)",
        "(ulimit -f 1; $W run l.toml --csv r.csv)"}) {
    const Output o = scene.run(command);
    EXPECT_EQ(o.status, 2) << command;
    EXPECT_NE(o.err.find("cannot write"), o.err.npos) << command << ": " << o.err;
  }
  EXPECT_FALSE(scene.has("r.json"));
  EXPECT_FALSE(scene.has("t.h5"));
  EXPECT_EQ(scene.unfinished(), 0u);
}

// No file of the program takes the number of a closed descriptor and receives the text that was meant for it.
TEST(ProcessFaults, ClosedDescriptors) {
  const Scene scene;
  (void)scene.run("$W run l.toml --json good.json; $W run l.toml --trace good.h5");
  for (const char* closed : {"<&-", ">&-", "2>&-", "<&- >&-", "<&- >&- 2>&-"}) {
    EXPECT_LE(scene.run(std::string("$W run l.toml --json r.json --trace t.h5 ") + closed).status, 2) << closed;
    EXPECT_EQ(scene.text("r.json"), scene.text("good.json")) << closed;
    EXPECT_EQ(scene.run("$W analyze t.h5").out, scene.run("$W analyze good.h5").out) << closed;
    EXPECT_LE(scene.run(std::string("rm -f rows; ") + kSweep + " " + closed).status, 2) << closed;
    EXPECT_EQ(scene.text("rows").substr(0, 8), "{\"run\":\"") << closed;
  }
}

TEST(ProcessFaults, ScarceResourcesLeadToAMessage) {
  const Scene scene;
  for (const char* limit : {"-v 40000", "-v 41000", "-v 60000", "-v 64000", "-v 80000", "-v 150000", "-v 300000",
                            "-n 4", "-n 6", "-n 10", "-s 256"}) {
    for (const char* command :
         {"$W run l.toml", "$W run l.toml --trace t.h5", "$W sweep l.toml --block 32,64 --jobs 2", "$W check k.ptx"}) {
      const Output o = scene.run(std::string("(ulimit ") + limit + "; " + command + ")");
      if (o.err.find("error while loading shared libraries") != o.err.npos) continue;
      EXPECT_TRUE(o.status == 0 || o.status == 1 || o.status == 2)
          << limit << " " << command << ": " << o.status << o.err;
      EXPECT_TRUE(o.status == 0 || !(o.err + o.out).empty()) << limit << " " << command;
    }
  }
}

// Superusers have no limit of processes.
TEST(ProcessFaults, TooFewThreadsLeadToAMessage) {
  if (geteuid() != 0) GTEST_SKIP() << "requires the right to become another user";
  const Scene scene;
  const std::string other = "chmod 755 .; export W; exec setpriv --reuid=64999 --clear-groups ";
  if (scene.run(other + "$W --version").status != 0) GTEST_SKIP() << "other users cannot start the program";
  for (const char* command : {"$W run l.toml --threads 4", "$W sweep l.toml --block 32,64 --jobs 2",
                              "$W exec '" WARPLENS_LAUNCHES "' 1", "$W exec --analyze '" WARPLENS_LAUNCHES "' 1"}) {
    const Output o = scene.run(other + "bash -c \"ulimit -u 1; exec " + command + "\"");
    EXPECT_TRUE(o.status == 1 || o.status == 2) << command << ": " << o.status << o.err;
    EXPECT_NE(o.err.find("cannot start a "), o.err.npos) << command << ": " << o.err;
  }
}

// A reader that has seen enough is no error, and no reason for a message.
TEST(ProcessFaults, ClosedPipes) {
  const Scene scene;
  for (const char* command : {"$W list instructions", "$W run l.toml --json -", "$W run l.toml", "$W explain",
                              "$W sweep l.toml --block 32,64 --jobs 2", "$W list devices"}) {
    const Output o = scene.run(std::string(command) + " | true; exit ${PIPESTATUS[0]}");
    EXPECT_TRUE(o.status == 0 || o.status == 128 + SIGPIPE) << command << ": " << o.status;
    EXPECT_EQ(o.err, "") << command;
  }
  EXPECT_EQ(scene.unfinished(), 0u);
}

// /proc: superusers can write to folders that nobody else can write to.
TEST(ProcessFaults, ReadOnlyFolders) {
  const Scene scene;
  for (const char* command :
       {"$W run l.toml --json /proc/r.json", "$W run l.toml --csv /proc/r.csv", "$W run l.toml --trace /proc/t.h5",
        "$W sweep l.toml --block 32,64 --jobs 2 --resume /proc/rows"}) {
    const Output o = scene.run(command);
    EXPECT_EQ(o.status, 2) << command << ": " << o.err;
    EXPECT_NE(o.err.find("/proc/"), o.err.npos) << command << ": " << o.err;
  }
}

// A clock that jumps by hours, forwards and back.
TEST(ProcessFaults, ClocksJump) {
  const Scene scene;
  const std::string good = scene.run("$W run l.toml --json -").out;
  EXPECT_EQ(scene.run("LD_PRELOAD='" WARPLENS_JUMPING_CLOCK "' $W run l.toml --json -").out, good);
  EXPECT_EQ(
      scene.run("LD_PRELOAD='" WARPLENS_JUMPING_CLOCK "' $W run l.toml --trace t.h5; $W analyze t.h5 --json -").out,
      scene.run("$W run l.toml --trace t.h5; $W analyze t.h5 --json -").out);
  const Output sweep = scene.run(std::string(kSweep) + "; rm rows");
  EXPECT_EQ(scene.run(std::string("LD_PRELOAD='" WARPLENS_JUMPING_CLOCK "' ") + kSweep).out, sweep.out);
  const auto begin = std::chrono::steady_clock::now();
  const Output limited = scene.run("LD_PRELOAD='" WARPLENS_JUMPING_CLOCK "' $FOREVER --time-limit 1");
  EXPECT_EQ(limited.status, 1) << limited.err;
  EXPECT_GT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(900));
  const Output exec =
      scene.run("W='" WARPLENS_PROGRAM "'; $W exec --json r.json env LD_PRELOAD='" WARPLENS_JUMPING_CLOCK
                "' '" WARPLENS_LAUNCHES "' 3");
  EXPECT_EQ(exec.out, "8 8\n") << exec.err;
}

TEST(ProcessFaults, TheLocaleDoesNotMatter) {
  const Scene scene;
  const std::string good = scene.run("$W run l.toml --json -").out;
  for (const char* environment :
       {"env -i", "env LC_ALL=xx_YY.none", "env LC_ALL=de_DE.UTF-8", "env LANG=tr_TR.ISO-8859-9"})
    EXPECT_EQ(scene.run(std::string(environment) + " $W run l.toml --json -").out, good) << environment;
}

TEST(ProcessFaults, ManyProcessesWriteOneFile) {
  const Scene scene;
  const Output o = scene.run("for i in $(seq 30); do $W run l.toml --json r.json --trace t.h5 >/dev/null & done; "
                             "for p in $(jobs -p); do wait $p || exit 1; done");
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_TRUE(nlohmann::json::accept(scene.text("r.json")));
  EXPECT_EQ(scene.run("$W analyze t.h5").status, 0);
  EXPECT_EQ(scene.unfinished(), 0u);
}

} // namespace process_faults_test
} // namespace warplens::testing
