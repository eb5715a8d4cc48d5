// SPDX-License-Identifier: Apache-2.0
#include "emulator/ir/warp_order.hpp"

#include "emulator/ir/check.hpp"
#include "emulator/ir/parse.hpp"

#include <gtest/gtest.h>

namespace warplens::ir {
namespace warp_order_test {

bool depends(const std::string& body) {
  const std::string text = ".version 8.3\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 x)\n{\n"
                           ".reg .b32 %r<20>; .reg .f32 %f<9>; .reg .b64 %rd<20>; .shared .b32 s[64];\n"
                           "ld.param.u64 %rd1, [x]; mov.u32 %r1, %tid.x;\n" +
                           body + "\nret;\n}\n";
  auto module = parse(text, "k.ptx");
  EXPECT_TRUE(module) << (module ? "" : render(module.error(), text));
  if (!module) return false;
  const Checked checked = check(*module);
  EXPECT_FALSE(checked.errors.has_errors()) << render(checked.errors, text);
  return depends_on_warp_order(*module, module->functions[0]);
}

TEST(WarpOrder, NobodySeesIt) {
  for (const char* body :
       {"st.shared.u32 [s], %r1; bar.sync 0; ld.shared.u32 %r2, [s]; st.global.u32 [%rd1], %r2;",
        "red.shared.add.u32 [s], %r1;", "red.relaxed.gpu.global.max.s32 [%rd1], %r1;", "red.global.xor.b32 [%rd1], 3;",
        "atom.shared.add.u32 %r2, [s], 1;", // nobody reads %r2
        "atom.global.and.b32 _, [%rd1], %r1;", "shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1; st.global.u32 [%rd1], %r2;"})
    EXPECT_FALSE(depends(body)) << body;
}

TEST(WarpOrder, SomebodyMaySeeIt) {
  for (const char* body :
       {"atom.shared.add.u32 %r2, [s], 1; st.global.u32 [%rd1], %r2;", "red.global.add.f32 [%rd1], 1.5;",
        "red.global.inc.u32 [%rd1], %r1;", "atom.global.exch.b32 %r2, [%rd1], %r1;",
        "atom.global.cas.b32 %r2, [%rd1], %r1, %r1;", "ld.volatile.shared.u32 %r2, [s];",
        "ld.relaxed.gpu.global.u32 %r2, [%rd1];", "st.release.gpu.global.u32 [%rd1], %r1;", "membar.gl;",
        "nanosleep.u32 %r1;", "cp.async.ca.shared.global [s], [%rd1], 16;"})
    EXPECT_TRUE(depends(body)) << body;
}

} // namespace warp_order_test
} // namespace warplens::ir
