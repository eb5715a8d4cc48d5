// SPDX-License-Identifier: Apache-2.0
// Measures texture fetches: nanoseconds of processor time for one lane of a full warp, in a kernel that does little
// else, by geometry, filter, format and addressing; without analyzers, and with the analyzers that always run.
// docs/performance.md has the results.
//
//   build/bin/bench_textures [NAME]      only cases whose names contain NAME
#include "analyzers/analyzers.hpp"
#include "emulator/exec/decode/decode.hpp"
#include "emulator/exec/grid/grid.hpp"
#include "emulator/ir/check.hpp"
#include "emulator/ir/parse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <ctime>
#include <fstream>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace warplens;
using exec::Addressing;
using isa::Type;

constexpr int kFetches = 16, kTurns = 1000, kRounds = 5;

struct Case {
  std::string name;
  std::string statement; ///< of %f0 to %f3, %r0 to %r3, [%rd0, {…}]; coordinates %x, %y, %z, or %i, %j, %k as integers
  exec::Image image;
  exec::Sampler sampler{};
  bool surface = false;
};

exec::Image image(int dimensions, Type type, std::uint32_t channels) {
  exec::Image i;
  i.dimensions = static_cast<std::uint8_t>(dimensions);
  i.width = dimensions == 1 ? 4096 : dimensions == 2 ? 512 : 64;
  i.height = dimensions == 1 ? 1 : dimensions == 2 ? 512 : 64;
  i.depth = dimensions == 3 ? 64 : 1;
  i.type = type;
  i.channels = channels;
  return i;
}

exec::Image layered(exec::Image i) {
  i.layered = true;
  i.layers = 4;
  return i;
}

exec::Image cube(exec::Image i) {
  i.cube = true;
  return i;
}

exec::Image with_levels(exec::Image i) {
  i.levels = 6;
  return i;
}

exec::Sampler sampler(bool linear, Addressing addressing, bool read_normalized = false) {
  exec::Sampler s;
  s.linear = linear;
  s.addressing = {addressing, addressing, addressing};
  s.normalized = addressing == Addressing::wrap || addressing == Addressing::mirror;
  s.read_normalized = read_normalized;
  s.highest_level = 10;
  return s;
}

std::vector<Case> cases() {
  const std::string v4 = "tex.{}.v4.f32.f32 {{%f0, %f1, %f2, %f3}}, [%rd0, {}];";
  const auto fetch = [&](const char* geometry, const char* at) { return fmt::format(fmt::runtime(v4), geometry, at); };
  const std::string d1 = fetch("1d", "{%x}"), d2 = fetch("2d", "{%x, %y}"), d3 = fetch("3d", "{%x, %y, %z, %z}");
  constexpr bool kPoint = false, kLinear = true;
  const auto clamp = Addressing::clamp, wrap = Addressing::wrap, mirror = Addressing::mirror,
             border = Addressing::border;
  exec::Sampler srgb = sampler(kLinear, clamp, true), trilinear = sampler(kLinear, clamp);
  srgb.srgb = true;
  trilinear.linear_levels = true;
  exec::Image memory = image(1, Type::f32, 1);
  memory.memory = true;
  const std::string integers = "tex.2d.v4.u32.f32 {%r0, %r1, %r2, %r3}, [%rd0, {%x, %y}];";
  return {
      {"1d memory f32, by integer", "tex.1d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [%rd0, {%i}];", memory},
      {"1d f32 point clamp", d1, image(1, Type::f32, 1), sampler(kPoint, clamp)},
      {"2d f32 point clamp", d2, image(2, Type::f32, 1), sampler(kPoint, clamp)},
      {"2d f32 point wrap", d2, image(2, Type::f32, 1), sampler(kPoint, wrap)},
      {"2d f32 point mirror", d2, image(2, Type::f32, 1), sampler(kPoint, mirror)},
      {"2d f32 point border", d2, image(2, Type::f32, 1), sampler(kPoint, border)},
      {"2d f32x4 point clamp", d2, image(2, Type::f32, 4), sampler(kPoint, clamp)},
      {"2d f16x4 point clamp", d2, image(2, Type::f16, 4), sampler(kPoint, clamp)},
      {"2d u8 point clamp", integers, image(2, Type::u8, 1), sampler(kPoint, clamp)},
      {"2d u8x4 point clamp as fractions", d2, image(2, Type::u8, 4), sampler(kPoint, clamp, true)},
      {"2d layered f32 point clamp", fetch("a2d", "{%k, %x, %y, %y}"), layered(image(2, Type::f32, 1)),
       sampler(kPoint, clamp)},
      {"3d f32 point clamp", d3, image(3, Type::f32, 1), sampler(kPoint, clamp)},
      {"cube f32 point", fetch("cube", "{%x, %y, %z, %z}"), cube(image(2, Type::f32, 1)), sampler(kPoint, clamp)},
      {"2d f32 levels point", "tex.level.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%rd0, {%x, %y}], %l;",
       with_levels(image(2, Type::f32, 1)), sampler(kPoint, clamp)},
      {"1d f32 linear clamp", d1, image(1, Type::f32, 1), sampler(kLinear, clamp)},
      {"2d f32 linear clamp", d2, image(2, Type::f32, 1), sampler(kLinear, clamp)},
      {"2d f32 linear wrap", d2, image(2, Type::f32, 1), sampler(kLinear, wrap)},
      {"2d f32 linear mirror", d2, image(2, Type::f32, 1), sampler(kLinear, mirror)},
      {"2d f32 linear border", d2, image(2, Type::f32, 1), sampler(kLinear, border)},
      {"2d f32x4 linear clamp", d2, image(2, Type::f32, 4), sampler(kLinear, clamp)},
      {"2d f16x4 linear clamp", d2, image(2, Type::f16, 4), sampler(kLinear, clamp)},
      {"2d u8 linear clamp as fractions", d2, image(2, Type::u8, 1), sampler(kLinear, clamp, true)},
      {"2d u8x4 linear clamp as fractions", d2, image(2, Type::u8, 4), sampler(kLinear, clamp, true)},
      {"2d s16x2 linear wrap as fractions", d2, image(2, Type::s16, 2), sampler(kLinear, wrap, true)},
      {"2d u8x4 linear clamp from sRGB", d2, image(2, Type::u8, 4), srgb},
      {"2d layered f32 linear clamp", fetch("a2d", "{%k, %x, %y, %y}"), layered(image(2, Type::f32, 1)),
       sampler(kLinear, clamp)},
      {"3d f32 linear clamp", d3, image(3, Type::f32, 1), sampler(kLinear, clamp)},
      {"3d u8 linear clamp as fractions", d3, image(3, Type::u8, 1), sampler(kLinear, clamp, true)},
      {"cube f32 linear", fetch("cube", "{%x, %y, %z, %z}"), cube(image(2, Type::f32, 1)), sampler(kLinear, clamp)},
      {"2d f32 levels trilinear", "tex.level.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%rd0, {%x, %y}], %l;",
       with_levels(image(2, Type::f32, 1)), trilinear},
      {"2d f32 gradients point", "tex.grad.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%rd0, {%x, %y}], {%l, %l}, {%l, %l};",
       with_levels(image(2, Type::f32, 1)), sampler(kPoint, clamp)},
      {"tld4 f32", "tld4.r.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%rd0, {%x, %y}];", image(2, Type::f32, 1),
       sampler(kLinear, clamp)},
      {"suld 2d b32", "suld.b.2d.b32.clamp %r0, [%rd0, {%b, %j}];", image(2, Type::u32, 1), {}, true},
      {"suld 2d v4.b32",
       "suld.b.2d.v4.b32.zero {%r0, %r1, %r2, %r3}, [%rd0, {%b, %j}];",
       image(2, Type::f32, 4),
       {},
       true},
      {"suld 3d b16", "suld.b.3d.b16.trap %h0, [%rd0, {%b, %j, %k, %k}];", image(3, Type::u16, 1), {}, true},
      {"sust 2d b32", "sust.b.2d.b32.clamp [%rd0, {%b, %j}], %i;", image(2, Type::u32, 1), {}, true},
      {"sust.p 2d f32x4",
       "sust.p.2d.v4.b32.zero [%rd0, {%i, %j}], {%i, %j, %i, %j};",
       image(2, Type::f32, 4),
       {},
       true},
  };
}

// Neighbouring lanes fetch neighbouring texels; successive fetches cover the whole texture. Normalised coordinates are
// from 0 to 2; all lanes use similar levels.
std::string kernel(const Case& c) {
  const bool unit = c.sampler.normalized || c.image.cube;
  const auto number = [](float x) { return fmt::format("0f{:08x}", std::bit_cast<std::uint32_t>(x)); };
  const std::uint32_t bytes = c.image.texel_bytes();
  const bool small = c.image.dimensions == 3;
  std::string text = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 t) {
  .reg .pred %p; .reg .f32 %f<4>, %x, %y, %z, %l; .reg .b32 %r<4>, %i, %j, %k, %b, %n; .reg .b64 %rd0; .reg .b16 %h0;
  ld.param.u64 %rd0, [t];
  mov.u32 %n, 0;
L:
)";
  for (int i = 0; i < kFetches; ++i) {
    text += fmt::format("  mad.lo.s32 %i, %n, 37, {0};\n  mad.lo.s32 %j, %n, 17, {0};\n"
                        "  mov.u32 %r0, %tid.x;\n  add.u32 %i, %i, %r0;\n  and.b32 %i, %i, {1};\n"
                        "  and.b32 %j, %j, {1};\n  and.b32 %k, %n, 3;\n  mul.lo.u32 %b, %i, {2};\n",
                        i * 29,
                        small                     ? 63
                        : c.image.dimensions == 1 ? 4095
                                                  : 511,
                        bytes);
    text += "  cvt.rn.f32.u32 %x, %i;\n  cvt.rn.f32.u32 %y, %j;\n  cvt.rn.f32.u32 %z, %k;\n"
            "  fma.rn.f32 %x, %x, 0f3F733333, 0f3E99999A;\n  fma.rn.f32 %y, %y, 0f3F7D70A4, 0f3F333333;\n"
            "  fma.rn.f32 %z, %z, 0f3F733333, 0f3E99999A;\n  mul.f32 %l, %z, 0f3E800000;\n";
    if (unit)
      for (const char axis : {'x', 'y', 'z'})
        text += fmt::format("  fma.rn.f32 %{0}, %{0}, {1}, {2};\n", axis, number(2.0f / 512),
                            number(c.image.cube ? -1.0f : 0.0f));
    text += "  " + c.statement + "\n";
  }
  return text + fmt::format("  add.u32 %n, %n, 1;\n  setp.lt.u32 %p, %n, {};\n  @%p bra L;\n  ret;\n}}\n", kTurns);
}

double seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

/// Ordinary numbers of the type.
void fill(const exec::Image& image, std::uint64_t address) {
  std::mt19937 random(1);
  auto* const bytes = reinterpret_cast<std::byte*>(address);
  const auto size = static_cast<std::size_t>(isa::bytes(image.type));
  for (std::uint64_t at = 0; at + size <= image.bytes(); at += size) {
    auto value = static_cast<std::uint32_t>(random());
    if (image.type == Type::f32) value = (value & 0x807fffff) | (120 + (value >> 23 & 15)) << 23;
    if (image.type == Type::f16) value = (value & 0x83ff) | (8 + (value >> 10 & 15)) << 10;
    std::memcpy(bytes + at, &value, size);
  }
}

/// The first parameter is the texture; `out` has room for this many floats.
struct Kernel {
  std::string text, name;
  exec::LaunchShape shape{};
  std::uint64_t out = 0;
  std::int32_t size = 0;
  float number = 0;
};

class Bench {
public:
  struct Times {
    double unwatched = 0, watched = 0;
  };
  /// Nanoseconds for a lane, without the other work of the kernel.
  Times time(const Case& c) {
    Case nothing = c;
    nothing.statement.clear();
    const double lanes = 32.0 * kFetches * kTurns;
    const auto of = [&](bool watched) {
      return (best(kernel_of(c), c, watched) - best(kernel_of(nothing), c, watched)) * 1e9 / lanes;
    };
    return {of(false), of(true)};
  }
  /// Milliseconds of a whole launch.
  Times time(const Kernel& kernel, const Case& texture) {
    return {best(kernel, texture, false) * 1e3, best(kernel, texture, true) * 1e3};
  }

private:
  static Kernel kernel_of(const Case& c) {
    Kernel k{kernel(c), "k"};
    k.shape.block[0] = 32;
    return k;
  }

  double best(const Kernel& kernel, const Case& c, bool watched) {
    auto parsed = ir::parse(kernel.text, c.name);
    if (!parsed) fail(render(parsed.error(), kernel.text));
    const ir::Module& module = *parsed;
    const ir::Checked checked = ir::check(*parsed);
    if (checked.errors.has_errors()) fail(render(checked.errors, kernel.text));
    const ir::Function& function = *module.find(kernel.name);
    exec::DecodeOptions options;
    options.watched = watched;
    const auto program = exec::decode(module, function, exec::VariableAddresses(module.variables.size()), options);
    if (!program) fail(render(program.error(), kernel.text));
    exec::BoundTexture bound{c.surface ? exec::BoundTexture::Kind::surface : exec::BoundTexture::Kind::texture, c.name,
                             false, c.image, c.sampler};
    bound.image.lay_out();
    bound.image.address = room(bound.image.bytes());
    fill(bound.image, bound.image.address);
    exec::Launch launch;
    launch.program = *program;
    launch.shape = kernel.shape;
    const std::uint64_t out = room(std::max<std::uint64_t>(kernel.out * 4, 4));
    struct {
      std::uint64_t texture, out;
      std::int32_t size;
      float number;
    } const parameters{7, out, kernel.size, kernel.number};
    launch.params.resize((*program)->param_bytes);
    std::memcpy(launch.params.data(), &parameters, std::min(sizeof parameters, launch.params.size()));
    launch.allocations = arena_->snapshot();
    launch.workers = 1;
    launch.textures.set(7, bound);
    double least = 1e9;
    for (int round = 0; round < kRounds; ++round) {
      std::optional<analyzers::Analysis> analysis;
      if (watched) launch.watcher = &analysis.emplace(module, function, launch.shape, analyzers::AnalysisOptions{});
      const double start = seconds();
      const exec::LaunchResult result = exec::run(launch);
      least = std::min(least, seconds() - start);
      if (result.trap) fail(exec::describe(*result.trap, launch).message);
    }
    arena_->free(out);
    arena_->free(bound.image.address);
    return least;
  }

  std::uint64_t room(std::uint64_t bytes) {
    const auto address = arena_->allocate(bytes, "bytes");
    if (!address) fail("out of memory");
    return *address;
  }

  [[noreturn]] static void fail(const std::string& why) {
    fmt::print(stderr, "{}\n", why);
    std::exit(2);
  }

  std::unique_ptr<exec::Arena> arena_ = std::move(*exec::Arena::reserve());
};

// The kernels of bench/kernels/textures.cu.
void time_whole_kernels(Bench& bench, const std::string& only) {
  std::ifstream in(WARPLENS_SOURCE_DIR "/bench/kernels/textures.ptx");
  std::stringstream text;
  text << in.rdbuf();
  exec::Image volume = image(3, Type::u8, 1);
  struct {
    const char* kernel;
    float number;
    Case texture;
  } const launches[] = {
      {"rotate", 0.8f, {"", "", image(2, Type::f32, 1), sampler(true, Addressing::wrap)}},
      {"march", 0.3f, {"", "", volume, sampler(true, Addressing::wrap, true)}},
      {"bicubic", 0.7f, {"", "", image(2, Type::u8, 1), sampler(true, Addressing::clamp, true)}},
  };
  for (const auto& l : launches) {
    if (std::string(l.kernel).find(only) == std::string::npos) continue;
    constexpr std::uint32_t kSize = 256;
    Kernel k{text.str(), l.kernel, {}, std::uint64_t{kSize} * kSize, kSize, l.number};
    k.shape.grid[0] = k.shape.grid[1] = kSize / 16;
    k.shape.block[0] = k.shape.block[1] = 16;
    const Bench::Times t = bench.time(k, l.texture);
    fmt::print("{:9.2f} {:9.2f}  ms, kernel {}\n", t.unwatched, t.watched, l.kernel);
  }
}

} // namespace

int main(int argc, char** argv) {
  const std::string only = argc > 1 ? argv[1] : "";
  Bench bench;
  fmt::print("{:>9} {:>9}  ns per lane of a full warp at {}\n", "unwatched", "watched", exec::levels().front().name);
  for (const Case& c : cases()) {
    if (c.name.find(only) == std::string::npos) continue;
    const Bench::Times t = bench.time(c);
    fmt::print("{:9.2f} {:9.2f}  {}\n", t.unwatched, t.watched, c.name);
  }
  time_whole_kernels(bench, only);
}
