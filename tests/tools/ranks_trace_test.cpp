// SPDX-License-Identifier: Apache-2.0
// `mpirun -n N warplens run … --trace` records what one process records, in a file of each rank.
#include "tests/tools/ranks.hpp"

namespace warplens::testing {
namespace ranks_trace_test {

const std::string kSamples = WARPLENS_SOURCE_DIR "/samples/", kGolden = WARPLENS_SOURCE_DIR "/tests/golden/";

class TraceOfRanks : public RanksTest {
protected:
  void SetUp() override {
    RanksTest::SetUp();
    if (run_program({"analyze", "--help"}).status != 0) GTEST_SKIP() << "built without traces";
  }

  [[nodiscard]] std::string file(const std::string& name) const { return (folder_.path() / name).string(); }
  /// The files whose names begin like this.
  [[nodiscard]] std::vector<std::string> files(const std::string& beginning) const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
      if (const std::string name = entry.path().filename().string(); name.starts_with(beginning)) names.push_back(name);
    std::sort(names.begin(), names.end());
    return names;
  }

  /// What the commands of traces say of a trace; what analyze says, also by three ranks.
  std::string said_of(const std::string& trace, bool with_events = true) {
    std::string text;
    const auto say = [&](const std::vector<std::string>& command, bool over_ranks) {
      const Output one = run_program(command);
      const std::string report = command.front() == "analyze" ? read_text(file("report")) : "";
      text += std::to_string(one.status) + one.out + one.err + report;
      if (!over_ranks) return;
      const Output many = over(3, command);
      EXPECT_EQ(one.out, many.out);
      EXPECT_NE(many.err.find(one.err), std::string::npos) << many.err; // the launcher tells of a status
      EXPECT_EQ(report, read_text(file("report")));
    };
    say({"analyze", trace, "--json", file("report")}, true);
    say({"analyze", trace, "--analyzers", "all", "--device", "a100", "--per-block", "--json", file("report")}, false);
    if (with_events) say({"inspect", trace, "--format", "jsonl"}, false);
    for (std::size_t at = 0; (at = text.find(trace, at)) != text.npos;) text.replace(at, trace.size(), "TRACE");
    return text;
  }

  /// Records by one process and by so many ranks; expects the same output, and traces that say the same.
  void compare_traces(const std::vector<int>& counts, const std::vector<std::string>& run,
                      const std::string& alone_because = "", bool with_events = true) {
    const Output one = run_program(joined(run, {"--trace", file("one.h5")}));
    const std::string expected = said_of(file("one.h5"), with_events);
    EXPECT_GT(expected.size(), 200u);
    for (const int ranks : counts) {
      const Output many = over(ranks, joined(run, {"--trace", file("t.h5")}));
      EXPECT_EQ(one.status, many.status) << many.err;
      EXPECT_EQ(one.out, many.out) << ranks;
      EXPECT_NE(many.err.find(alone_because), std::string::npos) << many.err;
      if (alone_because.empty()) {
        EXPECT_EQ(many.err, one.err);
      }
      std::vector<std::string> names = {"t.h5"};
      for (int rank = 0; ranks > 1 && rank < ranks; ++rank) names.push_back("t.rank" + std::to_string(rank) + ".h5");
      EXPECT_EQ(files("t."), names);
      EXPECT_EQ(expected, said_of(file("t.h5"), with_events)) << ranks << " ranks";
      for (const std::string& name : names) std::filesystem::remove(file(name));
    }
  }
  /// The same with `k(.param .u64 x)` on 64 blocks of 32 threads; %r1 is the thread of the grid, %rd2 its word of x.
  void compare_kernel(const std::string& body, const std::string& said, bool with_events = true) {
    const std::string text =
        ".version 8.3\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 x)\n{\n"
        ".reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .pred %p<9>; .reg .f32 %f<9>;\n"
        "ld.param.u64 %rd1, [x]; mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; mad.lo.u32 %r1, %r3, 32, %r2;\n"
        "mul.wide.u32 %rd2, %r1, 4; add.u64 %rd2, %rd2, %rd1;\n" +
        body + "\nret;\n}\n";
    compare_traces({3},
                   {"run", folder_.write("k.ptx", text), "--kernel", "k", "--grid", "64", "--block", "32", "--arg",
                    "x:u32[2048]=iota", "--threads", "1"},
                   said, with_events);
  }
  /// A trace of three ranks, t.h5.
  void record() {
    ASSERT_EQ(over(3, {"run", kSamples + "transpose", "--no-analyze", "--trace", file("t.h5")}).status, 0);
    ASSERT_EQ(run_program({"analyze", file("t.h5")}).status, 0);
  }
  /// Expects an error with this text, once, from one process and from two.
  void expect_error(const std::string& text) {
    for (const int ranks : {1, 2})
      for (const char* const command : {"analyze", "inspect"}) {
        if (ranks > 1 && command == std::string("inspect")) continue;
        const Output o = ranks == 1 ? run_program({command, file("t.h5")}) : over(ranks, {command, file("t.h5")});
        EXPECT_EQ(o.status, 2) << o.err;
        EXPECT_EQ(o.out, "") << text;
        const std::size_t first = o.err.find("error:");
        EXPECT_NE(o.err.find(text), std::string::npos) << o.err;
        EXPECT_EQ(o.err.find("error:", first + 1), std::string::npos) << o.err;
      }
  }

  Folder folder_;
};

TEST_F(TraceOfRanks, IsThatOfOneProcess) {
  compare_traces({1, 2, 3, 8}, {"run", kSamples + "transpose"});
  compare_traces({3}, {"run", kSamples + "cluster_histogram", "--no-analyze"});
  compare_traces({2}, {"run", kSamples + "linear_algebra/small.toml"}); // many launches
}

TEST_F(TraceOfRanks, KeepsWhatFiltersName) {
  compare_traces({3}, {"run", kSamples + "transpose", "--trace-blocks", "3-40", "--trace-every", "2"});
  compare_traces({2}, {"run", kSamples + "transpose", "--trace-kernel", "none_such"});
}

TEST_F(TraceOfRanks, HasTheTotalsOfAll) { // of copies that a trace has only in total
  compare_traces({3}, {"run", kSamples + "async_copy"});
}

TEST_F(TraceOfRanks, ForgetsWhatRanInVain) {
  compare_kernel("st.global.u32 [%rd1], %r3;", "one rank runs k: blocks write different values to one place");
  compare_kernel("atom.global.add.u32 %r4, [%rd1], 1; st.global.u32 [%rd2], %r4;", "one rank runs k: its blocks use");
}

TEST_F(TraceOfRanks, HasBlocksThatAllocateOnce) {
  compare_traces({3}, {"run", kGolden + "malloc.ptx", "--kernel", "k", "--grid", "8", "--block", "64", "--arg",
                       "x:u32[512]=zeros"});
}

TEST_F(TraceOfRanks, HasATrap) {
  compare_kernel("setp.lt.u32 %p1, %r3, 41; @%p1 bra END; mul.wide.u32 %rd3, %r3, 1000000; add.u64 %rd1, %rd1, %rd3;"
                 "st.global.u32 [%rd1], 1; END:",
                 "invalid __global__ write", false); // other blocks run on, also in other threads
}

TEST_F(TraceOfRanks, MayComeFromMpi) {
  setenv("WARPLENS_RANKS_BY", "mpi", 1);
  compare_traces({3}, {"run", kSamples + "transpose"});
  unsetenv("WARPLENS_RANKS_BY");
}

TEST_F(TraceOfRanks, MayBeMoved) {
  record();
  const std::string before = said_of(file("t.h5"));
  std::filesystem::create_directory(file("elsewhere"));
  for (const std::string& name : files("t.")) std::filesystem::rename(file(name), file("elsewhere/" + name));
  std::filesystem::create_symlink(file("elsewhere/t.h5"), file("t.h5"));
  EXPECT_EQ(said_of(file("t.h5")), before);
}

TEST_F(TraceOfRanks, NeedsTheFilesOfAll) {
  record();
  for (const char* const part : {"t.rank0.h5", "t.rank2.h5"}) {
    std::filesystem::rename(file(part), file("kept"));
    expect_error(std::string(part) + "', which is a part of the trace");
    std::filesystem::create_directory(file(part));
    expect_error(std::string(part) + "', which is a part of the trace");
    std::filesystem::remove(file(part));
    std::filesystem::rename(file("kept"), file(part));
  }
  EXPECT_EQ(run_program({"analyze", file("t.h5")}).status, 0);
}

TEST_F(TraceOfRanks, NeedsWholeFiles) {
  record();
  const std::string text = read_text(file("t.rank1.h5"));
  for (const std::size_t size : {std::size_t{0}, std::size_t{100}, text.size() / 2, text.size() - 1}) {
    std::filesystem::resize_file(file("t.rank1.h5"), size);
    expect_error("t.rank1.h5', which is a part of the trace");
    (void)folder_.write("t.rank1.h5", text);
  }
  // Damage somewhere is an error that names a file, or makes no difference.
  const std::string before = run_program({"analyze", file("t.h5")}).out;
  std::size_t found = 0;
  for (std::size_t at = 0; at + 200 < text.size(); at += text.size() / 24) {
    std::string changed = text;
    for (std::size_t i = 0; i < 200; ++i) changed[at + i] = static_cast<char>(changed[at + i] ^ 0x5a);
    (void)folder_.write("t.rank1.h5", changed);
    const Output o = run_program({"analyze", file("t.h5")});
    if (o.status == 0) {
      EXPECT_EQ(o.out, before) << at;
      continue;
    }
    ++found;
    EXPECT_EQ(o.status, 2) << at << o.err;
    EXPECT_NE(o.err.find(".h5'"), std::string::npos) << at << o.err;
  }
  EXPECT_GT(found, 0u);
}

TEST_F(TraceOfRanks, NeedsFilesOfOneRun) {
  record();
  std::filesystem::copy_file(file("t.rank1.h5"), file("older"));
  record();
  std::filesystem::rename(file("older"), file("t.rank1.h5"));
  expect_error("it is of another run");
  // A whole trace is none of the parts, and a part of a rank says that it is one.
  std::filesystem::rename(file("t.rank1.h5"), file("t.h5"));
  EXPECT_NE(run_program({"analyze", file("t.h5")}).out.find("only what one rank recorded"), std::string::npos);
}

/// A launch that stores to memory for hours, but not so often that the trace grows faster than it can be read.
std::vector<std::string> storing_launch(const Folder& folder) {
  std::string work;
  for (int i = 0; i < 200; ++i) work += "mad.lo.u32 %r3, %r3, 5, %r1;\n";
  const std::string text =
      ".version 8.3\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 x)\n{\n.reg .b32 %r<9>;\n"
      ".reg .b64 %rd<4>; .reg .pred %p1;\nld.param.u64 %rd1, [x]; mov.u32 %r2, %ctaid.x; mul.wide.u32 %rd2, %r2, 4;\n"
      "add.u64 %rd1, %rd1, %rd2; mov.u32 %r1, 0; mov.u32 %r3, 1;\nL: st.global.u32 [%rd1], %r3;\n" +
      work + "add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 2000000000; @%p1 bra L;\nret;\n}\n";
  return {"run",   folder.write("k.ptx", text), "--kernel",     "k",           "--grid",      "64", "--block", "32",
          "--arg", "x:u32[64]=zeros",           "--no-analyze", "--max-steps", "300000000000"};
}

/// Words of the shell: waits until both ranks have written some blocks. In the environment of a rank, `analyze` would
/// be one, too.
std::string until_written(const Folder& folder) {
  return "for turn in $(seq 600); do\n  sleep 0.1\n  for rank in 0 1; do\n    env -i '" WARPLENS_PROGRAM "' analyze '" +
         folder.path().string() + "'/t.rank$rank.*.part 2>&1 | grep -q accesses || continue 2\n  done\n  break\ndone\n";
}

/// Which parts can be analysed: a script, in whose folder they are. `said` is what is said of the others.
const char* const kAnalyzeParts =
    "for part in t.rank*.part; do\n'" WARPLENS_PROGRAM
    "' analyze $part >$part.out 2>&1 && grep -q 'only what one rank recorded' $part.out && "
    "grep -q 'accesses' $part.out && echo $part >>readable || cat $part.out >>said\ndone\n";

TEST_F(TraceOfRanks, IsNotThereIfARankDies) {
  if (!forks()) GTEST_SKIP() << "only the ranks of OpenMPI know that they are on one machine";
  (void)folder_.write("t.h5", "an older file");
  const std::string script = with_child(folder_, until_written(folder_) + "kill -9 $child");
  const Output o = run_command(joined(joined({WARPLENS_MPIEXEC, "-n", "2", "/bin/sh", script}, storing_launch(folder_)),
                                      {"--trace", file("t.h5")}));
  EXPECT_NE(o.status, 0);
  EXPECT_NE(o.err.find("rank 1 of 2 has ended: signal 9"), std::string::npos) << o.err;
  EXPECT_EQ(read_text(file("t.h5")), "an older file");
  EXPECT_EQ(files("t.rank").size(), 2u);
  const std::string analyze = folder_.write("analyze.sh", "cd '" + folder_.path().string() + "'\n" + kAnalyzeParts);
  EXPECT_EQ(run_command({"/bin/sh", analyze}).status, 0);
  EXPECT_NE(read_text(file("readable")).find("t.rank0.h5"), std::string::npos) << read_text(file("said"));
  EXPECT_NE(read_text(file("readable")).find("t.rank1.h5"), std::string::npos) << read_text(file("said"));
}

TEST_F(TraceOfRanks, CanBeReadPieceByPieceMeanwhile) {
  const std::string script =
      folder_.write("run.sh", "cd '" + folder_.path().string() + "'\n\"$@\" &\n" + until_written(folder_) +
                                  kAnalyzeParts + kAnalyzeParts + kAnalyzeParts + "kill $!\nwait $!\n");
  static_cast<void>(run_command(
      joined(joined({"/bin/sh", script, WARPLENS_MPIEXEC, "-n", "2", WARPLENS_PROGRAM}, storing_launch(folder_)),
             {"--trace", file("t.h5")})));
  EXPECT_FALSE(std::filesystem::exists(file("t.h5")));
  EXPECT_NE(read_text(file("readable")).find("t.rank0.h5"), std::string::npos) << read_text(file("said"));
  EXPECT_NE(read_text(file("readable")).find("t.rank1.h5"), std::string::npos) << read_text(file("said"));
  EXPECT_EQ(read_text(file("said")), "");
}

TEST_F(TraceOfRanks, TellsOnceThatTheDiskIsFull) {
  if (!forks()) GTEST_SKIP() << "MPICH itself needs large files";
  const std::string text =
      ".version 8.3\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 x, .param .u32 n)\n{\n"
      ".reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p1;\n"
      "ld.param.u64 %rd1, [x]; ld.param.u32 %r3, [n]; mov.u32 %r2, %tid.x; mov.u32 %r1, 0;\n"
      "L: mad.lo.u32 %r2, %r2, 1664525, 1013904223; shr.u32 %r4, %r2, 8; and.b32 %r4, %r4, 4092;\n"
      "cvt.u64.u32 %rd2, %r4; add.u64 %rd2, %rd1, %rd2; ld.global.u32 %r5, [%rd2]; add.u32 %r1, %r1, 1;\n"
      "setp.lt.u32 %p1, %r1, %r3; @%p1 bra L;\nret;\n}\n";
  struct Case {
    const char *kilobytes, *rounds, *file;
  };
  // When the files are made, at the end of the launch, in the middle, and for the file that joins the others.
  for (const auto& [kilobytes, rounds, full] : {Case{"10", "1", "t.rank0.h5"},
                                                {"30", "100", "t.rank0.h5"},
                                                {"400", "3000", "t.rank0.h5"},
                                                {"17", "1", "t.h5"}}) {
    for (const std::string& name : files("t.")) std::filesystem::remove(file(name));
    const std::string script =
        folder_.write("one.sh", "ulimit -f " + std::string(kilobytes) + "\nexec '" WARPLENS_PROGRAM "' \"$@\"\n");
    const Output o = run_command({WARPLENS_MPIEXEC,
                                  "-n",
                                  "3",
                                  "/bin/bash",
                                  script,
                                  "run",
                                  folder_.write("k.ptx", text),
                                  "--kernel",
                                  "k",
                                  "--grid",
                                  "64",
                                  "--block",
                                  "32",
                                  "--arg",
                                  "x:u32[1024]=zeros",
                                  "--arg",
                                  "u32=" + std::string(rounds),
                                  "--no-analyze",
                                  "--trace",
                                  file("t.h5")});
    EXPECT_EQ(o.status, 2) << o.err;
    EXPECT_EQ(o.out, "");
    const std::size_t first = o.err.find("cannot write");
    ASSERT_NE(first, o.err.npos) << o.err;
    EXPECT_NE(o.err.find(full, first), o.err.npos) << kilobytes << o.err;
    EXPECT_EQ(o.err.find("cannot write", first + 1), o.err.npos) << o.err;
    EXPECT_FALSE(std::filesystem::exists(file("t.h5")));
    for (const std::string& name : files("t.rank")) EXPECT_TRUE(name.ends_with(".part")) << name;
  }
}

TEST_F(TraceOfRanks, TellsOnceThatOneFileCannotBeWritten) {
  std::filesystem::create_directory(file("t.rank1.h5"));
  const Output o = over(3, {"run", kSamples + "transpose", "--trace", file("t.h5")});
  EXPECT_EQ(o.status, 2) << o.err;
  EXPECT_EQ(o.out, "");
  const std::size_t first = o.err.find("t.rank1.h5");
  ASSERT_NE(first, o.err.npos) << o.err;
  EXPECT_EQ(o.err.find("t.rank1.h5", first + 1), o.err.npos) << o.err;
  EXPECT_FALSE(std::filesystem::exists(file("t.h5")));
}

} // namespace ranks_trace_test
} // namespace warplens::testing
