// SPDX-License-Identifier: Apache-2.0
// Tensor maps of sm_100 and later: elements of 4 and 6 bits (manual 5.5.1.1, 9.7.9.27.1.1, and the requirements in
// CUDA's header), and what a swizzle moves (9.7.9.28).
#include "api/session/tensor_map.hpp"
#include "tests/hardware/emulated.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace warplens::tests {
namespace narrow_tensor_test {

using Bytes = std::vector<unsigned char>;
using Map = exec::TensorMap;

// The numbers of CUDA's header.
constexpr std::int64_t kPacked4 = 13, kPadded4 = 14, kPadded6 = 15;
constexpr std::size_t kStride = 256, kRows = 4, kShared = 512;
constexpr unsigned char kBefore = 0xee;

// A thread fills 512 bytes of shared memory with 0xee, or with their numbers (`numbered`), copies, and stores them to
// `out`. The first words of `map` are the map.
std::string kernel(const std::string& body, bool numbered, int target) {
  std::string text = R"(.version 8.8
.target sm_TARGETa
.address_size 64
.visible .entry k(.param .u64 map, .param .u64 out) {
  .shared .align 1024 .b8 s[512];
  .shared .align 8 .b64 bar;
  .reg .b32 %s, %b, %i, %a; .reg .b16 %v;
  .reg .b64 %map, %out, %p;
  .reg .pred %more, %waited;
  ld.param.u64 %map, [map];
  ld.param.u64 %out, [out];
  mov.u32 %s, s;
  mov.u32 %b, bar;
  mov.u32 %i, 0;
fill:
  add.u32 %a, %s, %i;
  cvt.u16.u32 %v, VALUE;
  st.shared.u8 [%a], %v;
  add.u32 %i, %i, 1;
  setp.lt.u32 %more, %i, 512;
  @%more bra fill;
  mbarrier.init.shared::cta.b64 [%b], 1;
)" + body + R"(
  mov.u32 %i, 0;
keep:
  add.u32 %a, %s, %i;
  ld.shared.u8 %v, [%a];
  cvt.u64.u32 %p, %i;
  add.u64 %p, %p, %out;
  st.global.u8 [%p], %v;
  add.u32 %i, %i, 1;
  setp.lt.u32 %more, %i, 512;
  @%more bra keep;
  ret;
}
)";
  text.replace(text.find("TARGET"), 6, std::to_string(target));
  return text.replace(text.find("VALUE"), 5, numbered ? "%i" : "238");
}

std::string load(const std::string& coordinates, int bytes) {
  return "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%b], " + std::to_string(bytes) +
         ";\ncp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%s], [%map, {" +
         coordinates +
         "}], [%b];\nwait:\nmbarrier.try_wait.parity.shared::cta.b64 %waited, [%b], 0;\n@!%waited bra wait;\n";
}
std::string store(const std::string& coordinates, const std::string& what = "cp", const std::string& how = "") {
  return what + ".async.bulk.tensor.2d.global.shared::cta" + how + ".tile.bulk_group [%map, {" + coordinates +
         "}], [%s];\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n";
}

api::TensorMapRequest request_of(std::int64_t type) {
  api::TensorMapRequest r;
  r.type = type;
  r.rank = 2;
  r.address = 4096;
  r.sizes = {256, kRows};
  r.strides = {kStride};
  r.box = {128, 2};
  r.since_sm_100 = true;
  return r;
}

struct Result {
  std::string trap;
  Bytes shared, tensor;
};

unsigned char element(std::size_t at) { return static_cast<unsigned char>(37 * at + at / kStride * 11); }

Result run(api::TensorMapRequest r, const std::string& body, bool numbered = false, int target = 100,
           bool forged = false) {
  Emulated machine(kernel(body, numbered, target), "narrow.ptx");
  const auto buffer = [&](std::size_t bytes) { return machine.buffer(std::vector<std::uint32_t>(bytes / 4)); };
  r.address = buffer(kStride * kRows);
  auto* const tensor = reinterpret_cast<unsigned char*>(r.address);
  for (std::size_t i = 0; i < kStride * kRows; ++i) tensor[i] = element(i);
  auto map = *api::make_tensor_map(r);
  if (forged) map.box[0] = 64;
  const auto words = map.encoded();
  const std::uint64_t at = buffer(1024), out = buffer(kShared);
  std::memcpy(reinterpret_cast<void*>(at), words.data(), sizeof words);
  Emulated::Request request;
  request.kernel = "k";
  request.shape.block[0] = 1;
  request.arguments = {{at, 8}, {out, 8}};
  Result result;
  result.trap = machine.run(request);
  const auto* const p = reinterpret_cast<const unsigned char*>(out);
  result.shared.assign(p, p + kShared);
  result.tensor.assign(tensor, tensor + kStride * kRows);
  return result;
}

TEST(NarrowTensors, PaddedElementsGetUnitsOf16Bytes) {
  struct Type {
    std::int64_t number;
    std::size_t unit; ///< bytes of 16 elements
  };
  for (const auto [number, unit] : {Type{kPadded4, 8}, Type{kPadded6, 12}})
    for (const std::int64_t swizzle : {0, 3}) {
      api::TensorMapRequest r = request_of(number);
      r.swizzle = swizzle;
      const Result got = run(r, load("128, 1", static_cast<int>(2 * 8 * unit)));
      ASSERT_EQ(got.trap, "");
      Bytes wanted(kShared, kBefore); // the padding is not written
      for (std::size_t row = 0; row < 2; ++row)
        for (std::size_t group = 0; group < 8; ++group)
          for (std::size_t i = 0; i < unit; ++i)
            wanted[128 * row + 16 * (swizzle == 0 ? group : group ^ row) + i] =
                element((row + 1) * kStride + 8 * unit + group * unit + i);
      EXPECT_EQ(got.shared, wanted) << number << " " << swizzle;
    }
}

TEST(NarrowTensors, PackedElementsAreCopiedAsTheyAre) {
  api::TensorMapRequest r = request_of(kPacked4);
  r.box = {64, 2};
  const Result got = run(r, load("32, 2", 64));
  ASSERT_EQ(got.trap, "");
  Bytes wanted(kShared, kBefore);
  for (std::size_t i = 0; i < 64; ++i) wanted[i] = element((i / 32 + 2) * kStride + 16 + i % 32);
  EXPECT_EQ(got.shared, wanted);
  const Result stored = run(r, store("32, 2"), true);
  ASSERT_EQ(stored.trap, "");
  for (std::size_t i = 0; i < 64; ++i)
    EXPECT_EQ(stored.tensor[(i / 32 + 2) * kStride + 16 + i % 32], static_cast<unsigned char>(i));
}

TEST(NarrowTensors, WhatIsOutsideIsZero) {
  const Result got = run(request_of(kPadded6), load("128, 3", 192));
  ASSERT_EQ(got.trap, "");
  EXPECT_EQ(got.shared[0], element(3 * kStride + 96));
  EXPECT_EQ(got.shared[12], kBefore);
  EXPECT_EQ(got.shared[128], 0);
  EXPECT_EQ(got.shared[140], kBefore);
}

TEST(NarrowTensors, StoresPackTheLowerSixBitsOfBytes) {
  const Result got = run(request_of(kPadded6), store("0, 1"), true);
  ASSERT_EQ(got.trap, "");
  for (std::size_t i = 0; i < kStride * kRows; ++i) {
    const std::size_t row = i / kStride, at = i % kStride;
    if (row < 1 || row > 2 || at >= 96) {
      EXPECT_EQ(got.tensor[i], element(i)) << i;
      continue;
    }
    unsigned packed = 0;
    for (std::size_t bit = 8 * at; bit < 8 * at + 8; ++bit) {
      const std::size_t value = 128 * (row - 1) + bit / 6; // the number of its byte in shared memory
      packed |= static_cast<unsigned>(value >> (bit % 6) & 1) << (bit - 8 * at);
    }
    EXPECT_EQ(got.tensor[i], packed) << i;
  }
}

TEST(NarrowTensors, OtherCopiesAreIllegal) {
  const auto trap = [](std::int64_t type, const std::string& body, std::int64_t swizzle = 0, int target = 100,
                       bool forged = false) {
    api::TensorMapRequest r = request_of(type);
    r.swizzle = swizzle;
    return run(r, body, false, target, forged).trap;
  };
  constexpr std::int64_t kAtom64 = 6;
  EXPECT_NE(trap(kPadded4, load("64, 0", 128)).find("64, is not a multiple of 128"), std::string::npos);
  EXPECT_NE(trap(kPadded4, store("0, 0")).find("no stores of elements of 4 bits"), std::string::npos);
  EXPECT_NE(trap(kPadded6, load("0, 0", 192), kAtom64).find("only stores have this swizzle"), std::string::npos);
  EXPECT_EQ(trap(kPadded6, store("0, 0"), kAtom64), "");
  EXPECT_NE(trap(kPacked4, load("8, 0", 128)).find("not at a multiple of 16 bytes"), std::string::npos);
  for (const std::int64_t type : {kPacked4, kPadded4, kPadded6}) {
    EXPECT_NE(trap(type, store("0, 0", "cp.reduce", ".add")).find("no such reduction"), std::string::npos);
    EXPECT_NE(trap(type, load("0, 0", 128), 0, 120).find("no loads of elements of 4 and 6 bits"), std::string::npos);
  }
  EXPECT_NE(trap(kPadded6, load("0, 0", 96), 0, 100, true).find("rows of 128 elements"), std::string::npos);
}

// Of the manual's table: 0 moves 16 bytes, 1 moves 32, 2 moves 32 and exchanges halves of 16, 3 moves 64.
TEST(NarrowTensors, TheAtomicityOfASwizzleCanBeReplaced) {
  constexpr std::int64_t kBytes = 0, kSwizzle128 = 3;
  const auto loaded = [&](std::int64_t swizzle, const std::string& before) {
    api::TensorMapRequest r = request_of(kBytes);
    r.box = {128, 3};
    r.swizzle = swizzle;
    const Result got = run(r, before + load("128, 1", 384));
    EXPECT_EQ(got.trap, "");
    return got.shared;
  };
  const auto replaced = [](int value) {
    return "tensormap.replace.tile.swizzle_atomicity.global.b1024.b32 [%map], " + std::to_string(value) + ";\n";
  };
  for (int atom = 0; atom < 4; ++atom) {
    EXPECT_EQ(loaded(kSwizzle128, replaced(atom)), loaded(kSwizzle128 + atom, "")) << atom;
    EXPECT_EQ(loaded(kSwizzle128 + atom, replaced(0)), loaded(kSwizzle128, "")) << atom;
  }
  EXPECT_NE(loaded(kSwizzle128, replaced(1)), loaded(kSwizzle128, ""));
}

TEST(NarrowTensors, MapsAreCheckedAsTheHeaderSays) {
  const auto made = [](std::int64_t type, auto change) {
    api::TensorMapRequest r = request_of(type);
    change(r);
    const auto map = api::make_tensor_map(r);
    if (map) {
      EXPECT_TRUE(Map::is_valid(map->encoded()));
      EXPECT_EQ(Map::decoded(map->encoded()).type, static_cast<Map::Type>(type));
    }
    return map.has_value();
  };
  using Request = api::TensorMapRequest;
  for (const std::int64_t type : {kPacked4, kPadded4, kPadded6}) {
    const bool padded = type != kPacked4, six = type == kPadded6;
    EXPECT_TRUE(made(type, [](Request&) {}));
    EXPECT_FALSE(made(type, [](Request& r) { r.since_sm_100 = false; }));
    EXPECT_FALSE(made(type, [](Request& r) { r.fill = 1; }));
    EXPECT_FALSE(made(type, [](Request& r) { r.sizes[0] = 255; }));
    EXPECT_EQ(made(type, [](Request& r) { r.sizes[0] = 254; }), !padded);
    EXPECT_EQ(made(type, [](Request& r) { r.address = 4112; }), !padded);
    EXPECT_EQ(made(type, [](Request& r) { r.strides[0] = 272; }), !padded);
    EXPECT_EQ(made(type, [](Request& r) { r.box[0] = 32; }), !padded);
    EXPECT_FALSE(made(type, [](Request& r) { r.box[0] = 48 + 4; }));
    for (const std::int64_t swizzle : {1, 2, 5})
      EXPECT_FALSE(made(type, [&](Request& r) { r.swizzle = swizzle, r.box[0] = padded ? 128 : 256; }) && padded);
    for (const std::int64_t swizzle : {3, 4}) EXPECT_TRUE(made(type, [&](Request& r) { r.swizzle = swizzle; }));
    EXPECT_EQ(made(type, [](Request& r) { r.swizzle = 6; }), !padded || six);
    const auto sliced = [](Request& r) {
      r.interleave = 1;
      r.rank = 3;
      r.sizes = {256, 4, 4};
      r.strides = {256, 1024};
      r.box = {128, 1, 1};
    };
    EXPECT_EQ(made(type, sliced), !six);
  }
}

} // namespace narrow_tensor_test
} // namespace warplens::tests
