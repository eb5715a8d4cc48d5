// SPDX-License-Identifier: Apache-2.0
// `mpirun -n N warplens run` writes what one process writes. There may be more ranks than processors.
#include "tests/tools/ranks.hpp"

#include <algorithm>
#include <filesystem>

namespace warplens::testing {
namespace ranks_test {

const std::string kSamples = WARPLENS_SOURCE_DIR "/samples/", kGolden = WARPLENS_SOURCE_DIR "/tests/golden/";

class Ranks : public RanksTest {
protected:
  /// Runs `k(.param .u64 x)` on 64 blocks of 32 threads; %r1 is the thread of the grid, %rd2 its word of x.
  static void compare_kernel(const std::string& body, const std::string& said, int ranks = 3,
                             const std::string& most_steps = "1000000") {
    const Folder folder;
    const std::string file = folder.write(
        "k.ptx", ".version 8.3\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 x)\n{\n"
                 ".reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .pred %p<9>; .reg .f32 %f<9>;\n"
                 "ld.param.u64 %rd1, [x]; mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; mad.lo.u32 %r1, %r3, 32, %r2;\n"
                 "mul.wide.u32 %rd2, %r1, 4; add.u64 %rd2, %rd2, %rd1;\n" +
                     body + "\nret;\n}\n");
    compare(ranks,
            {"run", file, "--kernel", "k", "--grid", "64", "--block", "32", "--arg", "x:u32[2048]=iota", "--print",
             "x:2048", "--threads", "1", "--max-steps", most_steps},
            said);
  }
};

TEST_F(Ranks, GiveTheReportOfOneProcess) {
  for (const int ranks : {1, 2, 8}) compare(ranks, {"run", kSamples + "vector_add"});
  for (const char* const sample : {"transpose", "saxpy", "texture_blur"}) compare(3, {"run", kSamples + sample});
  compare(2, {"run", kSamples + "linear_algebra/small.toml"});
  compare(4, {"run", kSamples + "transpose", "--analyzers", "all", "--per-block", "--details", "all"});
}

TEST_F(Ranks, MaySendTheirMemory) { // where the system forbids rank 0 to read it
  setenv("WARPLENS_RANKS_BY", "sockets", 1);
  compare(3, {"run", kSamples + "vector_add"});
  compare(2, {"run", kSamples + "transpose"});
  unsetenv("WARPLENS_RANKS_BY");
}

TEST_F(Ranks, MaySpeakMpi) {
  setenv("WARPLENS_RANKS_BY", "mpi", 1);
  compare(3, {"run", kSamples + "vector_add"});
  compare(2, {"run", kSamples + "transpose"});
  unsetenv("WARPLENS_RANKS_BY");
}

// A watchdog is a thread, so that rank 0 cannot fork the others.
TEST_F(Ranks, HaveLimitsOfTheirOwn) {
  compare(3, {"run", kSamples + "vector_add", "--time-limit", "100", "--max-memory", "4G"});
}

TEST_F(Ranks, ShareTheAnalysisOfATrace) {
  const Folder folder;
  const std::string file = (folder.path() / "t.h5").string(), damaged = (folder.path() / "d.h5").string();
  for (const char* const sample : {"transpose", "cluster_histogram", "linear_algebra/small.toml"}) {
    if (run_program({"run", kSamples + sample, "--trace", file, "--no-analyze"}).err.find("without traces") !=
        std::string::npos)
      GTEST_SKIP() << "built without traces";
    compare(1, {"analyze", file});
    compare(3, {"analyze", file, "--analyzers", "all", "--device", "a100"});
    compare(8, {"analyze", file, "--launch", "0", "--per-block"});
  }
  // Damage that one rank finds, or each.
  const std::string text = read_text(file);
  std::size_t found = 0;
  for (std::size_t at = text.size() / 8; at < text.size() - 4096; at += text.size() / 8) {
    std::string changed = text;
    for (std::size_t i = 0; i < 2000; ++i) changed[at + i] = static_cast<char>(changed[at + i] ^ 0x5a);
    (void)folder.write("d.h5", changed);
    const Output one = run_program({"analyze", damaged}), many = over(3, {"analyze", damaged});
    EXPECT_EQ(many.status, one.status) << at << many.err;
    if (one.status == 0) continue;
    ++found;
    EXPECT_EQ(many.out, "") << at;
    const std::size_t first = many.err.find("error:");
    EXPECT_NE(first, many.err.npos) << at << many.err;
    EXPECT_EQ(many.err.find("error:", first + 1), many.err.npos) << at << many.err;
  }
  EXPECT_GT(found, 0u);
}

TEST_F(Ranks, RunASampleOnOne) {
  for (const char* const sample : {"0.01", "auto"})
    compare(3, {"run", kSamples + "transpose_16", "--sample", sample},
            "the accesses of a sample of its blocks are counted");
}

TEST_F(Ranks, ShareASweep) {
  const Folder folder;
  const std::string rows = (folder.path() / "rows").string();
  const std::vector<std::string> sweep = {
      "sweep", kSamples + "vector_add/launch.toml", "--block", "32..512+32", "--shared", "0,256,512"};
  std::vector<std::string> shared = sweep;
  shared.insert(shared.end(), {"--results", rows});
  const Output one = run_program(sweep), many = over(3, shared);
  EXPECT_EQ(one.status, many.status) << many.err;
  EXPECT_EQ(one.out, many.out);
  const std::string text = read_text(rows);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 48) << "each run once";
  const Output refused = over(2, sweep);
  EXPECT_EQ(refused.status, 2);
  EXPECT_NE(refused.err.find("they share a sweep by --results FILE"), std::string::npos) << refused.err;
}

TEST_F(Ranks, RunWholeClusters) { compare(3, {"run", kSamples + "cluster_histogram"}); }

TEST_F(Ranks, AddUpWhatBlocksReduce) {
  compare_kernel("red.global.add.u32 [%rd1], %r1; red.global.max.u32 [%rd1+4], %r1; red.global.xor.b32 [%rd1+8], %r1;"
                 "red.global.min.s32 [%rd1+12], -3; atom.global.add.u64 %rd3, [%rd1+16], 4294967295;",
                 "");
}

TEST_F(Ranks, MayStoreTheSameValue) { compare_kernel("st.global.u32 [%rd1], 7;", ""); }

TEST_F(Ranks, LeaveDependentBlocksToOne) {
  compare_kernel("atom.global.add.u32 %r4, [%rd1], 1; st.global.u32 [%rd2], %r4;",
                 "one rank runs k: its blocks use results of atomic operations");
  compare_kernel("ld.volatile.global.u32 %r4, [%rd1]; add.u32 %r4, %r4, %r1; st.global.u32 [%rd2], %r4;",
                 "one rank runs k: its blocks use results of atomic operations, or strong loads");
  compare_kernel("mov.f32 %f1, 0f3F800000; red.global.add.f32 [%rd1], %f1;",
                 "one rank runs k: its atomic operations on global memory have other results in another order");
  compare_kernel("st.global.u32 [%rd1], %r3;", "one rank runs k: blocks write different values to one place");
  compare(2,
          {"run", kGolden + "cooperative.ptx", "--kernel", "k", "--grid", "3", "--block", "32", "--cooperative",
           "--arg", "x:u32[3]"},
          "one rank runs k: it is a cooperative launch");
}

TEST_F(Ranks, SeeWhatEarlierLaunchesWrote) {
  const Folder folder;
  static_cast<void>(folder.write("k.ptx", R"(.version 8.3
.target sm_90
.address_size 64
.visible .entry shift(.param .u64 from, .param .u64 to) {
  .reg .b32 %r<9>;
  .reg .b64 %rd<9>;
  ld.param.u64 %rd1, [from];
  ld.param.u64 %rd2, [to];
  mov.u32 %r1, %ctaid.x;
  mad.lo.u32 %r2, %r1, 7, 3;
  rem.u32 %r2, %r2, 1024;
  mul.wide.u32 %rd3, %r2, 4;
  add.u64 %rd3, %rd3, %rd1;
  ld.global.u32 %r3, [%rd3];
  mul.wide.u32 %rd4, %r1, 4;
  add.u64 %rd4, %rd4, %rd2;
  add.u32 %r3, %r3, 1;
  st.global.u32 [%rd4], %r3;
  ret;
}
.visible .entry count(.param .u64 to) {
  .reg .b32 %r<9>;
  .reg .b64 %rd<9>;
  ld.param.u64 %rd1, [to];
  mov.u32 %r1, %ctaid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd2, %rd2, %rd1;
  atom.global.add.u32 %r2, [%rd1], 1;
  st.global.u32 [%rd2+4], %r2;
  ret;
}
)"));
  const std::string launch = "[[launch]]\nmodule = \"k.ptx\"\nkernel = \"shift\"\ngrid = 1024\nblock = 1\n";
  const std::string file =
      folder.write("l.toml", "device = \"h200\"\n" + launch + "arg = [{ buffer = \"a\" }, { buffer = \"b\" }]\n" +
                                 launch + "arg = [{ buffer = \"b\" }, { buffer = \"a\" }]\n" +
                                 "[[launch]]\nmodule = \"k.ptx\"\nkernel = \"count\"\ngrid = 500\nblock = 1\n"
                                 "arg = [{ buffer = \"b\" }]\n" +
                                 launch +
                                 "arg = [{ buffer = \"b\" }, { buffer = \"a\" }]\n"
                                 "[buffer.a]\ntype = \"u32\"\ncount = 1024\niota = [0, 1]\n"
                                 "[buffer.b]\ntype = \"u32\"\ncount = 1024\nzeros = true\n");
  compare(4, {"run", file, "--print", "a:1024", "--print", "b:1024"}, "one rank runs count:");
}

TEST_F(Ranks, ReportTheTrapOfTheLowestBlock) {
  for (const int ranks : {2, 4})
    compare_kernel("setp.lt.u32 %p1, %r3, 41; @%p1 bra END; mul.wide.u32 %rd3, %r3, 1000000; add.u64 %rd1, %rd1, %rd3;"
                   "st.global.u32 [%rd1], 1; END:",
                   "invalid __global__ write", ranks);
}

TEST_F(Ranks, HaveOneLimitOfInstructions) {
  compare_kernel("st.global.u32 [%rd2], 7;", "one rank runs k: it reaches the limit of instructions", 2, "300");
}

TEST_F(Ranks, FailOnce) {
  const Output o = over(3, {"run", kSamples + "vector_add", "--device", "none_such"});
  EXPECT_EQ(o.status, 2) << o.err;
  const std::size_t first = o.err.find("none_such");
  ASSERT_NE(first, std::string::npos) << o.err;
  EXPECT_EQ(o.err.find("error:", o.err.find("error:") + 1), std::string::npos) << o.err;
}

TEST_F(Ranks, EndWhenOneDies) {
  for (const char* const by : {"sockets", "mpi"})
    for (const char* const dies : {"0", "1"}) {
      const Folder folder;
      const std::string script = folder.write("one.sh", "#!/bin/sh\n"
                                                        "rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}\n"
                                                        "[ \"$rank\" = " +
                                                            std::string(dies) +
                                                            " ] && (sleep 1; kill -9 $$) &\n"
                                                            "exec '" WARPLENS_PROGRAM "' \"$@\"\n");
      setenv("WARPLENS_RANKS_BY", by, 1);
      const Output o =
          run_command(joined({WARPLENS_MPIEXEC, "-n", "2", "/bin/sh", script}, long_launch(folder, "2000000000")));
      unsetenv("WARPLENS_RANKS_BY");
      EXPECT_NE(o.status, 0) << by << dies;
      EXPECT_EQ(o.out.find("blocks of 32 threads"), o.out.npos) << by << dies << o.out;
      const std::string all = o.out + o.err; // of MPICH's launcher, which tells it on stdout
      EXPECT_TRUE(all.find("signal 9") != all.npos || all.find("EXIT CODE: 9") != all.npos) << by << dies << all;
    }
}

// Rank 0 has forked it; the launcher does not know it.
TEST_F(Ranks, SayWhichForkedRankDied) {
  if (!forks()) GTEST_SKIP() << "only the ranks of OpenMPI know that they are on one machine";
  const Folder folder;
  const Output o = run_command(joined({WARPLENS_MPIEXEC, "-n", "2", "/bin/sh", with_child(folder, "kill -9 $child")},
                                      long_launch(folder, "2000000000")));
  EXPECT_NE(o.status, 0);
  EXPECT_EQ(o.out, "");
  EXPECT_NE(o.err.find("rank 1 of 2 has ended: signal 9"), std::string::npos) << o.err;
}

TEST_F(Ranks, WaitForASlowOne) {
  if (!forks()) GTEST_SKIP() << "only the ranks of OpenMPI know that they are on one machine";
  const Folder folder;
  const std::vector<std::string> launch = long_launch(folder, "100000");
  const Output one = run_program(launch);
  const Output many =
      run_command(joined({WARPLENS_MPIEXEC, "-n", "3", "/bin/sh",
                          with_child(folder, "kill -STOP $child && echo stopped >&2; sleep 1; kill -CONT $child")},
                         launch));
  EXPECT_EQ(many.status, 0) << many.err;
  EXPECT_EQ(many.out, one.out);
  EXPECT_NE(many.err.find("stopped"), many.err.npos) << many.err;
}

TEST_F(Ranks, SayOnceThatTheDiskIsFull) {
  if (!forks()) GTEST_SKIP() << "MPICH itself needs large files";
  const Folder folder;
  const std::string file = (folder.path() / "r.json").string();
  const std::string script = folder.write("one.sh", "ulimit -f 1\nexec '" WARPLENS_PROGRAM "' \"$@\"\n");
  const Output o =
      run_command({WARPLENS_MPIEXEC, "-n", "3", "/bin/bash", script, "run", kSamples + "vector_add", "--json", file});
  EXPECT_EQ(o.status, 2) << o.err;
  const std::size_t first = o.err.find("cannot write");
  ASSERT_NE(first, o.err.npos) << o.err;
  EXPECT_EQ(o.err.find("cannot write", first + 1), o.err.npos) << o.err;
  EXPECT_FALSE(std::filesystem::exists(file));
}

} // namespace ranks_test
} // namespace warplens::testing
