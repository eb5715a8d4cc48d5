// SPDX-License-Identifier: Apache-2.0
// Accesses past the ends of allocations: which of them stop a kernel, and which succeed if the launch permits them, as
// on an H200 (tests/data/hardware/allocation_ends.jsonl).
#include "tests/exec/kernel_test.hpp"

#include <algorithm>

namespace warplens::tests {
namespace past_ends_test {

struct Outcome {
  std::string trap;
  std::vector<std::string> overruns;
  std::vector<std::uint32_t> words;
};

Outcome run_past(const std::string& body, const std::string& declarations = "", unsigned workers = 1,
                 std::uint32_t blocks = 1, bool past_ends = true) {
  Emulated machine(kernel_of(body, declarations), "test.ptx");
  Emulated::Request request;
  request.kernel = "k";
  request.shape.grid[0] = blocks;
  request.shape.block[0] = 32;
  request.workers = workers;
  request.past_ends = past_ends;
  const std::size_t words = std::size_t{blocks} * 32;
  const std::uint64_t buffer = machine.buffer(std::vector<std::uint32_t>(words, 0));
  request.arguments.push_back({buffer, 8});
  Outcome result;
  result.trap = machine.run(request);
  result.overruns = machine.overruns();
  const auto* const p = reinterpret_cast<const std::uint32_t*>(buffer);
  result.words.assign(p, p + words);
  return result;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(PastEnds, ALoadGivesWhatLiesThere) {
  const Outcome o = run_past("ld.global.u32 %r10, [%rd2+8];\nadd.u32 %r10, %r10, 5; st.global.u32 [%rd2], %r10;\nret;");
  EXPECT_EQ(o.trap, "");
  EXPECT_EQ(o.words, std::vector<std::uint32_t>(32, 5));
  ASSERT_EQ(o.overruns.size(), 1u);
  EXPECT_TRUE(o.overruns[0].starts_with("2 __global__ read of size 4 bytes outside its allocation")) << o.overruns[0];
  EXPECT_TRUE(has(o.overruns[0], "is 0 bytes after allocation 'buffer 0' (128 bytes at 0x")) << o.overruns[0];
  EXPECT_TRUE(has(o.overruns[0], "thread (30,0,0) in block (0,0,0)")) << o.overruns[0];
}

TEST(PastEnds, AStoreIsSeenByALoad) {
  const Outcome o = run_past("add.u64 %rd3, %rd2, 4096; st.global.u32 [%rd3], %r1; ld.global.u32 %r10, [%rd3];\n"
                             "st.global.u32 [%rd2], %r10;\nret;");
  EXPECT_EQ(o.trap, "");
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(o.words[i], i);
  EXPECT_EQ(o.overruns.size(), 2u);
}

TEST(PastEnds, EveryKindOfAccessPasses) {
  for (const char* access :
       {"ld.u32 %r10, [%rd2+1024];", "ld.global.v4.u32 {%r10,%r11,%r12,%r13}, [%rd1+1024];",
        "st.global.v2.u32 [%rd1+1024], {%r10,%r11};", "atom.global.add.u32 %r10, [%rd1+1024], 1;",
        "red.global.add.u32 [%rd1+1024], 1;", "atom.add.u32 %r10, [%rd1+1024], 1;",
        "ld.global.u8 %r10, [%rd1+1048575];",
        "and.b32 %r10, %r1, 5; mul.wide.u32 %rd3, %r10, 68; "
        "add.u64 %rd3, %rd3, %rd1; ld.global.u32 %r10, [%rd3+1024];",
        ".shared .align 16 .b8 s[512]; mov.u32 %r10, s; add.u64 %rd3, %rd1, 1024; cp.async.ca.shared.global [%r10], "
        "[%rd3], 16; cp.async.wait_all;"}) {
    const Outcome passed = run_past(std::string(access) + "\nret;");
    EXPECT_EQ(passed.trap, "") << access;
    EXPECT_EQ(passed.overruns.size(), 1u) << access;
    const Outcome strict = run_past(std::string(access) + "\nret;", "", 1, 1, false);
    EXPECT_TRUE(has(strict.trap, "bytes after allocation 'buffer 0'")) << access << strict.trap;
    EXPECT_TRUE(strict.overruns.empty()) << access;
  }
}

TEST(PastEnds, ABulkCopyPasses) {
  const std::string body = R"(
    .shared .align 128 .b8 s[256];
    .shared .align 8 .b64 bar;
    setp.ne.u32 %p1, %r1, 0; @%p1 bra done;
    mov.u32 %r10, s; mov.u32 %r11, bar;
    mbarrier.init.shared.b64 [%r11], 1;
    mbarrier.arrive.expect_tx.shared.b64 %rd10, [%r11], 256;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r10], [%rd1], 256, [%r11];
    done: ret;)";
  const Outcome passed = run_past(body);
  EXPECT_EQ(passed.trap, "");
  ASSERT_EQ(passed.overruns.size(), 1u);
  EXPECT_TRUE(has(passed.overruns[0], "128 bytes reach past its end")) << passed.overruns[0];
  EXPECT_NE(run_past(body, "", 1, 1, false).trap, "");
}

TEST(PastEnds, NotIntoPagesWithoutAllocations) {
  for (const char* access : {"ld.global.u32 %r10, [%rd1+2097152];", "ld.global.u32 %r10, [%rd1+-4];",
                             "mov.u64 %rd3, 0; ld.global.u32 %r10, [%rd3];",
                             "mov.u64 %rd3, -16; ld.v4.u32 {%r10,%r11,%r12,%r13}, [%rd3];"}) {
    const Outcome o = run_past(std::string(access) + "\nret;");
    EXPECT_TRUE(has(o.trap, "invalid __global__ read")) << access << o.trap;
  }
}

TEST(PastEnds, TheReportIsTheSameForAnyNumberOfThreads) {
  const std::string body = "ld.global.u32 %r10, [%rd2+64];\nst.global.u32 [%rd2+128], %r10;\nret;";
  const Outcome one = run_past(body, "", 1, 300), seven = run_past(body, "", 7, 300);
  EXPECT_EQ(one.trap, "");
  ASSERT_EQ(one.overruns.size(), 2u);
  EXPECT_EQ(one.overruns, seven.overruns);
  EXPECT_TRUE(has(one.overruns[0], "by thread (16,0,0) in block (299,0,0)")) << one.overruns[0];
}

TEST(PastEnds, MisalignedAccessesAreFaultsAllTheSame) {
  EXPECT_TRUE(has(run_past("ld.global.u32 %r10, [%rd1+1026];\nret;").trap, "misaligned"));
}

TEST(Parameters, CannotBeWrittenThroughGenericAddresses) {
  for (const char* access : {"st.u32 [%rd3], 7;", "atom.add.u32 %r10, [%rd3], 7;", "red.add.u32 [%rd3], 7;"})
    for (const bool past_ends : {false, true}) {
      const Outcome o = run_past("mov.u64 %rd3, out; cvta.param.u64 %rd3, %rd3; ld.u64 %rd4, [%rd3];\n" +
                                     std::string(access) + "\nret;",
                                 "", 1, 1, past_ends);
      EXPECT_TRUE(has(o.trap, "offset 0x0 is in the parameters of the kernel, which are read-only"))
          << access << o.trap;
    }
}

TEST(Messages, MakeSenseAtTheEndsOfTheAddressSpace) {
  const std::string high = run_past("mov.u64 %rd3, -16; ld.v4.u32 {%r10,%r11,%r12,%r13}, [%rd3];\nret;").trap;
  EXPECT_TRUE(has(high, "address 0xfffffffffffffff0 is 18446")) << high;
  EXPECT_TRUE(has(high, "bytes after allocation 'buffer 0'")) << high;
  const std::string cluster = run_past(".shared .b32 s; mov.u64 %rd3, 0x01fffffe00000000;\nadd.u64 %rd3, %rd3, "
                                       "0; mov.u32 %r10, 0xff000000; ld.shared.u32 %r11, [%r10];\nret;")
                                  .trap;
  EXPECT_TRUE(has(cluster, "outside the ")) << cluster;
  EXPECT_FALSE(has(cluster, "cluster of 1")) << cluster;
  EXPECT_TRUE(has(cluster, "not in a cluster")) << cluster;
}

} // namespace past_ends_test
} // namespace warplens::tests
