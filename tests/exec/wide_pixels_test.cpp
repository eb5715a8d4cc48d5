// SPDX-License-Identifier: Apache-2.0
// Copies of pixels along the width: the modes im2col::w and im2col::w::128 (manual 5.5.5). No GPU was asked.
#include "api/session/tensor_map.hpp"
#include "emulator/exec/checks/race_check.hpp"
#include "tests/hardware/emulated.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>

namespace warplens::tests {
namespace wide_pixels_test {

using Words = std::vector<std::uint32_t>;
using Place = std::array<std::int64_t, 4>; ///< width, height, depth, image

constexpr std::size_t kShared = 17408; ///< bytes
constexpr std::size_t kChannels = 16;  ///< a row of 64 bytes, as the swizzle
constexpr std::uint32_t kBefore = 0xeeeeeeee, kNan = 0x7ff77ff7;

struct Copy {
  bool of_128 = false;
  int rank = 4;
  std::array<std::int64_t, 4> sizes{6, 3, 1, 64}; ///< width, height, depth, images
  int lower = 0, upper = 0;
  std::uint32_t step = 1, pixels = 20;
  Place start{};
  int halo = 0, offset = 0;
  std::string to = "shared::cta";
  bool prefetches = false, nan = false;
  std::int64_t swizzle = 2; ///< 64 bytes
  std::string read = {};    ///< before the wait
  int bytes = -1;           ///< that the mbarrier expects
  int target = 100;

  [[nodiscard]] std::size_t count() const {
    return static_cast<std::size_t>(of_128 ? 128 + 4 * halo : static_cast<int>(pixels) + halo);
  }
};

std::string coordinates(const Copy& c) {
  std::string text = "0";
  for (int d = 0; d < c.rank - 2; ++d) text += fmt::format(", {}", c.start[static_cast<std::size_t>(d)]);
  return text + fmt::format(", {}", c.start[3]);
}

std::string statement(const Copy& c) {
  const std::string mode = c.of_128 ? "im2col::w::128" : "im2col::w";
  if (c.prefetches)
    return fmt::format("cp.async.bulk.prefetch.tensor.{}d.L2.global.{} [%map, {{{}}}], {{%halo, %offset}};\n", c.rank,
                       mode, coordinates(c));
  return fmt::format("cp.async.bulk.tensor.{}d.{}.global.{}.mbarrier::complete_tx::bytes [%s], [%map, {{{}}}], [%b], "
                     "{{%halo, %offset}};\n",
                     c.rank, c.to, mode, coordinates(c));
}

// One thread fills shared memory, copies, and stores shared memory to `out`.
std::string kernel(const Copy& c) {
  const int bytes = c.bytes >= 0 ? c.bytes : static_cast<int>(c.count() * kChannels * 4);
  const std::string wait = "wait:\nmbarrier.try_wait.parity.shared::cta.b64 %done, [%b], 0;\n@!%done bra wait;\n";
  return fmt::format(R"(.version 8.8
.target sm_{}a
.address_size 64
.visible .entry k(.param .u64 map, .param .u64 out) {{
  .shared .align 1024 .b8 s[{}];
  .shared .align 8 .b64 bar;
  .reg .b32 %s, %b, %i, %a, %v; .reg .b16 %halo, %offset;
  .reg .b64 %map, %out, %p;
  .reg .pred %more, %done;
  ld.param.u64 %map, [map];
  ld.param.u64 %out, [out];
  mov.u32 %s, s;
  mov.u32 %b, bar;
  mov.u16 %halo, {};
  mov.u16 %offset, {};
  mov.u32 %i, 0;
fill:
  add.u32 %a, %s, %i;
  st.shared.u32 [%a], {};
  add.u32 %i, %i, 4;
  setp.lt.u32 %more, %i, {};
  @%more bra fill;
  fence.proxy.async;
  mbarrier.init.shared::cta.b64 [%b], 1;
  fence.mbarrier_init.release.cluster;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%b], {};
{}{}{}  mov.u32 %i, 0;
keep:
  add.u32 %a, %s, %i;
  ld.shared.u32 %v, [%a];
  cvt.u64.u32 %p, %i;
  add.u64 %p, %p, %out;
  st.global.u32 [%p], %v;
  add.u32 %i, %i, 4;
  setp.lt.u32 %more, %i, {};
  @%more bra keep;
  ret;
}}
)",
                     c.target, kShared, c.halo, c.offset, kBefore, kShared, bytes, statement(c), c.read,
                     c.prefetches ? "" : wait, kShared);
}

api::TensorMapRequest request_of(const Copy& c, std::uint64_t address) {
  api::TensorMapRequest r;
  r.kind = api::TensorMapRequest::Kind::im2col_wide;
  r.mode = c.of_128 ? 1 : 0;
  r.type = c.nan ? 7 : 2; // f32, u32
  r.fill = c.nan ? 1 : 0;
  r.rank = c.rank;
  r.address = address;
  std::uint64_t stride = kChannels * 4;
  for (int d = 0, at = 0; d < 4; ++d) {
    const auto size = static_cast<std::uint64_t>(c.sizes[static_cast<std::size_t>(d)]);
    if (d != 3 && d >= c.rank - 2) continue;
    r.strides[static_cast<std::size_t>(at)] = stride;
    r.sizes[static_cast<std::size_t>(++at)] = size;
    stride *= size;
  }
  r.sizes[0] = kChannels;
  r.steps[1] = c.step;
  r.lower[0] = c.lower;
  r.upper[0] = c.upper;
  r.channels = kChannels;
  r.pixels = c.pixels;
  r.swizzle = c.swizzle;
  r.since_sm_100 = true;
  return r;
}

struct Result {
  std::string trap;
  Words shared;
  std::size_t findings = 0;
};

std::uint32_t element(std::size_t at) { return static_cast<std::uint32_t>(at + 1000); }

using Change = void (*)(exec::TensorMap&);
Result run(const Copy& c, Change change = nullptr, bool of_races = false) {
  Emulated machine(kernel(c), "wide.ptx");
  std::size_t count = kChannels;
  for (const std::int64_t size : c.sizes) count *= static_cast<std::size_t>(size);
  Words tensor(count);
  for (std::size_t i = 0; i < count; ++i) tensor[i] = element(i);
  exec::TensorMap map = *api::make_tensor_map(request_of(c, machine.buffer(tensor)));
  if (change != nullptr) change(map);
  const exec::TensorMap::Words words = map.encoded();
  const std::uint64_t at = machine.buffer(Words(256)), out = machine.buffer(Words(kShared / 4));
  std::memcpy(reinterpret_cast<void*>(at), words.data(), sizeof words);
  Emulated::Request request;
  request.kernel = "k";
  request.shape.block[0] = 1;
  request.arguments = {{at, 8}, {out, 8}};
  exec::RaceCheck races;
  if (of_races) {
    request.checkers.push_back(&races);
    request.tools.racecheck = true;
  }
  Result result;
  result.trap = machine.run(request);
  result.findings = machine.findings().size();
  const auto* const p = reinterpret_cast<const std::uint32_t*>(out);
  result.shared.assign(p, p + kShared / 4);
  return result;
}

// The pixels one after the other: along the width to the end of the bounding box, then in the next image.
std::vector<Place> walk(const Copy& c, std::size_t count) {
  std::vector<Place> places;
  for (std::int64_t image = c.start[3], first = c.start[0]; places.size() < count; ++image, first = c.lower)
    for (std::int64_t w = first; w <= c.sizes[0] - 1 + c.upper && places.size() < count; w += c.step)
      places.push_back({w + c.offset, c.start[1], c.start[2], image});
  return places;
}

Words wanted(const Copy& c) {
  std::vector<Place> rows = walk(c, c.of_128 ? 128 + static_cast<std::size_t>(c.halo) : c.count());
  if (c.of_128) {
    const std::vector<Place> all = rows;
    rows.resize(128);
    for (std::size_t of_halo = 0; of_halo < static_cast<std::size_t>(c.halo); ++of_halo)
      for (const std::size_t group : {32, 64, 96, 128}) rows.push_back(all[group + of_halo]);
  }
  Words shared(kShared / 4, kBefore);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    std::int64_t at = 0;
    bool inside = true;
    for (int d = 3; d >= 0; --d) {
      const auto i = static_cast<std::size_t>(d);
      inside = inside && rows[row][i] >= 0 && rows[row][i] < c.sizes[i];
      at = at * c.sizes[i] + rows[row][i];
    }
    for (std::size_t channel = 0; channel < kChannels; ++channel) {
      const std::size_t unit = channel / 4 ^ (row / 2 & 3); // the swizzle of 64 bytes
      shared[row * kChannels + unit * 4 + channel % 4] =
          inside  ? element(static_cast<std::size_t>(at) * kChannels + channel)
          : c.nan ? kNan
                  : 0;
    }
  }
  return shared;
}

void expect_copy(const Copy& c) {
  const Result got = run(c);
  ASSERT_EQ(got.trap, "") << statement(c);
  EXPECT_EQ(got.shared, wanted(c)) << statement(c) << c.halo << " " << c.offset;
}

TEST(WidePixels, TheHaloFollowsThePixels) {
  for (const int halo : {0, 1, 2, 7})
    for (const int offset : {0, 1, 2, 31}) expect_copy({.start{2, 1, 0, 3}, .halo = halo, .offset = offset});
  expect_copy({.pixels = 1, .halo = 255}); // fewer pixels than halo
}

TEST(WidePixels, Each32Of128PixelsHaveAHalo) {
  for (const int halo : {0, 1, 2, 31})
    for (const int offset : {0, 3}) expect_copy({.of_128 = true, .start{4, 2, 0, 1}, .halo = halo, .offset = offset});
}

// The examples of 5.5.5.3 and 5.5.5.4; the manual counts coordinates from the images on.
TEST(WidePixels, TheManualsExamples) {
  for (const bool of_128 : {false, true})
    expect_copy({.of_128 = of_128, .sizes{9, 7, 1, 64}, .pixels = 128, .start{3, 2, 0, 7}, .halo = 2});
  for (const int buffer : {0, 1})
    expect_copy({.sizes{9, 67, 1, 64},
                 .lower = -1,
                 .step = 2,
                 .pixels = 128,
                 .start{-1, 2, 0, 7},
                 .halo = 1 - buffer,
                 .offset = buffer});
  for (const int offset : {0, 1, 2})
    expect_copy({.sizes{7, 7, 1, 64},
                 .lower = -1,
                 .upper = -1,
                 .step = 3,
                 .pixels = 128,
                 .start{-1, 2, 0, 7},
                 .offset = offset});
}

TEST(WidePixels, TheFirstPixelMayBeLeftOfTheBoundingBox) {
  expect_copy({.lower = 2, .start{0, 1, 0, 3}});
  expect_copy({.lower = -1, .start{-4, 1, 0, 3}, .halo = 2});
  expect_copy({.of_128 = true, .lower = 1, .start{-1, 1, 0, 3}, .halo = 1});
}

TEST(WidePixels, BeyondTheTensor) {
  expect_copy({.start{0, 1, 0, 62}, .halo = 1});               // more pixels than images have
  expect_copy({.start{0, 5, 0, 1}, .halo = 1});                // a row that no image has
  expect_copy({.lower = -2, .upper = 2, .start{-2, 1, 0, 3}}); // a bounding box wider than the images
  expect_copy({.lower = -2, .start{-2, 1, 0, 3}, .nan = true});
}

TEST(WidePixels, Ranks) {
  expect_copy({.rank = 3, .sizes{6, 1, 1, 64}, .start{1, 0, 0, 3}, .halo = 2});
  expect_copy({.rank = 5, .sizes{6, 3, 2, 64}, .start{1, 2, 1, 3}, .halo = 2});
  expect_copy({.of_128 = true, .rank = 5, .sizes{6, 3, 2, 64}, .start{1, 2, 1, 3}, .halo = 2});
  expect_copy({.start{2, 1, 0, 3}, .halo = 2, .to = "shared::cluster"});
  expect_copy({.start{2, 1, 0, 3}, .halo = 2, .target = 120});
}

TEST(WidePixels, TheMbarrierIsToldOfTheHalo) {
  // Without it, the copy brings more bytes than the mbarrier expects.
  Copy copy{.start{2, 1, 0, 3}, .halo = 2, .bytes = 20 * 64};
  EXPECT_NE(run(copy).trap, "");
  copy.bytes = 22 * 64;
  EXPECT_EQ(run(copy).trap, "");
}

TEST(WidePixels, RacecheckKnowsTheHalo) {
  const std::string read = "ld.shared.u32 %v, [%s+1344];\n"; // the last row
  EXPECT_EQ(run({.halo = 2}, nullptr, true).findings, 0u);
  EXPECT_EQ(run({.halo = 2, .read = read}, nullptr, true).findings, 1u);
}

TEST(WidePixels, PrefetchesWriteNothing) {
  for (const bool of_128 : {false, true}) {
    const Result got = run({.of_128 = of_128, .halo = 3, .prefetches = true});
    EXPECT_EQ(got.trap, "");
    EXPECT_EQ(got.shared, Words(kShared / 4, kBefore));
  }
}

void expect_trap(const Copy& c, const std::string& part, Change change = nullptr) {
  for (const bool prefetches : {false, true}) {
    Copy copy = c;
    copy.prefetches = prefetches;
    const std::string trap = run(copy, change).trap;
    EXPECT_NE(trap.find(part), std::string::npos) << statement(copy) << trap;
    EXPECT_NE(trap.find("in kernel k, by thread (0,0,0)"), std::string::npos) << trap;
  }
}

TEST(WidePixels, BadInput) {
  expect_trap({.halo = 512}, "its wHalo 512 is not from 0 to 511");
  expect_trap({.of_128 = true, .halo = 32}, "its wHalo 32 is not from 0 to 31");
  expect_trap({.offset = 32}, "its wOffset 32 is not from 0 to 31");
  expect_trap({.start{6, 0, 0, 0}}, "its coordinate 6 is beyond the bounding box, which ends at 5");
  expect_trap({.swizzle = 0}, "need a swizzle");
  expect_trap({.swizzle = 5}, "not the one that exchanges halves");
  expect_trap({}, "the tensor map is not one of im2col", [](exec::TensorMap& map) {
    map.pixels = false;
    map.box = {16, 1, 1, 1, 1};
  });
  expect_trap({}, "corners of the width only", [](exec::TensorMap& map) { map.lower[1] = -1; });
  expect_trap({}, "without interleave", [](exec::TensorMap& map) { map.interleave = 1; });
  expect_trap({}, "the tensor map has 3 dimensions, but the instruction 4", [](exec::TensorMap& map) { map.rank = 3; });
  const auto outside = [](const Copy& c) { return run(c).trap.find("outside") != std::string::npos; };
  EXPECT_TRUE(outside({.pixels = 270, .halo = 10})) << "the halo is past the end of shared memory";
  EXPECT_FALSE(outside({.pixels = 270, .halo = 2}));
}

} // namespace wide_pixels_test
} // namespace warplens::tests
