// SPDX-License-Identifier: Apache-2.0
// Shuffles, votes, reductions and barriers of a warp in compiled kernels.
#include "tests/exec/compiled_subject.hpp"

#include <random>

namespace warplens::tests {
namespace compiled_across_test {

using compiled_test::last_explanation;
using compiled_test::Subject;
using compiled_test::words;

// Random statements on %r10 to %r17 and %p1 to %p4. Masks that name lanes which never arrive would end the kernel: all
// lanes act, or those of a predicate with the mask of that predicate.
class Statements {
public:
  Statements(unsigned seed, bool sync) : random_(seed), sync_(sync) {}

  std::string next() {
    switch (below(sync_ ? 8 : 6)) {
    case 0:
    case 1: return shuffle("", "0xffffffff");
    case 2: return vote("", "0xffffffff");
    case 3: return arithmetic();
    case 4: return guarded();
    case 5: return branched();
    case 6: return halves();
    default: return reduction("", "0xffffffff");
    }
  }
  std::string arithmetic() {
    const std::string a = reg(), b = reg();
    return "mad.lo.u32 " + a + ", " + b + ", 2654435, " + reg() + "; setp.lt.u32 " + truth() + ", " + a + ", " + b +
           "; shr.u32 " + reg() + ", " + a + ", 7;\n";
  }

private:
  unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }
  std::string reg() { return "%r1" + std::to_string(below(8)); }
  std::string truth() { return "%p" + std::to_string(1 + below(4)); }
  std::string membermask(const std::string& mask) { return sync_ ? ", " + mask : ""; }

  std::string shuffle(const std::string& guard, const std::string& mask) {
    static constexpr const char* kModes[] = {"up", "down", "bfly", "idx"};
    static constexpr const char* kBounds[] = {"31", "0", "0x181f", "0x1c03", "0x1000", "5"};
    const std::string to = reg() + (below(3) == 0 ? "|" + truth() : "");
    const std::string distance = below(3) == 0 ? reg() : std::to_string(below(34));
    const std::string bounds = below(6) == 0 ? reg() : kBounds[below(6)];
    return guard + "shfl." + (sync_ ? "sync." : "") + kModes[below(4)] + ".b32 " + to + ", " + reg() + ", " + distance +
           ", " + bounds + membermask(mask) + ";\n";
  }
  std::string vote(const std::string& guard, const std::string& mask) {
    static constexpr const char* kModes[] = {"all", "any", "uni"};
    const std::string from = (below(2) == 0 ? "!" : "") + truth(), vote = guard + "vote." + (sync_ ? "sync." : "");
    if (below(2) == 0) return vote + "ballot.b32 " + reg() + ", " + from + membermask(mask) + ";\n";
    return vote + kModes[below(3)] + ".pred " + truth() + ", " + from + membermask(mask) + ";\n";
  }
  std::string reduction(const std::string& guard, const std::string& mask) {
    static constexpr const char* kForms[] = {"add.u32", "add.s32", "min.u32", "min.s32", "max.u32",
                                             "max.s32", "and.b32", "or.b32",  "xor.b32"};
    return guard + "redux.sync." + kForms[below(9)] + " " + reg() + ", " + reg() + ", " + mask + ";\n";
  }
  std::string any(const std::string& guard, const std::string& mask) {
    return sync_ && below(4) == 0 ? reduction(guard, mask) : below(2) == 0 ? shuffle(guard, mask) : vote(guard, mask);
  }
  // The lanes with a predicate act. Their mask is known for a copy of the predicate, which the statement may change.
  std::string guarded() {
    std::string text = "mov.pred %p5, " + truth() + ";\n";
    if (sync_) text += "vote.sync.ballot.b32 %r18, %p5, 0xffffffff;\n";
    return text + any("@%p5 ", "%r18");
  }
  std::string branched() {
    const std::string label = "L" + std::to_string(labels_++);
    std::string text = "mov.pred %p5, " + truth() + ";\n";
    if (sync_) text += "vote.sync.ballot.b32 %r18, %p5, 0xffffffff;\n";
    text += "@!%p5 bra " + label + ";\n";
    for (int i = 0; i < 4; ++i) text += any("", "%r18") + arithmetic();
    text += "activemask.b32 " + reg() + ";\n" + (sync_ ? "bar.warp.sync %r18;\n" : "") + label + ":\n";
    return text + (sync_ ? "bar.warp.sync 0xffffffff;\n" : "");
  }
  // Two groups at one instruction.
  std::string halves() {
    return "and.b32 %r18, %r1, 16; setp.ne.u32 %p5, %r18, 0; selp.b32 %r18, 0xffff0000, 0xffff, %p5;\n" +
           any("", "%r18");
  }

  std::mt19937 random_;
  bool sync_;
  int labels_ = 0;
};

Subject program(unsigned seed, bool sync, std::uint32_t threads) {
  Statements statements(seed, sync);
  std::string body, end;
  for (int i = 0; i < 8; ++i) {
    const std::string n = std::to_string(i);
    body += "ld.global.u32 %r1" + n + ", [%rd2+" + std::to_string(512 * i) + "];\n";
    end += "st.global.u32 [%rd2+" + std::to_string(512 * i) + "], %r1" + n + ";\n";
  }
  for (int i = 1; i < 5; ++i) {
    body += "setp.gt.u32 %p" + std::to_string(i) + ", %r1" + std::to_string(i) + ", %r10;\n" + statements.arithmetic();
    end += "selp.u32 %r18, 1, 0, %p" + std::to_string(i) + "; st.global.u32 [%rd2+" + std::to_string(4096 + 512 * i) +
           "], %r18;\n";
  }
  for (int i = 0; i < 24; ++i) body += statements.next();
  Subject s = words(body + end + "ret;", threads);
  if (sync) return s;
  for (const auto& [from, to] : {std::pair{".version 8.3", ".version 6.0"}, std::pair{"sm_90", "sm_60"}})
    s.ptx.replace(s.ptx.find(from), std::string(from).size(), to);
  return s;
}

TEST(CompiledAcross, RandomStatements) {
  for (unsigned seed = 1; seed <= 6; ++seed)
    for (const bool sync : {true, false}) program(seed, sync, seed % 3 == 0 ? 50 : 64).expect_same();
}

// A warp of few lanes is whole if the others do not exist.
TEST(CompiledAcross, FewLanes) {
  for (const std::uint32_t threads : {16u, 1u}) program(7, true, threads).expect_same();
}

// All of it is compiled: neither the interpreter nor a handler runs a shuffle.
TEST(CompiledAcross, Explained) {
  if (!WARPLENS_HAS_COMPILER) GTEST_SKIP() << "the compiler of kernels is not built";
  words("mov.u32 %r9, 0xffffffff; shfl.sync.down.b32 %r10|%p1, %r1, 8, 31, %r9; vote.sync.ballot.b32 %r11, %p1, %r9;\n"
        "activemask.b32 %r12; redux.sync.add.u32 %r13, %r10, %r9; bar.warp.sync %r9; add.u32 %r10, %r11, %r12;\n"
        "add.u32 %r10, %r10, %r13; st.global.u32 [%rd2], %r10; ret;")
      .expect_same();
  const std::string told = last_explanation("k");
  EXPECT_NE(told.find("0 by their handlers, 1 in the interpreter"), std::string::npos) << told;
}

// Lanes that their mask does not name, or that never arrive: as in the interpreter.
TEST(CompiledAcross, WrongMasks) {
  for (const std::string statement :
       {"shfl.sync.down.b32 %r10, %r1, 1, 31, 0xfffffffe;", "vote.sync.any.pred %p1, %p1, 0x7fffffff;",
        "@%p2 shfl.sync.idx.b32 %r10, %r1, 1, 31, 0xffffffff;", "@%p2 bar.warp.sync 0xffffffff;"}) {
    Subject s = words("setp.lt.u32 %p1, %r1, 7; setp.lt.u32 %p2, %r1, 30; mov.u32 %r10, 3; add.u32 %r11, %r1, 5;\n"
                      "st.global.u32 [%rd2+1024], %r11; mul.lo.u32 %r12, %r11, %r1; xor.b32 %r12, %r12, %r11;\n" +
                          statement + " add.u32 %r10, %r10, %r12; st.global.u32 [%rd2], %r10; ret;",
                      32);
    s.grid = {1, 1, 1};
    s.expect_same();
  }
}

// Lanes that wait for others at an instruction where compiled code begins. The two sides of the branch come back to the
// head of the loop at different times, and at barriers they wait for each other in different places.
TEST(CompiledAcross, LanesWaitWhereCodeBegins) {
  for (const std::string across :
       {"shfl.sync.bfly.b32 %r11, %r10, 1, 31, 0xffffffff;", "vote.sync.ballot.b32 %r11, %p3, 0xffffffff;",
        "redux.sync.add.u32 %r11, %r10, 0xffffffff;", "bar.warp.sync 0xffffffff; mov.u32 %r11, %r10;"}) {
    const std::string arithmetic = "add.u32 %r10, %r10, %r11; mul.lo.u32 %r10, %r10, 5; xor.b32 %r10, %r10, 9;\n"
                                   "setp.gt.u32 %p3, %r10, %r1; add.u32 %r10, %r10, %r1; mul.lo.u32 %r10, %r10, 13;\n";
    const std::string begin = "and.b32 %r12, %r1, 1; setp.eq.u32 %p1, %r12, 0; setp.gt.u32 %p3, %r1, 7;\n"
                              "mov.u32 %r10, %r1; mov.u32 %r11, 0; mov.u32 %r12, 0;\n";
    words(begin + "HEAD:\n" + across + arithmetic +
          "add.u32 %r12, %r12, 1; setp.lt.u32 %p2, %r12, 4; @%p1 bra EVEN;\n" + arithmetic +
          "@%p2 bra HEAD; bra.uni DONE;\nEVEN:\n" + arithmetic + arithmetic +
          "@%p2 bra HEAD;\nDONE:\nst.global.u32 [%rd2], %r10; ret;")
        .expect_same();
    if (!across.starts_with("bar")) continue;
    words(begin + "@%p1 bra EVEN;\n" + across + arithmetic + across + arithmetic + "bra.uni DONE;\nEVEN:\n" + across +
          arithmetic + arithmetic + across + arithmetic + "DONE:\nst.global.u32 [%rd2], %r10; ret;")
        .expect_same();
  }
}

// What lanes repeat that make no progress is found instruction by instruction, in compiled code, too.
TEST(CompiledAcross, NoProgress) {
  Subject s = words("mov.u32 %r10, %r1;\nHEAD:\nld.volatile.global.u32 %r11, [%rd2+4096]; add.u32 %r10, %r11, %r11;\n"
                    "mul.lo.u32 %r10, %r10, 5; xor.b32 %r10, %r10, 9; add.u32 %r10, %r10, %r1;\n"
                    "mul.lo.u32 %r10, %r10, 13; setp.ne.u32 %p1, %r11, 0; @%p1 bra HEAD;\n"
                    "st.global.u32 [%rd2], %r10; ret;");
  s.grid = {1, 1, 1};
  s.expect_same();
}

} // namespace compiled_across_test
} // namespace warplens::tests
