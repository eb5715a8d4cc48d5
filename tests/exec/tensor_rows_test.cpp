// SPDX-License-Identifier: Apache-2.0
// Copies of four rows (.tile::gather4, .tile::scatter4), and copies whose mbarrier is in the other block of a pair
// (.cta_group::2): manual 5.5.3.4, 9.7.9.27.1.
#include "api/session/tensor_map.hpp"
#include "tests/hardware/emulated.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace warplens::tests {
namespace tensor_rows_test {

using Word = std::uint32_t;

constexpr int kColumns = 32, kRows = 16, kBox = 16;

// The first words of the buffer are the map; `out` gets the 64 words of shared memory, which are 1000 + i before.
std::string kernel(const std::string& body) {
  return R"(.version 8.8
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 map, .param .u64 out) {
  .shared .align 128 .b8 s[256];
  .shared .align 8 .b64 bar;
  .reg .b32 %s, %b, %i, %v, %a, %rank, %remote;
  .reg .b64 %map, %out, %p;
  .reg .pred %first, %more, %waited;
  ld.param.u64 %map, [map];
  ld.param.u64 %out, [out];
  mov.u32 %s, s;
  mov.u32 %b, bar;
  mov.u32 %rank, %cluster_ctarank;
  mov.u32 %i, 0;
fill:
  mad.lo.u32 %a, %i, 4, %s;
  add.u32 %v, %i, 1000;
  st.shared.u32 [%a], %v;
  add.u32 %i, %i, 1;
  setp.lt.u32 %more, %i, 64;
  @%more bra fill;
  mbarrier.init.shared::cta.b64 [%b], 1;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%b], BYTES;
  barrier.cluster.arrive;
  barrier.cluster.wait;
)" + body +
         R"(
  barrier.cluster.arrive;
  barrier.cluster.wait;
  mov.u32 %i, 0;
  mad.wide.u32 %out, %rank, 256, %out;
keep:
  mad.lo.u32 %a, %i, 4, %s;
  ld.shared.u32 %v, [%a];
  mad.wide.u32 %p, %i, 4, %out;
  st.global.u32 [%p], %v;
  add.u32 %i, %i, 1;
  setp.lt.u32 %more, %i, 64;
  @%more bra keep;
  ret;
}
)";
}

struct Result {
  std::string trap;
  std::vector<Word> shared, tensor;
};

Word element(int row, int column) { return static_cast<Word>(100 * row + column); }

Result run(const std::string& body, int bytes, Word blocks = 1, Word box_rows = 1, Word swizzle = 0) {
  std::string text = kernel(body);
  text.replace(text.find("BYTES"), 5, std::to_string(bytes));
  Emulated machine(text, "rows.ptx");
  std::vector<Word> elements;
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; j < kColumns; ++j) elements.push_back(element(i, j));
  const std::uint64_t tensor = machine.buffer(elements);
  api::TensorMapRequest r;
  r.type = 2; // u32
  r.rank = 2;
  r.address = tensor;
  r.sizes = {kColumns, kRows};
  r.strides = {4 * kColumns};
  r.box = {kBox, box_rows};
  r.swizzle = swizzle;
  r.since_sm_100 = true;
  const auto words = api::make_tensor_map(r)->encoded();
  std::vector<Word> map(words.size() * 2 + 32);
  const std::uint64_t at = machine.buffer(map);
  std::memcpy(reinterpret_cast<void*>(at), words.data(), sizeof words);
  Emulated::Request request;
  request.kernel = "k";
  request.shape.block[0] = 1;
  request.shape.grid[0] = blocks;
  request.shape.cluster[0] = blocks;
  const std::uint64_t out = machine.buffer(std::vector<Word>(64 * blocks));
  request.arguments = {{at, 8}, {out, 8}};
  Result result;
  result.trap = machine.run(request);
  const auto take = [](std::uint64_t from, std::size_t count) {
    const auto* const p = reinterpret_cast<const Word*>(from);
    return std::vector<Word>(p, p + count);
  };
  result.shared = take(out, 64 * blocks);
  result.tensor = take(tensor, kRows * kColumns);
  machine.free_buffers();
  return result;
}

const std::string kWait = "wait:\nmbarrier.try_wait.parity.shared::cta.b64 %waited, [%b], 0;\n@!%waited bra wait;\n";

TEST(TensorRows, GatherLoadsFourRows) {
  for (const char* to : {"shared::cta", "shared::cluster"}) {
    const Result r =
        run(std::string("cp.async.bulk.tensor.2d.") + to +
                ".global.tile::gather4.mbarrier::complete_tx::bytes [%s], [%map, {20, 3, 15, 0, 16}], [%b];\n" + kWait,
            256);
    EXPECT_EQ(r.trap, "");
    const int rows[] = {3, 15, 0, 16};
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < kBox; ++j) // what is outside of the tensor is 0
        EXPECT_EQ(r.shared[static_cast<std::size_t>(i * kBox + j)],
                  rows[i] < kRows && 20 + j < kColumns ? element(rows[i], 20 + j) : 0);
  }
}

TEST(TensorRows, GatherSwizzlesItsRowsAsABoxOfFour) {
  const std::string gather =
                        "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes [%s], "
                        "[%map, {0, 4, 5, 6, 7}], [%b];\n",
                    tile =
                        "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%s], [%map, {0, "
                        "4}], [%b];\n";
  constexpr Word kSwizzleOf64 = 2;
  const Result rows = run(gather + kWait, 256, 1, 1, kSwizzleOf64), box = run(tile + kWait, 256, 1, 4, kSwizzleOf64);
  EXPECT_EQ(rows.trap + box.trap, "");
  EXPECT_EQ(rows.shared, box.shared);
}

// Rows of 128 bytes, of which the box fills the first half: in the second row, units of 16 bytes change places by 16,
// 32 or 64 bytes, and of one mode also their halves.
TEST(TensorRows, SwizzlesOfSm100MoveMoreThan16Bytes) {
  const std::string tile =
      "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%s], [%map, {0, "
      "4}], [%b];\n";
  struct Mode {
    Word swizzle;
    int places[4]; ///< of the units of the second row
    bool halves;
  };
  for (const Mode& mode : {Mode{3, {1, 0, 3, 2}, false}, Mode{4, {2, 3, 0, 1}, false}, Mode{5, {2, 3, 0, 1}, true},
                           Mode{6, {4, 5, 6, 7}, false}}) {
    const Result r = run(tile + kWait, 128, 1, 2, mode.swizzle);
    EXPECT_EQ(r.trap, "");
    for (int unit = 0; unit < 4; ++unit)
      for (int word = 0; word < 4; ++word) {
        const int column = 4 * unit + word, moved = mode.halves ? word ^ 2 : word;
        EXPECT_EQ(r.shared[static_cast<std::size_t>(column)], element(4, column)) << mode.swizzle;
        EXPECT_EQ(r.shared[static_cast<std::size_t>(32 + 4 * mode.places[unit] + moved)], element(5, column))
            << mode.swizzle << " " << column;
      }
  }
}

TEST(TensorRows, SwizzlesOfSm100AreForSuchDevices) {
  api::TensorMapRequest r;
  r.type = 2;
  r.rank = 2;
  r.address = 4096;
  r.sizes = {64, 64};
  r.strides = {256};
  r.box = {32, 8};
  for (const std::int64_t swizzle : {4, 5, 6, 7}) {
    r.swizzle = swizzle;
    r.since_sm_100 = false;
    EXPECT_FALSE(api::make_tensor_map(r).has_value()) << swizzle;
    r.since_sm_100 = true;
    const auto map = api::make_tensor_map(r);
    EXPECT_EQ(map.has_value(), swizzle < 7) << swizzle;
    if (!map) continue;
    EXPECT_TRUE(exec::TensorMap::is_valid(map->encoded())) << swizzle;
    EXPECT_EQ(exec::TensorMap::decoded(map->encoded()).atom, swizzle - 3);
  }
}

TEST(TensorRows, ScatterStoresFourRows) {
  const Result r =
      run("cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [%map, {20, 3, 15, 0, 16}], "
          "[%s];\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n",
          0);
  EXPECT_EQ(r.trap, "");
  const int rows[] = {3, 15, 0, 16};
  std::vector<Word> wanted;
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; j < kColumns; ++j) wanted.push_back(element(i, j));
  for (int i = 0; i < 3; ++i)
    for (int j = 20; j < kColumns; ++j)
      wanted[static_cast<std::size_t>(rows[i] * kColumns + j)] = static_cast<Word>(1000 + i * kBox + j - 20);
  EXPECT_EQ(r.tensor, wanted);
}

TEST(TensorRows, ScatterReduces) {
  const Result r =
      run("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile::scatter4.bulk_group [%map, {0, 2, 2, 9, "
          "16}], [%s];\n",
          0);
  EXPECT_EQ(r.trap, "");
  for (int j = 0; j < kBox; ++j) {
    EXPECT_EQ(r.tensor[static_cast<std::size_t>(2 * kColumns + j)], element(2, j) + 2000 + Word(2 * j) + kBox);
    EXPECT_EQ(r.tensor[static_cast<std::size_t>(9 * kColumns + j)], element(9, j) + 1000 + Word(2 * kBox + j));
  }
}

TEST(TensorRows, NeedAMapOfOneRow) {
  const Result r =
      run("cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes [%s], [%map, "
          "{0, 4, 5, 6, 7}], [%b];\n",
          256, 1, 4);
  EXPECT_NE(r.trap.find("four rows need a tensor map with a box of one row"), std::string::npos) << r.trap;
  const Result negative =
      run("cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [%map, {0, 3, -1, 0, 1}], [%s];\n", 0);
  EXPECT_NE(negative.trap.find("negative coordinate, -1"), std::string::npos) << negative.trap;
}

// Block 1 loads into its own memory, and its bytes complete at the mbarrier of block 0.
const std::string kPair =
    "setp.eq.u32 %first, %rank, 1;\nmapa.shared::cluster.u32 %remote, %b, 0;\nmapa.shared::cluster.u32 "
    "%a, %s, 1;\n@%first cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::"
    "bytes.cta_group::GROUP [%a], [%map, {0, 4}], [%remote];\n@%first bra on;\n";

TEST(TensorPairs, CompleteAtTheOtherBlock) {
  std::string body = kPair + kWait + "on:\n";
  body.replace(body.find("GROUP"), 5, "2");
  const Result r = run(body, 64, 2);
  EXPECT_EQ(r.trap, "");
  for (int j = 0; j < kBox; ++j) EXPECT_EQ(r.shared[static_cast<std::size_t>(64 + j)], element(4, j));
  body.replace(body.find("::2 ["), 3, "::1");
  EXPECT_NE(run(body, 64, 2).trap.find("destination block"), std::string::npos);
}

} // namespace tensor_rows_test
} // namespace warplens::tests
