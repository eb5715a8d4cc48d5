// SPDX-License-Identifier: Apache-2.0
// mma, mma.sp and wmma.mma of floats with 16 rows and without scales. The rule is that of multiply_floats.cpp, which
// has the other shapes; D is computed as it lies in the registers of a warp, as in group_products.hpp. Compiled once
// per level.
#include "emulator/exec/matrix/group_products.hpp"
#include "emulator/exec/matrix/multiply_handlers.hpp"

#include <limits>

namespace warplens::exec::WARPLENS_LEVEL {

namespace {

constexpr int kMostBlocks = 2; ///< of eight columns

// ---- factors, whose products are in the order in which they are summed

// The rows of a fragment, eight at a time. `place`: of each of its columns in the tile, which has `k`.
void read_tile(const Fragment& f, Warp* warp, const std::uint8_t* place, int k, float* tile) {
  alignas(64) float values[8 * kWarpSize];
  const int in_row = 4 * f.lane_elements; // of a register
  for (std::size_t r = 0; r < static_cast<std::size_t>(f.registers); ++r) {
    widen_register(f.element, row<std::byte>(warp, f.row[r]), values);
    float* const to = tile + f.corner[r].row * k;
    const std::uint8_t* const at = place + f.corner[r].column;
    for (int c = 0; c < in_row; c += 4) {
      const FourColumns v = four_columns_of(values + c, in_row);
      store(to + at[c] * kBlock, v.a);
      store(to + at[c + 1] * kBlock, v.b);
      store(to + at[c + 2] * kBlock, v.c);
      store(to + at[c + 3] * kBlock, v.d);
    }
  }
}

constexpr std::uint8_t kInOrder[kMostGroupDepth / 2] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                                        16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};

// Of eight rows, whose metadata are in every fourth lane (sparse_groups() in matrix_site.cpp): which elements of a
// group there are.
struct Metadata {
  alignas(32) Word32 of_rows[4][kBlock];
  Metadata(const MatrixSite& s, Warp* warp) { columns_of(row<Word32>(warp, s.metadata), 4, of_rows, kBlock); }
  [[nodiscard]] Eight of(SparseGroup first) const { return load<Eight>(of_rows[first.lane]) >> first.shift; }
};

// The columns of a sparse A, with 0 for elements that are not stored.
void spread(const MatrixSite& s, const Metadata& metadata, const float* kept, float* tile) {
  const bool pairs = bits(s.a.element) == 32; // of two elements one, else of four two
  const int in_group = pairs ? 2 : 4, groups = s.k / in_group;
  for (int half = 0; half < 2; ++half, kept += s.k / 2 * kBlock, tile += s.k * kBlock)
    for (int group = 0; group < groups; ++group) {
      const Eight which = metadata.of(s.groups[static_cast<std::size_t>(half * kBlock * groups + group)]);
      const std::uint8_t* const place = s.place.data() + group * in_group;
      if (pairs) {
        const auto element = load<Eight>(kept + group * kBlock);
        const auto second = reinterpret_cast<Eight>((which & 2) != 0);
        store(tile + place[0] * kBlock, element & ~second);
        store(tile + place[1] * kBlock, element & second);
        continue;
      }
      const Eight at[2] = {which & 3, which >> 2 & 3};
      const auto first = load<Eight>(kept + 2 * group * kBlock), second = load<Eight>(kept + (2 * group + 1) * kBlock);
      for (Word32 i = 0; i < 4; ++i) {
        const auto is_second = reinterpret_cast<Eight>(at[1] == i), is_first = reinterpret_cast<Eight>(at[0] == i);
        store(tile + place[i] * kBlock, (second & is_second) | (first & is_first & ~is_second));
      }
    }
}

// Which rows a column of a sparse A has, by its place.
void find_present(const MatrixSite& s, Warp* warp, Word32* present) {
  std::memset(present, 0, sizeof *present * static_cast<std::size_t>(s.k));
  const Word32* const metadata = row<Word32>(warp, s.metadata);
  const bool pairs = bits(s.a.element) == 32;
  const int in_group = pairs ? 2 : 4;
  const SparseGroup* group = s.groups.data();
  for (int i = 0; i < kRowsOfWarp; ++i)
    for (int first = 0; first < s.k; first += in_group, ++group) {
      const Word32 which = metadata[group->lane] >> group->shift;
      for (int e = 0; e < in_group / 2; ++e) {
        const Word32 to = pairs ? (which & 3) / 2 : which >> 2 * e & 3;
        present[s.place[static_cast<std::size_t>(first) + to]] |= 1u << i;
      }
    }
}

void read_a(const MatrixSite& s, Warp* warp, float* tile) {
  if (!s.sparse) return read_tile(s.a, warp, s.place.data(), s.k, tile);
  alignas(64) float kept[kRowsOfWarp * kMostGroupDepth / 2];
  read_tile(s.a, warp, kInOrder, s.k / 2, kept);
  spread(s, Metadata(s, warp), kept, tile);
}

// ---- accumulators: of single precision, four registers are a block of eight columns; of halves, two are

// Halves of two columns in turn become two rows of singles, and back.
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

void read_sums(const Fragment& c, Warp* warp, std::size_t block, Sums& sums) {
  for (std::size_t half = 0; half < 2; ++half) {
    for (std::size_t odd = 0; odd < 2; ++odd)
      sums.at[odd][half] = c.element == MatrixElement::f16 ? sums.room[odd] + half * kWarpSize
                                                           : row<float>(warp, c.row[4 * block + 2 * half + odd]);
    if (c.element != MatrixElement::f16) continue;
    split_halves(row<Word32>(warp, c.row[2 * block + half]), sums.at[0][half], sums.at[1][half]);
  }
}

// `positive`: halves are never -0.
void write_sums(const Fragment& d, Warp* warp, std::size_t block, bool positive, const float (*values)[kLanes]) {
  for (std::size_t half = 0; half < 2; ++half) {
    const std::size_t at = half * kWarpSize;
    if (d.element != MatrixElement::f16) {
      for (std::size_t odd = 0; odd < 2; ++odd)
        std::memcpy(row<float>(warp, d.row[4 * block + 2 * half + odd]), values[odd] + at, kWarpSize * sizeof(float));
      continue;
    }
    auto* const halves = row<std::uint16_t>(warp, d.row[2 * block + half]);
    join_halves(values[0] + at, values[1] + at, halves);
    for (int i = 0; i < 2 * kWarpSize && positive; ++i)
      halves[i] = (halves[i] & 0x7fff) == 0 ? std::uint16_t{0} : halves[i];
  }
}

void round_to_halves(float (*values)[kLanes]) {
  std::uint16_t halves[kLanes];
  for (int odd = 0; odd < 2; ++odd) {
    narrow_to_halves(values[odd], kLanes, halves);
    widen_halves(halves, kLanes, values[odd]);
    for (int i = 0; i < kLanes; i += kWide) store(values[odd] + i, load<Floats>(values[odd] + i) + Floats{}); // no -0
  }
}

// The usual rounding; every NaN is the same.
void add_late(const Sums& c, float (*values)[kLanes]) {
  const Floats nan = Floats{} + std::bit_cast<float>(kNan);
  for (int odd = 0; odd < 2; ++odd)
    for (int i = 0; i < kLanes; i += kWide) {
      const Floats x = load<Floats>(values[odd] + i) + load<Floats>(c.at[odd][i / kWarpSize] + i % kWarpSize);
      store(values[odd] + i, x != x ? nan : x);
    }
}

// ---- exponents, as powers of two, whose products are exact

struct Tile { // of 16 rows of A, or of columns of B of which the even ones of each eight come first
  alignas(64) float values[kRowsOfWarp * kMostGroupDepth];
  alignas(64) float powers[kRowsOfWarp * kMostGroupDepth];
  int size = 0;

  /// Of numbers. 0 has 0, infinities and NaNs have infinity.
  void find_powers(int smallest) {
    const Words least = Words{} + (static_cast<Word32>(smallest) << 23);
    for (int i = 0; i < size; i += kWide) {
      const Words magnitude = load<Words>(values + i) & 0x7fffffffu, exponent = magnitude & kExponent;
      const auto present = reinterpret_cast<Words>(magnitude != 0);
      store(powers + i, (exponent > least ? exponent : least) & present);
    }
  }
  /// The least power of a number other than 0.
  [[nodiscard]] float least_power() const {
    float least = std::numeric_limits<float>::infinity();
    for (int i = 0; i < size; ++i) least = powers[i] != 0 && powers[i] < least ? powers[i] : least;
    return least;
  }
};

Floats vector_of(const Sums& c, int odd, int v) {
  return load<Floats>(c.at[odd][v * kWide / kWarpSize] + v * kWide % kWarpSize);
}

// What products and accumulators are multiplied with before they are cut off.
struct Scales {
  BlockOfFloats scale;
  Words most{}, least = ~Words{}; ///< peaks of elements, the second of those that are not 0, less 1
  Integers zeros{};               ///< where the peak is 0

  /// `peaks`: of products. The product of an infinity and 0 is a NaN, whose bits are those of a large number.
  template <bool halves> void find(const Words (&peaks)[2][kVectors], const Sums& c) {
    constexpr Word32 kLeast = Word32{1 + kKept} << 23;
    for (int odd = 0; odd < 2; ++odd)
      for (int v = 0; v < kVectors; ++v) {
        auto of_c = as_words(vector_of(c, odd, v)) & 0x7fffffffu;
        if constexpr (halves) { // subnormal ones have the exponent of the least normal number
          const Words smallest = Words{} + (Word32{kBias - 14} << 23);
          of_c = (of_c > smallest ? of_c : smallest) & reinterpret_cast<Words>(of_c != 0);
        }
        const Words peak = peaks[odd][v] > of_c ? peaks[odd][v] : of_c, exponent = peak & kExponent, below = peak - 1;
        most = peak > most ? peak : most;
        least = below < least ? below : least;
        zeros |= reinterpret_cast<Integers>(peak == 0);
        scale[odd][v] = as_floats((Words{} + (Word32{2 * kBias + kKept} << 23)) -
                                  (exponent > kLeast ? exponent : Words{} + kLeast));
      }
  }
  /// Whether sums are exact in 32 bits, and results normal numbers.
  [[nodiscard]] bool ordinary() const {
    constexpr Word32 kLeast = Word32{1 + kKept} << 23;
    return !any_of(reinterpret_cast<Integers>(most >= (Word32{kMost + 1} << 23)) |
                   reinterpret_cast<Integers>(least < kLeast - 1));
  }
};

// ---- the product

struct Depth { // products of an element that are summed at once
  int first, count;
};

class Product {
public:
  Product(const MatrixSite& site, Warp* warp) : s_(site), warp_(warp) {
    const int smallest_a = smallest_of(s_.a.element, s_.late), smallest_b = smallest_of(s_.b.element, s_.late);
    may_vanish_ = smallest_a + smallest_b < kBias;
    a_.size = kRowsOfWarp * s_.k, b_.size = s_.n * s_.k;
    read_a(s_, warp, a_.values);
    read_tile(s_.b, warp, s_.place.data(), s_.k, b_.values);
    for (int i = 0; i < b_.size; i += kBlock) {
      const auto v = load<EightFloats>(b_.values + i);
      store(b_.values + i, __builtin_shufflevector(v, v, 0, 2, 4, 6, 1, 3, 5, 7));
    }
    a_.find_powers(smallest_a);
    b_.find_powers(smallest_b);
    for (int half = 0; half < 2; ++half)
      for (int k = 0; k < s_.k; ++k) {
        const int from = (half * s_.k + k) * kBlock, to = k * kLanes + half * kLanes / 2;
        put_fours(a_.values + from, rows_ + to);
        put_fours(a_.powers + from, powers_ + to);
      }
  }

  /// Eight columns; the products of one step of the rule after those of another. False: some elements are not ordinary,
  /// unless `any_numbers`. Otherwise the rounding mode is that of Truncating.
  template <bool halves, bool any_numbers> bool sum(int block, float (*values)[kLanes]) {
    Sums so_far;
    if (s_.late) {
      std::memset(so_far.room, 0, sizeof so_far.room);
      in_room(so_far);
    } else {
      read_sums(s_.c, warp_, static_cast<std::size_t>(block), so_far);
    }
    for (int first = 0; first < s_.k; first += s_.block) {
      if (first != 0) {
        std::memcpy(so_far.room, values, sizeof so_far.room);
        in_room(so_far);
      }
      const Depth depth{first, s_.block};
      if constexpr (any_numbers)
        add_any<halves>(block, depth, so_far, values);
      else if (!(s_.block > kExact ? add<halves, true>(block, depth, so_far, values)
                                   : add<halves, false>(block, depth, so_far, values)))
        return false;
      if (halves && (s_.late || first + s_.block < s_.k)) round_to_halves(values);
    }
    return true;
  }
  /// Adds C where the rule does so at the end.
  void finish(int block, float (*values)[kLanes]) const {
    if (!s_.late) return;
    Sums c;
    read_sums(s_.c, warp_, static_cast<std::size_t>(block), c);
    add_late(c, values);
  }

private:
  static void in_room(Sums& sums) {
    for (int odd = 0; odd < 2; ++odd)
      for (int half = 0; half < 2; ++half) sums.at[odd][half] = sums.room[odd] + half * kWarpSize;
  }
  [[nodiscard]] int in_b(int block, int k) const { return (block * s_.k + k) * kBlock; }

  // `several`: the sum of all products may exceed 32 bits.
  template <bool halves, bool several> bool add(int block, Depth k, const Sums& c, float (*d)[kLanes]) {
    const float *rows = rows_ + k.first * kLanes, *columns = b_.values + in_b(block, k.first);
    Words peaks[2][kVectors]{};
    for (int i = 0; i < k.count; ++i)
      for (int odd = 0; odd < 2; ++odd) {
        const Floats of_columns = four_columns(b_.powers + in_b(block, k.first + i) + 4 * odd);
        for (int v = 0; v < kVectors; ++v) {
          const Words power = as_words(load<Floats>(powers_ + (k.first + i) * kLanes + v * kWide) * of_columns);
          peaks[odd][v] = power > peaks[odd][v] ? power : peaks[odd][v];
        }
      }
    Scales scales;
    scales.find<halves>(peaks, c);
    if (!scales.ordinary() || (may_vanish_ && any_of(scales.zeros) && vanishes())) return false;

    BlockOfIntegers sum;
    Integers exceeds{};
    sum_products(rows, columns, several ? kExact : k.count, scales.scale, sum);
    for (int i = kExact; several && i < k.count; i += kExact) {
      BlockOfIntegers more;
      sum_products(rows + i * kLanes, columns + i * kBlock, std::min(k.count - i, kExact), scales.scale, more);
      for (int odd = 0; odd < 2; ++odd)
        for (int v = 0; v < kVectors; ++v) exceeds |= add_to(sum[odd][v], more[odd][v]);
    }
    for (int odd = 0; odd < 2; ++odd)
      for (int v = 0; v < kVectors; ++v) {
        const Floats scale = scales.scale[odd][v];
        Integers total = sum[odd][v];
        exceeds |= add_to(total, __builtin_convertvector(vector_of(c, odd, v) * scale, Integers));
        Floats cut = __builtin_convertvector(total, Floats);
        if constexpr (halves) { // to odd
          const Integers inexact = __builtin_convertvector(cut, Integers) != total;
          cut = as_floats(as_words(cut) | reinterpret_cast<Words>(inexact & 1));
        }
        store(d[odd] + v * kWide, cut * as_floats((Words{} + (Word32{2 * kBias} << 23)) - as_words(scale)));
      }
    return !any_of(exceeds < 0);
  }

  // Whether the power of a product may be less than that of any number, which is 0.
  [[nodiscard]] bool vanishes() const { return a_.least_power() * b_.least_power() == 0; }

  // Element by element.
  template <bool halves> void add_any(int block, Depth depth, const Sums& c, float (*d)[kLanes]) const {
    Word32 present[kMostGroupDepth];
    if (s_.sparse) find_present(s_, warp_, present);
    for (int odd = 0; odd < 2; ++odd)
      for (int i = 0; i < kLanes; ++i) {
        ElementSum sum(smallest_of(s_.a.element, s_.late), smallest_of(s_.b.element, s_.late), kKept);
        sum.accumulate(c.at[odd][i / kWarpSize][i % kWarpSize], halves ? kBias - 14 : 1);
        for (int k = depth.first; k < depth.first + depth.count; ++k)
          if (!s_.sparse || (present[k] >> i / 4 & 1) != 0)
            sum.add(rows_[k * kLanes + i], b_.values[in_b(block, k) + 4 * odd + i % 4]);
        d[odd][i] = sum.result(halves);
      }
  }

  const MatrixSite& s_;
  Warp* warp_;
  bool may_vanish_ = false;
  Tile a_, b_;
  alignas(64) float rows_[kMostGroupDepth * kLanes], powers_[kMostGroupDepth * kLanes]; ///< of A: each four times
};

} // namespace

bool multiply_sixteen_rows(const Op* op, Warp* warp) {
  const MatrixSite& s = *op->matrix;
  Product p(s, warp);
  const bool halves = s.c.element == MatrixElement::f16 && s.d.element == MatrixElement::f16;
  const int blocks = s.n / kBlock;
  // D may be in the registers of C.
  alignas(64) float values[kMostBlocks][2][kLanes];
  bool done[kMostBlocks];
  {
    const RoundingScope<Truncating> scope;
    for (int block = 0; block < blocks; ++block)
      done[block] = halves ? p.sum<true, false>(block, values[block]) : p.sum<false, false>(block, values[block]);
  }
  for (int block = 0; block < blocks; ++block) {
    if (!done[block]) halves ? p.sum<true, true>(block, values[block]) : p.sum<false, true>(block, values[block]);
    p.finish(block, values[block]);
  }
  for (int block = 0; block < blocks; ++block)
    write_sums(s.d, warp, static_cast<std::size_t>(block), halves, values[block]);
  return true;
}

} // namespace warplens::exec::WARPLENS_LEVEL
