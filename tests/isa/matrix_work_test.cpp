// SPDX-License-Identifier: Apache-2.0
#include "emulator/isa/matrix_work.hpp"

#include <gtest/gtest.h>

namespace warplens::isa {
namespace matrix_work_test {

void expect_work(std::string_view spelling, std::uint64_t multiply_adds, std::string_view type) {
  const MatrixWork work = matrix_work(spelling);
  EXPECT_EQ(work.multiply_adds, multiply_adds) << spelling;
  EXPECT_EQ(work.type, type) << spelling;
}

TEST(MatrixWork, OfAWarp) {
  expect_work("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 16 * 8 * 16, "bf16");
  expect_work("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32", 4 * 8 * 8 * 4, "f16"); // of each quad pair
  expect_work("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", 8 * 8 * 4, "f64");
  expect_work("mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", 16 * 8 * 16, "f16");
  expect_work("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc", 16 * 8 * 256, "b1");
  expect_work("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", 16 * 16 * 16, "f16");
  expect_work("wmma.mma.sync.aligned.row.col.m8n32k16.s32.u8.u8.s32", 8 * 32 * 16, "u8");
}

TEST(MatrixWork, OfAWarpOfAGroup) {
  expect_work("wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16", 16 * 256 * 16, "f16");
  expect_work("wgmma.mma_async.sp.sync.aligned.m64n8k64.s32.s8.u8", 16 * 8 * 32, "s8");
}

TEST(MatrixWork, NoMultiplication) {
  for (const std::string_view spelling :
       {"fma.rn.f32", "wgmma.fence.sync.aligned", "movmatrix.sync.aligned.m8n8.trans.b16",
        "wmma.load.a.sync.aligned.row.m16n16k16.f16", "mma", ""})
    expect_work(spelling, 0, "");
}

} // namespace matrix_work_test
} // namespace warplens::isa
