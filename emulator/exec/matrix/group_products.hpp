// SPDX-License-Identifier: Apache-2.0
// Products of 16 rows of A and B with floating-point sums, for wgmma (9.7.15.5) and tcgen05.mma (9.7.16.10), with the
// sums of an H200 (docs/numerics.md); aligned_sums.hpp uses parts of it for mma. Included only by files that are
// compiled once per level.
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

// (As a conversion of vectors, GCC 12 would go byte by byte.)
inline void put_bytes(Integers x, std::uint8_t* bytes) {
#if defined(__AVX512F__)
  _mm_storeu_si128(reinterpret_cast<__m128i*>(bytes), _mm512_maskz_cvtepi32_epi8(0xffff, reinterpret_cast<__m512i>(x)));
#elif defined(__AVX2__)
  const auto all = reinterpret_cast<Bytes>(x);
  store(bytes, __builtin_shufflevector(all, all, 0, 4, 8, 12, 16, 20, 24, 28));
#else
  for (int i = 0; i < kWide; ++i) bytes[i] = static_cast<std::uint8_t>(x[i]);
#endif
}

struct Exponents {
  int most = 0;
  bool doubtful = false, special = false;
};
inline Word32 largest(Words x) {
  using FourWords = Word32 __attribute__((vector_size(16)));
  Word32 all[kWide];
  store(all, x);
  auto four = load<FourWords>(all);
  for (int i = 4; i < kWide; i += 4) {
    const auto other = load<FourWords>(all + i);
    four = other > four ? other : four;
  }
  return std::max(std::max<Word32>(four[0], four[1]), std::max<Word32>(four[2], four[3]));
}
// `count` is a multiple of 64.
inline Exponents find_exponents(const float* values, int count, int smallest, std::uint8_t* codes) {
  Words mosts{}, leasts = Words{} + kInfinity; // of numbers other than 0
  for (int i = 0; i < count; i += kWide) {
    const Words m = load<Words>(values + i) & 0x7fffffffu, nonzero = m == 0 ? Words{} + kInfinity : m;
    mosts = m > mosts ? m : mosts;
    leasts = nonzero < leasts ? nonzero : leasts;
  }
  const Word32 most = largest(mosts), least = ~largest(~leasts);
  Exponents e;
  e.special = most >= kInfinity;
  e.most = std::max(static_cast<int>(most >> 23), smallest);
  e.doubtful = std::max(static_cast<int>(least >> 23), smallest) < e.most - (kTop - kLow);
  for (int i = 0; i < count; i += kWide) {
    const auto m = reinterpret_cast<Integers>(load<Words>(values + i) & 0x7fffffffu), field = m >> 23;
    const Integers code = (field > smallest ? field : Integers{} + smallest) - (e.most - kTop);
    put_bytes((code > kLow ? code : Integers{} + kLow) & (m != 0), codes + i);
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

// Eight elements, each four times. (GCC 12 has no good code for 16 of them without AVX-512.)
inline void put_fours(const float* from, float* to) {
#if defined(__AVX512F__)
  const auto v = load<EightFloats>(from);
  store(to, __builtin_shufflevector(v, v, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3));
  store(to + 16, __builtin_shufflevector(v, v, 4, 4, 4, 4, 5, 5, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7));
#else
  using FourFloats = float __attribute__((vector_size(16)));
  for (int i = 0; i < kBlock; ++i) store(to + 4 * i, FourFloats{} + from[i]);
#endif
}

/// Of a tile that has been filled.
inline void prepare(FactorA& a, const MatrixProduct& p) {
  if (p.negate_a) negate(a.tile, kRowsOfWarp * p.k);
  std::uint8_t codes[kRowsOfWarp * kMostGroupDepth];
  a.exponents = find_exponents(a.tile, kRowsOfWarp * p.k, smallest_of(p.a), codes);
  for (int half = 0; half < 2; ++half)
    for (int k = 0; k < p.k; ++k) {
      const int from = (half * p.k + k) * kBlock, to = k * kLanes + half * kLanes / 2;
      put_fours(a.tile + from, a.rows + to);
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
  const float* at[2][2];
  alignas(64) float room[2][kLanes];
};

// ---- ordinary numbers

struct Truncating {
  static constexpr auto rounding = isa::WARPLENS_LEVEL::Rounding::zero;
};
// Sums are integers; only their conversion rounds. With AVX-512, it has a rounding mode of its own; otherwise it has
// the processor's, which takes as long to change as many products.
#if defined(__AVX512F__)
struct TruncatingScope {
  TruncatingScope() {} // NOLINT(modernize-use-equals-default): used only for its lifetime
};
#else
using TruncatingScope = RoundingScope<Truncating>;
#endif
/// Within a TruncatingScope.
inline Floats truncated(Integers x) {
#if defined(__AVX512F__)
  return reinterpret_cast<Floats>(
      _mm512_maskz_cvt_roundepi32_ps(0xffff, reinterpret_cast<__m512i>(x), _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC));
#else
  return __builtin_convertvector(x, Floats);
#endif
}

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

// The largest exponents among products and accumulator, in the place of a single's. In bits below that, an accumulator
// has its fraction, so that only that of 0 without products is 0.
template <bool halves> Words peak_of(const std::uint8_t* peaks, int base, Floats c) {
  const Integers sum = widened(peaks);
  const Integers exponent = (sum + base) << 23; // below 1 where it is smaller than that of any number
  const Integers of_product = (exponent > 1 ? exponent : Integers{} + 1) & (sum >= 2 * kLow);
  auto of_c = reinterpret_cast<Integers>(as_words(c) & 0x7fffffffu);
  if constexpr (halves) { // subnormal ones have the exponent of the least normal number
    const Integers smallest = Integers{} + ((kBias - 14) << 23);
    of_c = (of_c > smallest ? of_c : smallest) & (of_c != 0);
  }
  return reinterpret_cast<Words>(of_product > of_c ? of_product : of_c);
}

// Whether the exponents of some products are not certain: products of elements that are below kLow.
inline bool has_doubtful(const std::uint8_t (*peaks)[kLanes]) {
  for (int odd = 0; odd < 2; ++odd)
    for (int v = 0; v < kVectors; ++v) {
      const Integers sum = widened(peaks[odd] + v * kWide);
      if (any_of((sum >= 2 * kLow) & (sum <= kDoubtful))) return true;
    }
  return false;
}

constexpr int kExact = 16; ///< products whose sum fits into 32 bits

using BlockOfFloats = Floats[2][kVectors];
using BlockOfIntegers = Integers[2][kVectors];

// Sums of at least one product. (The first one initializes the sums, because GCC would clear them in memory.)
inline __attribute__((always_inline)) void sum_products(const float* rows, const float* columns, int count,
                                                        const BlockOfFloats& scale, BlockOfIntegers& sum) {
  const auto product = [&](const float* a, const float* b, int odd, int v) __attribute__((always_inline)) {
    return __builtin_convertvector(load<Floats>(a + v * kWide) * four_columns(b + 4 * odd) * scale[odd][v], Integers);
  };
  for (int v = 0; v < kVectors; ++v)
    for (int odd = 0; odd < 2; ++odd) sum[odd][v] = product(rows, columns, odd, v);
  for (int i = 1; i < count; ++i) {
    rows += kLanes, columns += kBlock;
    for (int v = 0; v < kVectors; ++v)
      for (int odd = 0; odd < 2; ++odd) sum[odd][v] += product(rows, columns, odd, v);
  }
}

// Adds. Returns what is negative where the sum exceeds 32 bits.
inline Integers add_to(Integers& sum, Integers more) {
  const Integers before = sum;
  sum += more;
  return (before ^ sum) & (more ^ sum);
}

// 16 rows and eight columns. False: some elements are not ordinary. `several`: the products are added in several steps,
// because the sum of all may exceed 32 bits.
template <int kept, bool halves, bool several>
bool add_block(const FactorA& a, const FactorB& b, int block, int k, const Sums& c, float (*d)[kLanes]) {
  constexpr Word32 kLeast = Word32{1 + kept} << 23; // smaller ones would make subnormal results
  const Exponents &of_a = a.exponents, &of_b = b.exponents[block];
  if (of_a.special || of_b.special || of_a.most + of_b.most - kBias > kMost) return false;
  alignas(64) std::uint8_t peaks[2][kLanes];
  find_peaks(k, a.codes, b.codes + block * k * kBlock, peaks);
  if ((of_a.doubtful || of_b.doubtful) && has_doubtful(peaks)) return false;
  const int base = of_a.most + of_b.most - 2 * kTop - kBias;
  const auto c_of = [&](int odd, int v) {
    return load<Floats>(c.at[odd][v * kWide / kWarpSize] + v * kWide % kWarpSize);
  };
  BlockOfFloats scale;
  Words most{}, least = ~Words{}; // of those that are not 0, less 1
  for (int odd = 0; odd < 2; ++odd)
    for (int v = 0; v < kVectors; ++v) {
      const Words peak = peak_of<halves>(peaks[odd] + v * kWide, base, c_of(odd, v)), below = peak - 1,
                  exponent = peak & kExponent;
      most = peak > most ? peak : most;
      least = below < least ? below : least;
      scale[odd][v] =
          as_floats((Words{} + (Word32{2 * kBias + kept} << 23)) - (exponent > kLeast ? exponent : Words{} + kLeast));
    }
  if (any_of(reinterpret_cast<Integers>(most >= (Word32{kMost + 1} << 23)) |
             reinterpret_cast<Integers>(least < kLeast - 1)))
    return false;

  const float *rows = a.rows, *columns = b.tile + block * k * kBlock;
  BlockOfIntegers sum;
  Integers exceeds{};
  sum_products(rows, columns, several ? kExact : k, scale, sum);
  for (int i = kExact; several && i < k; i += kExact) {
    BlockOfIntegers more;
    sum_products(rows + i * kLanes, columns + i * kBlock, std::min(k - i, kExact), scale, more);
    for (int odd = 0; odd < 2; ++odd)
      for (int v = 0; v < kVectors; ++v) exceeds |= add_to(sum[odd][v], more[odd][v]);
  }
  for (int odd = 0; odd < 2; ++odd)
    for (int v = 0; v < kVectors; ++v) {
      Integers total = sum[odd][v];
      exceeds |= add_to(total, __builtin_convertvector(c_of(odd, v) * scale[odd][v], Integers));
      Floats cut = truncated(total);
      if constexpr (halves) { // to odd
        const Integers inexact = __builtin_convertvector(cut, Integers) != total;
        cut = as_floats(as_words(cut) | reinterpret_cast<Words>(inexact & 1));
      }
      // Never -0, because 0 as an integer has no sign.
      Words result = as_words(cut * as_floats((Words{} + (Word32{2 * kBias} << 23)) - as_words(scale[odd][v])));
      if constexpr (kept == kKeptOfBytes && !halves) result &= ~kLostOfBytes;
      store(d[odd] + v * kWide, as_floats(result));
    }
  return !any_of(exceeds < 0);
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
    const TruncatingScope scope;
    for (int block = blocks.first; block < blocks.end; ++block) {
      d.read(block, c);
      left[block] = !(kept == kKept && p.k > kExact ? add_block<kept, halves, true>(a, b, block, p.k, c, values)
                                                    : add_block<kept, halves, false>(a, b, block, p.k, c, values));
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
