// SPDX-License-Identifier: Apache-2.0
// Texture and surface instructions give the same results whether their lanes name one object or several.
#include "tests/hardware/emulated.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace warplens::tests {
namespace texture_handles_test {

constexpr std::uint32_t kThreads = 32, kWords = 8;

// Each thread reads its handle, coordinates in %a0 to %a2 and values in %a3, %a4, and keeps %r0 to %r3.
const char* const kKernel = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out) {
  .reg .b64 %rd<4>, %handle; .reg .b32 %a<5>, %r<4>, %t; .reg .b16 %h<4>; .reg .pred %p;
  ld.param.u64 %rd0, [in]; ld.param.u64 %rd1, [out];
  mov.u32 %t, %tid.x; mul.wide.u32 %rd2, %t, 32; add.u64 %rd0, %rd0, %rd2; mul.wide.u32 %rd2, %t, 16;
  add.u64 %rd1, %rd1, %rd2;
  ld.global.u64 %handle, [%rd0];
  ld.global.u32 %a0, [%rd0+8]; ld.global.u32 %a1, [%rd0+12]; ld.global.u32 %a2, [%rd0+16];
  ld.global.u32 %a3, [%rd0+20]; ld.global.u32 %a4, [%rd0+24];
  cvt.u16.u32 %h0, %a3; cvt.u16.u32 %h1, %a4; mov.u16 %h2, 0; mov.u16 %h3, 0;
  mov.u32 %r0, 7; mov.u32 %r1, 7; mov.u32 %r2, 7; mov.u32 %r3, 7;
  STATEMENT
  st.global.v4.u32 [%rd1], {%r0, %r1, %r2, %r3};
  ret;
})";

struct Case {
  const char* statement;
  isa::Type type;
  std::uint32_t channels, dimensions;
  bool layered = false, texture = false;
};

const Case kCases[] = {
    {"suld.b.1d.b32.clamp %r0, [%handle, {%a0}];", isa::Type::u32, 1, 1},
    {"suld.b.2d.b32.zero %r0, [%handle, {%a0, %a1}];", isa::Type::u8, 4, 2},
    {"suld.b.2d.v2.b32.clamp {%r0, %r1}, [%handle, {%a0, %a1}];", isa::Type::f32, 2, 2},
    {"suld.b.2d.v4.b32.zero {%r3, %a0, %r1, %r0}, [%handle, {%a0, %a1}];", isa::Type::f32, 4, 2},
    {"suld.b.2d.b64.clamp %rd3, [%handle, {%a0, %a1}]; mov.b64 {%r0, %r1}, %rd3;", isa::Type::u16, 4, 2},
    {"suld.b.3d.b16.clamp %h0, [%handle, {%a0, %a1, %a2, %a2}]; cvt.u32.u16 %r0, %h0;", isa::Type::u16, 1, 3},
    {"suld.b.a2d.b8.zero %h0, [%handle, {%a2, %a0, %a1, %a1}]; cvt.u32.u16 %r0, %h0;", isa::Type::s8, 1, 2, true},
    {"suld.b.a1d.b32.clamp %r0, [%handle, {%a2, %a0}];", isa::Type::s32, 1, 1, true},
    {"suld.b.2d.b32.trap %r0, [%handle, {%a0, %a1}];", isa::Type::u32, 1, 2},
    {"sust.b.2d.b32.clamp [%handle, {%a0, %a1}], %a3;", isa::Type::u32, 1, 2},
    {"sust.b.2d.v2.b32.zero [%handle, {%a0, %a1}], {%a3, %a4};", isa::Type::f32, 2, 2},
    {"sust.b.3d.b16.clamp [%handle, {%a0, %a1, %a2, %a2}], %h0;", isa::Type::u16, 1, 3},
    {"sust.b.a2d.b8.zero [%handle, {%a2, %a0, %a1, %a1}], %h0;", isa::Type::u8, 1, 2, true},
    {"sust.p.2d.v4.b32.zero [%handle, {%a0, %a1}], {%a3, %a4, %a2, %a3};", isa::Type::f32, 4, 2},
    {"sust.p.2d.b32.clamp [%handle, {%a0, %a1}], %a3;", isa::Type::s32, 2, 2},
    {"sust.p.2d.v4.b32.zero [%handle, {%a0, %a1}], {%a3, %a4, %a2, %a3};", isa::Type::u8, 4, 2},
    {"sured.b.2d.add.u32.clamp [%handle, {%a0, %a1}], %a3;", isa::Type::u32, 1, 2},
    {"setp.lt.u32 %p, %t, 20; @%p suld.b.2d.b32.clamp %r0, [%handle, {%a0, %a1}];", isa::Type::u32, 1, 2},
    {"tex.2d.v4.u32.s32 {%r0, %r1, %r2, %r3}, [%handle, {%a0, %a1}];", isa::Type::u16, 4, 2, false, true},
    {"tex.2d.v4.u32.s32 {%r0, %a0, %a1, %r1}, [%handle, {%a0, %a1}];", isa::Type::u16, 4, 2, false, true},
};

exec::BoundTexture bound(const Case& c, std::uint64_t address, const char* name) {
  exec::BoundTexture b;
  b.kind = c.texture ? exec::BoundTexture::Kind::texture : exec::BoundTexture::Kind::surface;
  b.name = name;
  b.image.dimensions = static_cast<std::uint8_t>(c.dimensions);
  b.image.width = 7;
  b.image.height = c.dimensions > 1 ? 5 : 1;
  b.image.depth = c.dimensions > 2 ? 3 : 1;
  b.image.layered = c.layered;
  b.image.layers = c.layered ? 3 : 1;
  b.image.type = c.type;
  b.image.channels = c.channels;
  b.image.address = address;
  b.image.lay_out();
  return b;
}

struct Outcome {
  std::string error;
  std::vector<std::uint32_t> out, texels;
};

/// Handle 7 and, in the lanes of `others`, 8: another name of the same texels.
Outcome run(const Case& c, std::uint32_t seed, std::uint32_t others) {
  std::string text = kKernel;
  text.replace(text.find("STATEMENT"), 9, c.statement);
  Emulated machine(text, "handles.ptx");
  std::mt19937 random(seed);
  const auto word = [&] { return static_cast<std::uint32_t>(random()); };
  std::vector<std::uint32_t> texels(7 * 5 * 3 * 4), in(kThreads * kWords);
  for (std::uint32_t& t : texels) t = word();
  const bool traps = std::string(c.statement).find("trap") != std::string::npos;
  const bool counts_bytes = std::string(c.statement).find(".b.") != std::string::npos;
  const std::uint32_t step = counts_bytes ? c.channels * static_cast<std::uint32_t>(isa::bytes(c.type)) : 1;
  for (std::uint32_t t = 0; t < kThreads; ++t) {
    std::uint32_t* const own = &in[t * kWords];
    own[0] = (others >> t & 1) != 0 ? 8 : 7;
    for (std::uint32_t i = 0; i < 3; ++i) {
      own[2 + i] = word() % (traps ? 3 : 9) - (traps ? 0 : 1);
      if (!traps && word() % 16 == 0) own[2 + i] = word();
    }
    own[2] *= step;
    own[5] = word(), own[6] = word();
  }
  const std::uint64_t image = machine.buffer(texels), given = machine.buffer(in),
                      out = machine.buffer(std::vector<std::uint32_t>(4 * kThreads));
  Emulated::Request request;
  request.kernel = "k";
  request.shape.block[0] = kThreads;
  request.arguments = {{given, 8}, {out, 8}};
  request.textures.set(7, bound(c, image, "seven"));
  request.textures.set(8, bound(c, image, "eight"));
  Outcome o;
  o.error = machine.run(request);
  const auto* const results = reinterpret_cast<const std::uint32_t*>(out);
  const auto* const after = reinterpret_cast<const std::uint32_t*>(image);
  o.out.assign(results, results + 4 * kThreads);
  o.texels.assign(after, after + texels.size());
  machine.free_buffers();
  return o;
}

TEST(TextureHandles, OneOrTwoNamesOfATextureMakeNoDifference) {
  for (const Case& c : kCases)
    for (std::uint32_t seed = 0; seed < 20; ++seed) {
      const Outcome one = run(c, seed, 0);
      EXPECT_EQ(one.error, "") << c.statement;
      for (const std::uint32_t others : {0xaaaaaaaau, 0x80000000u, 0x0000ffffu}) {
        const Outcome two = run(c, seed, others);
        EXPECT_EQ(two.error, "") << c.statement;
        EXPECT_EQ(two.out, one.out) << c.statement << " " << others;
        EXPECT_EQ(two.texels, one.texels) << c.statement << " " << others;
      }
    }
}

// The lowest lane whose handle is none is the one that traps, in whatever order its companions come.
TEST(TextureHandles, TheFirstUnboundLaneTraps) {
  const std::string statement = "and.b32 %r1, %t, 1; setp.eq.u32 %p, %r1, 1; @%p add.u64 %handle, %handle, 5; "
                                "setp.gt.u32 %p, %t, 20; @%p add.u64 %handle, %handle, 9; "
                                "tex.2d.v4.u32.s32 {%r0, %r1, %r2, %r3}, [%handle, {%a0, %a1}];";
  const Case c{statement.c_str(), isa::Type::u32, 1, 2, false, true};
  EXPECT_NE(run(c, 1, 0).error.find("handle 0xc is not bound to a texture"), std::string::npos) << run(c, 1, 0).error;
}

} // namespace texture_handles_test
} // namespace warplens::tests
