// SPDX-License-Identifier: Apache-2.0
// Products of 16 rows of A and B with floating-point sums, for wgmma (9.7.15.5) and tcgen05.mma (9.7.16.10), with the
// sums of an H200 (docs/numerics.md). Included only by files that are compiled once per level.
//
//   fill a.tile, b.tile;  prepare(a, p);  prepare(b, p);  add_products<kKept, false>(p, accumulate, a, b,
//   accumulators);
//
// D is computed as it lies in the registers of a warp: in a row of lanes are eight rows of every second of eight
// columns, so that nothing is transposed. Of ordinary numbers, the products are truncated and added in 32 bits; blocks
// of 16 x 8 elements with others are summed element by element. Exponents are compared as bytes, 64 at a time: those of
// a tile relative to its largest one.
#pragma once

#include "emulator/exec/lanes/lanes.hpp"
#include "emulator/exec/matrix/element_sum.hpp"
#include "emulator/exec/matrix/group_tiles.hpp"

namespace warplens::exec::WARPLENS_LEVEL {

using Integers = std::int32_t __attribute__((vector_size(4 * kWide)));
using Words = std::uint32_t __attribute__((vector_size(4 * kWide)));
using Bytes = std::uint8_t __attribute__((vector_size(4 * kWide)));
using FewBytes = std::uint8_t __attribute__((vector_size(kWide)));

constexpr int kLanes = 64; ///< of 16 rows and every second column of eight
constexpr int kVectors = kLanes / kWide;
constexpr int kKeptOfBytes = 13; ///< of factors of 8 bits
constexpr Word32 kLostOfBytes = (1u << (23 - kKeptOfBytes)) - 1;
constexpr int kMost = kBias + 100; ///< larger exponents are not ordinary
constexpr Word32 kExponent = 0x7f800000u;

// Exponents as bytes: 0 for 0, otherwise kTop for the largest of a tile, and at least kLow. A sum of two is that of a
// product if it is at least 2 * kLow; it may be too large up to kDoubtful, if the tile has smaller exponents.
constexpr int kTop = 127, kLow = 64, kDoubtful = kTop + kLow;

struct Exponents {
  int most = 0;
  bool doubtful = false, special = false;
};
// `count` is a multiple of 64.
inline Exponents find_exponents(const float* values, int count, int smallest, std::uint8_t* codes) {
  Words mosts{}, leasts = Words{} + kInfinity; // of numbers other than 0
  for (int i = 0; i < count; i += kWide) {
    const Words m = load<Words>(values + i) & 0x7fffffffu, nonzero = m == 0 ? Words{} + kInfinity : m;
    mosts = m > mosts ? m : mosts;
    leasts = nonzero < leasts ? nonzero : leasts;
  }
  Word32 most = 0, least = kInfinity;
  for (int i = 0; i < kWide; ++i) {
    most = std::max<Word32>(most, mosts[i]);
    least = std::min<Word32>(least, leasts[i]);
  }
  Exponents e;
  e.special = most >= kInfinity;
  e.most = std::max(static_cast<int>(most >> 23), smallest);
  e.doubtful = std::max(static_cast<int>(least >> 23), smallest) < e.most - (kTop - kLow);
  for (int i = 0; i < count; ++i) {
    const Word32 m = bits_of(values[i]) & 0x7fffffffu;
    const int field = static_cast<int>(m >> 23), exponent = field > smallest ? field : smallest;
    const int code = exponent - e.most + kTop, kept = code > kLow ? code : kLow;
    codes[i] = static_cast<std::uint8_t>(m == 0 ? 0 : kept);
  }
  return e;
}

// ---- factors

struct FactorA { // of 16 rows
  alignas(64) float tile[kRowsOfWarp * kMostGroupDepth];
  alignas(64) float rows[kMostGroupDepth * kLanes];         ///< each element four times
  alignas(64) std::uint8_t codes[kMostGroupDepth * kLanes]; ///< likewise
  Word32 present[kMostGroupDepth];
  Exponents exponents;
};

struct FactorB { // of each eight columns the even ones first
  alignas(64) float tile[kMostColumns * kMostGroupDepth];
  alignas(64) std::uint8_t codes[kMostColumns * kMostGroupDepth];
  Exponents exponents[kMostColumns / kBlock];
};

inline void negate(float* values, int count) {
  for (int i = 0; i < count; ++i) values[i] = std::bit_cast<float>(bits_of(values[i]) ^ 0x80000000u);
}

/// Of a tile that has been filled.
inline void prepare(FactorA& a, const MatrixProduct& p) {
  if (p.negate_a) negate(a.tile, kRowsOfWarp * p.k);
  std::uint8_t codes[kRowsOfWarp * kMostGroupDepth];
  a.exponents = find_exponents(a.tile, kRowsOfWarp * p.k, smallest_of(p.a), codes);
  for (int half = 0; half < 2; ++half)
    for (int k = 0; k < p.k; ++k) {
      const int from = (half * p.k + k) * kBlock, to = k * kLanes + half * kLanes / 2;
      for (int i = 0; i < kBlock; ++i) {
        using FourFloats = float __attribute__((vector_size(16)));
        store(a.rows + to + 4 * i, FourFloats{} + a.tile[from + i]);
      }
      Word32 fours[kBlock];
      for (int i = 0; i < kBlock; ++i) fours[i] = codes[from + i] * 0x01010101u;
      std::memcpy(a.codes + to, fours, sizeof fours);
    }
}

inline void prepare(FactorB& b, const MatrixProduct& p) {
  if (p.negate_b) negate(b.tile, p.n * p.k);
  for (int i = 0; i < p.n * p.k; i += kBlock) {
    using Columns = float __attribute__((vector_size(32)));
    const auto v = load<Columns>(b.tile + i);
    store(b.tile + i, __builtin_shufflevector(v, v, 0, 2, 4, 6, 1, 3, 5, 7));
  }
  for (int block = 0; block < p.n / kBlock; ++block) {
    const int at = block * p.k * kBlock;
    b.exponents[block] = find_exponents(b.tile + at, p.k * kBlock, smallest_of(p.b), b.codes + at);
  }
}

// ---- accumulators of 16 rows and eight columns: by odd columns and lower rows, as in registers

struct Sums {
  float* at[2][2];
  alignas(64) float room[2][kLanes];
};

// ---- ordinary numbers

struct Truncating {
  static constexpr auto rounding = isa::WARPLENS_LEVEL::Rounding::zero;
};

inline Floats as_floats(Words x) { return reinterpret_cast<Floats>(x); }
inline Words as_words(Floats x) { return reinterpret_cast<Words>(x); }

// The largest sums of exponents, as bytes.
inline void find_peaks(int k, const std::uint8_t* a, const std::uint8_t* b, std::uint8_t (*peaks)[kLanes]) {
  constexpr int kParts = kLanes / (4 * kWide);
  Bytes peak[2][kParts]{};
  for (int i = 0; i < k; ++i, a += kLanes, b += kBlock)
    for (int odd = 0; odd < 2; ++odd) {
      Word32 four;
      std::memcpy(&four, b + 4 * odd, sizeof four);
      const auto columns = reinterpret_cast<Bytes>(Words{} + four);
      for (int part = 0; part < kParts; ++part) {
        const Bytes sum = load<Bytes>(a + part * 4 * kWide) + columns;
        peak[odd][part] = sum > peak[odd][part] ? sum : peak[odd][part];
      }
    }
  for (int odd = 0; odd < 2; ++odd)
    for (int part = 0; part < kParts; ++part) store(peaks[odd] + part * 4 * kWide, peak[odd][part]);
}

// (As a conversion of vectors, GCC 12 would go byte by byte.)
inline Integers widened(const std::uint8_t* bytes) {
#if defined(__AVX512F__)
  return reinterpret_cast<Integers>(
      _mm512_maskz_cvtepu8_epi32(0xffff, _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes))));
#elif defined(__AVX2__)
  return reinterpret_cast<Integers>(_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(bytes))));
#else
  return __builtin_convertvector(load<FewBytes>(bytes), Integers);
#endif
}
inline bool any_of(Integers x) {
#if defined(__AVX512F__)
  const auto all = reinterpret_cast<__m512i>(x);
  return _mm512_test_epi32_mask(all, all) != 0;
#else
  std::int32_t any = 0;
  for (int i = 0; i < kWide; ++i) any |= x[i];
  return any != 0;
#endif
}

// The exponents of D's elements: the largest among products and accumulator, in the place of a single's.
struct Scale {
  Words peak;     ///< at least the smallest ordinary one
  Integers tiny;  ///< the true one is smaller
  Integers wrong; ///< not an ordinary element
};
template <int kept, bool halves> Scale scale_of(const std::uint8_t* peaks, int base, int doubtful, Floats c) {
  constexpr int kLeast = 1 + kept;
  const Integers sum = widened(peaks);
  const Integers product = sum >= 2 * kLow;
  const Integers of_product = ((sum + base) << 23) & product;
  auto of_c = reinterpret_cast<Integers>(as_words(c) & kExponent);
  if constexpr (halves) { // subnormal ones have the exponent of the least normal number
    const Integers smallest = Integers{} + ((kBias - 14) << 23);
    of_c = (of_c > smallest ? of_c : smallest) & (of_c != 0);
  }
  const Integers peak = of_product > of_c ? of_product : of_c, least = Integers{} + (kLeast << 23);
  const Integers tiny = peak < least;
  const Integers wrong = (product & (tiny | (sum <= doubtful))) | (of_c > (kMost << 23));
  return {reinterpret_cast<Words>(tiny ? least : peak), tiny, wrong};
}

constexpr int kExact = 16; ///< products whose sum fits into 32 bits

// Moves a sum to an earlier one. Returns ~0 where that exceeds 32 bits.
inline Integers set_aside(Integers& sum, Integers& earlier) {
  const Integers total = sum + earlier, wrong = ((sum ^ total) & (earlier ^ total)) >> 31;
  earlier = total;
  sum = Integers{};
  return wrong;
}

// 16 rows and eight columns. False: some elements are not ordinary.
template <int kept, bool halves>
bool add_block(const FactorA& a, const FactorB& b, int block, int k, const Sums& c, float (*d)[kLanes]) {
  const Exponents &of_a = a.exponents, &of_b = b.exponents[block];
  if (of_a.special || of_b.special || of_a.most + of_b.most - kBias > kMost) return false;
  alignas(64) std::uint8_t peaks[2][kLanes];
  find_peaks(k, a.codes, b.codes + block * k * kBlock, peaks);
  const int base = of_a.most + of_b.most - 2 * kTop - kBias, doubtful = of_a.doubtful || of_b.doubtful ? kDoubtful : 0;
  const auto c_of = [&](int odd, int v) {
    return load<Floats>(c.at[odd][v * kWide / kWarpSize] + v * kWide % kWarpSize);
  };
  Floats scale[2][kVectors];
  Integers wrong{}, sum[2][kVectors]{}, earlier[2][kVectors]{};
  for (int odd = 0; odd < 2; ++odd)
    for (int v = 0; v < kVectors; ++v) {
      const Scale s = scale_of<kept, halves>(peaks[odd] + v * kWide, base, doubtful, c_of(odd, v));
      scale[odd][v] = as_floats((Words{} + (Word32{2 * kBias + kept} << 23)) - s.peak);
      wrong |= s.wrong;
    }
  const float* rows = a.rows;
  const float* columns = b.tile + block * k * kBlock;
  for (int i = 0; i < k; ++i, rows += kLanes, columns += kBlock) {
    if (kept == kKept && i != 0 && i % kExact == 0)
      for (int odd = 0; odd < 2; ++odd)
        for (int v = 0; v < kVectors; ++v) wrong |= set_aside(sum[odd][v], earlier[odd][v]);
    const Floats even = four_columns(columns), odd = four_columns(columns + 4);
    for (int v = 0; v < kVectors; ++v) {
      const auto x = load<Floats>(rows + v * kWide);
      sum[0][v] += __builtin_convertvector(x * even * scale[0][v], Integers);
      sum[1][v] += __builtin_convertvector(x * odd * scale[1][v], Integers);
    }
  }
  for (int odd = 0; odd < 2; ++odd)
    for (int v = 0; v < kVectors; ++v) {
      const Floats of_c = c_of(odd, v);
      const Scale s = scale_of<kept, halves>(peaks[odd] + v * kWide, base, doubtful, of_c);
      Integers more = __builtin_convertvector(of_c * scale[odd][v], Integers);
      if constexpr (kept == kKept) wrong |= set_aside(earlier[odd][v], more);
      const Integers total = sum[odd][v] + more;
      if constexpr (kept == kKept) wrong |= ((sum[odd][v] ^ total) & (more ^ total)) >> 31;
      Floats cut = __builtin_convertvector(total, Floats);
      if constexpr (halves) { // to odd
        const Integers inexact = __builtin_convertvector(cut, Integers) != total;
        cut = as_floats(as_words(cut) | reinterpret_cast<Words>(inexact & 1));
      }
      const Floats value = cut * as_floats(s.peak - (Word32{kept} << 23));
      Words result = s.tiny ? as_words(of_c) : as_words(value); // tiny: all products are 0
      if constexpr (kept == kKeptOfBytes && !halves) result &= ~kLostOfBytes;
      store(d[odd] + v * kWide, as_floats(result) + 0.0f); // not -0
    }
  return !any_of(wrong);
}

// ---- any numbers

template <int kept, bool halves>
void add_elements(const MatrixProduct& s, const FactorA& a, const FactorB& b, int block, bool accumulate, const Sums& c,
                  float (*d)[kLanes]) {
  constexpr bool cut = kept == kKeptOfBytes && !halves;
  for (int odd = 0; odd < 2; ++odd)
    for (int i = 0; i < kLanes; ++i) {
      const int of_row = i / 4, half = i / kWarpSize;
      ElementSum sum(smallest_of(s.a), smallest_of(s.b), kept);
      if (accumulate) sum.accumulate(c.at[odd][half][i % kWarpSize], halves ? kBias - 14 : 1);
      for (int k = 0; k < s.k; ++k)
        if (!s.sparse || (a.present[k] >> of_row & 1) != 0)
          sum.add(a.rows[k * kLanes + i], b.tile[(block * s.k + k) * kBlock + 4 * odd + i % 4]);
      const float x = sum.result(halves);
      const bool finite = (bits_of(x) & kExponent) != kExponent;
      d[odd][i] = cut && finite ? std::bit_cast<float>(bits_of(x) & ~kLostOfBytes) + 0.0f : x;
    }
}

struct Blocks { // of eight columns
  int first, end;
};
/// D, eight columns at a time. `d.read(block, c)` provides the accumulators, `d.write(block, values)` takes the
/// results.
template <int kept, bool halves, class Accumulators>
void add_products(const MatrixProduct& p, Blocks blocks, bool accumulate, const FactorA& a, const FactorB& b,
                  Accumulators d) {
  bool left[kMostColumns / kBlock]; // for the second loop, which needs the usual rounding
  bool any = false;
  Sums c;
  alignas(64) float values[2][kLanes];
  {
    const RoundingScope<Truncating> scope;
    for (int block = blocks.first; block < blocks.end; ++block) {
      d.read(block, c);
      left[block] = !add_block<kept, halves>(a, b, block, p.k, c, values);
      any = any || left[block];
      if (!left[block]) d.write(block, values);
    }
  }
  for (int block = blocks.first; any && block < blocks.end; ++block) {
    if (!left[block]) continue;
    d.read(block, c);
    add_elements<kept, halves>(p, a, b, block, accumulate, c, values);
    d.write(block, values);
  }
}

} // namespace warplens::exec::WARPLENS_LEVEL
