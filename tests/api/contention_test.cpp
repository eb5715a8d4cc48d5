// SPDX-License-Identifier: Apache-2.0
// Compare-and-swaps that contend: what is counted of those of global memory, and advice where the model of the speedups
// does not know what takes the time, for those of shared memory.
#include "api/launch/launch.hpp"
#include "api/report/report_text.hpp"
#include "model/trust.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace warplens::api {
namespace contention_test {

/// Every thread adds to the same word. There is no unit for additions of floating-point numbers in shared
/// memory: the threads of a block swap the word one after the other (docs/critical-path.md).
constexpr std::string_view kSwaps = R"(.version 7.2
.target sm_70
.address_size 64
.visible .entry swaps(.param .u64 x) {
  .reg .u32 %r<3>;
  .reg .f32 %f<3>;
  .reg .u64 %rd<3>;
  .reg .pred %p;
  .shared .align 4 .f32 sum;
  ld.param.u64 %rd1, [x];
  mov.u32 %r1, 0;
  mov.f32 %f1, 0f3F800000;
again:
  atom.shared.add.f32 %f2, [sum], %f1;
  add.u32 %r1, %r1, 1;
  setp.lt.u32 %p, %r1, 1;
  @%p bra again;
  st.global.f32 [%rd1], %f2;
  ret;
}
)";

TEST(Contention, IsNotSaidToSaveLittleByAModelThatIgnoresIt) {
  const std::shared_ptr<Context> context = *Context::create();
  const auto module = Module::load(context, kSwaps, "k.ptx");
  ASSERT_TRUE(module) << render(module.error(), kSwaps);
  const auto x = *Buffer::allocate(context, 4, "x");
  LaunchRequest request;
  request.kernel = *(*module)->kernel("swaps");
  request.grid = {132, 1, 1};
  request.block = {256, 1, 1};
  request.arguments = {Argument::buffer(*x)};
  request.device = *load_device("h100"); // volkov, its model for changes, knows no atomics
  const Expected<LaunchReport> report = launch(request);
  ASSERT_TRUE(report) << render(report.error(), kSwaps);
  ASSERT_EQ(model::trusted(report->predictions)->bound, "contended atomics");
  ASSERT_FALSE(model::knows_what_takes_time(report->predictions));
  const auto finding = std::find_if(report->findings.begin(), report->findings.end(),
                                    [](const auto& f) { return f.rule == "SharedMemoryConflicts"; });
  ASSERT_NE(finding, report->findings.end());
  EXPECT_FALSE(saves_little(*finding)) << finding->speedup.value_or(0);
  EXPECT_FALSE(finding->speedup.has_value());
  const std::string text = text_report(*report, {});
  EXPECT_NE(text.find(": SharedMemoryConflicts"), text.npos) << text;
  EXPECT_EQ(text.find(" less time "), text.npos) << text;
}

/// Each thread adds 1 to word (thread AND %mask) until no other was faster, and then compares word 0 with a value that
/// it does not have, and swaps its own value for the same.
constexpr std::string_view kGlobalSwaps = R"(.version 7.2
.target sm_70
.address_size 64
.visible .entry adds(.param .u64 x, .param .u32 mask) {
  .reg .u32 %r<9>;
  .reg .u64 %rd<4>;
  .reg .pred %p;
  ld.param.u64 %rd1, [x];
  ld.param.u32 %r1, [mask];
  mov.u32 %r2, %tid.x;
  and.b32 %r2, %r2, %r1;
  mul.wide.u32 %rd2, %r2, 4;
  add.u64 %rd2, %rd1, %rd2;
  ld.global.u32 %r3, [%rd2];
again:
  mov.u32 %r4, %r3;
  add.u32 %r5, %r4, 1;
  atom.global.cas.b32 %r3, [%rd2], %r4, %r5;
  setp.ne.u32 %p, %r3, %r4;
  @%p bra again;
  atom.global.cas.b32 %r6, [%rd1], 99999, 1;
  ld.global.u32 %r7, [%rd1];
  atom.global.cas.b32 %r6, [%rd1], %r7, %r7;
  ret;
}
)";

model::KernelStatistics statistics_of_adds(std::int64_t mask, bool watched = true) {
  const std::shared_ptr<Context> context = *Context::create();
  const auto module = *Module::load(context, kGlobalSwaps, "k.ptx");
  const auto x = *Buffer::allocate(context, 4096, "x");
  LaunchRequest request;
  request.kernel = *module->kernel("adds");
  request.grid = {10, 1, 1};
  request.block = {64, 1, 1};
  request.arguments = {Argument::buffer(*x), *Argument::scalar(isa::Type::u32, mask)};
  request.device = *load_device("h200");
  request.options.analyze = watched;
  const Expected<LaunchReport> report = launch(request);
  EXPECT_TRUE(report) << render(report.error(), kGlobalSwaps);
  return report->statistics;
}

TEST(Contention, CountsUpdatesOfAWordOfGlobalMemory) {
  const model::KernelStatistics all_words = statistics_of_adds(63); // 10 blocks, 64 words
  EXPECT_EQ(all_words.swaps_of_other_warps, 9);
  EXPECT_EQ(all_words.global_swaps, 640);
  EXPECT_EQ(all_words.swap_pairs, 64 * 10 * 9);
  const model::KernelStatistics one_word = statistics_of_adds(0); // 640 updates, 32 of a warp
  ASSERT_TRUE(one_word.swaps_of_other_warps);
  EXPECT_GE(*one_word.swaps_of_other_warps, 608);
  EXPECT_LT(*one_word.swaps_of_other_warps, 640);
  EXPECT_EQ(one_word.swap_pairs, 640 * 639);
  EXPECT_FALSE(statistics_of_adds(0, false).swap_pairs);
}

} // namespace contention_test
} // namespace warplens::api
