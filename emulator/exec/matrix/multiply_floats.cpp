// SPDX-License-Identifier: Apache-2.0
// mma, mma.sp and wmma.mma of f16, bf16, tf32 and narrower floats (9.7.14.4.5, 9.7.14.5, 9.7.14.6). Compiled once per
// level.
//
// The manual does not specify the order and the rounding of sums of floats. Here they are those of an H200, bit for bit
// (tests/data/hardware/matrix.jsonl). Products are exact. The products of a block and the accumulator are shifted to
// the largest exponent among them (for products, the sum of their factors' exponents), truncated 25 bits below it, and
// added exactly. The sum is truncated to single precision, or rounded to the nearest half if the accumulator is a half.
// It is never -0. The alignment and truncation of products is known from Fasi et al., "Numerical behavior of NVIDIA
// tensor cores" (PeerJ Computer Science 7:e330, 2021), and Khattak and Mikaitis, "Accurate models of NVIDIA tensor
// cores" (arXiv:2512.07004, 2025).
//
// Narrow floats with .kind, and those with scales, follow a rule that is assumed (docs/numerics.md): all products of an
// instruction are one block. A product has the scales as further factors.
//
// Ordinary numbers are summed by aligned_sums.hpp, all others element by element.
#include "emulator/exec/matrix/aligned_sums.hpp"
#include "emulator/exec/matrix/multiply_handlers.hpp"

namespace warplens::exec::WARPLENS_LEVEL {

namespace {

constexpr int kMostPieces = 2; ///< of D: 16 rows and eight columns

// ---- factors

// kWide / 4 rows, four columns each.
template <int in_row> Floats rows_at(const float* from) {
  if constexpr (in_row == kGroup) return load<Floats>(from);
  const auto two = [&](int i) __attribute__((always_inline)) {
    return __builtin_shufflevector(load<Four>(from + i * in_row), load<Four>(from + (i + 1) * in_row), 0, 1, 2, 3, 4, 5,
                                   6, 7);
  };
#if defined(__AVX512F__)
  return reinterpret_cast<Floats>(
      __builtin_shufflevector(two(0), two(2), 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
#else
  return reinterpret_cast<Floats>(two(0));
#endif
}
// Of four lanes, the first two of x and of y; the last two.
struct Halves {
  Floats first, second;
};
Halves halves_of(Floats x, Floats y) {
#if defined(__AVX512F__)
  return {reinterpret_cast<Floats>(
              _mm512_maskz_shuffle_ps(0xffff, reinterpret_cast<__m512>(x), reinterpret_cast<__m512>(y), 0x44)),
          reinterpret_cast<Floats>(
              _mm512_maskz_shuffle_ps(0xffff, reinterpret_cast<__m512>(x), reinterpret_cast<__m512>(y), 0xee))};
#else
  return {__builtin_shufflevector(x, y, 0, 1, 8, 9, 4, 5, 12, 13),
          __builtin_shufflevector(x, y, 2, 3, 10, 11, 6, 7, 14, 15)};
#endif
}

// What a register has in its order, widened. (Elements of 32 bits need no function for all types.)
template <int in_row> void widen(const Fragment& f, Warp* warp, std::size_t r, float* values) {
  const auto* const words = row<std::byte>(warp, f.row[r]);
  if constexpr (in_row != kGroup) return widen_register(f.element, words, values);
  for (int i = 0; i < kWarpSize; i += kWide) store(values + i, load<Words>(words + 4 * i) & 0xffffe000u); // tf32
}
// Without `late`, products are in order.
template <bool late> int place_of(const MatrixSite& s, int k) {
  return late ? s.place[static_cast<std::size_t>(k)] : k;
}

// 16 rows, the lower eight of which are `first` and the next ones; `in_row` of a register. Of bytes, the first two
// columns of each four are at other positions than the last two.
template <int in_row, bool late, class Putter> void read_rows(const MatrixSite& s, Warp* warp, int first, Putter& to) {
  alignas(64) float values[8 * in_row];
  const Fragment& f = s.a;
  constexpr int kVectorsOfHalf = kVectors / 2, kRowsOfVector = kWide / kGroup;
  for (std::size_t r = 0; r < static_cast<std::size_t>(f.registers); ++r) {
    const int row_of = f.corner[r].row - first, k = f.corner[r].column;
    if (row_of != 0 && row_of != kBlock) continue;
    widen<in_row>(f, warp, r, values);
    for (int i = 0; i < kVectorsOfHalf; ++i) {
      const float* const rows = values + i * kRowsOfVector * in_row;
      const int v = row_of / kBlock * kVectorsOfHalf + i;
      if constexpr (late) {
        for (int c = 0; c < in_row; c += 2 * kGroup) {
          const Halves halves = halves_of(rows_at<in_row>(rows + c), rows_at<in_row>(rows + c + kGroup));
          to.put(place_of<late>(s, k + c), v, halves.first);
          to.put(place_of<late>(s, k + c + 2), v, halves.second);
        }
      } else {
        for (int c = 0; c < in_row; c += kGroup) to.put(k + c, v, rows_at<in_row>(rows + c));
      }
    }
  }
}
template <int in_row, bool late, class Putter>
void read_columns(const MatrixSite& s, Warp* warp, int first, Putter& to) {
  alignas(64) float values[8 * in_row];
  const Fragment& f = s.b;
  for (std::size_t r = 0; r < static_cast<std::size_t>(f.registers); ++r) {
    if (f.corner[r].row != first) continue;
    widen<in_row>(f, warp, r, values);
    for (int c = 0; c < in_row; c += kGroup) {
      const auto two = [&](int i) { // columns 2 i and 2 i + 1, so that the even ones come first
        const float* const from = values + 2 * i * in_row + c;
        if constexpr (in_row == kGroup) return load<Eight>(from);
        return __builtin_shufflevector(load<Four>(from), load<Four>(from + in_row), 0, 1, 2, 3, 4, 5, 6, 7);
      };
      const FourColumns v = FourColumns{two(0), two(1), two(2), two(3)}.transposed();
      const int k = f.corner[r].column + c;
      to.put(place_of<late>(s, k), reinterpret_cast<EightFloats>(v.a), reinterpret_cast<EightFloats>(v.b));
      to.put(place_of<late>(s, k + 2), reinterpret_cast<EightFloats>(v.c), reinterpret_cast<EightFloats>(v.d));
    }
  }
}

// A group of positions with the elements of a sparse A that it has, and 0 for the others. Four elements of each row are
// kept of eight. `which`: the metadata of each row in its four lanes, from the first group on that the elements have.
template <int a, int b, int c, int d> Floats permuted(Floats x) {
#if defined(__AVX512F__)
  return reinterpret_cast<Floats>(
      _mm512_maskz_permute_ps(0xffff, reinterpret_cast<__m512>(x), a | b << 2 | c << 4 | d << 6));
#else
  return __builtin_shufflevector(x, x, a, b, c, d, a + 4, b + 4, c + 4, d + 4);
#endif
}
template <int a, int b, int c, int d> Words repeated_words() {
  Words w{};
  constexpr Word32 kParts[] = {a, b, c, d};
  for (int i = 0; i < kWide; ++i) w[i] = kParts[i % 4];
  return w;
}
Floats one_of(Words place, Words which, Floats first, Floats second) {
  const auto is_second = reinterpret_cast<Words>((which >> 2 & 3) == place),
             is_first = reinterpret_cast<Words>((which & 3) == place);
  return as_floats((as_words(second) & is_second) | (as_words(first) & is_first & ~is_second));
}
template <int width, int half> Floats spread(Floats x, Words which) {
  constexpr int e = 2 * half;
  if constexpr (width == 32) { // of two elements one
    const Words bit = which >> repeated_words<1 + 8 * half, 1 + 8 * half, 5 + 8 * half, 5 + 8 * half>() & 1;
    return as_floats(as_words(permuted<e, e, e + 1, e + 1>(x)) &
                     reinterpret_cast<Words>(bit == repeated_words<0, 1, 0, 1>()));
  } else if constexpr (width == 4) { // of four pairs two
    return one_of(repeated_words<e, e, e + 1, e + 1>(), which, permuted<0, 1, 0, 1>(x), permuted<2, 3, 2, 3>(x));
  } else { // of four elements two
    return one_of(repeated_words<0, 1, 2, 3>(), which >> 4 * half, of_group<e>(x), of_group<e + 1>(x));
  }
}
// The metadata of kWide / 4 rows are in every fourth lane (sparse_groups() in matrix_site.cpp).
Words metadata_of(const MatrixSite& s, Warp* warp, int first_row, int group, int groups) {
  const SparseGroup first = s.groups[static_cast<std::size_t>(first_row * groups + group)];
  const auto lanes = load<Floats>(row<float>(warp, s.metadata) + first_row % kBlock * kGroup);
  const Floats words = first.lane % kGroup == 0   ? of_group<0>(lanes)
                       : first.lane % kGroup == 1 ? of_group<1>(lanes)
                       : first.lane % kGroup == 2 ? of_group<2>(lanes)
                                                  : of_group<3>(lanes);
  return as_words(words) >> first.shift;
}
template <int width, class Putter> void read_sparse_rows(const MatrixSite& s, Warp* warp, Putter& to) {
  constexpr int in_row = width == 4 ? 32 : 128 / width, in_group = width == 32 ? 2 : width == 4 ? 8 : 4;
  constexpr int kVectorsOfHalf = kVectors / 2, kRowsOfVector = kWide / kGroup;
  alignas(64) float values[8 * in_row];
  const int groups = s.k / in_group;
  for (std::size_t r = 0; r < static_cast<std::size_t>(s.a.registers); ++r) {
    widen<in_row>(s.a, warp, r, values);
    const int half = s.a.corner[r].row / kBlock;
    for (int i = 0; i < kVectorsOfHalf; ++i)
      for (int c = 0; c < in_row; c += kGroup) {
        const int k = 2 * (s.a.corner[r].column + c), v = half * kVectorsOfHalf + i;
        const Words which = metadata_of(s, warp, half * kBlock + i * kRowsOfVector, k / in_group, groups);
        const Floats x = rows_at<in_row>(values + i * kRowsOfVector * in_row + c);
        to.put(s.place[static_cast<std::size_t>(k)], v, spread<width, 0>(x, which));
        to.put(s.place[static_cast<std::size_t>(k) + kGroup], v, spread<width, 1>(x, which));
      }
  }
}

// ---- scales

// The selectors are those of the first lane (9.7.14.3). Each pair of lanes has the scales of two rows of A, each lane
// those of a column of B.
template <class Put> void read_scales(const MatrixSite& s, Warp* warp, const MatrixScales& from, int lane, Put put) {
  const Word32 word = row<Word32>(warp, from.data)[lane];
  const int first = *row<std::uint16_t>(warp, from.byte);
  for (int i = 0; i < s.scales; ++i) put(i, scale_from(word >> 8 * ((first + i) & 3) & 0xff, s.with_fraction));
}
template <class Put> void read_scales_of_rows(const MatrixSite& s, Warp* warp, Put put) {
  const int pair = *row<std::uint16_t>(warp, s.a_scales.lane) & 1;
  for (int i = 0; i < kRowsOfWarp; ++i)
    read_scales(s, warp, s.a_scales, i % 8 * 4 + 2 * pair + i / 8,
                [&](int scale, const ProductScale& x) { put(scale, i, x); });
}
template <class Put> void read_scales_of_columns(const MatrixSite& s, Warp* warp, Put put) {
  const int lane = *row<std::uint16_t>(warp, s.b_scales.lane) & 3;
  for (int j = 0; j < kBlock; ++j)
    read_scales(s, warp, s.b_scales, j * 4 + lane, [&](int scale, const ProductScale& x) { put(scale, j, x); });
}

// The same, as vectors.
inline void read_scales_at_once(const MatrixSite& s, Warp* warp, RowScales& rows, ColumnScales& columns) {
  const auto shift_of = [&](const MatrixScales& from, int i) {
    return 8 * ((*row<std::uint16_t>(warp, from.byte) + i) & 3);
  };
  const float* const of_rows = row<float>(warp, s.a_scales.data);
  const int pair = *row<std::uint16_t>(warp, s.a_scales.lane) & 1;
  for (int v = 0; v < kVectors; ++v) {
    const auto lanes = load<Floats>(of_rows + v % (kVectors / 2) * kWide);
    const bool upper = v >= kVectors / 2; // rows 8 to 15 are in the odd lanes
    const auto words = as_words(pair == 0 ? (upper ? of_group<1>(lanes) : of_group<0>(lanes))
                                          : (upper ? of_group<3>(lanes) : of_group<2>(lanes)));
    for (int i = 0; i < s.scales; ++i)
      rows.put_vector(i, v * kWide, reinterpret_cast<Integers>(words >> shift_of(s.a_scales, i) & 0xff),
                      s.with_fraction);
  }
  const Word32* const of_columns =
      row<Word32>(warp, s.b_scales.data) + (*row<std::uint16_t>(warp, s.b_scales.lane) & 3);
  Eight words;
  for (int j = 0; j < kBlock; ++j) words[even_first(j)] = of_columns[j * 4];
  for (int i = 0; i < s.scales; ++i)
    columns.put_vector(i, 0, reinterpret_cast<EightIntegers>(words >> shift_of(s.b_scales, i) & 0xff), s.with_fraction);
}

// ---- accumulators: of single precision, four registers are a piece of D; of halves, two are

// Halves of two columns in turn become two rows of singles, and back.
#if defined(__AVX512F__)
Floats widened_halves(__m512i low_halves) {
  return reinterpret_cast<Floats>(_mm512_maskz_cvtph_ps(0xffff, _mm512_maskz_cvtepi32_epi16(0xffff, low_halves)));
}
__m256i narrowed_halves(const float* values) {
  return _mm512_maskz_cvtps_ph(0xffff, _mm512_loadu_ps(values), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
void split_halves(const Word32* words, float* even, float* odd) {
  for (int i = 0; i < kWarpSize; i += kWide) {
    const __m512i pairs = _mm512_loadu_si512(words + i);
    store(even + i, widened_halves(pairs));
    store(odd + i, widened_halves(reinterpret_cast<__m512i>(reinterpret_cast<Words>(pairs) >> 16)));
  }
}
void join_halves(const float* even, const float* odd, std::uint16_t* halves) {
  for (int i = 0; i < kWarpSize; i += kWide) {
    const auto low = reinterpret_cast<Words>(_mm512_maskz_cvtepu16_epi32(0xffff, narrowed_halves(even + i))),
               high = reinterpret_cast<Words>(_mm512_maskz_cvtepu16_epi32(0xffff, narrowed_halves(odd + i)));
    store(halves + 2 * i, low | high << 16);
  }
}
#else
void split_halves(const Word32* words, float* even, float* odd) {
  alignas(64) float values[2 * kWarpSize];
  widen_halves(reinterpret_cast<const std::uint16_t*>(words), 2 * kWarpSize, values);
  for (int i = 0; i < kWarpSize; i += kBlock) {
    const auto first = load<EightFloats>(values + 2 * i), second = load<EightFloats>(values + 2 * i + kBlock);
    store(even + i, __builtin_shufflevector(first, second, 0, 2, 4, 6, 8, 10, 12, 14));
    store(odd + i, __builtin_shufflevector(first, second, 1, 3, 5, 7, 9, 11, 13, 15));
  }
}
void join_halves(const float* even, const float* odd, std::uint16_t* halves) {
  alignas(64) float values[2 * kWarpSize];
  for (int i = 0; i < kWarpSize; i += kBlock) {
    const auto first = load<EightFloats>(even + i), second = load<EightFloats>(odd + i);
    store(values + 2 * i, __builtin_shufflevector(first, second, 0, 8, 1, 9, 2, 10, 3, 11));
    store(values + 2 * i + kBlock, __builtin_shufflevector(first, second, 4, 12, 5, 13, 6, 14, 7, 15));
  }
  narrow_to_halves(values, 2 * kWarpSize, halves);
}
#endif

void read_sums(const Fragment& c, Warp* warp, std::size_t piece, Sums& sums) {
  for (std::size_t half = 0; half < 2; ++half) {
    for (std::size_t odd = 0; odd < 2; ++odd)
      sums.at[odd][half] = c.element == MatrixElement::f16 ? sums.room[odd] + half * kWarpSize
                                                           : row<float>(warp, c.row[4 * piece + 2 * half + odd]);
    if (c.element != MatrixElement::f16) continue;
    split_halves(row<Word32>(warp, c.row[2 * piece + half]), sums.room[0] + half * kWarpSize,
                 sums.room[1] + half * kWarpSize);
  }
}

// `positive`: halves are never -0.
void write_sums(const Fragment& d, Warp* warp, std::size_t piece, bool positive, const float (*values)[kLanes]) {
  for (std::size_t half = 0; half < 2; ++half) {
    const std::size_t at = half * kWarpSize;
    if (d.element != MatrixElement::f16) {
      for (std::size_t odd = 0; odd < 2; ++odd)
        std::memcpy(row<float>(warp, d.row[4 * piece + 2 * half + odd]), values[odd] + at, kWarpSize * sizeof(float));
      continue;
    }
    auto* const halves = row<std::uint16_t>(warp, d.row[2 * piece + half]);
    join_halves(values[0] + at, values[1] + at, halves);
    for (int i = 0; i < 2 * kWarpSize && positive; ++i)
      halves[i] = (halves[i] & 0x7fff) == 0 ? std::uint16_t{0} : halves[i];
  }
}

Floats rounded_to_halves(const float* values) {
#if defined(__AVX512F__)
  const auto rounded = reinterpret_cast<Floats>(_mm512_maskz_cvtph_ps(0xffff, narrowed_halves(values)));
#else
  std::uint16_t halves[kWide];
  Floats rounded;
  narrow_to_halves(values, kWide, halves);
  widen_halves(halves, kWide, reinterpret_cast<float*>(&rounded));
#endif
  return rounded + Floats{}; // no -0
}
void round_to_halves(float (*values)[kLanes]) {
  for (int odd = 0; odd < 2; ++odd)
    for (int i = 0; i < kLanes; i += kWide) store(values[odd] + i, rounded_to_halves(values[odd] + i));
}

// The usual rounding; every NaN is the same.
template <bool halves> void add_late(const Sums& c, float (*values)[kLanes]) {
  const Floats nan = Floats{} + std::bit_cast<float>(kNan);
  for (int odd = 0; odd < 2; ++odd)
    for (int i = 0; i < kLanes; i += kWide) {
      const Floats sum = halves ? rounded_to_halves(values[odd] + i) : load<Floats>(values[odd] + i);
      const Floats x = sum + load<Floats>(c.at[odd][i / kWarpSize] + i % kWarpSize);
      store(values[odd] + i, x != x ? nan : x);
    }
}

// ---- any numbers, element by element

struct Elements {
  alignas(64) float a[kMostFactor], b[kMostFactor]; ///< columns
  Word32 present[kMostDepth];                       ///< of sparse: rows that a column of A has
  ProductScale a_scales[kRowsOfWarp][kMostScales], b_scales[kBlock][kMostScales];

  Elements(const MatrixSite& s, Warp* warp) { // leaves what it does not need uninitialised: it is large
    if (s.sparse)
      read_sparse(s, warp, a, present);
    else
      exec::WARPLENS_LEVEL::read_columns(s.a, warp, a);
    exec::WARPLENS_LEVEL::read_columns(s.b, warp, b);
    if (s.scales == 0) return;
    read_scales_of_rows(s, warp, [&](int scale, int i, const ProductScale& x) { a_scales[i][scale] = x; });
    read_scales_of_columns(s, warp, [&](int scale, int j, const ProductScale& x) { b_scales[j][scale] = x; });
  }
};

[[gnu::noinline]] void add_elements(const MatrixSite& s, Warp* warp, int first_row, int first_column, Depth depth,
                                    bool halves, const Sums& c, float (*d)[kLanes]) {
  const Elements e(s, warp);
  const int smallest_a = smallest_of(s.a.element, s.late), smallest_b = smallest_of(s.b.element, s.late);
  for (int odd = 0; odd < 2; ++odd)
    for (int lane = 0; lane < kLanes; ++lane) {
      const int i = first_row + lane / kGroup, j = first_column + lane % kGroup * 2 + odd;
      ElementSum sum(smallest_a, smallest_b, kKept);
      sum.accumulate(c.at[odd][lane / kWarpSize][lane % kWarpSize], halves ? kBias - 14 : 1);
      for (int n = depth.first; n < depth.first + depth.count; ++n) {
        const int k = s.order[static_cast<std::size_t>(n)], scale = k * s.scales / s.k;
        if (s.sparse && (e.present[k] >> i & 1) == 0) continue;
        sum.add(e.a[k * s.m + i], e.b[k * s.n + j],
                s.scales == 0 ? ProductScale{} : e.a_scales[i][scale] * e.b_scales[j][scale]);
      }
      d[odd][lane] = sum.result(halves);
    }
}

// ---- the product

class Product {
public:
  Product(const MatrixSite& site, Warp* warp) : s_(site), warp_(warp) {
    halves_ = s_.c.element == MatrixElement::f16 && s_.d.element == MatrixElement::f16;
    exact_ = s_.with_fraction ? kExactOfFour : kExact;
    read();
  }

  /// The pieces of D.
  void sum(float (*pieces)[2][kLanes]) {
    for (int row = 0; row < s_.m; row += kRowsOfWarp)
      for (int column = 0; column < s_.n; column += kBlock, ++pieces)
        halves_ ? sum_piece<true>(row, column, *pieces) : sum_piece<false>(row, column, *pieces);
  }
  [[nodiscard]] bool halves() const { return halves_; }

private:
  void read() {
    switch (s_.a.lane_elements) {
    case 1: return read_all<4, false, false>();
    case 2: return read_all<8, false, false>();
    case 8: return read_all<32, false, true>();
    default:
      return s_.scales != 0 ? read_all<16, false, true>()
             : s_.late      ? read_all<16, true, false>()
                            : read_all<16, false, false>();
    }
  }
  template <int in_row, bool late, bool with_scales> void read_all() {
    const int smallest_a = smallest_of(s_.a.element, s_.late), smallest_b = smallest_of(s_.b.element, s_.late);
    const int in_scale = with_scales ? s_.k / s_.scales : 0;
    RowScales of_rows;
    ColumnScales of_columns;
    if constexpr (with_scales) read_scales_at_once(s_, warp_, of_rows, of_columns);
    for (int first = 0; first < s_.m; first += kRowsOfWarp) {
      RowPutter<with_scales> to(a_[first / kRowsOfWarp], s_.k, smallest_a, &of_rows, in_scale);
      if (s_.sparse)
        read_sparse_rows<in_row == 32 ? 4 : 128 / in_row>(s_, warp_, to);
      else
        read_rows<in_row, late>(s_, warp_, first, to);
    }
    for (int first = 0; first < s_.n; first += kBlock) {
      ColumnPutter<with_scales> to(b_[first / kBlock], smallest_b, &of_columns, in_scale);
      read_columns<in_row, late>(s_, warp_, first, to);
    }
  }

  static void point_to(Sums& sums, const float* even, const float* odd, std::size_t upper) {
    for (std::size_t half = 0; half < 2; ++half) {
      sums.at[0][half] = even + half * upper;
      sums.at[1][half] = odd + half * upper;
    }
  }

  // The products of one step of the rule after those of another. Sums of bytes start from 0, and C is added at the end,
  // with the usual rounding (as the assembler expands them for sm_90).
  template <bool halves> void sum_piece(int first_row, int first_column, float (*values)[kLanes]) {
    alignas(64) static constexpr float kZeros[kWarpSize]{};
    const auto piece = static_cast<std::size_t>((first_row / kRowsOfWarp) + first_column / kBlock);
    Sums so_far;
    if (s_.late)
      point_to(so_far, kZeros, kZeros, 0);
    else
      read_sums(s_.c, warp_, piece, so_far);
    // Sums that cannot exceed 32 bits are stored only when all are known to be ordinary.
    const bool in_place = s_.block < exact_ && s_.block != kGroup;
    for (int first = 0; first < s_.k; first += s_.block) {
      if (first != 0 && in_place) {
        point_to(so_far, values[0], values[1], kWarpSize);
      } else if (first != 0) {
        std::memcpy(so_far.room, values, sizeof so_far.room);
        point_to(so_far, so_far.room[0], so_far.room[1], kWarpSize);
      }
      const Depth depth{first, s_.block};
      if (!add<halves>(a_[first_row / kRowsOfWarp], b_[first_column / kBlock], depth, so_far, values))
        add_elements(s_, warp_, first_row, first_column, depth, halves, so_far, values);
      if (halves && first + s_.block < s_.k) round_to_halves(values);
    }
    if (!s_.late) return;
    read_sums(s_.c, warp_, piece, so_far);
    add_late<halves>(so_far, values);
  }
  template <bool halves>
  bool add(const AlignedRows& a, const AlignedColumns& b, Depth depth, const Sums& c, float (*d)[kLanes]) {
    const TruncatingScope scope;
    return add_aligned<halves>(a, b, depth, exact_, c, d);
  }

  const MatrixSite& s_;
  Warp* warp_;
  bool halves_ = false; ///< both C and D
  int exact_ = 0;
  AlignedRows a_[kMostPieces];
  AlignedColumns b_[kMostPieces];
};

} // namespace

bool multiply_floats(const Op* op, Warp* warp) {
  const MatrixSite& s = *op->matrix;
  Product p(s, warp);
  // D may be in the registers of C.
  alignas(64) float values[kMostPieces][2][kLanes];
  p.sum(values);
  const int pieces = s.m / kRowsOfWarp * (s.n / kBlock);
  for (int piece = 0; piece < pieces; ++piece)
    write_sums(s.d, warp, static_cast<std::size_t>(piece), p.halves() && !s.late, values[piece]);
  return true;
}

} // namespace warplens::exec::WARPLENS_LEVEL
