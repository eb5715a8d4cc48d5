// SPDX-License-Identifier: Apache-2.0
// Products of 16 rows of A and eight columns of B with floating-point sums, for mma (9.7.14), and with scales for
// tcgen05.mma (9.7.16.10.7). The rule is that of docs/numerics.md; group_products.hpp has it for wgmma, with exponents
// as bytes, which need more preparation. Included only by files that are compiled once per level.
//
//   AlignedRows a;  AlignedColumns b;                       // filled by a RowPutter and a ColumnPutter
//   if (!add_aligned<false>(a, b, {0, k}, kExact, c, d)) …  // element by element
//
// A product is at a position of its element's sum. Four consecutive positions are a group; a row of A has a group in
// four lanes, so that a shuffle within these lanes gives each lane of the row its factor. Columns of B, the even ones
// first, are the four lanes. D is computed as it lies in the registers of a warp.
#pragma once

#include "emulator/exec/matrix/line_scales.hpp"

#include <bit>

namespace warplens::exec::WARPLENS_LEVEL {

constexpr int kGroup = 4; ///< positions, and lanes of a row

// ---- exponents: upper halves of singles, so that a sum of two, less the bias, is one again

using Exponents16 = std::int16_t __attribute__((vector_size(4 * kWide)));
constexpr std::int32_t kOfZero = -0x7fffffff - 1, kOfInfinity = 0x7f800000; ///< a sum with kOfZero is negative

template <class Integers, class Floats> Integers exponents_of(Floats x, int smallest) {
  const Integers field = reinterpret_cast<Integers>(x) & 0x7f800000, least = Integers{} + (smallest << 23);
  return field > least ? field : least;
}
template <class Integers, class Floats> Integers if_present(Floats x, Integers exponents) {
  return (reinterpret_cast<Integers>(x) & 0x7fffffff) == 0 ? Integers{} + kOfZero : exponents;
}
/// The nearest number of 16 bits.
inline Exponents16 sum_of(Exponents16 a, Exponents16 b) {
#if defined(__AVX512F__)
  return reinterpret_cast<Exponents16>(_mm512_adds_epi16(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
#elif defined(__AVX2__)
  return reinterpret_cast<Exponents16>(_mm256_adds_epi16(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
#else
  Exponents16 sum;
  for (int i = 0; i < 2 * kWide; ++i) sum[i] = static_cast<std::int16_t>(std::clamp(a[i] + b[i], -0x8000, 0x7fff));
  return sum;
#endif
}

// ---- factors

struct AlignedRows {                                  // 16
  alignas(64) float values[kMostDepth * kRowsOfWarp]; ///< of each group: four of each row
  alignas(64) float pairs[kMostDepth / 2 * kLanes];   ///< exponents of two positions: a word for each lane
  bool unusual = false;                               ///< some are infinities or NaNs, or cannot be scaled exactly
  int depth = 0;                                      ///< positions
};
struct AlignedColumns { // eight
  alignas(64) float values[kMostDepth * kBlock];
  alignas(64) float pairs[kMostDepth / 2 * kBlock]; ///< less the bias
  bool unusual = false;
};

// In each four lanes, the same element for all. (A shuffle may go through memory.)
template <int i> Floats of_group(Floats x) {
#if defined(__AVX512F__)
  return reinterpret_cast<Floats>(_mm512_maskz_permute_ps(0xffff, reinterpret_cast<__m512>(x), i * 0x55));
#else
  return __builtin_shufflevector(x, x, i, i, i, i, i + 4, i + 4, i + 4, i + 4);
#endif
}
// 16 bytes, as often as the vector has room for them.
template <class Vector> Vector repeated(const float* from) { return reinterpret_cast<Vector>(four_columns(from)); }

/// A group of kWide / 4 rows from row `v` * kWide / 4 on.
inline void put_rows(AlignedRows& a, int group, int v, Floats x, Integers exponents) {
  using Twice = std::uint64_t __attribute__((vector_size(4 * kWide)));
  store(a.values + group * kLanes + v * kWide, x);
  const auto next = reinterpret_cast<Words>(reinterpret_cast<Twice>(exponents) >> 32);
  const auto pair = reinterpret_cast<Floats>(reinterpret_cast<Words>(exponents) >> 16 | next);
  float* const to = a.pairs + 2 * group * kLanes + v * kWide;
  store(to, of_group<0>(pair));
  store(to + kLanes, of_group<2>(pair));
}
/// Two positions, the first of which is even: eight columns each, the even ones first.
inline void put_columns(AlignedColumns& b, int position, EightFloats first, EightFloats second, EightIntegers of_first,
                        EightIntegers of_second) {
  store(b.values + position * kBlock, first);
  store(b.values + (position + 1) * kBlock, second);
  store(b.pairs + position / 2 * kBlock, reinterpret_cast<Eight>(of_first) >> 16 | reinterpret_cast<Eight>(of_second));
}

// ---- tiles: eight columns of A, or rows of B as columns, one after the other

// The rows of four columns of eight rows, kWide / 4 at a time.
inline void rows_of_columns(const float* columns, Floats (&rows)[kVectors / 2]) {
  const auto column = [&](int i) { return load<Eight>(columns + i * kBlock); };
  const FourColumns v = FourColumns{column(0), column(1), column(2), column(3)}.transposed(); // rows i and i + 4
  const auto low = [](Eight x, Eight y) { return __builtin_shufflevector(x, y, 0, 1, 2, 3, 8, 9, 10, 11); };
  const auto high = [](Eight x, Eight y) { return __builtin_shufflevector(x, y, 4, 5, 6, 7, 12, 13, 14, 15); };
#if defined(__AVX512F__)
  const auto both = [](Eight x, Eight y) {
    return reinterpret_cast<Floats>(
        __builtin_shufflevector(x, y, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
  };
  rows[0] = both(low(v.a, v.b), low(v.c, v.d));
  rows[1] = both(high(v.a, v.b), high(v.c, v.d));
#else
  rows[0] = reinterpret_cast<Floats>(low(v.a, v.b));
  rows[1] = reinterpret_cast<Floats>(low(v.c, v.d));
  rows[2] = reinterpret_cast<Floats>(high(v.a, v.b));
  rows[3] = reinterpret_cast<Floats>(high(v.c, v.d));
#endif
}
inline EightFloats even_first(EightFloats columns) {
  return __builtin_shufflevector(columns, columns, 0, 2, 4, 6, 1, 3, 5, 7);
}

// ---- puts factors in their places

/// With scales, each is for `in_scale` positions, a power of two.
template <bool with_scales> class RowPutter {
public:
  RowPutter(AlignedRows& to, int depth, int smallest, const RowScales* scales, int in_scale)
      : to_(to), smallest_(smallest), scales_(scales), scale_bits_(std::countr_zero(static_cast<unsigned>(in_scale))) {
    to_.depth = depth;
  }
  ~RowPutter() { to_.unusual = any_of((most_ >= kOfInfinity) | wrong_) || (with_scales && scales_->unusual); }
  RowPutter(const RowPutter&) = delete;
  RowPutter& operator=(const RowPutter&) = delete;

  void put(int position, int v, Floats x) {
    auto exponents = exponents_of<Integers>(x, smallest_);
    most_ = exponents > most_ ? exponents : most_;
    if constexpr (with_scales) {
      const Scaled<Integers, Floats> s = scaled(x, exponents, *scales_, position >> scale_bits_, v * kWide, wrong_);
      x = s.x, exponents = s.exponents;
    }
    put_rows(to_, position / kGroup, v, x, if_present(x, exponents));
  }
  /// The columns of the lower eight rows, then those of the others.
  void put_tile(const float* tile) {
    for (int half = 0; half < 2; ++half)
      for (int position = 0; position < to_.depth; position += kGroup) {
        Floats rows[kVectors / 2];
        rows_of_columns(tile + (half * to_.depth + position) * kBlock, rows);
        for (int i = 0; i < kVectors / 2; ++i) put(position, half * kVectors / 2 + i, rows[i]);
      }
  }

private:
  AlignedRows& to_;
  int smallest_;
  const RowScales* scales_;
  int scale_bits_; ///< each scale is for so many positions, as a power of two
  Integers most_{}, wrong_{};
};
template <bool with_scales> class ColumnPutter {
public:
  ColumnPutter(AlignedColumns& to, int smallest, const ColumnScales* scales, int in_scale)
      : to_(to), smallest_(smallest), scales_(scales), scale_bits_(std::countr_zero(static_cast<unsigned>(in_scale))) {}
  ~ColumnPutter() { to_.unusual = any_of_eight((most_ >= kOfInfinity) | wrong_) || (with_scales && scales_->unusual); }
  ColumnPutter(const ColumnPutter&) = delete;
  ColumnPutter& operator=(const ColumnPutter&) = delete;

  /// Two positions, the first of which is even; of the columns, the even ones first.
  void put(int position, EightFloats first, EightFloats second) {
    const Scaled<EightIntegers, EightFloats> a = number(position, first), b = number(position, second);
    put_columns(to_, position, a.x, b.x, if_present(a.x, of_sum(a.exponents)), if_present(b.x, of_sum(b.exponents)));
  }

private:
  /// Those of zeros may have any value, and wrap around.
  static EightIntegers of_sum(EightIntegers exponents) {
    using Unsigned = std::uint32_t __attribute__((vector_size(32)));
    constexpr std::uint32_t kBiasOfSum = std::uint32_t{kBias} << 23;
    return reinterpret_cast<EightIntegers>(reinterpret_cast<Unsigned>(exponents) - kBiasOfSum);
  }
  Scaled<EightIntegers, EightFloats> number(int position, EightFloats x) {
    const auto exponents = exponents_of<EightIntegers>(x, smallest_);
    most_ = exponents > most_ ? exponents : most_;
    if constexpr (!with_scales) return {x, exponents};
    return scaled(x, exponents, *scales_, position >> scale_bits_, 0, wrong_);
  }

  AlignedColumns& to_;
  int smallest_;
  const ColumnScales* scales_;
  int scale_bits_; ///< each scale is for so many positions, as a power of two
  EightIntegers most_{}, wrong_{};
};

// ---- sums

struct Depth { // products of an element that are summed at once: positions, in whole groups
  int first, count;
};

// The largest exponents of products, of the two positions of each pair.
using Peaks = Exponents16[2][kVectors];
inline void find_peaks(const AlignedRows& a, const AlignedColumns& b, Depth depth, Peaks& peaks) {
  const float *rows = a.pairs + depth.first / 2 * kLanes, *columns = b.pairs + depth.first / 2 * kBlock;
  for (auto& of_position : peaks)
    for (Exponents16& peak : of_position) peak = Exponents16{}; // smaller ones need not be known
  for (int i = 0; i < depth.count; i += 2, rows += kLanes, columns += kBlock) {
    const auto even = repeated<Exponents16>(columns), odd = repeated<Exponents16>(columns + 4);
    for (int v = 0; v < kVectors; ++v) {
      const auto of_rows = load<Exponents16>(rows + v * kWide);
      const Exponents16 x = sum_of(of_rows, even), y = sum_of(of_rows, odd);
      peaks[0][v] = x > peaks[0][v] ? x : peaks[0][v];
      peaks[1][v] = y > peaks[1][v] ? y : peaks[1][v];
    }
  }
}
// The larger ones of products and accumulator. In bits below the exponent, an accumulator has its fraction. 0: all are
// 0, or the exponents of all products are below those of numbers.
template <bool halves> Words peak_of(Exponents16 pairs, Floats c) {
  const auto words = reinterpret_cast<Words>(pairs);
  const auto swapped = reinterpret_cast<Exponents16>(words << 16 | words >> 16);
  const auto product = reinterpret_cast<Words>(pairs > swapped ? pairs : swapped);
  auto of_c = as_words(c) & 0x7fffffffu;
  if constexpr (halves) { // subnormal ones have the exponent of the least normal number
    const Words smallest = Words{} + (Word32{kBias - 14} << 23);
    of_c = (of_c > smallest ? of_c : smallest) & reinterpret_cast<Words>(of_c != 0);
  }
  return product > of_c ? product : of_c;
}

// With peaks from kLeast on, and below kTooLarge, results are normal numbers.
constexpr Word32 kLeast = Word32{1 + kKept} << 23, kTooLarge = Word32{kMost + 1} << 23;

// The least exponent of a number other than 0.
inline int least_exponent(const float* values, int count) {
  Word32 least = kExponent;
  for (int i = 0; i < count; ++i) {
    const Word32 magnitude = magnitude_of(values[i]);
    least = std::min(least, magnitude == 0 ? kExponent : magnitude);
  }
  return static_cast<int>(least >> 23);
}
// Whether peaks below kLeast are those of elements to which nothing is added.
[[gnu::noinline]] inline bool only_zeros(const AlignedRows& a, const AlignedColumns& b,
                                         const Words (&peaks)[2][kVectors]) {
  for (const auto& of_position : peaks)
    for (const Words peak : of_position)
      if (any_of(reinterpret_cast<Integers>(peak - 1 < kLeast - 1))) return false;
  // Normalized, a factor may have an exponent that is larger by one.
  return least_exponent(a.values, a.depth * kRowsOfWarp) + least_exponent(b.values, a.depth * kBlock) - 2 > kBias;
}

// What products and accumulators are multiplied with before they are cut off. False: some elements are not ordinary.
template <bool halves>
bool align(const AlignedRows& a, const AlignedColumns& b, Depth depth, const BlockOfFloats& c, BlockOfFloats& scale) {
  Peaks products;
  find_peaks(a, b, depth, products);
  Words peaks[2][kVectors], most{}, least = ~Words{};
  for (int odd = 0; odd < 2; ++odd)
    for (int v = 0; v < kVectors; ++v) {
      const Words peak = peaks[odd][v] = peak_of<halves>(products[odd][v], c[odd][v]), exponent = peak & kExponent;
      most = peak > most ? peak : most;
      least = peak < least ? peak : least;
      scale[odd][v] =
          as_floats((Words{} + (Word32{2 * kBias + kKept} << 23)) - (exponent > kLeast ? exponent : Words{} + kLeast));
    }
  if (any_of(reinterpret_cast<Integers>(most >= kTooLarge))) return false;
  return !any_of(reinterpret_cast<Integers>(least < kLeast)) || only_zeros(a, b, peaks);
}

// Sums of at least one group. (Its first products initialize the sums, because GCC would clear them in memory.)
template <int i, bool first>
inline __attribute__((always_inline)) void sum_position(const float* rows, const float* columns,
                                                        const BlockOfFloats& scale, BlockOfIntegers& sum) {
  const Floats even = four_columns(columns + i * kBlock), odd = four_columns(columns + i * kBlock + 4);
  for (int v = 0; v < kVectors; ++v) {
    const Floats x = of_group<i>(load<Floats>(rows + v * kWide));
    const Integers of_even = __builtin_convertvector(x * even * scale[0][v], Integers),
                   of_odd = __builtin_convertvector(x * odd * scale[1][v], Integers);
    sum[0][v] = first ? of_even : sum[0][v] + of_even;
    sum[1][v] = first ? of_odd : sum[1][v] + of_odd;
  }
}
template <bool first>
inline __attribute__((always_inline)) void sum_group(const float* rows, const float* columns,
                                                     const BlockOfFloats& scale, BlockOfIntegers& sum) {
  sum_position<0, first>(rows, columns, scale, sum);
  sum_position<1, false>(rows, columns, scale, sum);
  sum_position<2, false>(rows, columns, scale, sum);
  sum_position<3, false>(rows, columns, scale, sum);
}
inline __attribute__((always_inline)) void sum_groups(const float* rows, const float* columns, int count,
                                                      const BlockOfFloats& scale, BlockOfIntegers& sum) {
  sum_group<true>(rows, columns, scale, sum);
  for (int i = 1; i < count; ++i) {
    rows += kLanes, columns += kGroup * kBlock;
    sum_group<false>(rows, columns, scale, sum);
  }
}

/// As kExact, if products have scales with fractions: of elements of 4 bits, they are below 8.
constexpr int kExactOfFour = 8;

// `steps`: in which the products are added, because the sum of more may exceed 32 bits; none: nor can it with C.
enum class Steps { none, one, several };

// Truncated to single precision; of halves, to odd. Never -0, because 0 as an integer has no sign.
template <bool halves> Floats unscaled(Integers total, Floats scale) {
  Floats cut = truncated(total);
  if constexpr (halves) {
    const Integers inexact = __builtin_convertvector(cut, Integers) != total;
    cut = as_floats(as_words(cut) | reinterpret_cast<Words>(inexact & 1));
  }
  return cut * as_floats((Words{} + (Word32{2 * kBias} << 23)) - as_words(scale));
}

template <bool halves, Steps steps>
bool add_in_steps(const AlignedRows& a, const AlignedColumns& b, Depth depth, int exact, const Sums& sums,
                  float (*d)[kLanes]) {
  BlockOfFloats c, scales;
  for (int odd = 0; odd < 2; ++odd)
    for (int v = 0; v < kVectors; ++v)
      c[odd][v] = load<Floats>(sums.at[odd][v * kWide / kWarpSize] + v * kWide % kWarpSize);
  if (!align<halves>(a, b, depth, c, scales)) return false;
  const float *rows = a.values + depth.first * kRowsOfWarp, *columns = b.values + depth.first * kBlock;
  const int groups = depth.count / kGroup, at_once = steps == Steps::several ? exact / kGroup : groups;
  BlockOfIntegers sum;
  Integers exceeds{};
  sum_groups(rows, columns, at_once, scales, sum);
  for (int i = at_once; steps == Steps::several && i < groups; i += at_once) {
    BlockOfIntegers more;
    sum_groups(rows + i * kLanes, columns + i * kGroup * kBlock, std::min(groups - i, at_once), scales, more);
    for (int odd = 0; odd < 2; ++odd)
      for (int v = 0; v < kVectors; ++v) exceeds |= add_to(sum[odd][v], more[odd][v]);
  }
  for (int odd = 0; odd < 2; ++odd)
    for (int v = 0; v < kVectors; ++v) {
      const Floats scale = scales[odd][v];
      Integers total = sum[odd][v];
      const Integers of_c = __builtin_convertvector(c[odd][v] * scale, Integers);
      if constexpr (steps == Steps::none)
        total += of_c;
      else
        exceeds |= add_to(total, of_c);
      store(d[odd] + v * kWide, unscaled<halves>(total, scale));
    }
  return steps == Steps::none || !any_of(exceeds < 0);
}

// Of a single group, whose sums are kept in registers: the even columns, then the odd ones.
template <bool halves>
bool add_group(const AlignedRows& a, const AlignedColumns& b, int first, const Sums& sums, float (*d)[kLanes]) {
  const float *pairs = a.pairs + first / 2 * kLanes, *pairs_of_b = b.pairs + first / 2 * kBlock;
  const float *rows = a.values + first * kRowsOfWarp, *columns = b.values + first * kBlock;
  Words peaks[2][kVectors], most{}, least = ~Words{};
  for (int odd = 0; odd < 2; ++odd)
    for (int v = 0; v < kVectors; ++v) {
      const auto c = load<Floats>(sums.at[odd][v * kWide / kWarpSize] + v * kWide % kWarpSize);
      const Exponents16 x = sum_of(load<Exponents16>(pairs + v * kWide), repeated<Exponents16>(pairs_of_b + 4 * odd)),
                        y = sum_of(load<Exponents16>(pairs + kLanes + v * kWide),
                                   repeated<Exponents16>(pairs_of_b + kBlock + 4 * odd)),
                        larger = x > y ? x : y;
      const Words peak = peaks[odd][v] = peak_of<halves>(larger > 0 ? larger : Exponents16{}, c);
      most = peak > most ? peak : most;
      least = peak < least ? peak : least;
      const Words exponent = peak & kExponent;
      const Floats scale =
          as_floats((Words{} + (Word32{2 * kBias + kKept} << 23)) - (exponent > kLeast ? exponent : Words{} + kLeast));
      const Floats row = load<Floats>(rows + v * kWide);
      // Unsigned: sums of elements that are not ordinary may overflow.
      const auto cut = [](Floats value) __attribute__((always_inline)) {
        return reinterpret_cast<Words>(__builtin_convertvector(value, Integers));
      };
      const auto product = [&](Floats of_row, int i) __attribute__((always_inline)) {
        return cut(of_row * four_columns(columns + i * kBlock + 4 * odd) * scale);
      };
      const Words total = (product(of_group<0>(row), 0) + product(of_group<1>(row), 1)) +
                          (product(of_group<2>(row), 2) + product(of_group<3>(row), 3)) + cut(c * scale);
      store(d[odd] + v * kWide, unscaled<halves>(reinterpret_cast<Integers>(total), scale));
    }
  if (any_of(reinterpret_cast<Integers>(most >= kTooLarge))) return false;
  return !any_of(reinterpret_cast<Integers>(least < kLeast)) || only_zeros(a, b, peaks);
}

/// D of the products at some positions and C, within a TruncatingScope. False: some elements are not ordinary. `exact`:
/// so many products cannot exceed 32 bits.
template <bool halves>
bool add_aligned(const AlignedRows& a, const AlignedColumns& b, Depth depth, int exact, const Sums& c,
                 float (*d)[kLanes]) {
  if (a.unusual || b.unusual) return false;
  if (depth.count == kGroup) return add_group<halves>(a, b, depth.first, c, d);
  return depth.count < exact    ? add_in_steps<halves, Steps::none>(a, b, depth, exact, c, d)
         : depth.count == exact ? add_in_steps<halves, Steps::one>(a, b, depth, exact, c, d)
                                : add_in_steps<halves, Steps::several>(a, b, depth, exact, c, d);
}

} // namespace warplens::exec::WARPLENS_LEVEL
