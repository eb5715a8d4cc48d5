// SPDX-License-Identifier: Apache-2.0
// Advice where the model of the speedups does not know what takes the time: contended atomics of shared memory.
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

} // namespace contention_test
} // namespace warplens::api
