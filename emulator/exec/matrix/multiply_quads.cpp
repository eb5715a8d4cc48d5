// SPDX-License-Identifier: Apache-2.0
// mma m8n8k4 of halves (9.7.14.5.1), which sm_90 does without tensor cores: products are added one after the other,
// then C. Quad q of the lower half of the warp and the quad 16 lanes later multiply their own matrices, which are rows
// 8 q to 8 q + 7 here. Compiled once per level.
#include "emulator/exec/matrix/matrix_tiles.hpp"
#include "emulator/exec/matrix/multiply_handlers.hpp"

namespace warplens::exec::WARPLENS_LEVEL {

namespace {

constexpr int kQuads = 4, kSize = 8, kDepth = 4, kRows = kQuads * kSize;
constexpr int kRegister = 2 * kWarpSize; ///< halves of a register of all lanes

// Of a row within its matrix, the lane of its quad: rows 4 to 7 are 16 lanes later.
constexpr int lane_of(int quad, int row) { return 4 * quad + row % 4 + row / 4 * 16; }

struct QuadSums {
  alignas(32) float rows[kRows][kSize];
};

void widen(const Fragment& f, Warp* warp, float* values) {
  for (std::size_t r = 0; r < static_cast<std::size_t>(f.registers); ++r)
    widen_register(f.element, row<std::byte>(warp, f.row[r]), values + r * kRegister);
}

// ---- accumulators of halves: a lane has a row, and a register two columns, …

struct FourPairs {
  using Pairs = std::uint64_t __attribute__((vector_size(32)));
  Pairs a, b, c, d;
  [[nodiscard]] FourPairs transposed() const {
    const Pairs e = __builtin_shufflevector(a, b, 0, 4, 2, 6), f = __builtin_shufflevector(a, b, 1, 5, 3, 7),
                g = __builtin_shufflevector(c, d, 0, 4, 2, 6), h = __builtin_shufflevector(c, d, 1, 5, 3, 7);
    return {__builtin_shufflevector(e, g, 0, 1, 4, 5), __builtin_shufflevector(f, h, 0, 1, 4, 5),
            __builtin_shufflevector(e, g, 2, 3, 6, 7), __builtin_shufflevector(f, h, 2, 3, 6, 7)};
  }
  static FourPairs from(const float* first, int stride) {
    return {load<Pairs>(first), load<Pairs>(first + stride), load<Pairs>(first + 2 * stride),
            load<Pairs>(first + 3 * stride)};
  }
  void to(float* first, int stride) const {
    store(first, a);
    store(first + stride, b);
    store(first + 2 * stride, c);
    store(first + 3 * stride, d);
  }
};

void rows_of_halves(const float* values, QuadSums& sums) {
  for (int lane = 0; lane < kWarpSize; lane += 4)
    FourPairs::from(values + 2 * lane, kRegister)
        .transposed()
        .to(sums.rows[lane % 16 / 4 * kSize + lane / 16 * 4], kSize);
}
void halves_of_rows(const QuadSums& sums, float* values) {
  for (int lane = 0; lane < kWarpSize; lane += 4)
    FourPairs::from(sums.rows[lane % 16 / 4 * kSize + lane / 16 * 4], kSize)
        .transposed()
        .to(values + 2 * lane, kRegister);
}

// ---- … and of single precision: bits of a lane add 1, 4 (the fifth) to the row and 2 to the column, those of a
// register 1 to the column, 2 to the row and 4 to the column.

// Two registers of neighbouring columns, of two quads: their rows 0 and 1, four columns each.
struct TwoRows {
  EightFloats first, second;
};
TwoRows rows_of(EightFloats even, EightFloats odd) {
  const EightFloats low = __builtin_shufflevector(even, odd, 0, 8, 1, 9, 4, 12, 5, 13),
                    high = __builtin_shufflevector(even, odd, 2, 10, 3, 11, 6, 14, 7, 15);
  return {__builtin_shufflevector(low, high, 0, 1, 8, 9, 4, 5, 12, 13),
          __builtin_shufflevector(low, high, 2, 3, 10, 11, 6, 7, 14, 15)};
}
// The inverse.
TwoRows registers_of(EightFloats first, EightFloats second) {
  const EightFloats low = __builtin_shufflevector(first, second, 0, 1, 8, 9, 4, 5, 12, 13),
                    high = __builtin_shufflevector(first, second, 2, 3, 10, 11, 6, 7, 14, 15);
  return {__builtin_shufflevector(low, high, 0, 2, 8, 10, 4, 6, 12, 14),
          __builtin_shufflevector(low, high, 1, 3, 9, 11, 5, 7, 13, 15)};
}
EightFloats lower_halves(EightFloats a, EightFloats b) {
  return __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11);
}
EightFloats upper_halves(EightFloats a, EightFloats b) {
  return __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15);
}

// `move`: of eight lanes and every second row, the registers, and the rows of two quads.
template <class Move> void each_eight_lanes(const Fragment& f, Warp* warp, Move move) {
  for (std::size_t pair = 0; pair < 2; ++pair)
    for (int lane = 0; lane < kWarpSize; lane += 8) {
      float* registers[4];
      for (std::size_t i = 0; i < 4; ++i) registers[i] = row<float>(warp, f.row[i % 2 + 2 * pair + i / 2 * 4]) + lane;
      move(registers, lane % 16 / 4 * kSize + lane / 16 * 4 + static_cast<int>(pair) * 2);
    }
}

void read_singles(const Fragment& f, Warp* warp, QuadSums& sums) {
  each_eight_lanes(f, warp, [&](float* const* from, int at) {
    const TwoRows left = rows_of(load<EightFloats>(from[0]), load<EightFloats>(from[1])),
                  right = rows_of(load<EightFloats>(from[2]), load<EightFloats>(from[3]));
    store(sums.rows[at], lower_halves(left.first, right.first));
    store(sums.rows[at + 1], lower_halves(left.second, right.second));
    store(sums.rows[at + kSize], upper_halves(left.first, right.first));
    store(sums.rows[at + kSize + 1], upper_halves(left.second, right.second));
  });
}
void write_singles(const Fragment& f, Warp* warp, const QuadSums& sums) {
  each_eight_lanes(f, warp, [&](float* const* to, int at) {
    const auto line = [&](int i) { return load<EightFloats>(sums.rows[at + i]); };
    const EightFloats first = line(0), second = line(1), third = line(kSize), fourth = line(kSize + 1);
    const TwoRows left = registers_of(lower_halves(first, third), lower_halves(second, fourth)),
                  right = registers_of(upper_halves(first, third), upper_halves(second, fourth));
    store(to[0], left.first);
    store(to[1], left.second);
    store(to[2], right.first);
    store(to[3], right.second);
  });
}

// ---- factors

// Row-major B: a lane has a row, of which a register has two columns; the other four columns are 16 lanes later.
// Otherwise a lane has a column.
void read_b(const Fragment& f, Warp* warp, EightFloats (*b)[kDepth]) {
  alignas(64) float values[2 * kRegister];
  widen(f, warp, values);
  const bool by_rows = f.reg[0].columns != 0;
  for (int q = 0; q < kQuads; ++q)
    for (int r = 0; r < 2 && !by_rows; ++r) {
      const float* const at = values + r * kRegister;
      const auto first = load<EightFloats>(at + 2 * lane_of(q, 0)), second = load<EightFloats>(at + 2 * lane_of(q, 4));
      b[q][2 * r] = __builtin_shufflevector(first, second, 0, 2, 4, 6, 8, 10, 12, 14);
      b[q][2 * r + 1] = __builtin_shufflevector(first, second, 1, 3, 5, 7, 9, 11, 13, 15);
    }
  for (int q = 0; q < kQuads && by_rows; ++q) {
    const auto part = [&](int r, int row) {
      return load<FourPairs::Pairs>(values + r * kRegister + 2 * lane_of(q, row));
    };
    const FourPairs rows = FourPairs{part(0, 0), part(1, 0), part(0, 4), part(1, 4)}.transposed();
    const FourPairs::Pairs all[kDepth] = {rows.a, rows.b, rows.c, rows.d};
    for (int k = 0; k < kDepth; ++k) b[q][k] = reinterpret_cast<EightFloats>(all[k]);
  }
}

EightFloats fused(float a, EightFloats b, EightFloats c) {
#if defined(__FMA__)
  return reinterpret_cast<EightFloats>(
      _mm256_fmadd_ps(_mm256_set1_ps(a), reinterpret_cast<__m256>(b), reinterpret_cast<__m256>(c)));
#else
  EightFloats sum;
  for (int i = 0; i < kSize; ++i) sum[i] = __builtin_fmaf(a, b[i], c[i]);
  return sum;
#endif
}

// Where in its registers the element of A is.
template <bool by_rows> constexpr int place_in_a(int quad, int row, int k) {
  return by_rows ? k / 2 * kRegister + 2 * lane_of(quad, row) + k % 2
                 : row / 2 % 2 * kRegister + 2 * lane_of(quad, row / 4 * 4 + k) + row % 2;
}

template <bool by_rows> void add_products(const float* a, const EightFloats (*b)[kDepth], QuadSums& sums) {
  for (int q = 0; q < kQuads; ++q)
    for (int i = 0; i < kSize; ++i) {
      EightFloats sum{};
      for (int k = 0; k < kDepth; ++k) sum = fused(a[place_in_a<by_rows>(q, i, k)], b[q][k], sum);
      float* const c = sums.rows[q * kSize + i];
      const EightFloats d = sum + load<EightFloats>(c);
      constexpr float kNan = std::bit_cast<float>(0x7fffffffu);
      store(c, d != d ? EightFloats{} + kNan : d);
    }
}

} // namespace

bool multiply_quads(const Op* op, Warp* warp) {
  const MatrixSite& s = *op->matrix;
  alignas(64) float a[2 * kRegister], values[4 * kRegister];
  EightFloats b[kQuads][kDepth];
  QuadSums sums;
  widen(s.a, warp, a);
  read_b(s.b, warp, b);
  if (s.c.element == MatrixElement::f16) {
    widen(s.c, warp, values);
    rows_of_halves(values, sums);
  } else {
    read_singles(s.c, warp, sums);
  }
  s.a.reg[0].columns != 0 ? add_products<true>(a, b, sums) : add_products<false>(a, b, sums);
  if (s.d.element != MatrixElement::f16) {
    write_singles(s.d, warp, sums);
    return true;
  }
  halves_of_rows(sums, values);
  for (std::size_t r = 0; r < static_cast<std::size_t>(s.d.registers); ++r)
    narrow_to_halves(values + r * kRegister, kRegister, row<std::uint16_t>(warp, s.d.row[r]));
  return true;
}

} // namespace warplens::exec::WARPLENS_LEVEL
