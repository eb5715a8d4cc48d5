// SPDX-License-Identifier: Apache-2.0
// The special-function unit: rcp, rsqrt, sqrt, sin, cos, ex2, lg2 and tanh of 32 lanes, bit for bit as on an H200,
// for every emulated device. (The data that envytools has published for a G80 of 2006 gives the same bits, except for
// sqrt and tanh, which are newer. So the unit has probably not changed in between.)
//
//   Words x = bits of 32 floats, y;
//   special::reciprocal(x, y);    // y = bits of 1/x
//
// Except for tanh, the unit takes subnormal numbers as zero and returns none. It splits the interval of a function into
// segments (special_tables.hpp), and adds start + slope * x + curve * x^2 there, x being the 17 bits that follow the
// number of the segment: "A High-Performance Area-Efficient Multifunction Interpolator", Oberman and Siu, 2005.
#pragma once

#include "emulator/isa/semantics/lane.hpp"
#include "emulator/isa/semantics/special_tables.hpp"

namespace warplens::isa::WARPLENS_LEVEL::special {

/// A word for each lane of a warp.
struct alignas(64) Words {
  std::uint32_t of[kRowLanes];
  std::uint32_t& operator[](int lane) { return of[lane]; }
  std::uint32_t operator[](int lane) const { return of[lane]; }
};

constexpr std::uint32_t kSign = 0x80000000u, kFraction = 0x7fffffu, kOne = 0x800000u; // of a significand
constexpr std::uint32_t kInfinite = 0x7f800000u, kNotANumber = 0x7fffffffu;

// found[i] = table[index[i]]. Two words of every lane cost 22 ns by the gather instructions of a Xeon, and 5 ns (64
// segments) or 9 ns (128) by its permutations.
template <int count> inline void look_up(const std::uint32_t (&table)[count], const Words& index, Words& found) {
#if defined(__AVX512F__)
  for (int i = 0; i < kRowLanes; i += 16) {
    const __m512i wanted = _mm512_load_si512(&index.of[i]);
    __m512i result = _mm512_permutex2var_epi32(_mm512_load_si512(table), wanted, _mm512_load_si512(table + 16));
    for (int first = 32; first < count; first += 32) {
      const __m512i further =
          _mm512_permutex2var_epi32(_mm512_load_si512(table + first), wanted, _mm512_load_si512(table + first + 16));
      result = _mm512_mask_mov_epi32(result, _mm512_cmpge_epu32_mask(wanted, _mm512_set1_epi32(first)), further);
    }
    _mm512_store_si512(&found.of[i], result);
  }
#else
  for (int i = 0; i < kRowLanes; ++i) found[i] = table[index[i]];
#endif
}

// x^2 / 2^19 of 17-bit numbers, without the partial products of bits i and j where i + j < 18: the unit has no gates
// for them. The upper 8 bits have all of theirs, the lower 9 none; between them there are those of (bit k of the upper)
// and (lower >> 9 - k). Two bits at a time, d * (lower >> 8 - k) / 2 is the same.
inline void square(const Words& x, Words& squared) {
  alignas(64) std::uint16_t upper[kRowLanes], lower[kRowLanes], result[kRowLanes];
  for (int i = 0; i < kRowLanes; ++i) upper[i] = static_cast<std::uint16_t>(x[i] >> 9);
  for (int i = 0; i < kRowLanes; ++i) lower[i] = static_cast<std::uint16_t>(x[i] & 511);
  for (int i = 0; i < kRowLanes; ++i) {
    const std::uint16_t a = upper[i], b = lower[i];
    const auto product = [](std::uint16_t p, std::uint16_t q) {
      return static_cast<std::uint16_t>(static_cast<std::uint16_t>(p * q) >> 1);
    };
    result[i] = static_cast<std::uint16_t>(product(a, a) + product(a >> 6, b >> 2) + product(a >> 4 & 3, b >> 4) +
                                           product(a >> 2 & 3, b >> 6) + (a >> 1 & b >> 8));
  }
  for (int i = 0; i < kRowLanes; ++i) squared[i] = result[i];
}

// The coefficients of a segment for a lane.
struct Segments {
  Words start, shape, squared;
  template <int count> Segments(const SpecialTable<count>& table, const Words& index, const Words& x) {
    look_up(table.start, index, start);
    look_up(table.shape, index, shape);
    square(x, squared);
  }
  std::int32_t slope(int lane) const { return static_cast<std::int32_t>(shape[lane] & 0x1ffffu); }
  std::int32_t curve(int lane) const { return static_cast<std::int32_t>((shape[lane] >> 17) * squared[lane]); }
};

// (start * 2^scale + slope * x + curve * x^2 + bias) / 2^(scale + 2), cut off. The signs are those of slope and curve.
// So that 32 bits suffice, x is split, and parts of the scale are taken off early.
template <int scale, int slope_sign, int curve_sign, int count>
inline void interpolate(const SpecialTable<count>& table, const Words& index, const Words& x, Words& digits) {
  const Segments segments(table, index, x);
  for (int i = 0; i < kRowLanes; ++i) {
    const std::int32_t slope = segments.slope(i), curve = segments.curve(i);
    const auto fine = slope_sign * slope * static_cast<std::int32_t>(x[i] & 7u) + curve_sign * curve + table.bias;
    const auto change = slope_sign * slope * static_cast<std::int32_t>(x[i] >> 3) + (fine >> 3);
    digits[i] = (segments.start[i] + static_cast<std::uint32_t>(change >> (scale - 3))) >> 2;
  }
}

// ---- of significands: 24 digits, from 2^23 up to and including 2^24

// 2^24/x of x = 1.fraction
inline void reciprocal_digits(const Words& fraction, Words& digits) {
  Words index, x;
  for (int i = 0; i < kRowLanes; ++i) index[i] = fraction[i] >> 16;
  for (int i = 0; i < kRowLanes; ++i) x[i] = fraction[i] << 1 & 0x1ffffu;
  interpolate<14, -1, 1>(kReciprocal, index, x, digits);
}

// Both of x = 1.fraction, or twice as much where bit 23 of the fraction is set.
inline void reciprocal_root_digits(const Words& fraction, Words& digits) {
  Words index, x;
  for (int i = 0; i < kRowLanes; ++i) index[i] = fraction[i] >> 17;
  for (int i = 0; i < kRowLanes; ++i) x[i] = fraction[i] & 0x1ffffu;
  interpolate<14, -1, 1>(kReciprocalRoot, index, x, digits);
  for (int i = 0; i < kRowLanes; ++i) digits[i] = fraction[i] == 0 ? 2 * kOne : digits[i];
}
inline void root_digits(const Words& fraction, Words& digits) {
  Words index, x;
  for (int i = 0; i < kRowLanes; ++i) index[i] = fraction[i] >> 17;
  for (int i = 0; i < kRowLanes; ++i) x[i] = fraction[i] & 0x1ffffu;
  interpolate<15, 1, -1>(kRoot, index, x, digits);
}

// ---- of floats

// Subnormal numbers are 0.
inline std::uint32_t normal_or_zero(std::uint32_t bits) {
  return static_cast<std::int32_t>(bits) < static_cast<std::int32_t>(kOne) ? 0 : bits;
}

inline void reciprocal(const Words& x, Words& y) {
  Words fraction, digits;
  for (int i = 0; i < kRowLanes; ++i) fraction[i] = x[i] & kFraction;
  reciprocal_digits(fraction, digits);
  for (int i = 0; i < kRowLanes; ++i) {
    const std::uint32_t magnitude = x[i] & ~kSign, exponent = magnitude & kInfinite;
    const std::uint32_t value = exponent == 0 ? kInfinite : normal_or_zero((252u << 23) - exponent + digits[i]);
    y[i] = magnitude > kInfinite ? kNotANumber : value | (x[i] & kSign);
  }
}

// The fraction for the roots: bit 23 is that of an odd power of two. The other half of the exponent: rounded up.
inline std::uint32_t root_fraction(std::uint32_t x) { return (x ^ kOne) & (2 * kOne - 1); }
inline std::uint32_t half_exponent(std::uint32_t x) { return ((x & ~kSign) + kOne) >> 1 & kInfinite; }

inline void reciprocal_square_root(const Words& x, Words& y) {
  Words fraction, digits;
  for (int i = 0; i < kRowLanes; ++i) fraction[i] = root_fraction(x[i]);
  reciprocal_root_digits(fraction, digits);
  for (int i = 0; i < kRowLanes; ++i) {
    const std::uint32_t sign = x[i] & kSign;
    std::uint32_t value = (189u << 23) - half_exponent(x[i]) + digits[i];
    value = x[i] == kInfinite ? 0 : x[i] > kInfinite ? kNotANumber : value; // negative numbers are beyond infinity, too
    y[i] = (x[i] & kInfinite) == 0 ? kInfinite | sign : value;
  }
}

inline void square_root(const Words& x, Words& y) {
  Words fraction, digits;
  for (int i = 0; i < kRowLanes; ++i) fraction[i] = root_fraction(x[i]);
  root_digits(fraction, digits);
  for (int i = 0; i < kRowLanes; ++i) {
    std::uint32_t value = (62u << 23) + half_exponent(x[i]) + digits[i];
    value = x[i] == kInfinite ? kInfinite : x[i] > kInfinite ? kNotANumber : value;
    y[i] = (x[i] & kInfinite) == 0 ? x[i] & kSign : value;
  }
}

// ---- of the upper words of doubles: digits as of a float, the last three cut off

inline void reciprocal_upper(const Words& x, Words& y) {
  Words fraction, digits;
  for (int i = 0; i < kRowLanes; ++i) fraction[i] = x[i] << 3 & kFraction;
  reciprocal_digits(fraction, digits);
  for (int i = 0; i < kRowLanes; ++i) {
    const std::uint32_t magnitude = x[i] & ~kSign, exponent = magnitude & 0x7ff00000u;
    const std::uint32_t finite = (2044u << 20) - exponent + (digits[i] >> 3);
    const std::uint32_t value = static_cast<std::int32_t>(finite) < 1 << 20 ? 0 : finite;
    y[i] = magnitude > 0x7ff00000u ? 0x7fffffffu : (exponent == 0 ? 0x7ff00000u : value) | (x[i] & kSign);
  }
}

inline void reciprocal_square_root_upper(const Words& x, Words& y) {
  Words fraction, digits;
  for (int i = 0; i < kRowLanes; ++i) fraction[i] = (x[i] << 3 ^ kOne) & (2 * kOne - 1);
  reciprocal_root_digits(fraction, digits);
  for (int i = 0; i < kRowLanes; ++i) {
    const std::uint32_t half = ((x[i] & ~kSign) + (1u << 20)) >> 1 & 0x7ff00000u;
    std::uint32_t value = (1533u << 20) - half + (digits[i] >> 3);
    value = x[i] == 0x7ff00000u ? 0 : x[i] > 0x7ff00000u ? 0x7fffffffu : value;
    y[i] = (x[i] & 0x7ff00000u) == 0 ? 0x7ff00000u | (x[i] & kSign) : value;
  }
}

// ---- of floats again

// In fixed point with 23 binary places, cut off; negative whole numbers by two's complement, others by one's.
inline void power_of_two(const Words& x, Words& y) {
  Words fixed, index, part, digits;
  for (int i = 0; i < kRowLanes; ++i) {
    const float magnitude = std::bit_cast<float>(x[i] & ~kSign);
    const auto number = static_cast<std::int32_t>((magnitude < 128.0f ? magnitude : 128.0f) * 0x1p23f);
    const std::int32_t negative = (number & kFraction) == 0 ? -number : ~number;
    fixed[i] = static_cast<std::uint32_t>((x[i] & kSign) != 0 ? negative : number);
  }
  for (int i = 0; i < kRowLanes; ++i) index[i] = fixed[i] >> 17 & 63u;
  for (int i = 0; i < kRowLanes; ++i) part[i] = fixed[i] & 0x1ffffu;
  interpolate<14, 1, 1>(kPower, index, part, digits);
  for (int i = 0; i < kRowLanes; ++i) {
    const std::uint32_t value = normal_or_zero((fixed[i] & ~kFraction) + (126u << 23) + digits[i]);
    y[i] = (x[i] & ~kSign) > kInfinite ? kNotANumber : value;
  }
}

// The float of no greater magnitude: 24 digits, the others cut off.
inline float cut_off(double x) {
  return static_cast<float>(std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & ~std::uint64_t{0x1fffffff}));
}

// In fixed point with 36 binary places; minus the least of them is taken for -0.
inline void logarithm(const Words& x, Words& y) {
  Words index, part;
  for (int i = 0; i < kRowLanes; ++i) index[i] = x[i] >> 17 & 63u;
  for (int i = 0; i < kRowLanes; ++i) part[i] = x[i] & 0x1ffffu;
  const Segments segments(kLogarithm, index, part);
  alignas(64) float result[kRowLanes];
  for (int i = 0; i < kRowLanes; ++i) {
    const std::int32_t slope = segments.slope(i);
    const auto fine = slope * static_cast<std::int32_t>(part[i] & 3u) - segments.curve(i) + kLogarithm.bias;
    const auto change = slope * static_cast<std::int32_t>(part[i] >> 2) + (fine >> 2);
    const auto exponent = static_cast<std::int32_t>(x[i] >> 23) - 127;
    const double value = exponent * 0x1p36 + static_cast<std::int32_t>(segments.start[i]) * 0x1p10 + change;
    result[i] = cut_off(value < 0.0 ? value + 1.0 : value) * 0x1p-36f;
  }
  for (int i = 0; i < kRowLanes; ++i) {
    std::uint32_t value = std::bit_cast<std::uint32_t>(result[i]);
    value = x[i] == std::bit_cast<std::uint32_t>(1.0f) ? 0 : x[i] == kInfinite ? kInfinite : value;
    value = x[i] > kInfinite ? kNotANumber : value; // negative numbers, too
    y[i] = (x[i] & kInfinite) == 0 ? kInfinite | kSign : value;
  }
}

// Of x in turns, counted from the sine's or cosine's start. The processor must be rounding toward zero.
template <bool cosine> inline void sine_or_cosine(const Words& turns, Words& y) {
  Words fixed, index, part; // fixed: 25 binary places, two of them the quarter
  for (int i = 0; i < kRowLanes; ++i) {
    const float magnitude = std::bit_cast<float>(turns[i] & ~kSign);
    const float bounded = magnitude < 0x1p23f ? magnitude : 0x1p23f; // beyond, all turns are whole
    const auto places = static_cast<std::int32_t>((bounded - __builtin_truncf(bounded)) * 0x1p25f);
    fixed[i] = static_cast<std::uint32_t>(places) + (cosine ? kOne : 0);
  }
  for (int i = 0; i < kRowLanes; ++i) {
    const std::uint32_t fraction = (fixed[i] & kOne) != 0 ? ~fixed[i] : fixed[i];
    index[i] = fraction >> 17 & 63u;
    part[i] = fraction & 0x1ffffu;
  }
  const Segments segments(kSine, index, part);
  for (int i = 0; i < kRowLanes; ++i) {
    // The result is start * 2^11 + change, in units of 2^-37; either that, or without its 7 last bits, has 24 digits.
    const auto change =
        static_cast<std::uint32_t>(segments.slope(i)) * part[i] - static_cast<std::uint32_t>(segments.curve(i));
    const std::uint32_t coarse = (segments.start[i] << 4) + (change >> 7);
    const bool small = coarse < 2 * kOne;
    const auto digits =
        static_cast<float>(static_cast<std::int32_t>(small ? (segments.start[i] << 11) + change : coarse));
    const std::uint32_t sign = (cosine ? 0 : turns[i] & kSign) ^ (fixed[i] << 7 & kSign);
    const std::uint32_t value = std::bit_cast<std::uint32_t>(digits * (small ? 0x1p-37f : 0x1p-30f)) ^ sign;
    y[i] = (turns[i] & ~kSign) >= kInfinite ? kNotANumber : value;
  }
}

inline void sine(const Words& turns, Words& y) { sine_or_cosine<false>(turns, y); }
inline void cosine(const Words& turns, Words& y) { sine_or_cosine<true>(turns, y); }

// How the binades from 2^-8 to 2^2 are split: the number of the first segment; how far to shift the fraction, so that
// 17 bits follow the segment's own (bits 8 to 15); the binary places of the result (16 to 23). The rest fills up.
alignas(64) inline constexpr std::uint32_t kTangentBinades[32] = {
    0x280600, 0x270601, 0x260602, 0x260503, 0x250505, 0x250407, 0x25040b, 0x24040f, 0x250313, 0x27021b, 0x25032b};

inline void hyperbolic_tangent(const Words& x, Words& y) {
  Words exponent, binade, index, part;
  for (int i = 0; i < kRowLanes; ++i) exponent[i] = ((x[i] >> 23) - 119u) & 31u;
  look_up(kTangentBinades, exponent, binade);
  for (int i = 0; i < kRowLanes; ++i) {
    const std::uint32_t shifted = (x[i] & kFraction) >> (binade[i] >> 8 & 7u);
    index[i] = (binade[i] & 63u) + (shifted >> 17);
    part[i] = shifted & 0x1ffffu;
  }
  const Segments segments(kTangent, index, part);
  alignas(64) float result[kRowLanes];
  for (int i = 0; i < kRowLanes; ++i) {
    const double change =
        static_cast<double>(segments.slope(i)) * static_cast<std::int32_t>(part[i]) - segments.curve(i);
    const double value = static_cast<std::int32_t>(segments.start[i]) * 0x1p14 + change;
    result[i] = cut_off(value) * std::bit_cast<float>((127u - (binade[i] >> 16)) << 23);
  }
  for (int i = 0; i < kRowLanes; ++i) {
    const std::uint32_t magnitude = x[i] & ~kSign;
    std::uint32_t value = std::bit_cast<std::uint32_t>(result[i]);
    value = magnitude < 119u << 23 ? magnitude : value; // tanh x = x
    value = magnitude >= 130u << 23 ? std::bit_cast<std::uint32_t>(1.0f) : value;
    y[i] = magnitude > kInfinite ? kNotANumber : value | (x[i] & kSign);
  }
}

} // namespace warplens::isa::WARPLENS_LEVEL::special
