// SPDX-License-Identifier: Apache-2.0
#include "emulator/isa/matrix_work.hpp"
#include "emulator/isa/table.hpp"

#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <vector>

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

// Every spelling of an entry, also words that functors do not see.
std::vector<std::string> spellings_of(const Entry& entry) {
  std::vector<std::string> list{std::string(entry.opcode)};
  for (int g = 0; g < entry.pattern.count; ++g) {
    const Group& group = entry.pattern.groups[static_cast<std::size_t>(g)];
    std::vector<std::string> longer;
    for (const std::string& so_far : list) {
      if (group.optional) longer.push_back(so_far);
      for (int i = 0; i < group.count; ++i)
        longer.push_back(so_far + "." + std::string(text_of(group.options[static_cast<std::size_t>(i)])));
    }
    list = std::move(longer);
  }
  return list;
}

// No multiplication of the table is left out of the operations by type, nor is anything else in them. (The size of
// tcgen05.mma is known only when it runs.)
TEST(MatrixWork, OfTheWholeTable) {
  int multiplications = 0;
  for (const Entry& entry : table()) {
    const bool multiplies = entry.family == Family::matrix_multiply || entry.family == Family::group_multiply;
    if (!multiplies && entry.opcode != "mma" && entry.opcode != "wmma" && entry.opcode != "wgmma") continue;
    for (const std::string& spelling : spellings_of(entry)) {
      const MatrixWork work = matrix_work(spelling);
      if (!multiplies) {
        EXPECT_EQ(work.multiply_adds, 0u) << spelling;
        continue;
      }
      ++multiplications;
      std::smatch shape;
      ASSERT_TRUE(std::regex_search(spelling, shape, std::regex("[.]m(\\d+)n(\\d+)k(\\d+)"))) << spelling;
      std::uint64_t wanted = std::stoull(shape[1]) * std::stoull(shape[2]) * std::stoull(shape[3]);
      if (spelling.find(".sp") != std::string::npos) wanted /= 2;
      if (spelling.starts_with("wgmma")) wanted /= 4;
      if (spelling.find("mma.sync.aligned.m8n8k4.") == 0 && spelling.find(".f64") == std::string::npos) wanted *= 4;
      EXPECT_EQ(work.multiply_adds, wanted) << spelling;
      if (work.type != "f16" || !spelling.starts_with("wmma")) { // halves may go without saying
        EXPECT_NE(spelling.find(work.type), std::string::npos) << spelling;
      }
      EXPECT_NE(matrix_rate(work.type, work.half_sums), "") << spelling;
    }
  }
  EXPECT_GT(multiplications, 1000);
}

} // namespace matrix_work_test
} // namespace warplens::isa
