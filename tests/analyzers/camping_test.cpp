// SPDX-License-Identifier: Apache-2.0
// Partition camping: the cases of NVIDIA's "Optimizing Matrix Transpose in CUDA", and of Cornelis 2010.
#include "analyzers/partition_camping.hpp"
#include "tests/analyzers/warp_streams.hpp"

#include <gtest/gtest.h>

namespace warplens::analyzers {
namespace camping_test {

using testing::number;
using testing::WarpAccess;
using testing::WarpStreams;

constexpr exec::LaunchShape kBlocks = {.grid = {30, 1, 1}, .block = {32, 1, 1}};

Board board(std::uint32_t partitions, std::uint32_t multiprocessors = 30) {
  return {.multiprocessors = multiprocessors, .partitions = Partitions{partitions, 256}};
}

/// For one access of each block, at pitch * block.
double ratio(const Board& on, std::uint64_t pitch, std::uint64_t stride = 4) {
  PartitionCamping camping(1, kBlocks, on);
  WarpStreams warps(camping, 3);
  for (std::uint64_t cta = 0; cta < 30; ++cta) warps.load(cta, 0, cta * pitch, stride);
  return number(warps.finish(), "partition_camping.ratio");
}

TEST(PartitionCamping, RowsOfAMatrixOfA10Series) {
  // Columns 2048 bytes (512 floats) apart are all in one of 8 partitions: 30 accesses, of which 3.75 would be even.
  EXPECT_DOUBLE_EQ(ratio(board(8), 2048), 8);
  // 1024 bytes (256 floats): in two of them; that is Cornelis's peak on the GTX 280.
  EXPECT_DOUBLE_EQ(ratio(board(8), 1024), 4);
  // Padded by 64 columns: 2048 + 256 bytes. 30 accesses over 8 partitions: the busiest has 4.
  EXPECT_DOUBLE_EQ(ratio(board(8), 2048 + 256), 4 / 3.75);
  // Two tiles of 32 floats lie in one partition.
  EXPECT_DOUBLE_EQ(ratio(board(8), 128), 4 / 3.75);
}

TEST(PartitionCamping, OtherBoards) {
  // 2048 is not a multiple of 6 x 256, 1536 is.
  EXPECT_DOUBLE_EQ(ratio(board(6), 1536), 6);
  EXPECT_DOUBLE_EQ(ratio(board(6), 2048), 2); // 2048 mod 1536 = 512: three of the six
  EXPECT_DOUBLE_EQ(ratio(board(2), 512), 2);  // 128 floats on the 8500 GT
  // Boards that hash: nothing to say.
  PartitionCamping hashed(1, kBlocks, {.multiprocessors = 132});
  WarpStreams warps(hashed);
  warps.load(0, 0, 0);
  EXPECT_TRUE(warps.finish().list().empty());
}

// A naive transpose: each lane of a warp stores to another row.
TEST(PartitionCamping, OneWarpAlone) {
  PartitionCamping camping(1, {}, board(8));
  WarpStreams warps(camping);
  warps.load(0, 0, 0, 2048); // 32 sectors in one partition: that is one access, and cannot be spread
  EXPECT_DOUBLE_EQ(number(warps.finish(), "partition_camping.ratio"), 1);
}

TEST(PartitionCamping, WindowsAreRoundsAndWavesAreApart) {
  PartitionCamping camping(2, {.grid = {4, 1, 1}, .block = {32, 1, 1}}, board(2, 2));
  WarpStreams warps(camping, 2);
  for (std::uint64_t cta = 0; cta < 4; ++cta) {
    warps.load(cta, 0, 512 * cta);                                // both blocks of a wave in partition 0
    warps.load(cta, 0, 256 * cta, 4, exec::AccessKind::store, 1); // one in each
  }
  const Metrics m = warps.finish();
  EXPECT_DOUBLE_EQ(number(m, "partition_camping.ratio"), (8 + 4 + 8 + 4) / (4.0 * 4));
  EXPECT_DOUBLE_EQ(number(m, "partition_camping_worst_wave.ratio"), 1.5);
  EXPECT_DOUBLE_EQ(number(m, "partitions_busy"), 1.5);
  EXPECT_EQ(m.integer("partition_0_sectors"), 24u);
  EXPECT_EQ(m.integer("partition_1_sectors"), 8u);
  EXPECT_DOUBLE_EQ(number(warps.rows[0].metrics, "partition_camping.ratio"), 2);
  EXPECT_DOUBLE_EQ(number(warps.rows[1].metrics, "partition_camping.ratio"), 1);
}

} // namespace camping_test
} // namespace warplens::analyzers
