// SPDX-License-Identifier: Apache-2.0
// mma, mma.sp and wmma.mma of f16, bf16, tf32 and bytes of floating point (9.7.14.4.5, 9.7.14.5, 9.7.14.6), with 32
// rows or scales; multiply_rows.cpp has the others. Compiled once per level.
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
// Ordinary numbers are summed in vectors of rows, in 32 bits; all others element by element.
#include "emulator/exec/lanes/lanes.hpp"
#include "emulator/exec/matrix/element_sum.hpp"
#include "emulator/exec/matrix/multiply_handlers.hpp"

namespace warplens::exec::WARPLENS_LEVEL {

namespace {

using isa::WARPLENS_LEVEL::Rounding;

// The range of exponents of numbers other than 0.
struct Range {
  int least = 0, most = 0;
  [[nodiscard]] bool special() const { return most >= kAbove; }
};

// Exponents are pairs of 16 bits.
struct Factor {
  alignas(64) float value[kMostFactor];
  alignas(64) Word32 exponents[kMostFactor];
  Range range;
};

constexpr int kRows = 16, kColumns = 8; // of a piece of D
constexpr int kMostScales = 4;          // of a row

// Of rows of A and columns of B, and the factors without them.
struct Scales {
  ProductScale a[kRows][kMostScales], b[kColumns][kMostScales];
  float plain_a[kMostFactor], plain_b[kMostFactor];
};

struct Product {
  explicit Product(const MatrixSite& s) : site(s) {} // leaves the tiles uninitialised: they are large
  const MatrixSite& site;
  Factor a, b;
  Word32 present[kMostDepth]; ///< of sparse: rows that a column of A has
  alignas(64) float c[kMostSum];
  alignas(64) Word32 c_exponents[kMostSum / 2];
  Range c_range;
  alignas(64) float d[kMostSum];
  bool halves = false; ///< both C and D
  const Scales* scales = nullptr;
  [[nodiscard]] int size() const { return site.m * site.n; }
  [[nodiscard]] int smallest_a() const { return smallest_of(site.a.element, site.late); }
  [[nodiscard]] int smallest_b() const { return smallest_of(site.b.element, site.late); }
  [[nodiscard]] int smallest_sum() const { return halves ? kBias - 14 : 1; }
};

// ---- exponents, as pairs of 16 bits in a word

using Shorts = std::int16_t __attribute__((vector_size(32)));
using Naturals = std::uint16_t __attribute__((vector_size(32)));

class Exponents {
public:
  explicit Exponents(int smallest) : smallest_(Shorts{} + static_cast<std::int16_t>(smallest)) {}

  /// Those of eight numbers in the lower halves of words, of eight others in the upper ones. They are exact for all
  /// elements of factors: what the upper half of a single lacks of them, three bits of a tf32, decides whether it is 0.
  Shorts of(const float* lower, const float* upper) {
    const Eight tops = top(load<Eight>(lower)) >> 16 | (top(load<Eight>(upper)) & 0xffff0000u);
    const auto magnitude = reinterpret_cast<Naturals>(tops & 0x7fff7fffu);
    const auto field = reinterpret_cast<Shorts>(magnitude >> 7);
    const Shorts exponent = magnitude == 0 ? Shorts{} + std::int16_t{kNone} : field > smallest_ ? field : smallest_;
    most_ = exponent > most_ ? exponent : most_;
    const auto natural = reinterpret_cast<Naturals>(exponent); // 0 has a large one
    least_ = natural < least_ ? natural : least_;
    return exponent;
  }
  [[nodiscard]] Range range() const {
    Range r{0xffff, kNone};
    for (int i = 0; i < 16; ++i) {
      r.least = least_[i] < r.least ? least_[i] : r.least;
      r.most = most_[i] > r.most ? most_[i] : r.most;
    }
    return r;
  }

private:
  static Eight top(Eight x) { return x | (x << 3 & 0x00070000u); }

  Shorts smallest_, most_ = Shorts{} + std::int16_t{kNone};
  Naturals least_ = ~Naturals{};
};

// Of a tile whose columns have `size` elements together: of each sixteen rows, those eight further on in upper halves.
Range find_exponents(const float* values, int size, int smallest, Word32* exponents) {
  Exponents e(smallest);
  for (int i = 0; i < size; i += 16) store(exponents + i / 2, e.of(values + i, values + i + 8));
  return e.range();
}
// Each twice, less the bias.
Range find_factors(const float* values, int size, int smallest, Word32* exponents) {
  Exponents e(smallest);
  for (int i = 0; i < size; i += 8) store(exponents + i, e.of(values + i, values + i) - std::int16_t{kBias});
  return e.range();
}

// ---- ordinary numbers

// Truncates with the processor's conversion.
struct Truncating {
  static constexpr Rounding rounding = Rounding::zero;
};

#if defined(__AVX512F__)
constexpr int kWide = 16;
#else
constexpr int kWide = 8;
#endif
using Floats = float __attribute__((vector_size(4 * kWide)));
using Integers = std::int32_t __attribute__((vector_size(4 * kWide)));

Floats as_floats(Integers x) { return reinterpret_cast<Floats>(x); }

// Products and their sums are exact in single precision and in 32 bits if the exponents of products are between these.
constexpr int kLeast = 1 + kKept, kMost = kBias + 100;

bool is_ordinary(const Product& p) {
  const Range &a = p.a.range, &b = p.b.range;
  // With scales, the factors must be numbers of single precision, too.
  return a.least >= 1 && b.least >= 1 && a.most + b.most - kBias <= kMost && a.least + b.least - kBias >= kLeast &&
         p.c_range.most <= kMost && !a.special() && !b.special();
}

// The largest exponents among the products of a block and the accumulator.
struct Peaks {
  Eight pairs[kColumns];

  Peaks(const Product& p, const std::uint8_t* order, int row, int column) {
    const MatrixSite& s = p.site;
    Shorts peak[kColumns];
    for (int j = 0; j < kColumns; ++j) peak[j] = load<Shorts>(p.c_exponents + ((column + j) * s.m + row) / 2);
    for (int i = 0; i < s.block; ++i) {
      const auto a = load<Shorts>(p.a.exponents + (order[i] * s.m + row) / 2);
      const Word32* const b = p.b.exponents + order[i] * s.n + column;
      for (int j = 0; j < kColumns; ++j) {
        const Shorts sum = a + reinterpret_cast<Shorts>(Eight{} + b[j]);
        peak[j] = sum > peak[j] ? sum : peak[j];
      }
    }
    for (int j = 0; j < kColumns; ++j) pairs[j] = reinterpret_cast<Eight>(peak[j]);
  }
  /// Of a column, for rows from `part` on.
  [[nodiscard]] Integers of(int column, int part) const {
    using Signed = std::int32_t __attribute__((vector_size(32)));
    const Signed lower = reinterpret_cast<Signed>(pairs[column] << 16) >> 16;
    const Signed upper = reinterpret_cast<Signed>(pairs[column]) >> 16;
#if defined(__AVX512F__)
    return part == 0 ? __builtin_shufflevector(lower, upper, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
                     : Integers{};
#else
    return part == 0 ? lower : upper;
#endif
  }
};

// The sums of a block, cut off, or kept so that they can be rounded to the nearest half. Negative where one exceeds 32
// bits.
template <bool halves>
Integers add_rows(Product& p, const std::uint8_t* order, int row, int part, int column, const Peaks& peaks) {
  const MatrixSite& s = p.site;
  Integers sum[kColumns]{};
  Floats scale[kColumns];
  for (int j = 0; j < kColumns; ++j) {
    const Integers peak = peaks.of(j, part);
    scale[j] = as_floats((2 * kBias + kKept - (peak < kLeast ? Integers{} + kLeast : peak)) << 23);
  }
  const auto add = [&](Integers* to, int first, int last) {
    for (int i = first; i < last; ++i) {
      const auto a = load<Floats>(p.a.value + order[i] * s.m + row + part);
      const float* const b = p.b.value + order[i] * s.n + column;
      for (int j = 0; j < kColumns; ++j) to[j] += __builtin_convertvector(a * b[j] * scale[j], Integers);
    }
  };
  // So many products cannot exceed 32 bits: those of two factors are below 4, those of four below 16.
  const int few = s.with_fraction ? 4 : 16;
  add(sum, 0, std::min(few, s.block));
  Integers overflow{};
  for (int first = few; first < s.block; first += few) {
    Integers more[kColumns]{};
    add(more, first, std::min(first + few, s.block));
    for (int j = 0; j < kColumns; ++j) {
      const Integers total = sum[j] + more[j];
      overflow |= (sum[j] ^ total) & (more[j] ^ total);
      sum[j] = total;
    }
  }
  for (int j = 0; j < kColumns; ++j) {
    const int at = (column + j) * s.m + row + part;
    const auto c = load<Floats>(p.c + at);
    const Integers more = __builtin_convertvector(c * scale[j], Integers), total = sum[j] + more;
    overflow |= (sum[j] ^ total) & (more ^ total);
    Floats cut = __builtin_convertvector(total, Floats);
    if constexpr (halves) { // to odd
      const Integers inexact = __builtin_convertvector(cut, Integers) != total;
      cut = as_floats(reinterpret_cast<Integers>(cut) | (inexact & 1));
    }
    const Integers peak = peaks.of(j, part), unit = (peak - kKept) << 23;
    const Floats d = peak < kLeast ? c + Floats{} : cut * as_floats(unit); // all products are 0; the result is not -0
    store(p.d + at, d);
  }
  return overflow;
}

template <bool halves> bool add_ordinary_block(Product& p, const std::uint8_t* order) {
  const RoundingScope<Truncating> scope;
  Integers overflow{};
  for (int row = 0; row < p.site.m; row += kRows)
    for (int column = 0; column < p.site.n; column += kColumns) {
      const Peaks peaks(p, order, row, column);
      for (int part = 0; part < kRows; part += kWide) overflow |= add_rows<halves>(p, order, row, part, column, peaks);
    }
  int any = 0;
  for (int i = 0; i < kWide; ++i) any |= overflow[i];
  return any >= 0;
}

// ---- any numbers

float add_element(const Product& p, const std::uint8_t* order, int row, int column) {
  const MatrixSite& s = p.site;
  ElementSum sum(p.smallest_a(), p.smallest_b(), kKept);
  sum.accumulate(p.c[column * s.m + row], p.smallest_sum());
  for (int i = 0; i < s.block; ++i) {
    const int k = order[i];
    if (s.sparse && (p.present[k] >> row & 1) == 0) continue;
    const int in_a = k * s.m + row, in_b = k * s.n + column;
    if (p.scales == nullptr) {
      sum.add(p.a.value[in_a], p.b.value[in_b]);
    } else {
      const int which = k * s.scales / s.k;
      sum.add(p.scales->plain_a[in_a], p.scales->plain_b[in_b], p.scales->a[row][which] * p.scales->b[column][which]);
    }
  }
  return sum.result(p.halves);
}

// ---- the whole product

// D = A B + C for the next products in order.
void add_block(Product& p, const std::uint8_t* order) {
  if (is_ordinary(p) && (p.halves ? add_ordinary_block<true>(p, order) : add_ordinary_block<false>(p, order))) {
    if (!p.halves) return;
    std::uint16_t rounded[kMostSum];
    narrow_to_halves(p.d, p.size(), rounded);
    widen_halves(rounded, p.size(), p.d);
    for (int i = 0; i < p.size(); ++i) p.d[i] += 0.0f; // no -0
    return;
  }
  for (int column = 0; column < p.site.n; ++column)
    for (int row = 0; row < p.site.m; ++row) p.d[column * p.site.m + row] = add_element(p, order, row, column);
}

void read(Product& p, Warp* warp) {
  const MatrixSite& s = p.site;
  if (s.sparse)
    read_sparse(s, warp, p.a.value, p.present);
  else
    read_columns(s.a, warp, p.a.value);
  read_columns(s.b, warp, p.b.value);
  read_sums(s.c, warp, p.c);
  p.a.range = find_exponents(p.a.value, s.k * s.m, p.smallest_a(), p.a.exponents);
  p.b.range = find_factors(p.b.value, s.k * s.n, p.smallest_b(), p.b.exponents);
  p.halves = s.c.element == MatrixElement::f16 && s.d.element == MatrixElement::f16;
}

// ---- scales

// The selectors are those of the first lane (9.7.14.3). Each pair of lanes has the scales of two rows of A, each lane
// those of a column of B.
void read_scales(const MatrixSite& s, Warp* warp, Scales& scales) {
  const auto selector = [&](std::uint32_t of) { return *row<std::uint16_t>(warp, of); };
  const auto read = [&](const MatrixScales& from, int lane, ProductScale* to) {
    const Word32 word = row<Word32>(warp, from.data)[lane];
    for (int i = 0; i < s.scales; ++i)
      to[i] = scale_from(word >> 8 * ((selector(from.byte) + i) & 3) & 0xff, s.with_fraction);
  };
  const int in_a = selector(s.a_scales.lane) & 1, in_b = selector(s.b_scales.lane) & 3;
  for (int i = 0; i < kRows; ++i) read(s.a_scales, i % 8 * 4 + 2 * in_a + i / 8, scales.a[i]);
  for (int j = 0; j < kColumns; ++j) read(s.b_scales, j * 4 + in_b, scales.b[j]);
}

void add_to_half(Word32& pair, int half, int number) {
  const int shift = 16 * half;
  const Word32 sum = ((pair >> shift) + static_cast<Word32>(number)) & 0xffffu;
  pair = (pair & ~(0xffffu << shift)) | sum << shift;
}

// Scales the rows of A or the columns of B, and their exponents: `each_exponent` gives the places of one.
template <class EachExponent>
void scale_lines(const MatrixSite& s, Factor& f, int lines, const ProductScale (*scales)[kMostScales],
                 EachExponent each_exponent) {
  Range range{1000, kNone};
  for (int line = 0; line < lines; ++line)
    for (int i = 0; i < s.scales; ++i) {
      const ProductScale& scale = scales[line][i];
      if (scale.exponent > kNone) range.least = std::min(range.least, scale.exponent);
      range.most = std::max(range.most, scale.exponent);
      const auto value = static_cast<float>(scale.value);
      for (int k = i * s.k / s.scales; k < (i + 1) * s.k / s.scales; ++k) {
        f.value[k * lines + line] *= value;
        each_exponent(k, line, [&](int pair, int half) { add_to_half(f.exponents[pair], half, scale.exponent); });
      }
    }
  if (range.most == kNone || f.range.most == kNone) return; // all are 0
  f.range.least += range.least;
  f.range.most += range.most;
  if (range.most >= kAbove) f.range.most = kAbove;
}

void apply(Product& p, Scales& scales) {
  const MatrixSite& s = p.site;
  std::memcpy(scales.plain_a, p.a.value, static_cast<std::size_t>(s.k * s.m) * sizeof(float));
  std::memcpy(scales.plain_b, p.b.value, static_cast<std::size_t>(s.k * s.n) * sizeof(float));
  scale_lines(s, p.a, kRows, scales.a, [](int k, int i, auto add) { add(k * 8 + i % 8, i / 8); });
  scale_lines(s, p.b, kColumns, scales.b, [](int k, int j, auto add) {
    add(k * kColumns + j, 0);
    add(k * kColumns + j, 1);
  });
  p.scales = &scales;
}

void multiply(Product& p, Warp* warp) {
  const MatrixSite& s = p.site;
  // Sums of bytes start from 0, and C is added at the end, with the usual rounding (as the assembler expands them for
  // sm_90).
  const std::size_t size = sizeof(float) * static_cast<std::size_t>(p.size());
  float late[kMostSum];
  if (s.late) {
    std::memcpy(late, p.c, size);
    std::memset(p.c, 0, size);
  }
  for (int first = 0; first < s.k; first += s.block) {
    if (first != 0) std::memcpy(p.c, p.d, size);
    p.c_range = find_exponents(p.c, p.size(), p.smallest_sum(), p.c_exponents);
    add_block(p, s.order.data() + first);
  }
  if (s.late)
    for (int i = 0; i < p.size(); ++i) {
      const float x = p.d[i] + late[i];
      p.d[i] = magnitude_of(x) > kInfinity ? std::bit_cast<float>(kNan) : x;
    }
  write_sums(s.d, warp, p.d);
}

[[gnu::noinline]] void multiply_scaled(Product& p, Warp* warp) {
  Scales scales;
  read_scales(p.site, warp, scales);
  apply(p, scales);
  multiply(p, warp);
}

} // namespace

bool multiply_floats(const Op* op, Warp* warp) {
  Product p(*op->matrix);
  read(p, warp);
  if (p.site.scales != 0)
    multiply_scaled(p, warp);
  else
    multiply(p, warp);
  return true;
}

} // namespace warplens::exec::WARPLENS_LEVEL
