// SPDX-License-Identifier: Apache-2.0
// The analyzer of docs/extending/analyzer.md, with a running kernel.
#include "analyzers/line_requests.hpp" // from the page
#include "tests/hardware/emulated.hpp"

#include <gtest/gtest.h>

namespace warplens::docs {
namespace analyzer_example_test {

// Thread i loads word i and stores it to word 32 * i.
constexpr const char* kSpread = R"(.version 6.0
.target sm_30
.address_size 64
.entry spread(.param .u64 in, .param .u64 out)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 4;
  add.u64 %rd1, %rd1, %rd3;
  ld.global.u32 %r2, [%rd1];
  mul.wide.u32 %rd4, %r1, 128;
  add.u64 %rd2, %rd2, %rd4;
  st.global.u32 [%rd2], %r2;
  ret;
}
)";

TEST(AnalyzerExample, WatchesARunningKernel) {
  tests::Emulated machine(kSpread, "spread.ptx");
  const ir::Function* const kernel = machine.module().find("spread");
  ASSERT_NE(kernel, nullptr);
  analyzers::LineRequests lines(kernel->instructions.size());
  const std::uint64_t in = machine.buffer(std::vector<std::uint32_t>(64));
  const std::uint64_t out = machine.buffer(std::vector<std::uint32_t>(64 * 32));
  tests::Emulated::Request request{.kernel = "spread", .shape = {}, .arguments = {{in, 8}, {out, 8}}, .textures = {}};
  request.shape.block[0] = 64;
  request.watcher = &lines;
  ASSERT_EQ(machine.run(request), "");
  analyzers::Metrics launch;
  std::vector<analyzers::InstructionRow> rows(kernel->instructions.size());
  lines.report(launch, rows);
  EXPECT_EQ(launch.integer("global_lines"), 2u * 1 + 2u * 32); // two warps
  EXPECT_EQ(launch.integer("global_line_requests"), 4u);
}

} // namespace analyzer_example_test
} // namespace warplens::docs
