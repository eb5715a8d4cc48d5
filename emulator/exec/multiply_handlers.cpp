// mma, mma.sp and wmma.mma (9.7.14.4.5, 9.7.14.5, 9.7.14.6). Compiled once per level.
//
// The manual leaves the order and the rounding of sums of floats open. Here they are an H200's, bit for bit
// (tests/data/hardware/matrix.jsonl): products are exact; those of a block and the accumulator are shifted to the
// largest exponent among them, which for products is the sum of their factors' exponents, cut off 25 bits below it, and
// added exactly; the sum is cut off to single precision, or rounded to the nearest half where the accumulator is one.
// It is never -0. That the products are aligned and cut off is known from Fasi et al., "Numerical behavior of NVIDIA
// tensor cores" (PeerJ Computer Science 7:e330, 2021), and Khattak and Mikaitis, "Accurate models of NVIDIA tensor
// cores" (arXiv:2512.07004, 2025).
#include "emulator/exec/multiply_handlers.hpp"
#include "emulator/exec/lanes.hpp"
#include "emulator/exec/matrix_site.hpp"
#include "emulator/exec/membermasks.hpp"
#include "emulator/isa/semantics/convert_packed.hpp"

#include <cstring>

// Vectors that the processor does not have are passed in memory, which nobody outside this file sees.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace warplens::exec::WARPLENS_LEVEL {

namespace {

using isa::Type;
using isa::WARPLENS_LEVEL::narrowed;
using isa::WARPLENS_LEVEL::Rounding;
using isa::WARPLENS_LEVEL::widened_value;
using Kind = MatrixHandlerKey::Kind;
using Word32 = std::uint32_t;

// Matrices have at most so many elements (m16n8k128 of 4 bits), columns of A, and products in a row.
constexpr int kMost = 2048, kMostColumns = 128;
constexpr int kEight = 8; // columns that are summed at once; every matrix has a multiple

// Eight elements of a row: vectors on every processor.
using Floats = float __attribute__((vector_size(32)));
using Doubles = double __attribute__((vector_size(64)));
using Integers = std::int32_t __attribute__((vector_size(32)));
using LongIntegers = std::int64_t __attribute__((vector_size(64)));

// The registers of a fragment, one after the other.
template <class Element> struct Registers {
  alignas(64) Element elements[kMost];
  Registers(Warp* warp, const Fragment& f) {
    constexpr std::size_t kBytes = 4 * kWarpSize;
    const std::size_t bytes = bits(f.element) == 64 ? 2 * kBytes : kBytes;
    for (int r = 0; r < f.registers; ++r)
      std::memcpy(reinterpret_cast<std::byte*>(elements) + static_cast<std::size_t>(r) * bytes,
                  row<std::byte>(warp, f.row[static_cast<std::size_t>(r)]), bytes);
  }
};

// Writes a matrix to the registers of D.
template <class Element> void write(Warp* warp, const MatrixSite& s, const Element* matrix) {
  alignas(64) Element elements[kMost / 2];
  for (std::size_t i = 0; i < s.d_places.size(); ++i) elements[s.d_places[i]] = matrix[i];
  const std::size_t each = kWarpSize * static_cast<std::size_t>(s.d.lane_elements);
  for (int r = 0; r < s.d.registers; ++r)
    std::memcpy(row<std::byte>(warp, s.d.row[static_cast<std::size_t>(r)]),
                elements + static_cast<std::size_t>(r) * each, each * sizeof(Element));
}
// By row and column of A: the row of B that the element is multiplied with.
struct Partners {
  std::uint16_t rows[kMost];
  Partners(const MatrixSite& s, Warp* warp) {
    const Word32* const metadata = s.sparse ? row<Word32>(warp, s.metadata) : nullptr;
    std::uint16_t* next = rows;
    for (int i = 0; i < s.a.rows; ++i, next += s.a.columns) {
      const int first = i / s.m * s.k;
      if (s.sparse)
        for (int j = 0; j < s.a.columns; ++j) next[j] = static_cast<std::uint16_t>(sparse_column(s, metadata, i, j));
      else
        for (int j = 0; j < s.a.columns; ++j) next[j] = static_cast<std::uint16_t>(first + j);
    }
  }
};

bool is_whole(const Op* op, Warp* warp, Mask mask) {
  if (mask == kFullMask) return true;
  stop_at_incomplete_warp(op, warp);
  return false;
}

// ---- floats

constexpr Word32 kInfinity = 0x7f800000u, kNan = 0x7fffffffu;

Word32 bits_of(float x) { return std::bit_cast<Word32>(x); }

// Elements as single precision, in which all are exact; `smallest` is the least normal number of their type.
float smallest_of(MatrixElement e) {
  return e == MatrixElement::bf16 || e == MatrixElement::tf32 || e == MatrixElement::f32 ? 0x1p-126f : 0x1p-14f;
}
void widen(const MatrixElement element, const void* raw, int count, float* values) {
  const auto* const halves = static_cast<const std::uint16_t*>(raw);
  const auto* const bytes = static_cast<const std::uint8_t*>(raw);
  const auto* const words = static_cast<const Word32*>(raw);
  switch (element) {
  case MatrixElement::f16:
    for (int i = 0; i < count; ++i) values[i] = widened_value<Type::f16>(halves[i]);
    break;
  case MatrixElement::bf16:
    for (int i = 0; i < count; ++i) values[i] = widened_value<Type::bf16>(halves[i]);
    break;
  case MatrixElement::e4m3:
    for (int i = 0; i < count; ++i)
      values[i] = widened_value<Type::f16>(isa::WARPLENS_LEVEL::f16_from_narrow<Type::e4m3x2>(bytes[i]));
    break;
  case MatrixElement::e5m2:
    for (int i = 0; i < count; ++i)
      values[i] = widened_value<Type::f16>(isa::WARPLENS_LEVEL::f16_from_narrow<Type::e5m2x2>(bytes[i]));
    break;
  case MatrixElement::tf32:
    for (int i = 0; i < count; ++i) values[i] = std::bit_cast<float>(words[i] & 0xffffe000u);
    break;
  default: std::memcpy(values, raw, static_cast<std::size_t>(count) * sizeof(float));
  }
}
// A matrix of floats. `power` has the powers of two that the significands are multiplied with, 0 for what is 0.
struct Matrix {
  alignas(64) float value[kMost];
  alignas(64) float power[kMost];
  bool special = false;           ///< has an infinity or a NaN, as which 0 stands in `value`
  bool moderate = true;           ///< all powers are between 2^-50 and 2^50
  alignas(64) float whole[kMost]; ///< where it has special ones: all as they are

  void complete(int count, float smallest) {
    Word32 most = 0, least = ~Word32{0}, any = 0;
    for (int i = 0; i < count; ++i) {
      const Word32 magnitude = bits_of(value[i]) & 0x7fffffffu, exponent = magnitude & kInfinity;
      const Word32 up = exponent > bits_of(smallest) ? exponent : bits_of(smallest);
      const Word32 p = magnitude == 0 ? 0 : up;
      power[i] = std::bit_cast<float>(p);
      any |= magnitude >= kInfinity ? 1 : 0;
      most = p > most ? p : most;
      least = p - 1 < least ? p - 1 : least; // 0 does not count
    }
    special = any != 0;
    moderate = most <= bits_of(0x1p50f) && least >= bits_of(0x1p-50f) - 1;
    if (!special) return;
    std::memcpy(whole, value, sizeof(float) * static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i)
      if ((bits_of(value[i]) & 0x7fffffffu) >= kInfinity) value[i] = power[i] = 0;
    moderate = false; // for simplicity
  }
  float at(int i) const { return special ? whole[i] : value[i]; }
};

template <class Element>
void gather(Matrix& m, const Fragment& f, const std::vector<std::uint16_t>& places, Warp* warp) {
  const Registers<Element> raw(warp, f);
  Element elements[kMost];
  const int count = f.size();
  for (int i = 0; i < count; ++i) elements[i] = raw.elements[places[static_cast<std::size_t>(i)]];
  widen(f.element, elements, count, m.value);
}
void gather(Matrix& m, const Fragment& f, const std::vector<std::uint16_t>& places, Warp* warp) {
  switch (bits(f.element)) {
  case 8: return gather<std::uint8_t>(m, f, places, warp);
  case 16: return gather<std::uint16_t>(m, f, places, warp);
  default: return gather<Word32>(m, f, places, warp);
  }
}
// Cuts off, in the processor's way.
struct Truncating {
  static constexpr Rounding rounding = Rounding::zero;
};

// One row of A with eight columns of B, in float or double: in both the products are exact. Powers of float must be
// moderate. c is the accumulator, with its power.
template <class Real> struct Eight;
template <> struct Eight<float> {
  using Vector = Floats;
  static constexpr float kLeast = 0x1p-101f; ///< less than any product
};
template <> struct Eight<double> {
  using Vector = Doubles;
  static constexpr double kLeast = 0x1p-600;
};

template <class Real> typename Eight<Real>::Vector load(const float* from) {
  Floats f;
  std::memcpy(&f, from, sizeof f);
  return __builtin_convertvector(f, typename Eight<Real>::Vector);
}
// The sum, exactly.
template <class Real>
Doubles sum_of_eight(const float* a, const float* a_power, const std::uint16_t* partners, int count, const Matrix& b,
                     int n, int column, const float* c, const float* c_power) {
  using Vector = typename Eight<Real>::Vector;
  constexpr int kFits = 8; // so many products fit into 31 bits
  const Vector least = Vector{} + Eight<Real>::kLeast;
  Vector peak = load<Real>(c_power);
  for (int i = 0; i < count; ++i) {
    const Vector power = load<Real>(b.power + partners[i] * n + column) * static_cast<Real>(a_power[i]);
    peak = power > peak ? power : peak;
  }
  const auto alone = peak < least; // of float: there is no product but 0
  peak = alone ? least : peak;
  const Vector scale = static_cast<Real>(0x1p25) / peak;
  Doubles total{};
  for (int first = 0; first < count; first += kFits) {
    Integers sum{};
    for (int i = first; i < count && i < first + kFits; ++i)
      sum += __builtin_convertvector(load<Real>(b.value + partners[i] * n + column) * static_cast<Real>(a[i]) * scale,
                                     Integers);
    total += __builtin_convertvector(sum, Doubles);
  }
  total += __builtin_convertvector(__builtin_convertvector(load<Real>(c) * scale, Integers), Doubles);
  total *= __builtin_convertvector(peak, Doubles) * 0x1p-25;
  if constexpr (sizeof(Real) == sizeof(float)) {
    const auto wide = __builtin_convertvector(alone, LongIntegers);
    total = wide ? load<double>(c) : total;
  }
  return total;
}
// Cut off to single precision; beyond its range lies infinity.
Floats cut_off(const Doubles& x) {
  const Doubles infinity = Doubles{} + __builtin_inf(), limit = Doubles{} + 0x1p128;
  const Doubles bounded = x >= limit ? infinity : x <= -limit ? -infinity : x;
  return __builtin_convertvector(bounded, Floats) + Floats{}; // no -0
}
// The registers of C and D: single precision or halves.
struct Accumulator {
  Matrix c;
  alignas(64) float d[kMost / 2];
  bool halves = false; ///< both C and D
};

void take(Accumulator& x, const MatrixSite& s, Warp* warp) {
  gather(x.c, s.c, s.c_places, warp);
  x.halves = s.c.element == MatrixElement::f16 && s.d.element == MatrixElement::f16;
  x.c.complete(s.c.size(), x.halves ? 0x1p-14f : 0x1p-126f);
}
float as_half(double x) {
  const Word32 h = narrowed<Type::f16, Rounding::nearest>(x);
  return widened_value<Type::f16>((h & 0x7fff) == 0 ? 0 : h);
}
// What becomes of infinities and NaNs among the products and the accumulator of one element.
struct Exceptions {
  bool nan = false, up = false, down = false;
  void see(float x) {
    nan = nan || (bits_of(x) & 0x7fffffffu) > kInfinity;
    up = up || bits_of(x) == kInfinity;
    down = down || bits_of(x) == (kInfinity | 0x80000000u);
  }
  float instead_of(float sum) const {
    if (nan || (up && down)) return std::bit_cast<float>(kNan);
    return up ? std::bit_cast<float>(kInfinity) : down ? -std::bit_cast<float>(kInfinity) : sum;
  }
};

// One row of a block: products of a row of A with rows of B.
struct RowOfBlock {
  float value[kMostColumns], power[kMostColumns];
  std::uint16_t partners[kMostColumns];
  RowOfBlock(const float* values, const float* powers, const std::uint16_t* all, const int* chosen, int count) {
    for (int j = 0; j < count; ++j) {
      value[j] = values[chosen[j]];
      power[j] = powers[chosen[j]];
      partners[j] = all[chosen[j]];
    }
  }
};

// D = A B + C for the chosen columns of A, where infinities and NaNs are taken for 0.
template <class Real>
void add_finite(const MatrixSite& s, const Matrix& a, const Matrix& b, const Partners& partners, const Matrix& c,
                const int* chosen, int count, bool halves, float* d) {
  alignas(64) double exact[kMost / 2];
  {
    const RoundingScope<Truncating> scope;
    for (int i = 0; i < s.a.rows; ++i) {
      const int first = i * s.a.columns;
      const RowOfBlock r(a.value + first, a.power + first, partners.rows + first, chosen, count);
      for (int at = i * s.n, n = 0; n < s.n; n += kEight, at += kEight) {
        const Doubles sum =
            sum_of_eight<Real>(r.value, r.power, r.partners, count, b, s.n, n, c.value + at, c.power + at);
        const Floats cut = cut_off(sum);
        std::memcpy(exact + at, &sum, sizeof sum);
        std::memcpy(d + at, &cut, sizeof cut);
      }
    }
  }
  if (halves)
    for (int i = 0; i < s.d.size(); ++i) d[i] = as_half(exact[i]);
}
// Puts the infinities and NaNs in.
void add_exceptions(const MatrixSite& s, const Matrix& a, const Matrix& b, const Partners& partners, const Matrix& c,
                    const int* chosen, int count, float* d) {
  for (int i = 0; i < s.a.rows; ++i)
    for (int n = 0; n < s.n; ++n) {
      Exceptions e;
      e.see(c.at(i * s.n + n));
      for (int j = 0; j < count; ++j) {
        const int at = i * s.a.columns + chosen[j];
        const float x = a.at(at), y = b.at(partners.rows[at] * s.n + n);
        if ((bits_of(x) & 0x7fffffffu) >= kInfinity || (bits_of(y) & 0x7fffffffu) >= kInfinity) e.see(x * y);
      }
      d[i * s.n + n] = e.instead_of(d[i * s.n + n]);
    }
}
void add_block(const MatrixSite& s, const Matrix& a, const Matrix& b, const Partners& partners, const Matrix& c,
               const int* chosen, int count, bool halves, float* d) {
  if (a.moderate && b.moderate)
    add_finite<float>(s, a, b, partners, c, chosen, count, halves, d);
  else
    add_finite<double>(s, a, b, partners, c, chosen, count, halves, d);
  if (a.special || b.special || c.special) add_exceptions(s, a, b, partners, c, chosen, count, d);
}
void write_floats(Warp* warp, const MatrixSite& s, const float* d) {
  if (s.d.element == MatrixElement::f16) {
    std::uint16_t halves[kMost / 2];
    for (int i = 0; i < s.d.size(); ++i)
      halves[i] = static_cast<std::uint16_t>(narrowed<Type::f16, Rounding::nearest>(d[i]));
    return write(warp, s, halves);
  }
  Word32 words[kMost / 2];
  for (int i = 0; i < s.d.size(); ++i) words[i] = (bits_of(d[i]) & 0x7fffffffu) > kInfinity ? kNan : bits_of(d[i]);
  write(warp, s, words);
}
// Bytes are multiplied as halves, in two steps that start from 0: of four in a row the first two, then the others; C is
// added in the end, with the usual rounding (so the assembler expands it for sm_90).
void multiply_narrow(const MatrixSite& s, const Matrix& a, const Matrix& b, const Partners& partners, Accumulator& x) {
  Matrix sum;
  std::memset(sum.value, 0, sizeof(float) * static_cast<std::size_t>(s.d.size()));
  for (const int part : {0, 2}) {
    sum.complete(s.d.size(), x.halves ? 0x1p-14f : 0x1p-126f);
    int chosen[kMostColumns], count = 0;
    for (int j = 0; j < s.a.columns; ++j)
      if ((j & 2) == part) chosen[count++] = j;
    add_block(s, a, b, partners, sum, chosen, count, x.halves, x.d);
    std::memcpy(sum.value, x.d, sizeof(float) * static_cast<std::size_t>(s.d.size()));
  }
  for (int i = 0; i < s.d.size(); ++i) x.d[i] += x.c.at(i);
}
const Op* multiply_floats(const Op* op, Warp* warp) {
  const Mask mask = acting(op, warp);
  if (mask == 0) return op + 1;
  if (!is_whole(op, warp, mask)) return nullptr;
  const MatrixSite& s = *op->matrix;
  Matrix a, b;
  Accumulator x;
  const Partners partners(s, warp);
  gather(a, s.a, s.a_places, warp);
  gather(b, s.b, s.b_places, warp);
  a.complete(s.a.size(), smallest_of(s.a.element));
  b.complete(s.b.size(), smallest_of(s.b.element));
  take(x, s, warp);
  if (bits(s.a.element) == 8) {
    multiply_narrow(s, a, b, partners, x);
  } else {
    int chosen[kMostColumns];
    for (int first = 0; first < s.a.columns; first += s.block) {
      if (first != 0) {
        std::memcpy(x.c.value, x.d, sizeof(float) * static_cast<std::size_t>(s.d.size()));
        x.c.complete(s.d.size(), x.halves ? 0x1p-14f : 0x1p-126f);
      }
      for (int j = 0; j < s.block; ++j) chosen[j] = first + j;
      add_block(s, a, b, partners, x.c, chosen, s.block, x.halves, x.d);
    }
  }
  write_floats(warp, s, x.d);
  return op + 1;
}
// m8n8k4 of halves, which sm_90 does without tensor cores: products are added one after the other, then C.
const Op* multiply_chained(const Op* op, Warp* warp) {
  const Mask mask = acting(op, warp);
  if (mask == 0) return op + 1;
  if (!is_whole(op, warp, mask)) return nullptr;
  const MatrixSite& s = *op->matrix;
  Matrix a, b, c;
  gather(a, s.a, s.a_places, warp);
  gather(b, s.b, s.b_places, warp);
  gather(c, s.c, s.c_places, warp);
  float d[kMost / 2];
  for (int i = 0; i < s.a.rows; ++i)
    for (int n = 0; n < s.n; ++n) {
      float sum = 0;
      for (int j = 0; j < s.k; ++j)
        sum = __builtin_fmaf(a.value[i * s.k + j], b.value[(i / s.m * s.k + j) * s.n + n], sum);
      d[i * s.n + n] = sum + c.value[i * s.n + n];
    }
  write_floats(warp, s, d);
  return op + 1;
}

// ---- f64: fused multiply-adds, one after the other

template <Rounding r> struct Rounded { static constexpr Rounding rounding = r; };

template <Rounding rounding> const Op* multiply_doubles(const Op* op, Warp* warp) {
  const Mask mask = acting(op, warp);
  if (mask == 0) return op + 1;
  if (!is_whole(op, warp, mask)) return nullptr;
  const MatrixSite& s = *op->matrix;
  const Registers<double> a(warp, s.a), b(warp, s.b), c(warp, s.c);
  alignas(64) double sums[kMost / 2];
  for (std::size_t i = 0; i < s.c_places.size(); ++i) sums[i] = c.elements[s.c_places[i]];
  {
    const RoundingScope<Rounded<rounding>> scope;
    for (int i = 0; i < s.m; ++i)
      for (int j = 0; j < s.k; ++j) {
        const double factor = a.elements[s.a_places[static_cast<std::size_t>(i * s.k + j)]];
        for (int n = 0; n < s.n; ++n)
          sums[i * s.n + n] =
              __builtin_fma(factor, b.elements[s.b_places[static_cast<std::size_t>(j * s.n + n)]], sums[i * s.n + n]);
      }
  }
  write(warp, s, sums);
  return op + 1;
}

// ---- integers

// Elements of 4 or 8 bits, in the order of the matrix.
template <class Value> void expand(const std::vector<std::uint16_t>& places, std::int32_t* values, Value value) {
  for (std::size_t i = 0; i < places.size(); ++i) values[i] = value(places[i]);
}
void expand(const Fragment& f, const std::vector<std::uint16_t>& places, Warp* warp, std::int32_t* values) {
  const Registers<std::uint8_t> raw(warp, f);
  const std::uint8_t* const e = raw.elements;
  switch (f.element) {
  case MatrixElement::s8: return expand(places, values, [&](int at) { return static_cast<std::int8_t>(e[at]); });
  case MatrixElement::u8: return expand(places, values, [&](int at) { return e[at]; });
  case MatrixElement::u4: return expand(places, values, [&](int at) { return e[at / 2] >> at % 2 * 4 & 15; });
  default:
    return expand(places, values, [&](int at) { return static_cast<std::int8_t>(e[at / 2] >> at % 2 * 4 << 4) >> 4; });
  }
}
// D = C + sum, kept to 32 bits.
void write_sums(Warp* warp, const MatrixSite& s, const std::int32_t* sums) {
  const Registers<std::int32_t> c(warp, s.c);
  std::int32_t d[kMost / 2];
  for (std::size_t i = 0; i < s.c_places.size(); ++i) {
    const std::int64_t sum = std::int64_t{c.elements[s.c_places[i]]} + sums[i];
    const std::int64_t most = 0x7fffffff, least = -most - 1;
    d[i] = static_cast<std::int32_t>(!s.saturate ? sum : sum > most ? most : sum < least ? least : sum);
  }
  write(warp, s, d);
}
const Op* multiply_integers(const Op* op, Warp* warp) {
  const Mask mask = acting(op, warp);
  if (mask == 0) return op + 1;
  if (!is_whole(op, warp, mask)) return nullptr;
  const MatrixSite& s = *op->matrix;
  alignas(64) std::int32_t a[kMost], b[kMost], sums[kMost / 2];
  const Partners partners(s, warp);
  expand(s.a, s.a_places, warp, a);
  expand(s.b, s.b_places, warp, b);
  for (int i = 0; i < s.a.rows; ++i)
    for (int n = 0; n < s.n; n += kEight) {
      Integers sum{};
      for (int j = 0; j < s.a.columns; ++j) {
        Integers others;
        std::memcpy(&others, b + partners.rows[i * s.a.columns + j] * s.n + n, sizeof others);
        sum += others * a[i * s.a.columns + j];
      }
      std::memcpy(sums + i * s.n + n, &sum, sizeof sum);
    }
  write_sums(warp, s, sums);
  return op + 1;
}
const Op* multiply_bits(const Op* op, Warp* warp) {
  const Mask mask = acting(op, warp);
  if (mask == 0) return op + 1;
  if (!is_whole(op, warp, mask)) return nullptr;
  const MatrixSite& s = *op->matrix;
  const Registers<Word32> a(warp, s.a), b(warp, s.b);
  std::int32_t sums[kMost / 2]{};
  for (int i = 0; i < s.m; ++i)
    for (int j = 0; j < s.k; ++j) {
      const Word32 word = a.elements[s.a_places[static_cast<std::size_t>(i * s.k + j)]];
      for (int n = 0; n < s.n; ++n) {
        const Word32 other = b.elements[s.b_places[static_cast<std::size_t>(j * s.n + n)]];
        sums[i * s.n + n] += __builtin_popcount(s.conjunction ? word & other : word ^ other);
      }
    }
  write_sums(warp, s, sums);
  return op + 1;
}

} // namespace

Handler multiply_handler(Kind kind) {
  switch (kind) {
  case Kind::multiply_floats: return multiply_floats;
  case Kind::multiply_chained: return multiply_chained;
  case Kind::multiply_doubles: return multiply_doubles<Rounding::nearest>;
  case Kind::multiply_doubles_zero: return multiply_doubles<Rounding::zero>;
  case Kind::multiply_doubles_down: return multiply_doubles<Rounding::down>;
  case Kind::multiply_doubles_up: return multiply_doubles<Rounding::up>;
  case Kind::multiply_integers: return multiply_integers;
  case Kind::multiply_bits: return multiply_bits;
  default: return nullptr;
  }
}

} // namespace warplens::exec::WARPLENS_LEVEL
