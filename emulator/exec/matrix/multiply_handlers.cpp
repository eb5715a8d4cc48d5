// SPDX-License-Identifier: Apache-2.0
// mma and wmma.mma of whole numbers, bits and double precision (9.7.14.4.5, 9.7.14.5, 9.7.14.6); multiply_floats.cpp
// and multiply_quads.cpp have the other floats. Compiled once per level.
#include "emulator/exec/matrix/multiply_handlers.hpp"
#include "emulator/exec/lanes/lanes.hpp"
#include "emulator/exec/matrix/matrix_tiles.hpp"

#include "emulator/isa/semantics/formats.hpp"

#include <cstring>

namespace warplens::exec::WARPLENS_LEVEL {

namespace {

using isa::WARPLENS_LEVEL::Rounding;
using Kind = MatrixHandler;

// ---- f64: fused multiply-adds, one after the other

constexpr int kMostDoubles = 256; // 16 x 16

using FourDoubles = double __attribute__((vector_size(32)));

// Four rows of four doubles, `stride` apart, become columns that are `pitch` apart.
void transpose_four(const double* from, int stride, double* to, int pitch) {
  const auto a = load<FourDoubles>(from), b = load<FourDoubles>(from + stride),
             c = load<FourDoubles>(from + 2 * stride), d = load<FourDoubles>(from + 3 * stride);
  const FourDoubles e = __builtin_shufflevector(a, b, 0, 4, 2, 6), f = __builtin_shufflevector(a, b, 1, 5, 3, 7),
                    g = __builtin_shufflevector(c, d, 0, 4, 2, 6), h = __builtin_shufflevector(c, d, 1, 5, 3, 7);
  store(to, __builtin_shufflevector(e, g, 0, 1, 4, 5));
  store(to + pitch, __builtin_shufflevector(f, h, 0, 1, 4, 5));
  store(to + 2 * pitch, __builtin_shufflevector(e, g, 2, 3, 6, 7));
  store(to + 3 * pitch, __builtin_shufflevector(f, h, 2, 3, 6, 7));
}
// The columns of a fragment, one after the other; those of a register are `step` apart.
void read_doubles(const Fragment& f, int step, Warp* warp, double* columns) {
  for (std::size_t r = 0; r < static_cast<std::size_t>(f.registers); ++r) {
    const double* const from = row<double>(warp, f.row[r]);
    double* const to = columns + f.corner[r].column * f.rows + f.corner[r].row;
    for (int half = 0; half < 8; half += 4) transpose_four(from + 4 * half, 4, to + half, step * f.rows);
  }
}
void write_doubles(const Fragment& f, int step, Warp* warp, const double* columns) {
  for (std::size_t r = 0; r < static_cast<std::size_t>(f.registers); ++r) {
    double* const to = row<double>(warp, f.row[r]);
    const double* const from = columns + f.corner[r].column * f.rows + f.corner[r].row;
    for (int half = 0; half < 8; half += 4) transpose_four(from + half, step * f.rows, to + 4 * half, 4);
  }
}
// As many rows as the processor multiplies at once. (GCC 12 would make a loop over them scalar.)
#if defined(__AVX512F__)
constexpr int kWide = 8;
#else
constexpr int kWide = 4;
#endif
using Doubles = double __attribute__((vector_size(8 * kWide)));

Doubles fused(Doubles a, double b, Doubles c) {
#if defined(__AVX512F__)
  return _mm512_fmadd_pd(a, _mm512_set1_pd(b), c);
#elif defined(__FMA__)
  return _mm256_fmadd_pd(a, _mm256_set1_pd(b), c);
#else
  for (int i = 0; i < kWide; ++i) c[i] = __builtin_fma(a[i], b, c[i]);
  return c;
#endif
}

// One column. Which NaN a result is takes time to find out, and is asked only where there is one.
void add_column_with_nans(const MatrixSite& s, const double* a, const double* b, double* sum) {
  for (int k = 0; k < s.k; ++k)
    for (int i = 0; i < s.m; ++i) {
      const double x = a[k * s.m + i], y = b[k * s.n];
      sum[i] = isa::WARPLENS_LEVEL::with_nan(__builtin_fma(x, y, sum[i]), y, sum[i], x);
    }
}
template <int rows>
void add_doubles(const MatrixSite& s, const double* a, const double* b, const double* c, double* d) {
  constexpr int kParts = rows / kWide;
  using Truths = std::int64_t __attribute__((vector_size(8 * kWide)));
  Truths nans{};
  for (int j = 0; j < s.n; ++j) {
    Doubles sum[kParts];
    for (int part = 0; part < kParts; ++part) sum[part] = load<Doubles>(c + j * rows + part * kWide);
    for (int k = 0; k < s.k; ++k)
      for (int part = 0; part < kParts; ++part)
        sum[part] = fused(load<Doubles>(a + k * rows + part * kWide), b[k * s.n + j], sum[part]);
    for (int part = 0; part < kParts; ++part) {
      nans |= sum[part] != sum[part];
      store(d + j * rows + part * kWide, sum[part]);
    }
  }
  std::int64_t any = 0;
  for (int i = 0; i < kWide; ++i) any |= nans[i];
  if (any == 0) [[likely]]
    return;
  std::memcpy(d, c, sizeof *d * static_cast<std::size_t>(rows * s.n));
  for (int j = 0; j < s.n; ++j) add_column_with_nans(s, a, b + j, d + j * rows);
}

template <Rounding r> struct RoundedTo { static constexpr Rounding rounding = r; };

template <Rounding rounding> bool multiply_doubles(const Op* op, Warp* warp) {
  const MatrixSite& s = *op->matrix;
  alignas(64) double a[kMostDoubles], b[kMostDoubles], c[kMostDoubles], d[kMostDoubles];
  read_doubles(s.a, 1, warp, a);
  read_doubles(s.b, 1, warp, b);
  read_doubles(s.c, 2, warp, c);
  {
    [[maybe_unused]] const RoundingScope<RoundedTo<rounding>> scope;
    s.m == 8 ? add_doubles<8>(s, a, b, c, d) : add_doubles<16>(s, a, b, c, d);
  }
  write_doubles(s.d, 2, warp, d);
  return true;
}

// ---- integers

// D = C + sum, kept to 32 bits.
void add_to_sums(const MatrixSite& s, Warp* warp, const std::int32_t* products) {
  alignas(64) std::int32_t c[kMostSum];
  read_sums(s.c, warp, c);
  for (int i = 0; i < s.m * s.n; ++i) {
    const auto sum = static_cast<std::int32_t>(static_cast<Word32>(c[i]) + static_cast<Word32>(products[i]));
    const bool beyond = ((c[i] ^ sum) & (products[i] ^ sum)) < 0;
    c[i] = s.saturate && beyond ? (c[i] < 0 ? -0x7fffffff - 1 : 0x7fffffff) : sum;
  }
  write_sums(s.d, warp, c);
}

// Eight rows and columns of the product. All sums are less than 2^24 and therefore exact in single precision.
void add_products(const MatrixSite& s, const float* a, const float* b, int row, int column, std::int32_t* products) {
  using Floats = float __attribute__((vector_size(32)));
  using Integers = std::int32_t __attribute__((vector_size(32)));
  constexpr int kColumns = 8;
  Floats sum[kColumns]{};
  for (int k = 0; k < s.k; ++k) {
    const auto factor = load<Floats>(a + k * s.m + row);
    for (int j = 0; j < kColumns; ++j) sum[j] += factor * b[k * s.n + column + j];
  }
  for (int j = 0; j < kColumns; ++j)
    store(products + (column + j) * s.m + row, __builtin_convertvector(sum[j], Integers));
}
bool multiply_integers(const Op* op, Warp* warp) {
  const MatrixSite& s = *op->matrix;
  alignas(64) float a[kMostFactor], b[kMostFactor];
  alignas(64) std::int32_t products[kMostSum];
  Word32 present[kMostDepth];
  if (s.sparse)
    read_sparse(s, warp, a, present);
  else
    read_columns(s.a, warp, a);
  read_columns(s.b, warp, b);
  for (int row = 0; row < s.m; row += 8)
    for (int column = 0; column < s.n; column += 8) add_products(s, a, b, row, column, products);
  add_to_sums(s, warp, products);
  return true;
}
bool multiply_bits(const Op* op, Warp* warp) {
  const MatrixSite& s = *op->matrix;
  alignas(64) float a[kMostSum], b[kMostSum]; // words of bits
  std::int32_t products[kMostSum];
  read_rows(s.a, warp, a);
  read_rows(s.b, warp, b);
  const auto two_words = [&](const float* rows, int at) {
    std::uint64_t words;
    std::memcpy(&words, rows + at, sizeof words);
    return words;
  };
  for (int j = 0; j < s.n; ++j)
    for (int i = 0; i < s.m; ++i) {
      int sum = 0;
      for (int k = 0; k < s.k; k += 2) {
        const std::uint64_t x = two_words(a, i * s.k + k), y = two_words(b, j * s.k + k);
        sum += __builtin_popcountll(s.conjunction ? x & y : x ^ y);
      }
      products[j * s.m + i] = sum;
    }
  add_to_sums(s, warp, products);
  return true;
}

} // namespace

Handler multiply_handler(Kind kind) {
  switch (kind) {
  case Kind::multiply_floats: return by_whole_warp<multiply_floats>;
  case Kind::multiply_chained: return by_whole_warp<multiply_quads>;
  case Kind::multiply_doubles: return by_whole_warp<multiply_doubles<Rounding::nearest>>;
  case Kind::multiply_doubles_zero: return by_whole_warp<multiply_doubles<Rounding::zero>>;
  case Kind::multiply_doubles_down: return by_whole_warp<multiply_doubles<Rounding::down>>;
  case Kind::multiply_doubles_up: return by_whole_warp<multiply_doubles<Rounding::up>>;
  case Kind::multiply_integers: return by_whole_warp<multiply_integers>;
  case Kind::multiply_bits: return by_whole_warp<multiply_bits>;
  default: return nullptr;
  }
}

} // namespace warplens::exec::WARPLENS_LEVEL
