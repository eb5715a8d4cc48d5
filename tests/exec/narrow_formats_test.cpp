// SPDX-License-Identifier: Apache-2.0
// Conversions to and from formats of 16 bits or fewer, compared with their definition (manual 5.2.3): the test
// enumerates all values of a format and selects the correctly rounded one. Instructions for sm_100 could not be
// measured; their expected results are from the manual or, where noted, from others' measurements.
#include "tests/exec/kernel_test.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>

namespace warplens::tests {
namespace narrow_formats_test {

enum class Ends { infinity, one_nan, none }; // the topmost codes: infinity and NaNs, a NaN, numbers

struct Format {
  std::string name; // of two
  int exponent, mantissa;
  Ends ends;

  [[nodiscard]] int bits() const { return 1 + exponent + mantissa; }
  /// The magnitudes, by code; ends with the largest finite one.
  [[nodiscard]] std::vector<double> magnitudes() const {
    std::vector<double> values;
    const int bias = (1 << (exponent - 1)) - 1;
    const int count = ends == Ends::infinity  ? ((1 << exponent) - 1) << mantissa
                      : ends == Ends::one_nan ? (1 << (exponent + mantissa)) - 1
                                              : 1 << (exponent + mantissa);
    for (int code = 0; code < count; ++code) {
      const int e = code >> mantissa, m = code & ((1 << mantissa) - 1);
      values.push_back(e == 0 ? std::ldexp(m, 1 - bias - mantissa)
                              : std::ldexp((1 << mantissa) + m, e - bias - mantissa));
    }
    return values;
  }
  [[nodiscard]] std::uint32_t sign() const { return 1u << (exponent + mantissa); }
};

const Format kHalf{"f16x2", 5, 10, Ends::infinity}, kBrain{"bf16x2", 8, 7, Ends::infinity};
const std::vector<Format> kNarrow = {{"e4m3x2", 4, 3, Ends::one_nan},
                                     {"e5m2x2", 5, 2, Ends::infinity},
                                     {"e2m3x2", 2, 3, Ends::none},
                                     {"e3m2x2", 3, 2, Ends::none},
                                     {"e2m1x2", 2, 1, Ends::none}};

class Codes {
public:
  explicit Codes(const Format& format) : format_(format), values_(format.magnitudes()) {}

  [[nodiscard]] std::uint32_t largest() const { return static_cast<std::uint32_t>(values_.size() - 1); }

  /// With `satfinite`.
  [[nodiscard]] std::uint32_t nearest(double x) const {
    if (std::isnan(x)) return nan();
    const double a = std::fabs(x);
    const auto above =
        static_cast<std::uint32_t>(std::upper_bound(values_.begin(), values_.end(), a) - values_.begin());
    std::uint32_t code = above - 1;
    if (code < largest()) {
      const double down = a - values_[code], up = values_[code + 1] - a;
      if (up < down || (up == down && code % 2 == 1)) ++code;
    }
    return code | (std::signbit(x) ? format_.sign() : 0);
  }

  /// The random number and the first `count` bits of what is beyond the lower neighbour: do they carry?
  [[nodiscard]] std::uint32_t random(float x, std::uint32_t r, int count, bool satfinite) const {
    if (std::isnan(x)) return nan();
    const double a = std::fabs(double{x});
    const auto above =
        static_cast<std::uint32_t>(std::upper_bound(values_.begin(), values_.end(), a) - values_.begin());
    std::uint32_t code = above - 1;
    const double gap = code == largest() ? values_[code] - values_[code - 1] : values_[code + 1] - values_[code];
    const double part = std::floor((a - values_[code]) / gap * std::ldexp(1, count));
    if (part + r >= std::ldexp(1, count)) ++code;
    if (code > largest()) code = satfinite ? largest() : largest() + 1;
    return code | (std::signbit(x) ? format_.sign() : 0);
  }

  [[nodiscard]] double value(std::uint32_t code) const {
    const std::uint32_t magnitude = code & (format_.sign() - 1);
    const double a = magnitude <= largest()                                         ? values_[magnitude]
                     : format_.ends == Ends::infinity && magnitude == largest() + 1 ? INFINITY
                                                                                    : NAN;
    return (code & format_.sign()) != 0 ? -a : a;
  }

private:
  [[nodiscard]] std::uint32_t nan() const { // hardware makes them positive
    return format_.ends == Ends::none ? largest() : format_.bits() == 16 ? 0x7fff : 0x7f;
  }
  Format format_;
  std::vector<double> values_;
};

double rectified(double x, bool relu) { return relu && !std::isnan(x) && !(x > 0) ? 0.0 : x; }

// The values of a format, what lies half-way, their neighbours in f32, and anything.
std::vector<float> floats_around(const Format& format) {
  std::vector<float> list = {0.0f, -0.0f, INFINITY, -INFINITY, NAN, -NAN, 1e-45f, -1e-45f, 1e-38f, 3e38f, -3e38f};
  const std::vector<double> values = format.magnitudes();
  const std::size_t step = std::max<std::size_t>(1, values.size() / 2000);
  for (std::size_t i = 0; i < values.size(); i += step) {
    const double half = i + 1 < values.size() ? (values[i] + values[i + 1]) / 2 : values[i] * 1.5;
    for (const double x : {values[i], half}) {
      const auto f = static_cast<float>(x);
      for (const float y : {f, std::nextafterf(f, INFINITY), std::nextafterf(f, 0.0f)}) {
        list.push_back(y);
        list.push_back(-y);
      }
    }
  }
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) list.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(random())));
  for (int i = 0; i < 2000; ++i)
    list.push_back(
        std::ldexp(1.0f + static_cast<float>(random() % 100000) / 100000, static_cast<int>(random() % 30) - 20));
  return list;
}

// Each float next to another one.
std::vector<std::uint32_t> in_pairs(const std::vector<float>& list) {
  std::vector<std::uint32_t> words;
  for (std::size_t i = 0; i < list.size(); ++i) {
    words.push_back(std::bit_cast<std::uint32_t>(list[i]));
    words.push_back(std::bit_cast<std::uint32_t>(list[(i * 7 + 3) % list.size()]));
  }
  return words;
}
float single(std::uint32_t word) { return std::bit_cast<float>(word); }

// Registers of two elements, and how they come from or get into %r0 and %r20.
std::string narrow_register(const Format& f) { return f.bits() == 4 ? "%q0" : "%h0"; }
std::string to_result(const Format& f) { return f.bits() == 4 ? "cvt.u32.u8 %r20, %q0;" : "cvt.u32.u16 %r20, %h0;"; }
std::string from_word(const Format& f) { return f.bits() == 4 ? "cvt.u8.u32 %q0, %r0;" : "cvt.u16.u32 %h0, %r0;"; }
std::uint32_t joined(const Format& f, std::uint32_t upper, std::uint32_t lower) {
  return upper << (f.bits() == 4 ? 4 : 8) | lower;
}

TEST(NarrowFormats, FromTwoSingles) {
  for (const Format& f : kNarrow)
    for (const bool relu : {false, true}) {
      const Codes codes(f);
      const auto in = in_pairs(floats_around(f));
      const auto out = run_words("sm_100a", "8.6",
                                 "cvt.rn.satfinite" + std::string(relu ? ".relu." : ".") + f.name + ".f32 " +
                                     narrow_register(f) + ", %f0, %f1; " + to_result(f),
                                 2, in);
      for (std::size_t i = 0; i < in.size() / 2; ++i)
        ASSERT_EQ(out[2 * i], joined(f, codes.nearest(rectified(single(in[2 * i]), relu)),
                                     codes.nearest(rectified(single(in[2 * i + 1]), relu))))
            << f.name << " " << single(in[2 * i]) << " " << single(in[2 * i + 1]);
    }
}

TEST(NarrowFormats, FromPairsOfHalves) {
  for (const Format& source : {kHalf, kBrain})
    for (const Format& f : kNarrow) {
      const Codes codes(f), halves(source);
      std::vector<std::uint32_t> in;
      for (std::uint32_t h = 0; h < 0x10000; ++h) in.push_back((h * 40503u & 0xffff) << 16 | h);
      const auto out = run_words("sm_100a", "9.1",
                                 "cvt.rn.satfinite." + f.name + "." + source.name + " " + narrow_register(f) +
                                     ", %r0; " + to_result(f),
                                 1, in);
      for (std::size_t i = 0; i < in.size(); ++i)
        ASSERT_EQ(out[2 * i],
                  joined(f, codes.nearest(halves.value(in[i] >> 16)), codes.nearest(halves.value(in[i] & 0xffff))))
            << f.name << " of " << source.name << " " << in[i];
    }
}

std::uint32_t half_of(const Codes& halves, double x, bool satfinite = false) {
  if (std::isnan(x)) return 0x7fff;
  const double limit = halves.value(halves.largest());
  if (std::isinf(x) || (!satfinite && std::fabs(x) > limit))
    return satfinite ? halves.nearest(x) : (halves.largest() + 1) | (x < 0 ? 0x8000u : 0u);
  return halves.nearest(x);
}

TEST(NarrowFormats, ToPairsOfHalves) {
  for (const Format& to : {kHalf, kBrain})
    for (const Format& f : kNarrow)
      for (const bool relu : {false, true}) {
        const Codes codes(f), halves(to);
        const std::uint32_t width = f.bits() == 4 ? 4 : 8;
        std::vector<std::uint32_t> in;
        for (std::uint32_t a = 0; a < 1u << f.bits(); ++a)
          for (std::uint32_t b = 0; b < 1u << f.bits(); b += 3) in.push_back(a << width | b);
        const auto out = run_words("sm_100a", "9.2",
                                   from_word(f) + "cvt.rn" + (relu ? ".relu." : ".") + to.name + "." + f.name +
                                       " %r20, " + narrow_register(f) + ";",
                                   1, in);
        for (std::size_t i = 0; i < in.size(); ++i) {
          const std::uint32_t mask = (1u << f.bits()) - 1;
          const double upper = rectified(codes.value(in[i] >> width & mask), relu);
          const double lower = rectified(codes.value(in[i] & mask), relu);
          ASSERT_EQ(out[2 * i], half_of(halves, upper) << 16 | half_of(halves, lower)) << f.name << " " << in[i];
        }
      }
}

TEST(NarrowFormats, TimesAScale) {
  std::vector<Format> formats = kNarrow;
  formats.push_back({"s2f6x2", 0, 7, Ends::none}); // fixed point: a signed byte / 64
  for (const Format& f : formats)
    for (const std::string satfinite : {"", ".satfinite"}) {
      const bool fixed = f.name == "s2f6x2";
      const Codes codes(fixed ? kHalf : f), halves(kBrain);
      const std::uint32_t width = f.bits() == 4 ? 4 : 8, mask = (1u << f.bits()) - 1;
      std::vector<std::uint32_t> in;
      for (std::uint32_t a = 0; a <= mask; ++a)
        for (std::uint32_t s = 0; s < 256; ++s) {
          in.push_back(a << width | ((a * 5 + s) & mask));
          in.push_back(s << 8 | ((s * 7 + 1) & 0xff));
        }
      const auto out = run_words("sm_100a", "9.2",
                                 from_word(f) + "cvt.u16.u32 %h1, %r1; cvt.rn" + satfinite +
                                     ".scaled::n2::ue8m0.bf16x2." + f.name + " %r20, " + narrow_register(f) + ", %h1;",
                                 2, in);
      const auto scaled = [&](std::uint32_t element, std::uint32_t scale) {
        const double x =
            fixed ? std::bit_cast<std::int8_t>(static_cast<std::uint8_t>(element)) / 64.0 : codes.value(element);
        if (scale == 255) return 0x7fffu;
        const double product = std::ldexp(x, static_cast<int>(scale) - 127);
        // Between the largest number and infinity the nearest of the two counts; as if the exponent went on.
        const double limit = halves.value(halves.largest()), gap = std::ldexp(1.0, 120);
        if (satfinite.empty() && std::isfinite(product) && std::fabs(product) > limit &&
            std::fabs(product) < limit + gap / 2)
          return half_of(halves, std::copysign(limit, product));
        return half_of(halves, product, !satfinite.empty());
      };
      for (std::size_t i = 0; i < in.size(); i += 2)
        ASSERT_EQ(out[i], scaled(in[i] >> width & mask, in[i + 1] >> 8) << 16 | scaled(in[i] & mask, in[i + 1] & 0xff))
            << f.name << satfinite << " " << in[i] << " " << in[i + 1];
    }
}

// ue8m0: 2^(code - 127), code 255 is NaN; the sign is lost, and what is smaller than 2^-127 becomes that.
std::uint32_t exponent_of(double x, bool up, bool satfinite) {
  if (std::isnan(x)) return 0xff;
  const std::uint32_t most = satfinite ? 0xfe : 0xff;
  if (std::isinf(x)) return most;
  for (int code = 0; code < 255; ++code) {
    const double here = std::ldexp(1.0, code - 127), next = std::ldexp(1.0, code - 126);
    if (up ? std::fabs(x) <= here : std::fabs(x) < next) return static_cast<std::uint32_t>(code);
  }
  return most;
}

TEST(NarrowFormats, Exponents) {
  for (const bool up : {false, true})
    for (const bool satfinite : {false, true}) {
      const std::string op = std::string("cvt") + (up ? ".rp" : ".rz") + (satfinite ? ".satfinite" : "") + ".ue8m0x2.";
      auto list = floats_around(kBrain);
      for (int e = -149; e < 128; ++e)
        for (const float m : {1.0f, std::nextafterf(1.0f, 2.0f), 1.5f}) list.push_back(std::ldexp(m, e));
      const auto in = in_pairs(list);
      const auto out = run_words("sm_100a", "8.6", op + "f32 %h0, %f0, %f1; cvt.u32.u16 %r20, %h0;", 2, in);
      for (std::size_t i = 0; i < in.size(); i += 2)
        ASSERT_EQ(out[i],
                  exponent_of(single(in[i]), up, satfinite) << 8 | exponent_of(single(in[i + 1]), up, satfinite))
            << op << " " << single(in[i]) << " " << single(in[i + 1]);
      const Codes halves(kBrain);
      std::vector<std::uint32_t> pairs;
      for (std::uint32_t h = 0; h < 0x10000; ++h) pairs.push_back((h * 40503u & 0xffff) << 16 | h);
      const auto of_pairs = run_words("sm_100a", "8.6", op + "bf16x2 %h0, %r0; cvt.u32.u16 %r20, %h0;", 1, pairs);
      for (std::size_t i = 0; i < pairs.size(); ++i)
        ASSERT_EQ(of_pairs[2 * i], exponent_of(halves.value(pairs[i] >> 16), up, satfinite) << 8 |
                                       exponent_of(halves.value(pairs[i] & 0xffff), up, satfinite))
            << op << " " << pairs[i];
    }
  const Codes halves(kBrain);
  std::vector<std::uint32_t> codes;
  for (std::uint32_t c = 0; c < 0x10000; ++c) codes.push_back(c);
  const auto out = run_words("sm_100a", "8.6", "cvt.u16.u32 %h0, %r0; cvt.rn.bf16x2.ue8m0x2 %r20, %h0;", 1, codes);
  const auto value = [&](std::uint32_t c) {
    return c == 255 ? 0x7fffu : halves.nearest(std::ldexp(1.0, static_cast<int>(c) - 127));
  };
  for (std::uint32_t c = 0; c < 0x10000; ++c) ASSERT_EQ(out[2 * c], value(c >> 8) << 16 | value(c & 0xff)) << c;
}

// ---- rounding by random bits

std::vector<std::uint32_t> with_random_words(const std::vector<std::uint32_t>& words, std::size_t each) {
  std::mt19937 random(2);
  std::vector<std::uint32_t> in;
  for (std::size_t i = 0; i + each <= words.size(); i += each) {
    in.insert(in.end(), words.begin() + static_cast<std::ptrdiff_t>(i),
              words.begin() + static_cast<std::ptrdiff_t>(i + each));
    constexpr std::uint32_t kEdges[] = {0, 0xffffffff, 0x1fff1fff, 0xe000e000, 0x80008000, 0x10001000};
    in.push_back(i % 3 == 0 ? kEdges[i % 6] : static_cast<std::uint32_t>(random()));
  }
  return in;
}

TEST(NarrowFormats, RandomBitsRoundPairs) {
  for (const Format& f : {kHalf, kBrain})
    for (const bool satfinite : {false, true})
      for (const bool relu : {false, true}) {
        const Codes codes(f);
        const int count = f.mantissa == 10 ? 13 : 16;
        const std::uint32_t mask = (1u << count) - 1;
        const auto in = with_random_words(in_pairs(floats_around(f)), 2);
        const auto out = run_words("sm_100a", "8.7",
                                   std::string("cvt.rs") + (relu ? ".relu" : "") + (satfinite ? ".satfinite." : ".") +
                                       f.name + ".f32 %r20, %f0, %f1, %r2;",
                                   3, in);
        const auto expected = [&](std::uint32_t x, std::uint32_t r) {
          return codes.random(static_cast<float>(rectified(single(x), relu)), r & mask, count, satfinite);
        };
        for (std::size_t i = 0; i < in.size() / 3; ++i)
          ASSERT_EQ(out[2 * i], expected(in[3 * i], in[3 * i + 2] >> 16) << 16 | expected(in[3 * i + 1], in[3 * i + 2]))
              << f.name << " " << single(in[3 * i]) << " " << single(in[3 * i + 1]) << " " << in[3 * i + 2];
      }
}

// a b e f: two share the upper, two the lower half of the random bits; the upper one of the two takes them in reverse
// order, as others have measured on sm_100a.
TEST(NarrowFormats, RandomBitsRoundFour) {
  for (const Format& f : kNarrow) {
    if (f.bits() == 4) continue;
    const Codes codes(f);
    auto words = in_pairs(floats_around(f));
    words.resize(words.size() / 4 * 4);
    const auto in = with_random_words(words, 4);
    const std::string four = f.name.substr(0, f.name.size() - 1) + "4";
    const auto out =
        run_words("sm_103a", "8.8", "cvt.rs.satfinite." + four + ".f32 %r20, {%f0, %f1, %f2, %f3}, %r4;", 5, in);
    const auto reversed = [](std::uint32_t x) {
      std::uint32_t y = 0;
      for (int i = 0; i < 16; ++i) y |= (x >> i & 1) << (15 - i);
      return y;
    };
    const auto expected = [&](std::uint32_t x, std::uint32_t r) { return codes.random(single(x), r, 16, true); };
    for (std::size_t i = 0; i < in.size() / 5; ++i) {
      const std::uint32_t* const x = &in[5 * i];
      const std::uint32_t upper = x[4] >> 16, lower = x[4] & 0xffff;
      ASSERT_EQ(out[2 * i], expected(x[0], reversed(upper)) << 24 | expected(x[1], upper) << 16 |
                                expected(x[2], reversed(lower)) << 8 | expected(x[3], lower))
          << f.name << " " << single(x[0]) << " " << single(x[1]) << " " << single(x[2]) << " " << single(x[3]);
    }
  }
}

} // namespace narrow_formats_test
} // namespace warplens::tests
