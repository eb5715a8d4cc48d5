// SPDX-License-Identifier: Apache-2.0
// mma, mma.sp and wmma.mma of floats with 16 rows and without scales, by the sums of group_products.hpp; the rule is
// that of multiply_floats.cpp, which has the other shapes. Compiled once per level.
#include "emulator/exec/matrix/group_products.hpp"
#include "emulator/exec/matrix/multiply_handlers.hpp"

namespace warplens::exec::WARPLENS_LEVEL {

namespace {

constexpr int kMostBlocks = 2; ///< of eight columns
using EightFloats = float __attribute__((vector_size(32)));

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

// ---- exponents of few products: as powers of two, whose products are exact

// Of numbers. 0 has 0, infinities and NaNs have infinity.
void put_powers(const float* values, int count, int smallest, float* powers) {
  const Words least = Words{} + (static_cast<Word32>(smallest) << 23);
  for (int i = 0; i < count; i += kWide) {
    const Words magnitude = load<Words>(values + i) & 0x7fffffffu, exponent = magnitude & kExponent;
    const auto present = reinterpret_cast<Words>(magnitude != 0);
    store(powers + i, (exponent > least ? exponent : least) & present);
  }
}

struct Powers {
  alignas(64) float a[kMostGroupDepth * kLanes];               ///< as FactorA::rows
  alignas(64) float b[kMostBlocks * kBlock * kMostGroupDepth]; ///< as FactorB::tile
};

// As add_block(). The product of an infinity and 0 is a NaN, whose bits are those of a large number here. `may_vanish`:
// products may have a power less than that of any number, which is 0.
template <bool halves>
bool add_few(const FactorA& a, const FactorB& b, const Powers& powers, bool may_vanish, int block, Depth k,
             const Sums& c, float (*d)[kLanes]) {
  const int in_a = k.first * kLanes, in_b = (block * k.all + k.first) * kBlock;
  Words peaks[2][kVectors]{};
  for (int i = 0; i < k.count; ++i)
    for (int odd = 0; odd < 2; ++odd) {
      const Floats columns = four_columns(powers.b + in_b + i * kBlock + 4 * odd);
      for (int v = 0; v < kVectors; ++v) {
        const Words power = as_words(load<Floats>(powers.a + in_a + i * kLanes + v * kWide) * columns);
        peaks[odd][v] = power > peaks[odd][v] ? power : peaks[odd][v];
      }
    }
  Words beyond{}; // as integers with a sign, they would be small
  for (const auto& of_odd : peaks)
    for (const Words& peak : of_odd) beyond |= peak;
  if (any_of(reinterpret_cast<Integers>(beyond) < 0)) return false;
  BlockOfFloats scale;
  const auto of_products = [&](int odd, int v) { return reinterpret_cast<Integers>(peaks[odd][v]); };
  if (!find_scales<kKept, halves>(c, may_vanish, of_products, scale)) return false;
  return sum_block<kKept, halves, false>(a.rows + in_a, b.tile + in_b, k.count, scale, c, d);
}

// ---- the product

class Product {
public:
  Product(const MatrixSite& site, Warp* warp) : s_(site), warp_(warp) {
    p_.n = s_.n, p_.k = s_.k, p_.a = s_.a.element, p_.b = s_.b.element;
    p_.sparse = s_.sparse;
    p_.as_halves = s_.late;
    read_a(s_, warp, a_.tile);
    read_tile(s_.b, warp, s_.place.data(), s_.k, b_.tile);
    put_even_columns_first(b_.tile, s_.n * s_.k);
    constexpr int kFew = 16; // of more products, exponents are faster as bytes
    few_ = s_.block <= kFew;
    few_ ? find_powers() : find_codes();
  }

  /// Eight columns; the products of one step of the rule after those of another.
  template <bool halves> void sum(int block, float (*values)[kLanes]) {
    Sums c, so_far;
    read_sums(s_.c, warp_, static_cast<std::size_t>(block), c);
    if (s_.late) std::memset(so_far.room, 0, sizeof so_far.room);
    for (int odd = 0; odd < 2; ++odd)
      for (int half = 0; half < 2; ++half)
        so_far.at[odd][half] = s_.late ? so_far.room[odd] + half * kWarpSize : c.at[odd][half];
    for (int first = 0; first < s_.k; first += s_.block) {
      if (first != 0) go_on(so_far, values);
      add<halves>(block, {first, s_.block, s_.k}, so_far, values);
      if (halves && (s_.late || first + s_.block < s_.k)) round_to_halves(values);
    }
    if (s_.late) add_late(c, values);
  }

private:
  static void go_on(Sums& so_far, const float (*values)[kLanes]) {
    std::memcpy(so_far.room, values, sizeof so_far.room);
    for (int odd = 0; odd < 2; ++odd)
      for (int half = 0; half < 2; ++half) so_far.at[odd][half] = so_far.room[odd] + half * kWarpSize;
  }

  void find_powers() {
    const int smallest_a = smallest_of(p_.a, p_.as_halves), smallest_b = smallest_of(p_.b, p_.as_halves);
    may_vanish_ = smallest_a + smallest_b < kBias;
    alignas(64) float powers[kRowsOfWarp * kMostGroupDepth];
    put_powers(a_.tile, kRowsOfWarp * s_.k, smallest_a, powers);
    put_powers(b_.tile, s_.n * s_.k, smallest_b, powers_.b);
    for (int half = 0; half < 2; ++half)
      for (int k = 0; k < s_.k; ++k) {
        const int from = (half * s_.k + k) * kBlock, to = k * kLanes + half * kLanes / 2;
        put_fours(a_.tile + from, a_.rows + to);
        put_fours(powers + from, powers_.a + to);
      }
  }
  void find_codes() {
    prepare(a_, p_);
    find_exponents(b_, p_);
    has_codes_ = true;
  }

  template <bool halves> bool add_ordinary(int block, Depth k, const Sums& c, float (*values)[kLanes]) {
    const RoundingScope<Truncating> scope;
    if (few_ && add_few<halves>(a_, b_, powers_, may_vanish_, block, k, c, values)) return true;
    if (!has_codes_) find_codes();
    return k.count > kExact ? add_block<kKept, halves, true>(a_, b_, block, k, c, values)
                            : add_block<kKept, halves, false>(a_, b_, block, k, c, values);
  }

  template <bool halves> void add(int block, Depth k, const Sums& c, float (*values)[kLanes]) {
    if (add_ordinary<halves>(block, k, c, values)) return;
    if (s_.sparse) find_present(s_, warp_, a_.present);
    add_elements<kKept, halves>(p_, a_, b_, block, k, true, c, values);
  }

  const MatrixSite& s_;
  Warp* warp_;
  MatrixProduct p_;
  bool few_ = false, may_vanish_ = false, has_codes_ = false;
  FactorA a_;
  FactorB b_;
  Powers powers_;
};

} // namespace

bool multiply_sixteen_rows(const Op* op, Warp* warp) {
  const MatrixSite& s = *op->matrix;
  Product p(s, warp);
  const bool halves = s.c.element == MatrixElement::f16 && s.d.element == MatrixElement::f16;
  const int blocks = s.n / kBlock;
  // D may be in the registers of C.
  alignas(64) float values[kMostBlocks][2][kLanes];
  for (int block = 0; block < blocks; ++block)
    halves ? p.sum<true>(block, values[block]) : p.sum<false>(block, values[block]);
  for (int block = 0; block < blocks; ++block)
    write_sums(s.d, warp, static_cast<std::size_t>(block), halves, values[block]);
  return true;
}

} // namespace warplens::exec::WARPLENS_LEVEL
