// SPDX-License-Identifier: Apache-2.0
// The file of `warplens sweep --results`: it survives kills, full disks and other sweeps, and each run is in it once.
#include "tests/api/kernels.hpp"
#include "tests/tools/program.hpp"

#include <algorithm>
#include <set>
#include <sstream>

namespace warplens::testing {
namespace sweep_results_test {

using Words = std::vector<std::string>;

Words lines_of(const std::string& text) {
  Words lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// A folder with l.toml, a launch of 128 threads, in which scripts of bash run; $W is the program, $S the start of a
/// sweep in two processes.
class SweepResults : public ::testing::Test {
protected:
  SweepResults() {
    (void)folder_.write("k.ptx", api::testing::kScale);
    (void)folder_.write("l.toml", "module = \"k.ptx\"\nkernel = \"scale\"\ngrid = 4\nblock = 32\ndevice = \"gtx480\"\n"
                                  "arg = [{ buffer = \"x\" }, { f32 = 2 }, { u32 = 128 }]\n"
                                  "[buffer.x]\ntype = \"f32\"\ncount = 128\niota = [0, 1]\n");
  }
  [[nodiscard]] Output run(const std::string& script) const {
    const std::string file =
        folder_.write("script", "cd '" + folder_.path().string() +
                                    "'\nW='" WARPLENS_PROGRAM "'\nS=\"$W sweep l.toml --jobs 2\"\n" + script);
    return run_command({"bash", file});
  }
  /// Runs it, and expects this exit status.
  [[nodiscard]] Output expect(int status, const std::string& script) const {
    const Output o = run(script);
    EXPECT_EQ(o.status, status) << script << "\n" << o.err << o.out;
    return o;
  }
  void expect_error(const std::string& script, const std::string& message) const {
    const Output o = expect(2, script);
    EXPECT_NE(o.err.find(message), o.err.npos) << script << "\n" << o.err;
  }
  [[nodiscard]] std::string text(const std::string& name) const { return read_text(folder_.path() / name); }
  /// The digests of the runs, one for each complete line.
  [[nodiscard]] Words runs(const std::string& name) const {
    Words runs;
    for (const std::string& line : lines_of(text(name)))
      if (line.ends_with("\"}") && line.starts_with("{\"run\":\"")) runs.push_back(line.substr(8, 32));
    return runs;
  }
  void expect_each_once(const std::string& name, std::size_t count) const {
    const Words all = runs(name);
    EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), count);
    EXPECT_EQ(all.size(), count) << "a run that was done has been run again";
  }

  Folder folder_;
};

const std::string kMany = "--set arg.1.f32=1..40 --block 32,64 --device gtx480,c1060 "; // 160 configurations

TEST_F(SweepResults, AreNotRunAgain) {
  (void)expect(0, "$S --block 32,64 --results rows");
  const std::string before = text("rows");
  const Output again = expect(0, "$S --block 32,64 --results rows");
  EXPECT_EQ(text("rows"), before);
  EXPECT_EQ(again.out, expect(0, "$S --block 32,64").out);
  (void)expect(0, "$S --block 32,64,128 --resume rows"); // the older name
  EXPECT_EQ(text("rows").substr(0, before.size()), before);
  expect_each_once("rows", 3);
}

TEST_F(SweepResults, BelongToTheirInputsAndOptions) {
  (void)expect(0, "$S --block 32,64 --results rows");
  (void)expect(0, "echo '// changed' >>k.ptx; $S --block 32 --results rows");
  expect_each_once("rows", 3);
  const Output table = expect(0, "$W sweep rows --csv -");
  EXPECT_EQ(lines_of(table.out).size(), 2u) << "only the runs of the module as it is now: " << table.out;
  EXPECT_NE(table.err.find("2 runs of other inputs, options or versions are left out"), table.err.npos) << table.err;
  (void)expect(0, "$S --block 32 --model sim --results rows");
  expect_each_once("rows", 4);
  // Files that values name.
  (void)expect(0, "cp k.ptx a.ptx; cp k.ptx b.ptx; $S --set module=a.ptx,b.ptx --results modules");
  (void)expect(0, "echo '// changed' >>b.ptx; $S --set module=a.ptx,b.ptx --results modules");
  expect_each_once("modules", 3);
  const Output modules = expect(0, "$W sweep modules --csv -");
  EXPECT_EQ(lines_of(modules.out).size(), 3u) << modules.out;
}

TEST_F(SweepResults, OfADamagedLineAreRunAgain) {
  const Output whole = expect(0, "$S --block 32,64,128 --results rows");
  (void)expect(0, "sed -i '2s/\"milliseconds\":0/\"milliseconds\":7/' rows");
  const Output table = expect(0, "$W sweep rows --csv -");
  EXPECT_EQ(lines_of(table.out).size(), 3u) << table.out;
  EXPECT_NE(table.err.find("1 incomplete line is left out"), table.err.npos) << table.err;
  EXPECT_EQ(expect(0, "$S --block 32,64,128 --results rows").out, whole.out);
  EXPECT_EQ(lines_of(text("rows")).size(), 4u);
}

TEST_F(SweepResults, AreReadWhileTheFileGrows) {
  (void)expect(0, "$S --block 32,64 --results rows; head -c -100 rows >torn");
  const Output torn = expect(0, "$W sweep torn --csv - --html torn.html");
  EXPECT_EQ(lines_of(torn.out).size(), 2u) << torn.out;
  EXPECT_EQ(torn.err, "") << "the last line is being written";
  EXPECT_NE(text("torn.html").find("<html"), std::string::npos);
  const Output same = expect(0, "$W compare rows rows");
  EXPECT_EQ(same.out, expect(0, "$S --block 32,64 --json a.json >out; cp a.json rows.json; sed 's/rows.json/rows/g' "
                                "<($W compare rows.json rows.json)")
                          .out);
  const Output less = expect(0, "$W compare torn rows --all");
  EXPECT_NE(less.out.find("only in the second report"), less.out.npos) << less.out;
  expect_error(": >empty; $W sweep empty", "empty");
  expect_error("$W sweep rows l.toml", "is not a table of a sweep");
  expect_error("$W sweep rows --block 32", "--block needs a launch file, not a table");
}

TEST_F(SweepResults, SurviveKillsOfTheSweep) {
  const Output whole = expect(0, "$S " + kMany + "--csv -");
  for (int i = 1; i <= 25; ++i)
    (void)run("timeout -s KILL 0." + std::string(i < 10 ? "0" : "") + std::to_string(i) + " $S " + kMany +
              "--results rows");
  EXPECT_EQ(expect(0, "$S " + kMany + "--results rows --csv -").out, whole.out);
  expect_each_once("rows", 160);
}

// Each of its first two processes is killed: no run is in a process that dies for the second time.
TEST_F(SweepResults, SurviveKillsOfItsProcesses) {
  const Output whole = expect(0, "$S " + kMany + "--csv -");
  const Output o = expect(0, "$S " + kMany +
                                 "--results rows --csv - & sweep=$!\n"
                                 "while kill -0 $sweep && [ \"$(pgrep -c -P $sweep)\" != 2 ]; do :; done\n"
                                 "for one in $(pgrep -P $sweep); do kill -KILL $one; done\nwait $sweep");
  EXPECT_EQ(o.out, whole.out) << o.err;
  EXPECT_NE(o.err.find("its process was killed by signal 9"), o.err.npos) << o.err;
  expect_each_once("rows", 160);
}

// Others do not wait for it, but the sweep does.
TEST_F(SweepResults, WaitForAProcessThatIsSlow) {
  const Output whole = expect(0, "$S " + kMany + "--csv -");
  const Output o = expect(0, "$S " + kMany +
                                 "--results rows --csv - & sweep=$!\n"
                                 "while kill -0 $sweep && [ \"$(pgrep -c -P $sweep)\" != 2 ]; do :; done\n"
                                 "slow=$(pgrep -n -P $sweep); kill -STOP $slow && echo stopped >&2\n"
                                 "sleep 1; kill -0 $sweep && echo waits >&2; kill -CONT $slow; wait $sweep");
  EXPECT_EQ(o.out, whole.out) << o.err;
  EXPECT_NE(o.err.find("stopped"), o.err.npos);
  EXPECT_NE(o.err.find("waits"), o.err.npos);
  expect_each_once("rows", 160);
}

// The system kills processes that take more than a second of processor time.
TEST_F(SweepResults, SayWhichRunsDieEachTime) {
  (void)folder_.write("forever.ptx", api::testing::kForever);
  (void)folder_.write("f.toml", "module = \"forever.ptx\"\nkernel = \"forever\"\ngrid = 1\nblock = 32\n"
                                "arg = [{ buffer = \"x\" }]\n[buffer.x]\ntype = \"u32\"\ncount = 32\nzeros = true\n");
  const std::string sweep = "(ulimit -t 1; $W sweep l.toml f.toml --jobs 2 --max-steps 0 --results rows)";
  for (std::size_t times = 1; times <= 2; ++times) {
    const Output o = expect(1, sweep);
    EXPECT_NE(o.out.find("its process was killed by signal"), o.out.npos) << o.out;
    std::size_t deaths = 0;
    for (const std::string& line : lines_of(o.err))
      deaths += line.find("launch f.toml: its process") != line.npos ? 1 : 0;
    EXPECT_EQ(deaths, 2u) << o.err;
    EXPECT_EQ(lines_of(text("rows")).size(), 1 + times) << "a run that may have a result runs again";
  }
}

TEST_F(SweepResults, AreSharedBySweepsAtTheSameTime) {
  const Output whole = expect(0, "$S " + kMany + "--csv -");
  (void)expect(0, "for i in 1 2 3; do $S " + kMany + "--results rows --csv out$i & all=\"$all $!\"; done\n" +
                      "for p in $all; do wait $p || exit 1; done");
  for (const char* name : {"out1", "out2", "out3"}) EXPECT_EQ(text(name), whole.out);
  expect_each_once("rows", 160);
}

// One of two sweeps is killed: the other one runs what it leaves.
TEST_F(SweepResults, AreCompletedByAnotherSweep) {
  const Output whole = expect(0, "$S " + kMany + "--csv -");
  const Output o = expect(0, "$S " + kMany + "--results rows >/dev/null & first=$!\n$S " + kMany +
                                 "--results rows --csv - & second=$!\nsleep 0.15; kill -KILL $first; wait $second");
  EXPECT_EQ(o.out, whole.out);
  expect_each_once("rows", 160);
}

TEST_F(SweepResults, EndWithAMessageIfTheDiskIsFull) {
  const Output whole = expect(0, "$S " + kMany + "--csv -");
  const std::string sweep = "$S " + kMany + "--results rows --csv -";
  for (const char* blocks : {"1", "7", "100", "500"}) {
    expect_error(std::string("(ulimit -f ") + blocks + "; " + sweep + ")",
                 "--results rows: cannot grow: File too large");
    (void)run("$W sweep rows"); // readable, if there is a complete row
  }
  EXPECT_EQ(expect(0, sweep).out, whole.out);
  expect_each_once("rows", 160);
  expect_error("$S --results /dev/full", "not a regular file");
  expect_error("mkfifo pipe; $S --results pipe", "not a regular file");
  expect_error("$S --results l.toml", "not a table of a sweep");
}

TEST_F(SweepResults, OfShardsAreOneTable) {
  const Output whole = expect(0, "$S " + kMany + "--results all --csv -; $W sweep all --csv sorted >text");
  (void)expect(0, "for i in 1 2 3; do $S " + kMany + "--results rows --shard $i/3; $S " + kMany +
                      "--results own.$i --shard $i/3; done");
  expect_each_once("rows", 160);
  EXPECT_EQ(runs("own.1").size() + runs("own.2").size() + runs("own.3").size(), 160u);
  EXPECT_EQ(expect(0, "$W sweep rows --csv -").out, text("sorted"));
  EXPECT_EQ(expect(0, "$W sweep own.* --csv -").out, text("sorted"));
  EXPECT_EQ(expect(0, "$S " + kMany + "--results rows --csv -").out, whole.out);
  expect_each_once("rows", 160);
}

TEST_F(SweepResults, OfManyConfigurationsWithOneEmulation) {
  const std::string sweep =
      "$W sweep l.toml --registers 1..60 --device gtx480,h200 --csv -"; // more than a process takes
  const Output plain = expect(0, sweep);
  EXPECT_EQ(lines_of(plain.out).size(), 121u);
  EXPECT_EQ(expect(0, sweep + " --results rows").out, plain.out);
  EXPECT_EQ(expect(0, sweep + " --jobs 1").out, plain.out);
  expect_each_once("rows", 120);
}

TEST_F(SweepResults, HaveASummaryIfThereAreMany) {
  const Output o = expect(0, "$S --set arg.1.f32=1..1001 --results rows");
  EXPECT_NE(o.out.find("1001 configurations have been run"), o.out.npos) << o.out;
  EXPECT_NE(expect(0, "$S --set arg.1.f32=1..1001 --results rows").out.find("1001 were in the file"), o.out.npos);
  EXPECT_NE(expect(0, "$W sweep rows").out.find("1001 configurations: --csv FILE"), o.out.npos);
  // Peak memory of the sweep itself, in KiB; each of its 6000 rows takes 7 KB.
  const auto peak = [&](const std::string& axis) {
    const Output sampled =
        run("$S " + axis + " --results new >/dev/null & while grep VmHWM /proc/$!/status; do sleep 0.02; done");
    const Words lines = lines_of(sampled.out);
    return lines.empty() ? 0 : std::stoi(lines.back().substr(lines.back().find_first_of("0123456789")));
  };
  const int small = peak("--set arg.1.f32=1..60"), large = peak("--set arg.1.f32=1..60 --set arg.2.u32=1..60");
  EXPECT_GT(small, 0);
  EXPECT_LT(large, small + 4096);
}

TEST_F(SweepResults, RefuseWhatDoesNotFit) {
  expect_error("$S --shard 1/2", "--shard needs --results FILE");
  for (const char* shard : {"0/2", "3/2", "1", "1/", "/2", "a/b", "1/2x", "-1/2"})
    expect_error(std::string("$S --results rows --shard ") + shard, "expected I/N");
  expect_error("$S --results rows --shard 1/2 --csv t", "--shard does not have the whole table");
  expect_error("$S --results rows --resume rows", "the same option");
  expect_error("$S --results rows --shards 2", "--shards needs --submit");
  expect_error("$S --results rows --submit nowhere", "there is no such template");
  expect_error("$S --submit local", "--submit needs --results FILE");
  expect_error("echo true >own.sh; $S --results rows --submit own.sh", "does not say how to start it");
}

TEST_F(SweepResults, AreSubmittedAsProcesses) {
  const Output whole = expect(0, "$S " + kMany + "--results all; $W sweep all --csv -");
  (void)expect(0, "$S " + kMany + "--results 'the rows' --submit local --shards 3");
  EXPECT_EQ(expect(0, "$W sweep 'the rows' --csv -").out, expect(0, "$W sweep all --csv -").out);
  expect_each_once("the rows", 160);
}

// The stand-in for sbatch reads the array as Slurm does, and starts a task for each number with its variable.
TEST_F(SweepResults, AreSubmittedToSlurm) {
  const Output dry = expect(0, "$S " + kMany + "--results rows --submit slurm --shards 3 --dry-run");
  EXPECT_NE(dry.out.find("To start it: sbatch "), dry.out.npos) << dry.out;
  EXPECT_EQ(runs("rows").size(), 0u);
  const Output missing = expect(1, "$S " + kMany + "--results rows --submit slurm");
  EXPECT_NE(missing.err.find("failed with exit status 127"), missing.err.npos) << missing.err;
  (void)folder_.write("sbatch", "#!/bin/bash\nlast=$(sed -n 's/^#SBATCH --array=1-//p' \"$1\")\n"
                                "for i in $(seq \"$last\"); do SLURM_ARRAY_TASK_ID=$i sh \"$1\" || exit 1; done\n"
                                "echo Submitted batch job 17\n");
  const Output o =
      expect(0, "chmod +x sbatch; PATH=$PWD:$PATH; $S " + kMany + "--results rows --submit slurm --shards 3");
  EXPECT_NE(o.out.find("Submitted batch job 17"), o.out.npos) << o.out;
  expect_each_once("rows", 160);
}

} // namespace sweep_results_test
} // namespace warplens::testing
