// SPDX-License-Identifier: Apache-2.0
// Instructions across the lanes of a warp, compared with the manual's definitions: with guards, divergence, partial
// warps, masks that split a warp, and incorrect masks.
#include "tests/exec/kernel_test.hpp"

#include "emulator/ir/check.hpp"
#include "emulator/ir/parse.hpp"

#include <array>
#include <bit>
#include <functional>
#include <random>

namespace warplens::tests {
namespace warp_level_test {

using Lanes = std::array<std::uint32_t, 32>;

// The pseudocode of shfl (9.7.9.6), lane by lane; `there` gives the value of a lane that does not participate.
std::pair<std::uint32_t, bool> shuffled(const std::string& mode, int lane, std::uint32_t b, std::uint32_t c,
                                        const Lanes& a, std::uint32_t there) {
  const int bval = b & 31, cval = c & 31, segment = c >> 8 & 31;
  const int most = (lane & segment) | (cval & ~segment), least = lane & segment;
  int j = 0;
  bool p = false;
  if (mode == "up") j = lane - bval, p = j >= most;
  if (mode == "down") j = lane + bval, p = j <= most;
  if (mode == "bfly") j = lane ^ bval, p = j <= most;
  if (mode == "idx") j = least | (bval & ~segment), p = j <= most;
  if (!p) j = lane;
  return {(there >> j & 1) != 0 ? a[j] : 0, p};
}

// Thread i of `out` words has three inputs in the buffer: word 64 + i, 128 + i and 192 + i.
Ran with_inputs(const std::string& body, const std::array<Lanes, 3>& inputs, int sm = 90, std::uint32_t threads = 32,
                int version = 83) {
  std::string text = kernel_of("ld.global.u32 %r10, [%rd2+256]; ld.global.u32 %r11, [%rd2+512];"
                               "ld.global.u32 %r12, [%rd2+768];\nmov.u32 %r20, 99; mov.u32 %r21, 0;\n" +
                                   body +
                                   "\nst.global.u32 [%rd2], %r20; selp.u32 %r22, 1, 0, %p0;"
                                   "st.global.u32 [%rd2+128], %r22;\nret;",
                               "", sm);
  const std::string written = ".version 8.3";
  text.replace(text.find(written), written.size(),
               ".version " + std::to_string(version / 10) + "." + std::to_string(version % 10));
  if (sm == 100) text.insert(text.find("sm_100") + 6, "a"); // whose reductions of floats others lack
  Emulated machine(text, "test.ptx");
  std::vector<std::uint32_t> words(256, 0);
  for (int k = 0; k < 3; ++k) std::copy(inputs[k].begin(), inputs[k].end(), words.begin() + 64 * (k + 1));
  Emulated::Request request;
  request.kernel = "k";
  request.shape.block[0] = threads;
  const std::uint64_t buffer = machine.buffer(words);
  request.arguments.push_back({buffer, 8});
  Ran ran{machine.run(request), {}};
  const auto* const p = reinterpret_cast<const std::uint32_t*>(buffer);
  ran.words.assign(p, p + words.size());
  return ran;
}

Lanes random_lanes(std::mt19937& random, std::uint32_t mask = ~0u) {
  Lanes lanes;
  for (std::uint32_t& x : lanes) x = static_cast<std::uint32_t>(random()) & mask;
  return lanes;
}

std::string hexadecimal(std::uint32_t value) {
  char text[12];
  std::snprintf(text, sizeof text, "0x%x", value);
  return text;
}

// Lanes in `acting` take part, by a guard, and their mask says so.
TEST(Shuffle, IsTheManualsPseudocode) {
  std::mt19937 random(3);
  for (const std::string mode : {"up", "down", "bfly", "idx"})
    for (int round = 0; round < 40; ++round) {
      std::array<Lanes, 3> in{random_lanes(random), random_lanes(random), random_lanes(random)};
      if (round < 10) in[2].fill(mode == "up" ? 0 : 31); // as compilers write it, whole warps
      if (round >= 10 && round < 20) in[2].fill(0x181f); // segments of eight
      const std::uint32_t here = round % 2 == 0 ? ~0u : static_cast<std::uint32_t>(random());
      const Ran ran = with_inputs("mov.u32 %r13, " + hexadecimal(here) +
                                      "; shr.u32 %r14, %r13, %r1; and.b32 %r14, %r14, 1; setp.ne.u32 %p1, %r14, 0;\n"
                                      "setp.ne.u32 %p0, %r1, %r1; mov.u32 %r20, %r10;\n@%p1 shfl.sync." +
                                      mode + ".b32 %r20|%p0, %r20, %r11, %r12, %r13;",
                                  in);
      ASSERT_EQ(ran.trap, "");
      for (int lane = 0; lane < 32; ++lane) {
        const bool acts = (here >> lane & 1) != 0;
        const auto [value, p] =
            acts ? shuffled(mode, lane, in[1][lane], in[2][lane], in[0], here) : std::pair{in[0][lane], false};
        EXPECT_EQ(ran.words[lane], value) << mode << " lane " << lane << " mask " << here;
        EXPECT_EQ(ran.words[32 + lane], p ? 1u : 0u) << mode << " lane " << lane << " mask " << here;
      }
    }
}

// What __shfl_down_sync(0xffffffff, …) does in a warp of which eight lanes were launched and three have gone.
TEST(Shuffle, LanesThatAreGoneGiveZero) {
  const Ran ran = run_kernel(kernel_of(R"(
    add.u32 %r10, %r1, 1;
    setp.ge.u32 %p1, %r1, 37;
    @%p1 exit;
    shfl.sync.down.b32 %r11, %r10, 4, 31, 0xffffffff; add.u32 %r10, %r10, %r11;
    shfl.sync.down.b32 %r11, %r10, 2, 31, 0xffffffff; add.u32 %r10, %r10, %r11;
    shfl.sync.down.b32 %r11, %r10, 1, 31, 0xffffffff; add.u32 %r10, %r10, %r11;
    st.global.u32 [%rd2], %r10;
    ret;)"),
                             {1, 40});
  ASSERT_EQ(ran.trap, "");
  EXPECT_EQ(ran.words[32], 33u + 34 + 35 + 36 + 37);
  EXPECT_EQ(ran.words[0], 1u + 2 + 3 + 4 + 5 + 6 + 7 + 8);
  EXPECT_EQ(ran.words[39], 0u);
}

// One instruction, four groups of eight lanes with masks of their own, as cooperative groups make them.
TEST(Groups, LanesWithOneMaskAreAGroup) {
  std::mt19937 random(5);
  const std::array<Lanes, 3> in{random_lanes(random), random_lanes(random, 3), random_lanes(random, 7)};
  const std::string masks = "and.b32 %r15, %r1, 24; mov.u32 %r13, 255; shl.b32 %r13, %r13, %r15;\n"
                            "setp.eq.u32 %p1, %r12, 0; setp.ne.u32 %p0, %r1, %r1;\n";
  const auto expect = [&](const std::string& statement, const std::function<std::uint32_t(int, int)>& value,
                          const std::function<bool(int, int)>& truth = {}) {
    const Ran ran = with_inputs(masks + statement, in);
    ASSERT_EQ(ran.trap, "") << statement;
    for (int lane = 0; lane < 32; ++lane) {
      if (value) {
        EXPECT_EQ(ran.words[lane], value(lane, lane / 8 * 8)) << statement << " lane " << lane;
      }
      if (truth) {
        EXPECT_EQ(ran.words[32 + lane], truth(lane, lane / 8 * 8) ? 1u : 0u) << statement << " lane " << lane;
      }
    }
  };
  const auto over = [&](int first, std::uint32_t start, auto combine) {
    for (int i = first; i < first + 8; ++i) start = combine(start, i);
    return start;
  };
  const auto yes = [&](int first) {
    return over(first, 0, [&](std::uint32_t m, int i) { return m | (in[2][i] == 0 ? 1u << i : 0); });
  };
  const auto same = [&](int lane, int first) {
    return over(first, 0, [&](std::uint32_t m, int i) { return m | (in[1][i] == in[1][lane] ? 1u << i : 0); });
  };
  expect("vote.sync.ballot.b32 %r20, %p1, %r13;", [&](int, int first) { return yes(first); });
  expect("vote.sync.ballot.b32 %r20, !%p1, %r13;", [&](int, int first) { return 0xffu << first & ~yes(first); });
  expect("vote.sync.any.pred %p0, %p1, %r13;", {}, [&](int, int first) { return yes(first) != 0; });
  expect("vote.sync.all.pred %p0, !%p1, %r13;", {}, [&](int, int first) { return yes(first) == 0; });
  expect("vote.sync.uni.pred %p0, %p1, %r13;", {},
         [&](int, int first) { return yes(first) == 0 || yes(first) == 0xffu << first; });
  expect("vote.sync.all.pred %p0, 1, %r13;", {}, [&](int, int) { return true; });
  expect("match.any.sync.b32 %r20, %r11, %r13;", same);
  expect("match.any.sync.b32 %r11, %r11, %r13; mov.u32 %r20, %r11;", same);
  expect("cvt.u64.u32 %rd10, %r11; shl.b64 %rd10, %rd10, 32; match.any.sync.b64 %r20, %rd10, %r13;", same);
  expect(
      "match.all.sync.b32 %r20|%p0, %r15, %r13;", [&](int, int first) { return 0xffu << first; },
      [&](int, int) { return true; });
  expect(
      "match.all.sync.b32 %r20|%p0, %r1, %r13;", [&](int, int) { return 0u; }, [&](int, int) { return false; });
  expect("cvt.u64.u32 %rd10, %r15; match.all.sync.b64 _|%p0, %rd10, %r13;", {}, [&](int, int) { return true; });
  expect(
      "elect.sync %r20|%p0, %r13;", [&](int, int first) { return static_cast<std::uint32_t>(first); },
      [&](int lane, int first) { return lane == first; });
  const auto redux = [&](const std::string& op, std::uint32_t start, auto combine) {
    expect("redux.sync." + op + " %r20, %r10, %r13;", [&, start](int, int first) {
      return over(first, start, [&](std::uint32_t x, int i) { return combine(x, in[0][i]); });
    });
  };
  const auto number = [](std::uint32_t x) { return static_cast<std::int32_t>(x); };
  redux("add.u32", 0, [](auto a, auto b) { return a + b; });
  redux("add.s32", 0, [](auto a, auto b) { return a + b; });
  redux("min.u32", ~0u, [](auto a, auto b) { return std::min(a, b); });
  redux("max.u32", 0, [](auto a, auto b) { return std::max(a, b); });
  redux("min.s32", 0x7fffffff, [&](auto a, auto b) { return number(a) < number(b) ? a : b; });
  redux("max.s32", 0x80000000, [&](auto a, auto b) { return number(a) > number(b) ? a : b; });
  redux("and.b32", ~0u, [](auto a, auto b) { return a & b; });
  redux("or.b32", 0, [](auto a, auto b) { return a | b; });
  redux("xor.b32", 0, [](auto a, auto b) { return a ^ b; });
}

TEST(Reduction, OfFloats) {
  const auto result = [](const std::string& op, std::initializer_list<std::uint32_t> values) {
    std::array<Lanes, 3> in{};
    in[0].fill(*values.begin());
    std::copy(values.begin(), values.end(), in[0].begin());
    const Ran ran = with_inputs("redux.sync." + op + ".f32 %r20, %r10, 0xffffffff;", in, 100, 32, 86);
    EXPECT_EQ(ran.trap, "");
    return ran.words[7];
  };
  constexpr std::uint32_t one = 0x3f800000, minus_two = 0xc0000000, nan = 0x7fc00001, minus_zero = 0x80000000;
  EXPECT_EQ(result("min", {one, minus_two, 0}), minus_two);
  EXPECT_EQ(result("max", {one, minus_two, 0}), one);
  EXPECT_EQ(result("max.abs", {one, minus_two, 0}), 0x40000000u);
  EXPECT_EQ(result("min.abs", {one, minus_two, one}), one);
  EXPECT_EQ(result("min", {0, minus_zero}), minus_zero);
  EXPECT_EQ(result("max", {minus_zero, 0}), 0u);
  EXPECT_EQ(result("min", {nan, one, minus_two}), minus_two);
  EXPECT_EQ(result("max", {nan, 0xffffffff, nan}), 0x7fffffffu);
  EXPECT_EQ(result("min.NaN", {one, nan, minus_two}), 0x7fffffffu);
  EXPECT_EQ(result("max.abs.NaN", {one, one, minus_two}), 0x40000000u);
  EXPECT_EQ(result("max", {0xff800000, 0xff800000}), 0xff800000u); // infinities are values
}

TEST(Divergence, APathNamesItsOwnLanes) {
  const Ran ran = run_kernel(kernel_of(R"(
    mov.u32 %r10, 0;
    setp.lt.u32 %p1, %r1, 10;
    @%p1 bra LOW;
    redux.sync.add.u32 %r10, %r1, 0xfffffc00;
    bra MEET;
    LOW: activemask.b32 %r11;
    redux.sync.max.u32 %r10, %r1, %r11;
    MEET: vote.sync.ballot.b32 %r12, %p1, 0xffffffff;
    mad.lo.u32 %r10, %r12, 1000, %r10;
    st.global.u32 [%rd2], %r10;
    ret;)"));
  ASSERT_EQ(ran.trap, "");
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(ran.words[i], 0x3ffu * 1000 + (i < 10 ? 9 : 451)) << i;
}

TEST(Divergence, ActivemaskIsOfLanesWhoseGuardIsTrue) {
  const Ran ran = run_kernel(kernel_of("mov.u32 %r10, 7; setp.ge.u32 %p1, %r1, 30;\n@%p1 activemask.b32 %r10;\n"
                                       "st.global.u32 [%rd2], %r10; ret;"));
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(ran.words[i], i < 30 ? 7u : 0xc0000000u);
}

// What compilers make of atomicAdd() on one counter for each key: one lane of each group of equal keys adds for all.
TEST(Divergence, AggregatedAtomics) {
  const Ran ran = run_kernel(kernel_of(R"(
    rem.u32 %r10, %r1, 3;
    setp.eq.u32 %p3, %r10, 2;
    @%p3 bra DONE;
    activemask.b32 %r11;
    match.any.sync.b32 %r12, %r10, %r11;
    brev.b32 %r13, %r12; bfind.shiftamt.u32 %r13, %r13;
    mov.u32 %r14, %laneid;
    setp.eq.u32 %p1, %r13, %r14;
    popc.b32 %r15, %r12;
    mul.wide.u32 %rd10, %r10, 4; add.u64 %rd10, %rd1, %rd10;
    @%p1 atom.global.add.u32 %r16, [%rd10+256], %r15;
    shfl.sync.idx.b32 %r17, %r16, %r13, 31, %r12;
    mov.u32 %r18, %lanemask_lt; and.b32 %r18, %r18, %r12; popc.b32 %r18, %r18;
    add.u32 %r19, %r17, %r18;
    st.global.u32 [%rd2], %r19;
    DONE: ret;)"),
                             {1, 64, 66});
  ASSERT_EQ(ran.trap, "");
  EXPECT_EQ(ran.words[64], 22u);
  EXPECT_EQ(ran.words[65], 21u);
  std::array<std::vector<std::uint32_t>, 3> tickets;
  for (std::uint32_t i = 0; i < 64; ++i) tickets[i % 3].push_back(ran.words[i]);
  for (int key = 0; key < 2; ++key)
    for (std::uint32_t n = 0; n < tickets[key].size(); ++n)
      EXPECT_EQ(std::count(tickets[key].begin(), tickets[key].end(), n), 1) << key << " " << n;
}

// Before sm_70 the lanes that run together take part, nobody names them.
TEST(Legacy, WithoutSync) {
  const auto run = [](const std::string& body) {
    return run_kernel(kernel_of("setp.lt.u32 %p1, %r1, 20; mov.u32 %r10, 1; setp.eq.u32 %p2, %r1, 3;\n@!%p1 bra L;\n" +
                                    body + "\nL: st.global.u32 [%rd2], %r10; ret;",
                                "", 30));
  };
  EXPECT_EQ(run("vote.ballot.b32 %r10, !%p2;").words[0], 0xffff7u);
  EXPECT_EQ(run("vote.any.pred %p3, %p2; selp.u32 %r10, 5, 6, %p3;").words[19], 5u);
  EXPECT_EQ(run("vote.all.pred %p3, %p2; selp.u32 %r10, 5, 6, %p3;").words[19], 6u);
  EXPECT_EQ(run("vote.uni.pred %p3, %p1; selp.u32 %r10, 5, 6, %p3;").words[19], 5u);
  const Ran ran = run("shfl.up.b32 %r10, %r1, 1, 0;");
  ASSERT_EQ(ran.trap, "");
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(ran.words[i], i >= 20 ? 1u : i == 0 ? 0u : i - 1);
}

// From sm_70 on lanes that are not there are waited for: paths_test.cpp.
TEST(Membermask, WhatIsWrongIsSaid) {
  const auto says = [](const std::string& body, const std::string& text, int sm = 60) {
    const std::string got = run_kernel(kernel_of(body + "\nL: ret;", "", sm)).trap;
    EXPECT_NE(got.find("invalid membermask: " + text), std::string::npos) << got;
    return got;
  };
  const std::string first = says("vote.sync.ballot.b32 %r10, 1, 0xfffffff0;",
                                 "0xfffffff0 does not name lane 0, which executes the instruction");
  EXPECT_NE(first.find("in kernel k, by thread (0,0,0)"), std::string::npos) << first;
  says("setp.lt.u32 %p1, %r1, 16; @!%p1 bra L; shfl.sync.down.b32 %r10, %r1, 1, 31, 0xffffffff;",
       "0xffffffff names lanes 16-31 of this warp, which took another path at a branch");
  says("setp.ne.u32 %p1, %r1, 5; @%p1 vote.sync.ballot.b32 %r10, 1, 0xffffffff;",
       "0xffffffff names lane 5 of this warp, whose guard is false");
  says("setp.eq.u32 %p1, %r1, 9; selp.b32 %r10, 0x200, 0xffffffff, %p1; vote.sync.ballot.b32 %r11, 1, %r10;",
       "0xffffffff of lane 0 names lane 9, whose mask differs");
  says("setp.eq.u32 %p1, %r1, 9; selp.b32 %r10, 0xfffffdff, 0xfffffdfe, %p1; elect.sync %r11|%p2, %r10;",
       "0xfffffdfe does not name lane 0", 90);
}

// Whatever stands here the assembler takes; what does not, it refuses (asked of ptxas 13).
TEST(Spellings, AreThoseOfTheAssembler) {
  const auto complaint = [](const std::string& statement, int version, int sm) {
    std::string text = kernel_of(statement + "\nret;", "", sm);
    text.replace(text.find("8.3"), 3, std::to_string(version / 10) + "." + std::to_string(version % 10));
    auto module = ir::parse(text, "test.ptx");
    if (!module) return module.error().list().front().message;
    const ir::Checked checked = ir::check(*module);
    if (checked.errors.has_errors()) return checked.errors.list().front().message;
    return checked.unsupported.empty() ? std::string() : checked.unsupported.front().why.message;
  };
  for (const char* good :
       {"shfl.sync.up.b32 %r11|%p1, 5, 1, 31, -1;", "shfl.sync.idx.b32 %f1|_, %f2, %f3, %r13, -1;",
        "shfl.up.sync.b32 %r11, 0f3f800000, WARP_SZ, 31, %r15;", "vote.sync.any.pred %p1, 1, %r11;",
        "vote.ballot.sync.b32 %f1, !%p1, -1;", "match.sync.any.b32 %r11, %f2, -1;", "match.all.sync.b32 _, %r11, -1;",
        "match.all.sync.b64 %r11|_, %rd12, %r13;", "match.any.sync.b64 %r11, 1.5, -1;",
        "redux.add.sync.u32 %r11, 5, -1;", "activemask.b32 %f1;", "elect.sync _|%p1, %r13;"})
    EXPECT_EQ(complaint(good, 87, 90), "") << good;
  for (const char* bad : {"shfl.sync.up.b32 _|%p1, %r12, 1, 31, -1;",
                          "shfl.sync.up.b32 _, %r12, 1, 31, -1;",
                          "shfl.sync.up.b32 %rd11, %r12, 1, 31, -1;",
                          "shfl.sync.up.b32 %r11, %r12, 1, 31;",
                          "shfl.sync.up.b32 %r11, %tid.x, 1, 31, -1;",
                          "shfl.sync.up.b32 %r11, %r12, 1, 1, %f1;",
                          "shfl.sync.up.u32 %r11, %r12, 1, 31, -1;",
                          "shfl.up.b32 %r11, %r12, 1, 31;",
                          "vote.all.pred %p1, %p2;",
                          "vote.sync.any.pred _, %p1, -1;",
                          "vote.sync.ballot.b32 _, %p1, -1;",
                          "vote.sync.ballot.pred %p1, %p1, -1;",
                          "vote.sync.any.pred %p1|%p2, %p3, -1;",
                          "match.any.sync.b32 %r11|%p1, %r12, -1;",
                          "match.any.sync.b32 %f1, %r12, -1;",
                          "match.any.sync.b64 %r11, %r12, -1;",
                          "match.any.sync.b32 _, %r11, -1;",
                          "redux.sync.and.b32 %r11, %f1, -1;",
                          "redux.sync.and.u32 %r11, %r12, -1;",
                          "redux.sync.add.b32 %r11, %r12, -1;",
                          "redux.sync.min.f32 %f1, %f2, -1;",
                          "activemask.b32 %rd11;",
                          "elect.sync %r11, -1;",
                          "elect.sync %r11|_, -1;",
                          "elect.sync %f1|%p1, -1;"})
    EXPECT_NE(complaint(bad, 87, 90), "") << bad;
  EXPECT_EQ(complaint("shfl.up.b32 %r11, %r12, 1, 31;", 63, 70), "");
  EXPECT_EQ(complaint("shfl.up.b32 %r11, %r12, 1, 31;", 87, 61), "");
  EXPECT_EQ(complaint("shfl.up.b32 %r11, %r12, 1, 31;", 64, 70),
            "'shfl.up.b32' without '.sync' is not supported for .target sm_70 and higher from PTX ISA .version 6.4 on");
  EXPECT_EQ(complaint("shfl.up.b32 %r11, %r12, 1, 31;", 64, 20), "'shfl.up.b32' requires .target sm_30 or higher");
  EXPECT_EQ(complaint("vote.sync.all.pred %p1, %p2, -1;", 50, 30),
            "'vote.sync.all.pred' requires PTX ISA .version 5.1 or later");
  EXPECT_EQ(complaint("elect.sync %r11|%p1, -1;", 87, 80), "'elect.sync' requires .target sm_90 or higher");
}

} // namespace warp_level_test
} // namespace warplens::tests
