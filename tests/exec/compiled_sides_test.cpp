// SPDX-License-Identifier: Apache-2.0
// Branches around a few instructions and between two sides, and loops that lanes leave one after the other: compiled
// kernels run them under a mask.
#include "tests/exec/compiled_subject.hpp"

#include <random>

namespace warplens::tests {
namespace compiled_sides_test {

using compiled_test::last_explanation;
using compiled_test::Subject;
using compiled_test::words;

// Statements on %r10 to %r17, %rd10 to %rd12 and %p1 to %p4, with branches that nest. Each thread has eight words of
// shared memory (%r9) and of global memory (%rd2, 512 bytes apart); all write the word at %rd1 + 8192 by atomics.
class Sides {
public:
  explicit Sides(unsigned seed, bool loops = false) : random_(seed), loops_(loops) {}

  std::string some(int count, int depth) {
    std::string text;
    for (int i = 0; i < count; ++i) text += next(depth);
    return text;
  }

private:
  unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }
  std::string reg() { return "%r1" + std::to_string(below(8)); }
  std::string wide() { return "%rd1" + std::to_string(below(3)); }
  std::string truth() { return "%p" + std::to_string(1 + below(4)); }
  std::string guard() { return below(5) != 0 ? "" : (below(2) == 0 ? "@" : "@!") + truth() + " "; }

  std::string next(int depth) {
    switch (below(depth > 0 ? 12 : 9)) {
    case 0: return guard() + "mad.lo.u32 " + reg() + ", " + reg() + ", 2654435, " + reg() + ";\n";
    case 1: return guard() + "setp.lt.u32 " + truth() + ", " + reg() + ", " + reg() + ";\n";
    case 2: return guard() + "st.shared.u32 [%r9+" + word(4) + "], " + reg() + ";\n";
    case 3: return guard() + "ld.shared.u32 " + reg() + ", [%r9+" + word(4) + "];\n";
    case 4: return guard() + "st.global.u32 [%rd2+" + word(512) + "], " + reg() + ";\n";
    case 5: return guard() + "ld.global.u32 " + reg() + ", [%rd2+" + word(512) + "];\n";
    case 6: return guard() + "mad.wide.u32 " + wide() + ", " + reg() + ", " + reg() + ", " + wide() + ";\n";
    case 7: return guard() + "cvt.u32.u64 " + reg() + ", " + wide() + ";\n";
    case 8: return special();
    default: return loops_ && below(3) != 0 ? looped(depth) : branched(depth);
    }
  }
  std::string word(unsigned distance) { return std::to_string(distance * below(8)); }
  std::string special() {
    switch (below(5)) {
    case 0: return "mov.u32 " + reg() + ", " + std::to_string(below(99)) + ";\n"; // the same for all lanes
    case 1: return "add.u32 " + reg() + ", %r1, " + std::to_string(below(99)) + ";\n";
    case 2: return "ld.global.u32 " + reg() + ", [%rd1+" + word(4) + "];\n";
    case 3: return "red.global.add.u32 [%rd1+8192], " + reg() + ";\n";
    default: return "st.shared.u32 [%r8], " + reg() + "; ld.shared.u32 " + reg() + ", [%r8];\n";
    }
  }
  // With one side; with two, of which the one that jumps comes last, or, as nvcc arranges them, first.
  std::string branched(int depth) {
    const std::string n = std::to_string(labels_++),
                      branch = (below(2) == 0 ? "@" : "@!") + truth() + " bra S" + n + ";\n";
    const auto side = [&] { return some(1 + static_cast<int>(below(5)), depth - 1); };
    const std::string goes_on = "bra M" + n + ";\n", meeting = "M" + n + ":\n";
    switch (below(3)) {
    case 0: return branch + side() + "S" + n + ":\n";
    case 1: return branch + side() + goes_on + "S" + n + ":\n" + side() + meeting;
    default:
      return branch + "bra.uni T" + n + ";\nS" + n + ":\n" + side() + goes_on + "T" + n + ":\n" + side() + meeting;
    }
  }

  // Lanes leave it one after the other, also in its middle.
  std::string looped(int depth) {
    const std::string n = std::to_string(labels_++), count = "%c" + n, goes_on = "%q" + n;
    const auto leaves = [&] { return below(2) == 0 ? "@" + truth() + " bra E" + n + ";\n" : ""; };
    return ".reg .b32 " + count + "; .reg .pred " + goes_on + "; and.b32 " + count + ", " + reg() + ", 7;\nL" + n +
           ":\n" + some(1 + static_cast<int>(below(4)), depth - 1) + leaves() + some(1, 0) + leaves() + "sub.u32 " +
           count + ", " + count + ", 1; setp.gt.s32 " + goes_on + ", " + count + ", 0;\n@" + goes_on + " bra L" + n +
           ";\nE" + n + ":\n";
  }

  std::mt19937 random_;
  bool loops_;
  int labels_ = 0;
};

// Of one warp, because the order of several would matter.
Subject program(unsigned seed, std::uint32_t threads, int iterations = 30, bool loops = false) {
  Sides sides(seed, loops);
  std::string body = ".shared .align 16 .b8 s[2080]; mov.u32 %r8, s; add.u32 %r8, %r8, 2048; shl.b32 %r9, %r1, 5;\n"
                     "mov.u32 %r18, s; add.u32 %r9, %r9, %r18; mov.u32 %r19, 0;\n",
              end;
  for (int i = 0; i < 8; ++i) {
    const std::string n = std::to_string(i);
    body += "ld.global.u32 %r1" + n + ", [%rd2+" + std::to_string(512 * i) + "]; xor.b32 %r1" + n + ", %r1" + n +
            ", %r1;\nst.shared.u32 [%r9+" + std::to_string(4 * i) + "], %r1" + n + ";\n";
    end += "st.global.u32 [%rd2+" + std::to_string(4096 + 512 * i) + "], %r1" + n + ";\n";
  }
  for (int i = 0; i < 3; ++i) {
    const std::string n = std::to_string(i);
    body += "mul.wide.u32 %rd1" + n + ", %r1" + n + ", 77777;\n";
    end += "cvt.u32.u64 %r18, %rd1" + n + "; st.global.u32 [%rd2+" + std::to_string(8704 + 512 * i) + "], %r18;\n";
  }
  for (int i = 1; i < 5; ++i) {
    const std::string n = std::to_string(i);
    body += "and.b32 %r18, %r1, " + std::to_string(1 << i) + "; setp.ne.u32 %p" + n + ", %r18, 0;\n";
    end += "selp.u32 %r18, 1, 0, %p" + n + "; st.global.u32 [%rd2+" + std::to_string(10240 + 512 * i) + "], %r18;\n";
  }
  body += "LOOP:\n" + sides.some(16, 3) + "add.u32 %r19, %r19, 1; setp.lt.u32 %p6, %r19, " +
          std::to_string(iterations) + "; @%p6 bra LOOP;\n";
  Subject s = words(body + end + "ret;", threads);
  s.grid = {1, 1, 1};
  return s;
}

TEST(CompiledSides, RandomStatements) {
  for (unsigned seed = 1; seed <= 10; ++seed) program(seed, seed % 3 == 0 ? 20 : 32).expect_same();
}

TEST(CompiledSides, Loops) {
  for (unsigned seed = 41; seed <= 50; ++seed) program(seed, seed % 3 == 0 ? 20 : 32, 10, true).expect_same();
  program(51, 32, 300, true).expect_same(); // turns end inside of loops
}

// Rows are in memory from one block of code to the next.
TEST(CompiledSides, OfLargeKernels) {
  exec::set_divided_anyhow(true);
  for (unsigned seed = 21; seed <= 30; ++seed)
    program(seed, seed % 3 == 0 ? 20 : 32, seed < 25 ? 30 : 300).expect_same();
  exec::set_divided_anyhow(false);
}

// Turns of warps end at branches inside of sides.
TEST(CompiledSides, EndsOfTurns) {
  for (unsigned seed = 11; seed <= 12; ++seed) program(seed, 32, 1000).expect_same();
}

// Where a lane traps, and what other lanes have written.
TEST(CompiledSides, Traps) {
  const std::string store = "add.u32 %r12, %r12, 3; st.global.u32 [%rd2+512], %r12;\n",
                    load = "ld.global.u32 %r14, [%rd10]; add.u32 %r12, %r12, %r14;\n";
  for (const std::string& sides :
       {"@!%p1 bra END;\n" + store + load, "@%p1 bra S;\n" + store + "bra END;\nS:\n" + load + store,
        "@!%p1 bra S;\n" + load + "bra END;\nS:\n" + store,
        "@%p1 bra S; bra.uni T;\nS:\n" + store + "bra.uni END;\nT:\n" + load}) {
    Subject s = words("setp.lt.u32 %p1, %r1, 20; mov.u64 %rd10, %rd2; and.b32 %r14, %r1, 15; mul.lo.u32 %r12, %r1, 7;\n"
                      "setp.eq.u32 %p2, %r14, 13;\n"
                      "@%p2 mov.u64 %rd10, 64; add.u32 %r13, %r12, %r1; st.global.u32 [%rd2+1024], %r13;\n" +
                          sides + "END: st.global.u32 [%rd2], %r12; ret;",
                      32);
    s.grid = {1, 1, 1};
    s.expect_same();
    EXPECT_NE(s.run(exec::CompileMode::always, false, nullptr).trap, "");
  }
}

// A side in which lanes wait for others: the interpreter goes on there.
TEST(CompiledSides, WaitingLanes) {
  words("setp.gt.u32 %p1, %r1, 15; mul.lo.u32 %r12, %r1, %r1; add.u32 %r13, %r12, 5; xor.b32 %r14, %r13, %r12;\n"
        "@%p1 bra END; add.u32 %r13, %r13, %r1; shfl.sync.down.b32 %r14, %r13, 1, 31, 0xffffffff;\n"
        "add.u32 %r12, %r12, %r14; add.u32 %r13, %r13, %r12;\nEND: st.global.u32 [%rd2], %r12;\n"
        "st.global.u32 [%rd2+1024], %r13; st.global.u32 [%rd2+2048], %r14; ret;")
      .expect_same();
}

// When the lanes that wait behind a loop go on without the one in it depends on whether that one repeats itself.
TEST(CompiledSides, LanesThatWaitForOtherBlocks) {
  Subject s = words("setp.ne.u32 %p1, %r1, 0; mul.wide.u32 %rd10, %r3, 4; add.u64 %rd10, %rd1, %rd10; @%p1 bra END;\n"
                    "mul.lo.u32 %r10, %r3, 977; rem.u32 %r10, %r10, 1900; add.u32 %r10, %r10, 100; mov.u32 %r12, 8;\n"
                    "W: sub.u32 %r10, %r10, 1; setp.ne.u32 %p3, %r10, 0; @%p3 bra W;\n"
                    "membar.gl; atom.global.add.u32 %r13, [%rd1+4096], 1;\n"
                    "L: ld.volatile.global.u32 %r11, [%rd1+4096]; sub.u32 %r14, %r11, " +
                    std::to_string(std::bit_cast<std::uint32_t>(0.5f + 0.01f * float(1024 % 97))) +
                    "; setp.lt.u32 %p2, %r14, 8; @%p2 bra L;\n"
                    "st.global.u32 [%rd10], %r13;\nEND: bar.sync 0; ret;");
  s.grid = {8, 1, 1};
  s.expect_same();
}

// Lanes that have left a loop wait for those in it, which wait for a lock that one of the former holds.
TEST(CompiledSides, LanesThatWaitForEachOther) {
  Subject s =
      words("mov.u32 %r12, " + std::to_string(std::bit_cast<std::uint32_t>(0.5f + 0.01f * float(1024 % 97))) +
            ";\nL: atom.global.cas.b32 %r11, [%rd1+4096], %r12, 1; setp.ne.u32 %p2, %r11, %r12; @%p2 bra L;\n"
            "ld.volatile.global.u32 %r13, [%rd1+4100]; mad.lo.u32 %r13, %r13, 3, %r1; xor.b32 %r13, %r13, %r12;\n"
            "add.u32 %r13, %r13, 7; st.volatile.global.u32 [%rd1+4100], %r13; membar.gl;\n"
            "atom.global.exch.b32 %r11, [%rd1+4096], %r12; st.global.u32 [%rd2], %r13; ret;");
  s.expect_same();
}

// A call writes the register that one instruction seems to write.
TEST(CompiledSides, ResultsOfCalls) {
  Subject s = words("", 64);
  s.ptx =
      kernel_of("mov.u32 %r10, 0; mov.u32 %r12, 7; mov.u32 %r13, 1; and.b32 %r14, %r1, 3; setp.ne.u32 %p2, %r14, 3;\n"
                "LOOP: @%p2 call (%r12), f, (%r1); mad.lo.u32 %r13, %r13, 5, %r12; xor.b32 %r15, %r13, %r12;\n"
                "add.u32 %r13, %r13, %r15; shl.b32 %r15, %r12, 3; add.u32 %r13, %r13, %r15; add.u32 %r10, %r10, 1;\n"
                "setp.lt.u32 %p1, %r10, 3; @%p1 bra LOOP; st.global.u32 [%rd2], %r13; ret;",
                ".func (.param .b32 r) f(.param .b32 a) { .reg .b32 %r<3>; ld.param.u32 %r1, [a];\n"
                "mul.lo.u32 %r2, %r1, 10; st.param.b32 [r], %r2; ret; }\n");
  s.expect_same();
}

TEST(CompiledSides, OneEntryIsEnough) {
  if (!WARPLENS_HAS_COMPILER) GTEST_SKIP() << "the compiler of kernels is not built";
  const std::string begin = "and.b32 %r10, %r1, 5; setp.eq.u32 %p1, %r10, 1; mov.u32 %r12, 7; add.u32 %r13, %r1, 9;\n",
                    side = "mad.lo.u32 %r12, %r1, 3, %r13; xor.b32 %r13, %r12, 99; st.global.u32 [%rd2+1024], %r13;\n"
                           "add.u32 %r13, %r13, %r12; add.u32 %r12, %r12, 5; xor.b32 %r13, %r13, %r1;\n",
                    other = "xor.b32 %r12, %r1, %r13; st.global.u32 [%rd2+2048], %r12; mul.lo.u32 %r13, %r12, %r12;\n"
                            "add.u32 %r12, %r12, 3; mad.lo.u32 %r13, %r13, %r12, 3; add.u32 %r12, %r12, %r13;\n",
                    end = "END: add.u32 %r12, %r12, %r13; st.global.u32 [%rd2], %r12; ret;";
  for (const std::string& sides :
       {"@%p1 bra END;\n" + side, "@%p1 bra S;\n" + other + "bra END;\nS:\n" + side,
        "@%p1 bra S; bra.uni T;\nS:\n" + side + "bra.uni END;\nT:\n" + other,
        "@%p1 bra S; bra.uni T;\nS:\n setp.gt.u32 %p2, %r1, 5; @%p2 bra V; bra.uni W;\nV:\n" + side +
            "bra.uni X;\nW:\n" + other + "X: bra.uni END;\nT:\n" + other}) {
    words(begin + sides + end).expect_same();
    EXPECT_NE(last_explanation("k").find(": 1 entries, "), std::string::npos) << last_explanation("k");
  }
}

} // namespace compiled_sides_test
} // namespace warplens::tests
