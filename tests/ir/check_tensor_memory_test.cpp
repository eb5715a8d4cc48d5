// SPDX-License-Identifier: Apache-2.0
// Which statements about tensor memory are legal: ptxas 13.0 takes and refuses the same.
#include "tests/ir/complaint.hpp"

#include <gtest/gtest.h>

#include <ostream>

namespace warplens::ir {
namespace check_tensor_memory_test {

class Taken : public testing::TestWithParam<const char*> {};
TEST_P(Taken, Statement) { EXPECT_EQ(complaint(GetParam()), ""); }

INSTANTIATE_TEST_SUITE_P(
    TensorMemory, Taken,
    testing::Values("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [place], 512;",
                    "tcgen05.alloc.cta_group::2.sync.aligned.b32 [%rd1+4], %s1;",
                    "tcgen05.dealloc.cta_group::1.sync.aligned.b32 0, 96;",
                    "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;",
                    "tcgen05.ld.sync.aligned.32x32b.x2.b32 {%f1, %s1}, [%s1+4];",
                    "tcgen05.ld.sync.aligned.16x256b.x1.pack::16b.b32 {%r1, %r2, %r3, %r4}, [%r0];",
                    "tcgen05.ld.sync.aligned.16x32bx2.x1.b32 {%r1}, [%r0], -1;",
                    "tcgen05.st.sync.aligned.32x32b.x2.b32 [%r0], {%r1, 5};",
                    "tcgen05.st.sync.aligned.16x32bx2.x1.unpack::16b.b32 [%r0], 4, {%f1};",
                    "tcgen05.wait::ld.sync.aligned;", "tcgen05.fence::before_thread_sync;",
                    "tcgen05.cp.cta_group::1.64x128b.warpx2::01_23.b8x16.b6x16_p32 [%r0+4], %rd1;",
                    "tcgen05.cp.cta_group::1.4x256b [%r0], 5;", "tcgen05.shift.cta_group::2.down [%r0];",
                    "tcgen05.shift.down.cta_group::2 [%r0];"));

struct Wrong {
  const char* statements;
  const char* why; ///< part of the first complaint
  friend std::ostream& operator<<(std::ostream& out, const Wrong& w) { return out << w.statements; }
};
class RefusedTensorMemory : public testing::TestWithParam<Wrong> {};
TEST_P(RefusedTensorMemory, Statement) {
  const std::string why = complaint(GetParam().statements);
  EXPECT_NE(why.find(GetParam().why), std::string::npos) << why;
}

INSTANTIATE_TEST_SUITE_P(
    TensorMemory, RefusedTensorMemory,
    testing::Values(
        Wrong{"tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [place], 96;",
              "expected a power of two as the number of columns, got 96"},
        Wrong{"tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [place], 1024;", "expected 32 to 512, got 1024"},
        Wrong{"tcgen05.alloc.cta_group::1.sync.aligned.shared::cluster.b32 [place], 32;", "shared::cluster"},
        Wrong{"tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 33;", "expected a multiple of 32 columns, got 33"},
        Wrong{"tcgen05.dealloc.cta_group::1.sync.aligned.b32 %f1, 32;", "of type .u32, got register '%f1'"},
        Wrong{"tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n"
              "tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;",
              "has .cta_group::2, but an earlier tcgen05 instruction of 'k' has .cta_group::1"},
        Wrong{"tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r1}, [%r0];", "expects a vector of 2, got 1 elements"},
        Wrong{"tcgen05.ld.sync.aligned.32x32b.x1.b32 %r1, [%r0];", "expects a vector of 1"},
        Wrong{"tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r1, _}, [%r0];", "expects a register of type .b32, got '_'"},
        Wrong{"tcgen05.ld.sync.aligned.32x32b.x1.b32 {%h1}, [%r0];", "expects a register of type .b32"},
        Wrong{"tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r1}, [%rd0];",
              "expects an address of tensor memory in a 32-bit register, as [%r1], got register '%rd0'"},
        Wrong{"tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r1}, [%f0];", "expects an address of tensor memory"},
        Wrong{"tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r1}, [32];", "expects an address of tensor memory"},
        Wrong{"tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r1}, [place];", "expects an address of tensor memory"},
        Wrong{"tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r1}, %r0;", "expects an address of tensor memory"},
        Wrong{"tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r1}, [%r0], 4;", "operands, got 3"},
        Wrong{"tcgen05.ld.sync.aligned.16x32bx2.x1.b32 {%r1}, [%r0];", "operands, got 2"},
        Wrong{"tcgen05.ld.sync.aligned.16x32bx2.x1.b32 {%r1}, [%r0], %r2;", "expects an immediate"},
        Wrong{"tcgen05.st.sync.aligned.32x32b.x2.b32 [%r0], {4, 5};", "expects at least one register"},
        Wrong{"tcgen05.st.sync.aligned.16x256b.x64.b32 [%r0], {%r1};", "x64"},
        Wrong{"tcgen05.cp.cta_group::1.128x256b [%r0], %r1;", "of type .b64"},
        Wrong{"tcgen05.cp.cta_group::1.64x128b [%r0], %rd1;", "tcgen05"},
        Wrong{"tcgen05.cp.cta_group::1.128x256b.b8x16 [%r0], %rd1;", "tcgen05"}));

TEST(TensorMemory, TargetsAndVersions) {
  const std::string wait = "tcgen05.wait::ld.sync.aligned;", shift = "tcgen05.shift.cta_group::1.down [%r0];",
                    reduce = "tcgen05.ld.red.sync.aligned.32x32b.x2.max.abs.NaN.f32 {%r1, %r2}, %f3, [%r0];";
  for (const char* const target : {"sm_100a", "sm_100f", "sm_103a", "sm_103f", "sm_101a", "sm_101f"})
    EXPECT_EQ(complaint(wait, target), "") << target;
  for (const char* const target : {"sm_90a", "sm_100", "sm_103", "sm_120a"}) EXPECT_NE(complaint(wait, target), "");
  EXPECT_EQ(complaint(wait, "sm_100a", "8.6"), "");
  EXPECT_EQ(complaint(shift, "sm_103a"), "");
  EXPECT_NE(complaint(shift, "sm_103f"), "");
  EXPECT_EQ(complaint(reduce, "sm_103f"), "");
  EXPECT_EQ(complaint(reduce, "sm_101a"), "");
  EXPECT_NE(complaint(reduce, "sm_100a"), "");
}

} // namespace check_tensor_memory_test
} // namespace warplens::ir
