// SPDX-License-Identifier: Apache-2.0
#include "emulator/ir/block_dependence.hpp"

#include "emulator/ir/check.hpp"
#include "emulator/ir/parse.hpp"

#include <gtest/gtest.h>

namespace warplens::ir {
namespace block_dependence_test {

template <class Question>
auto ask(const std::string& body, Question question)
    -> decltype(question(std::declval<Module&>(), std::declval<Function&>())) {
  const std::string text = ".version 8.3\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 x)\n{\n"
                           ".reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .pred %p<9>; .shared .b32 s[64];\n"
                           "ld.param.u64 %rd1, [x]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4;\n"
                           "add.u64 %rd2, %rd2, %rd1;\n" +
                           body + "\nEND: ret;\n}\n";
  auto module = parse(text, "k.ptx");
  EXPECT_TRUE(module) << (module ? "" : render(module.error(), text));
  if (!module) return {};
  const Checked checked = check(*module);
  EXPECT_FALSE(checked.errors.has_errors()) << render(checked.errors, text);
  return question(*module, module->functions[0]);
}

BlockDependence of(const std::string& body) { return ask(body, block_dependence); }

TEST(BlockDependence, ReductionsCommuteOnIntegers) {
  for (const char* body :
       {"red.global.add.u32 [%rd1], 1;", "atom.global.add.u64 %rd3, [%rd1], 1;", "red.global.max.s32 [%rd1], 1;",
        "red.global.or.b32 [%rd1], 1;", "st.global.u32 [%rd2], 1;", "red.shared.add.f32 [s], 0f3F800000;",
        "atom.shared.cas.b32 %r2, [s], 0, 1;", "red.cta.global.add.f32 [%rd1], 0f3F800000;"})
    EXPECT_TRUE(ask(body, reductions_commute)) << body;
  for (const char* body :
       {"red.global.add.f32 [%rd1], 0f3F800000;", "red.global.inc.u32 [%rd1], 9;", "red.global.dec.u32 [%rd1], 9;",
        "atom.global.exch.b32 %r2, [%rd1], 1;", "atom.global.cas.b32 %r2, [%rd1], 0, 1;",
        "red.add.f64 [%rd1], 0d3FF0000000000000;", "red.global.add.noftz.f16x2 [%rd1], %r1;",
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [s], 16;"})
    EXPECT_FALSE(ask(body, reductions_commute)) << body;
}

TEST(BlockDependence, NoneWhereNobodyLooks) {
  for (const char* body : {"ld.global.u32 %r2, [%rd2]; st.global.u32 [%rd2], %r2;", "red.global.add.u32 [%rd1], 1;",
                           "atom.global.add.u32 %r2, [%rd1], 1;", // nobody reads %r2
                           "atom.shared.add.u32 %r2, [s], 1; st.global.u32 [%rd2], %r2;",
                           "atom.cta.global.add.u32 %r2, [%rd1], 1; st.global.u32 [%rd2], %r2;",
                           "ld.volatile.shared.u32 %r2, [s]; st.global.u32 [%rd2], %r2;",
                           "ld.relaxed.cta.global.u32 %r2, [%rd1]; st.global.u32 [%rd2], %r2;",
                           // A loop over an array, until it holds 0.
                           "L: ld.global.u32 %r2, [%rd2]; add.u64 %rd2, %rd2, 4; setp.ne.u32 %p1, %r2, 0; @%p1 bra L;",
                           // One over numbers, that loads a constant which the compiler has not moved out of it.
                           "L: ld.global.u32 %r2, [%rd1]; add.u32 %r3, %r3, %r2; add.u32 %r4, %r4, 1;\n"
                           "setp.lt.u32 %p1, %r4, 10; @%p1 bra L;",
                           "L: ld.global.nc.u32 %r2, [%rd1]; setp.ne.u32 %p1, %r2, 0; @%p1 bra L;",
                           "L: ld.shared.u32 %r2, [s]; setp.ne.u32 %p1, %r2, 0; @%p1 bra L;"})
    EXPECT_EQ(of(body), BlockDependence::none) << body;
}

TEST(BlockDependence, OrderWhereTheyLookButDoNotWait) {
  for (const char* body :
       {"atom.global.add.u32 %r2, [%rd1], 1; st.global.u32 [%rd2], %r2;",
        "atom.add.u32 %r2, [%rd1], 1; st.global.u32 [%rd2], %r2;", "ld.volatile.global.u32 %r2, [%rd1];",
        "ld.acquire.gpu.u32 %r2, [%rd1];", "ld.relaxed.sys.global.u32 %r2, [%rd1];",
        // Work from a queue.
        "L: atom.global.add.u32 %r2, [%rd1], 1; setp.lt.u32 %p1, %r2, 100; @%p1 bra L;",
        // A maximum of floats, by compare and swap: what is compared changes.
        "L: atom.global.cas.b32 %r2, [%rd1], %r3, %r4; setp.ne.u32 %p1, %r2, %r3; mov.u32 %r3, %r2; @%p1 bra L;"})
    EXPECT_EQ(of(body), BlockDependence::order) << body;
}

TEST(BlockDependence, Waiting) {
  for (const char* body :
       {"L: atom.global.cas.b32 %r2, [%rd1], 0, 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra L;",
        "L: atom.exch.b32 %r2, [%rd1], 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra L;",
        "L: ld.volatile.global.u32 %r2, [%rd1]; setp.eq.u32 %p1, %r2, 0; @%p1 bra L;",
        "L: ld.global.cg.u32 %r2, [%rd1+8]; setp.eq.u32 %p1, %r2, 0; @!%p1 bra END; bra L;",
        // The address is computed anew each time.
        "L: ld.param.u64 %rd3, [x]; add.u64 %rd4, %rd3, 16; ld.global.u32 %r2, [%rd4]; setp.eq.u32 %p1, %r2, 0;\n"
        "@%p1 bra L;",
        // In a loop of its own, within another one.
        "M: L: ld.acquire.gpu.u32 %r2, [%rd2]; setp.eq.u32 %p1, %r2, 0; @%p1 bra L; add.u64 %rd2, %rd2, 4;\n"
        "setp.lt.u32 %p2, %r2, 7; @%p2 bra M;",
        // Who has the lock leaves the loop behind the critical section.
        "mov.u32 %r5, 0;\nL: atom.global.cas.b32 %r2, [%rd1], 0, 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra NEXT;\n"
        "mov.u32 %r5, 1; st.global.u32 [%rd1], 0;\nNEXT: setp.eq.u32 %p2, %r5, 0; @%p2 bra L;"})
    EXPECT_EQ(of(body), BlockDependence::waiting) << body;
}

TEST(BlockDependence, ResultsThatDependOnTheOrderOfTheBlocks) {
  for (const char* body :
       {"st.global.u32 [%rd2], 1;", "red.global.add.u32 [%rd1], 1;", "red.global.max.s32 [%rd1], 1;",
        "st.volatile.shared.u32 [s], 1;", "red.shared.add.f32 [s], 0f3F800000;", "st.relaxed.cta.global.u32 [%rd2], 1;",
        "red.cta.global.add.f32 [%rd1], 0f3F800000;", "red.global.add.u32 [%rd1], 1; red.global.add.s32 [%rd1], 2;",
        "red.global.or.b32 [%rd1], 1; red.shared.and.b32 [s], 1;"})
    EXPECT_EQ(ask(body, order_of_results), "") << body;
  const std::pair<const char*, const char*> kWhy[] = {
      {"red.global.add.f32 [%rd1], 0f3F800000;", "floating-point"},
      {"red.add.f64 [%rd1], 0d3FF0000000000000;", "floating-point"},
      {"red.global.add.noftz.f16x2 [%rd1], %r1;", "floating-point"},
      {"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%rd1], [s], 16;", "floating-point"},
      {"st.volatile.global.u32 [%rd2], 1;", ".volatile"},
      {"st.release.gpu.global.u32 [%rd2], 1;", ".release"},
      {"atom.global.exch.b32 %r2, [%rd1], 1;", "exch"},
      {"red.global.and.b32 [%rd1], 1; red.global.max.u32 [%rd1], %r1;", "several kinds"},
      {"red.global.max.s32 [%rd1], 1; red.global.max.u32 [%rd1], 1;", "several kinds"},
      {"red.global.inc.u32 [%rd1], 9;", "inc"}};
  for (const auto& [body, why] : kWhy) EXPECT_NE(ask(body, order_of_results).find(why), std::string_view::npos) << body;
}

} // namespace block_dependence_test
} // namespace warplens::ir
