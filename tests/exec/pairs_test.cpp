// SPDX-License-Identifier: Apache-2.0
// Arithmetic on packed halves and bytes, with mixed precision and with three operands, logic with a predicate, and
// vector moves, compared with simple definitions.
#include "tests/exec/kernel_test.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <random>

namespace warplens::tests {
namespace pairs_test {

// Numbers with similar exponents, so that an exact sum or product fits into quadruple precision, and special values.
std::vector<std::uint32_t> words_of_floats(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  constexpr std::uint32_t kSpecial[] = {0,          0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000,
                                        0x7fc00000, 0x00000001, 0x807fffff, 0x00800000, 0x7f7fffff};
  std::vector<std::uint32_t> words(count);
  for (std::uint32_t& w : words)
    w = random() % 8 == 0 ? kSpecial[random() % std::size(kSpecial)]
                          : static_cast<std::uint32_t>((random() & 0x807fffff) | (110 + random() % 34) << 23);
  return words;
}
float single(std::uint64_t word) { return std::bit_cast<float>(static_cast<std::uint32_t>(word)); }

// x rounded to single precision, to one of the two enclosing neighbours.
float rounded(__float128 x, char how) {
  if (x != x) return NAN;
  auto nearest = static_cast<float>(x); // the compiler's, to nearest even
  if (how == 'n') return nearest;
  if (std::isinf(nearest) && x < 1e300 && x > -1e300) nearest = std::copysign(3.402823466e38f, nearest);
  const float below = nearest > x ? std::nextafterf(nearest, -INFINITY) : nearest;
  const float above = nearest < x ? std::nextafterf(nearest, INFINITY) : nearest;
  const bool down = how == 'm' || (how == 'z' && x > 0);
  return down ? below : above;
}
float flushed(float x, bool ftz) { return ftz && std::fabs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x; }

void expect_same(std::uint32_t got, float expected, const std::string& what) {
  if (std::isnan(expected))
    EXPECT_TRUE(std::isnan(single(got))) << what;
  else
    EXPECT_EQ(got, std::bit_cast<std::uint32_t>(expected)) << what << " " << single(got) << " " << expected;
}

// An exact zero has the sign of the rounding, unless both parts have one sign.
float zero_sign(float result, double a, double b, char how) {
  if (result != 0 || a + b != 0) return result;
  if (std::signbit(a) == std::signbit(b)) return std::copysign(0.0f, static_cast<float>(a));
  return how == 'm' ? -0.0f : 0.0f;
}
// Too far apart for the exact sum to fit a quadruple: such pairs are left out.
bool wide(double x, double y) {
  return std::isfinite(x) && std::isfinite(y) && x != 0 && y != 0 && std::abs(std::ilogb(x) - std::ilogb(y)) > 60;
}
float sum(float a, float b, char how) {
  if (!std::isfinite(a) || !std::isfinite(b)) return a + b;
  return zero_sign(rounded(static_cast<__float128>(a) + b, how), a, b, how);
}
float multiply_add(float a, float b, float c, char how) {
  if (!std::isfinite(a) || !std::isfinite(b) || !std::isfinite(c)) return std::fma(a, b, c);
  const __float128 product = static_cast<__float128>(a) * b;
  return zero_sign(rounded(product + c, how), static_cast<double>(a) * b, c, how);
}

TEST(Pairs, OfSingles) {
  for (const char how : {'n', 'z', 'm', 'p'})
    for (const bool ftz : {false, true})
      for (const std::string op : {"add", "sub", "mul", "fma"}) {
        const auto in = words_of_floats(6 * 1024, static_cast<unsigned>(how));
        const std::string c = op == "fma" ? ", %l2" : "";
        const auto out =
            run_words("sm_100", "8.6",
                      "mov.b64 %l0, {%r0, %r1}; mov.b64 %l1, {%r2, %r3}; mov.b64 %l2, {%r4, %r5};" + op + ".r" + how +
                          (ftz ? ".ftz" : "") + ".f32x2 %l3, %l0, %l1" + c + "; mov.b64 {%r20, %r21}, %l3;",
                      6, in);
        for (std::size_t i = 0; i < out.size(); ++i) {
          const std::uint32_t* const x = &in[i / 2 * 6 + i % 2];
          const float a = flushed(single(x[0]), ftz), b = flushed(single(x[2]), ftz), d = flushed(single(x[4]), ftz);
          if (op == "fma" ? wide(double{a} * b, d) : op != "mul" && wide(a, b)) continue;
          const float expected = op == "add"   ? sum(a, b, how)
                                 : op == "sub" ? sum(a, -b, how)
                                 : op == "mul"
                                     ? multiply_add(a, b, std::signbit(a) != std::signbit(b) ? -0.0f : 0.0f, how)
                                     : multiply_add(a, b, d, how);
          expect_same(out[i], flushed(expected, ftz), op + "." + how + " " + std::to_string(i));
        }
      }
}

TEST(Pairs, MixedPrecision) {
  std::mt19937 random(3);
  for (const std::string type : {"f16", "bf16"})
    for (const char how : {'n', 'z', 'm', 'p'})
      for (const bool sat : {false, true})
        for (const std::string op : {"add", "sub", "fma"}) {
          auto in = words_of_floats(3 * 1024, static_cast<unsigned>(how) + 7);
          for (std::size_t i = 0; i < in.size(); ++i)
            if (i % 3 != 2) in[i] = static_cast<std::uint32_t>(random() & 0xffff);
          const auto out =
              run_words("sm_100", "8.6",
                        "cvt.u16.u32 %h0, %r0; cvt.u16.u32 %h1, %r1;" + op + ".r" + how + (sat ? ".sat" : "") +
                            ".f32." + type + " %f30, %h0" + (op == "fma" ? ", %h1" : "") + ", %f2; mov.b32 %r20, %f30;",
                        3, in);
          const auto half = [&](std::uint32_t h) {
            if (type == "bf16") return single(std::uint64_t{h} << 16);
            const int e = static_cast<int>(h >> 10 & 31), m = static_cast<int>(h & 1023);
            const double a =
                e == 31 ? (m != 0 ? NAN : INFINITY) : std::ldexp(e == 0 ? m : 1024 + m, (e == 0 ? 1 : e) - 25);
            return static_cast<float>((h & 0x8000) != 0 ? -a : a);
          };
          for (std::size_t i = 0; i < in.size() / 3; ++i) {
            const float a = half(in[3 * i]), b = half(in[3 * i + 1]), c = single(in[3 * i + 2]);
            if (wide(op == "fma" ? double{a} * b : a, c)) continue;
            float expected = op == "add" ? sum(a, c, how) : op == "sub" ? sum(a, -c, how) : multiply_add(a, b, c, how);
            if (sat) expected = expected > 0 ? std::min(expected, 1.0f) : 0.0f; // NaN too
            expect_same(out[2 * i], expected, op + "." + how + "." + type + " " + std::to_string(i));
          }
        }
}

TEST(Pairs, ExtremesOfThree) {
  for (const std::string op : {"min", "max"})
    for (const bool ftz : {false, true})
      for (const bool nan : {false, true})
        for (const bool abs : {false, true}) {
          const auto in = words_of_floats(3 * 2048, 11);
          const auto out = run_words("sm_100", "8.8",
                                     op + (ftz ? ".ftz" : "") + (nan ? ".NaN" : "") + (abs ? ".abs" : "") +
                                         ".f32 %f30, %f0, %f1, %f2; mov.b32 %r20, %f30;",
                                     3, in);
          for (std::size_t i = 0; i < in.size() / 3; ++i) {
            std::vector<float> numbers;
            bool any = false;
            for (int k = 0; k < 3; ++k) {
              float x = flushed(single(in[3 * i + static_cast<std::size_t>(k)]), ftz);
              if (abs) x = std::fabs(x);
              if (std::isnan(x))
                any = true;
              else
                numbers.push_back(x);
            }
            std::sort(numbers.begin(), numbers.end(), [](float x, float y) { // -0 before +0
              return x < y || (x == y && std::signbit(x) && !std::signbit(y));
            });
            if (numbers.empty() || (nan && any))
              EXPECT_EQ(out[2 * i], 0x7fffffffu) << op << i;
            else
              EXPECT_EQ(single(out[2 * i]), op == "min" ? numbers.front() : numbers.back()) << op << i;
          }
        }
}

TEST(Pairs, QuartersOfAWord) {
  std::mt19937 random(5);
  std::vector<std::uint32_t> in(2 * 2048);
  for (std::uint32_t& w : in) w = random() % 3 == 0 ? 0x80ff7f00u : static_cast<std::uint32_t>(random());
  const auto byte = [](std::uint32_t word, int i, bool is_signed) {
    const auto b = static_cast<std::uint8_t>(word >> 8 * i);
    return is_signed ? int{static_cast<std::int8_t>(b)} : int{b};
  };
  const auto check = [&](const std::string& op, bool is_signed, const std::function<int(int, int)>& f) {
    const auto out = run_words("sm_120f", "9.2", op + " %r20, " + (op == "neg.s8x4" ? "%r1;" : "%r0, %r1;"), 2, in);
    for (std::size_t i = 0; i < in.size() / 2; ++i)
      for (int k = 0; k < 4; ++k)
        ASSERT_EQ(byte(out[2 * i], k, false),
                  f(byte(in[2 * i], k, is_signed), byte(in[2 * i + 1], k, is_signed)) & 0xff)
            << op << " " << in[2 * i] << " " << in[2 * i + 1];
  };
  for (const bool is_signed : {false, true}) {
    const std::string type = is_signed ? ".s8x4" : ".u8x4";
    const int low = is_signed ? -128 : 0, high = is_signed ? 127 : 255;
    check("add" + type, is_signed, [](int a, int b) { return a + b; });
    check("sub" + type, is_signed, [](int a, int b) { return a - b; });
    check("add.sat" + type, is_signed, [=](int a, int b) { return std::clamp(a + b, low, high); });
    check("sub.sat" + type, is_signed, [=](int a, int b) { return std::clamp(a - b, low, high); });
    check("min" + type, is_signed, [](int a, int b) { return std::min(a, b); });
    check("max" + type, is_signed, [](int a, int b) { return std::max(a, b); });
  }
  check("min.relu.s8x4", true, [](int a, int b) { return std::max(0, std::min(a, b)); });
  check("max.relu.s8x4", true, [](int a, int b) { return std::max(0, std::max(a, b)); });
  check("neg.s8x4", true, [](int, int b) { return -b; });
  const auto halves = run_words("sm_120f", "9.2", "add.sat.s16x2 %r20, %r0, %r1; add.sat.u32 %r21, %r0, %r1;", 2, in);
  for (std::size_t i = 0; i < in.size() / 2; ++i) {
    std::uint32_t expected = 0;
    for (int k = 0; k < 32; k += 16) {
      const int total = static_cast<std::int16_t>(in[2 * i] >> k) + static_cast<std::int16_t>(in[2 * i + 1] >> k);
      expected |= static_cast<std::uint32_t>(static_cast<std::uint16_t>(std::clamp(total, -32768, 32767))) << k;
    }
    ASSERT_EQ(halves[2 * i], expected);
    ASSERT_EQ(halves[2 * i + 1], std::min<std::uint64_t>(std::uint64_t{in[2 * i]} + in[2 * i + 1], 0xffffffff));
  }
}

TEST(Pairs, CarrylessProduct) {
  std::mt19937_64 random(6);
  std::vector<std::uint32_t> in(6 * 512);
  for (std::uint32_t& w : in) w = static_cast<std::uint32_t>(random());
  for (const bool low : {true, false}) {
    const auto out =
        run_words("sm_80", "9.3",
                  std::string("mov.b64 %l0, {%r0, %r1}; mov.b64 %l1, {%r2, %r3}; mov.b64 %l2, {%r4, %r5}; clmad.") +
                      (low ? "lo" : "hi") + ".u64 %l3, %l0, %l1, %l2; mov.b64 {%r20, %r21}, %l3;",
                  6, in);
    for (std::size_t i = 0; i < in.size() / 6; ++i) {
      const auto word = [&](std::size_t k) { return std::uint64_t{in[6 * i + k + 1]} << 32 | in[6 * i + k]; };
      unsigned __int128 product = 0;
      for (int k = 0; k < 64; ++k)
        if ((word(0) >> k & 1) != 0) product ^= static_cast<unsigned __int128>(word(2)) << k;
      const std::uint64_t expected = static_cast<std::uint64_t>(low ? product : product >> 64) ^ word(4);
      ASSERT_EQ(std::uint64_t{out[2 * i + 1]} << 32 | out[2 * i], expected);
    }
  }
}

TEST(Pairs, LogicWithAPredicate) {
  std::mt19937 random(7);
  std::vector<std::uint32_t> in(4 * 512);
  for (std::uint32_t& w : in) w = random() % 2 == 0 ? 0 : static_cast<std::uint32_t>(random());
  for (const bool either : {false, true})
    for (const bool flip : {false, true}) {
      const std::string q = flip ? "!%p1" : "%p1";
      const std::string op = either ? "or" : "and";
      // The predicate may be its own source; the destination too.
      const auto out = run_words("sm_75", "8.2",
                                 "setp.ne.b32 %p1, %r3, 0; setp.ne.b32 %p2, %r3, 0; mov.b32 %r30, %r1;\n"
                                 "lop3." +
                                     op + ".b32 %r30|%p1, %r0, %r30, %r2, 0x1a, " + q +
                                     ";\n"
                                     "lop3." +
                                     op + ".b32 _|%p2, %r0, %r1, %r2, 0x1a, " + (flip ? "!%p2" : "%p2") +
                                     ";\n"
                                     "mov.b32 %r20, %r30; selp.u32 %r21, 1, 0, %p1; @%p2 add.u32 %r21, %r21, 2;",
                                 4, in);
      for (std::size_t i = 0; i < in.size() / 4; ++i) {
        const std::uint32_t a = in[4 * i], b = in[4 * i + 1], c = in[4 * i + 2];
        const std::uint32_t d = ((a & b) | c) ^ a; // the example of the manual for 0x1a
        const bool other = (in[4 * i + 3] != 0) != flip;
        const bool p = either ? d != 0 || other : d != 0 && other;
        ASSERT_EQ(out[2 * i], d);
        ASSERT_EQ(out[2 * i + 1], p ? 3u : 0u) << op << q;
      }
    }
}

// set with a boolean operation, of halves and to halves.
TEST(Pairs, SetWithAPredicate) {
  std::mt19937 random(8);
  std::vector<std::uint32_t> in;
  for (int i = 0; i < 512; ++i) {
    constexpr std::uint32_t kValues[] = {0x0000, 0x8000, 0x3c00, 0xbc00, 0x7e00, 0x4000};
    for (int k = 0; k < 2; ++k) in.push_back(kValues[random() % 6] << 16 | kValues[random() % 6]);
    in.push_back(random() % 2);
  }
  const auto less = [](std::uint32_t a, std::uint32_t b) { // of the values above
    const auto value = [](std::uint32_t h) {
      const double m = (h & 0x7fff) == 0x3c00 ? 1 : (h & 0x7fff) == 0x4000 ? 2 : (h & 0x7fff) == 0 ? 0 : NAN;
      return (h & 0x8000) != 0 ? -m : m;
    };
    return value(a) < value(b);
  };
  for (const std::string op : {"and", "or", "xor"})
    for (const bool flip : {false, true}) {
      const auto combined = [&](bool t, std::uint32_t word) {
        const bool c = (word != 0) != flip;
        return op == "and" ? t && c : op == "or" ? t || c : t != c;
      };
      const std::string c = flip ? ", !%p1;" : ", %p1;";
      const auto out = run_words("sm_90", "7.8",
                                 "setp.ne.u32 %p1, %r2, 0; set.lt." + op + ".f16x2.f16x2 %r20, %r0, %r1" + c +
                                     "set.lt." + op + ".u32.f16x2 %r21, %r0, %r1" + c,
                                 3, in);
      const auto scalar =
          run_words("sm_90", "7.8",
                    "setp.ne.u32 %p1, %r2, 0; set.lt." + op + ".f16.s32 %h0, %r0, %r1" + c + "set.lt." + op +
                        ".bf16.u32 %h1, %r0, %r1" + c + "cvt.u32.u16 %r20, %h0; cvt.u32.u16 %r21, %h1;",
                    3, in);
      for (std::size_t i = 0; i < in.size() / 3; ++i) {
        const std::uint32_t a = in[3 * i], b = in[3 * i + 1], p = in[3 * i + 2];
        const bool low = combined(less(a & 0xffff, b & 0xffff), p), high = combined(less(a >> 16, b >> 16), p);
        ASSERT_EQ(out[2 * i], (high ? 0x3c000000u : 0) | (low ? 0x3c00u : 0)) << op;
        ASSERT_EQ(out[2 * i + 1], (high ? 0xffff0000u : 0) | (low ? 0xffffu : 0)) << op;
        ASSERT_EQ(scalar[2 * i], combined(static_cast<std::int32_t>(a) < static_cast<std::int32_t>(b), p) ? 0x3c00u : 0)
            << op;
        ASSERT_EQ(scalar[2 * i + 1], combined(a < b, p) ? 0x3f80u : 0) << op;
      }
    }
}

TEST(Pairs, VectorMoves) {
  const std::vector<std::uint32_t> in = {0x11223344, 0x55667788, 0x99aabbcc, 0xddeeff00};
  const auto gives = [&](const std::string& body, std::uint32_t low, std::uint32_t high) {
    const auto out =
        run_words("sm_90", "8.3", ".reg .b128 %x, %y; .reg .v2 .b32 %v; .reg .v4 .u32 %w; .reg .f64 %d;" + body, 4, in);
    EXPECT_EQ(out[0], low) << body;
    EXPECT_EQ(out[1], high) << body;
  };
  const std::string four = "mov.b128 %x, {%r0, %r1, %r2, %r3}; ";
  gives(four + "mov.b128 {%l0, %l1}, %x; mov.b64 {%r20, %r21}, %l1;", in[2], in[3]);
  gives(four + "mov.b128 %y, %x; mov.b128 {_, _, %r21, %r20}, %y;", in[3], in[2]);
  gives("mov.b64 %l0, {%r0, %r1}; mov.b128 %x, {%l0, 7}; mov.b128 {%r30, %r20, %r21, _}, %x;", in[1], 7);
  gives("mov.b128 %x, 0x123456789; mov.b128 {%r20, %r21, _, _}, %x;", 0x23456789, 1);
  gives(four + "setp.eq.u32 %p0, %r0, 0; @%p0 mov.b128 %x, 0; mov.b128 {_, %r20, %r21, _}, %x;", in[1], in[2]);
  gives("mov.v2.b32 {%r20, %r21}, {%r0, %r1}; mov.v2.b32 {%r20, %r21}, {%r21, %r20};", in[1], in[0]);
  gives("mov.v2.f32 {%f30, %f31}, {%f0, 1.0}; mov.b32 %r20, %f30; mov.b32 %r21, %f31;", in[0], 0x3f800000);
  gives("mov.b64 %v, 0x100000002; mov.b32 %r20, %v.x; mov.b32 %r21, %v.y;", 2, 1);
  gives("mov.v4.u32 %w, %ntid; mov.u32 %r20, %w.x; mov.u32 %r21, %w.y;", 128, 1);
  gives("mov.v4.u32 %w, {%r0, %r1, %r2, %r3}; mov.b128 %x, %w; mov.b128 {_, %r20, _, %r21}, %x;", in[1], in[3]);
  gives("mov.b64 %d, {%h0, %h1, %h2, %h3}; mov.b32 {%h0, %h1}, %r0; mov.b16 {%q0, %q1}, %h1; mov.b16 %h2, {%q1, %q0};"
        "mov.b64 %l0, {%h0, %h1, %h2, 5}; mov.b64 {%r20, %r21}, %l0;",
        in[0], 0x00052211);
  gives("mov.b32 {%q0, %q1, %q2, %q3}, %r0; mov.b32 %r20, {%q3, %q2, %q1, %q0};", 0x44332211, 0);
}

// Manual 9.7.6.1: on targets before sm_20 set.dtype.f32 flushes subnormal inputs.
TEST(Pairs, OldTargetsCompareFlushed) {
  const std::vector<std::uint32_t> in = {0x00000001, 0x80000001};
  const auto equal = [&](const std::string& target, const std::string& version, const std::string& words) {
    return run_words(target, version, "set.eq" + words + ".f32 %r20, %f0, %f1;", 2, in)[0];
  };
  EXPECT_EQ(equal("sm_13", "2.3", ".u32"), ~0u);
  EXPECT_EQ(equal("sm_20", "2.3", ".u32"), 0u);
  EXPECT_EQ(equal("sm_20", "2.3", ".ftz.u32"), ~0u);
}

} // namespace pairs_test
} // namespace warplens::tests
