// SPDX-License-Identifier: Apache-2.0
// Batcher's merges on a matrix of 4 rows and 8 columns, whose columns are one after the other in the sorted order:
// first the 4 keys of each column are sorted, then pairs of columns (quarter-warps), of pairs (half-warps), of fours.
// All rows are vectors, and every step does the same to all columns.
#include "analyzers/sorted_lanes.hpp"

#include "emulator/base/processors.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace warplens::analyzers {

namespace {

using Row = std::int32_t __attribute__((vector_size(32)));
using RowInMemory = std::int32_t __attribute__((vector_size(32), may_alias));

struct Rows {
  Row row[4];
};
[[gnu::always_inline]] inline Rows loaded(const std::int32_t (&from)[4][8]) {
  Rows m;
#pragma GCC unroll 4
  for (int r = 0; r < 4; ++r) m.row[r] = *reinterpret_cast<const RowInMemory*>(from[r]);
  return m;
}
[[gnu::always_inline]] inline void store(const Rows& m, std::int32_t (&to)[4][8]) {
#pragma GCC unroll 4
  for (int r = 0; r < 4; ++r) *reinterpret_cast<RowInMemory*>(to[r]) = m.row[r];
}

[[gnu::always_inline]] inline void order(Row& low, Row& high) {
  const Row smaller = low < high ? low : high;
  high = low < high ? high : low;
  low = smaller;
}

/// `low` in the columns whose number has no bit of `Bit`, `high` in the others.
template <int Bit> [[gnu::always_inline]] inline Row columns(Row low, Row high) {
  constexpr auto from = [](int c) { return (c & Bit) ? 8 + c : c; };
  return __builtin_shufflevector(low, high, from(0), from(1), from(2), from(3), from(4), from(5), from(6), from(7));
}

/// Column c of the result is column c ^ Distance.
template <int Distance> [[gnu::always_inline]] inline Row exchanged(Row v) {
  return __builtin_shufflevector(v, v, 0 ^ Distance, 1 ^ Distance, 2 ^ Distance, 3 ^ Distance, 4 ^ Distance,
                                 5 ^ Distance, 6 ^ Distance, 7 ^ Distance);
}

/// Compares each key with the one `Distance` columns on: the smaller one goes to the lower column.
template <int Distance> [[gnu::always_inline]] inline void order_columns(Rows& m) {
#pragma GCC unroll 4
  for (Row& row : m.row) {
    const Row other = exchanged<Distance>(row);
    row = columns<Distance>(row < other ? row : other, row < other ? other : row);
  }
}

/// Each key against the one in the mirror image, of two sorted runs of `Columns` columns.
template <int Columns> [[gnu::always_inline]] inline void order_mirrored(Rows& m) {
  Row other[4];
#pragma GCC unroll 4
  for (int r = 0; r < 4; ++r) other[r] = exchanged<2 * Columns - 1>(m.row[3 - r]);
#pragma GCC unroll 4
  for (int r = 0; r < 4; ++r)
    m.row[r] = columns<Columns>(m.row[r] < other[r] ? m.row[r] : other[r], m.row[r] < other[r] ? other[r] : m.row[r]);
}

/// The remaining steps inside each column.
[[gnu::always_inline]] inline void order_within_columns(Rows& m) {
  order(m.row[0], m.row[2]);
  order(m.row[1], m.row[3]);
  order(m.row[0], m.row[1]);
  order(m.row[2], m.row[3]);
}

/// 8 consecutive lanes in each pair of columns, in any order.
[[gnu::always_inline]] inline Rows by_quarters(const LaneKeys& keys) {
  Row quarter[4];
#pragma GCC unroll 4
  for (std::size_t q = 0; q < 4; ++q) std::memcpy(&quarter[q], &keys[8 * q], sizeof quarter[q]);
  const Row a = __builtin_shufflevector(quarter[0], quarter[1], 0, 8, 1, 9, 4, 12, 5, 13);
  const Row b = __builtin_shufflevector(quarter[0], quarter[1], 2, 10, 3, 11, 6, 14, 7, 15);
  const Row c = __builtin_shufflevector(quarter[2], quarter[3], 0, 8, 1, 9, 4, 12, 5, 13);
  const Row d = __builtin_shufflevector(quarter[2], quarter[3], 2, 10, 3, 11, 6, 14, 7, 15);
  // Lanes 0, 4 of each quarter, then 1, 5, …
  return {{__builtin_shufflevector(a, c, 0, 4, 1, 5, 8, 12, 9, 13),
           __builtin_shufflevector(a, c, 2, 6, 3, 7, 10, 14, 11, 15),
           __builtin_shufflevector(b, d, 0, 4, 1, 5, 8, 12, 9, 13),
           __builtin_shufflevector(b, d, 2, 6, 3, 7, 10, 14, 11, 15)}};
}

using Matrix = std::int32_t[4][8];

WARPLENS_PER_PROCESSOR void sort_groups(const LaneKeys& keys, Matrix& quarters, Matrix& halves, Matrix& warp) {
  Rows m = by_quarters(keys);
  order_within_columns(m);
  order(m.row[1], m.row[2]);

  order_mirrored<1>(m);
  order_within_columns(m);
  store(m, quarters);

  order_mirrored<2>(m);
  order_columns<1>(m);
  order_within_columns(m);
  store(m, halves);

  order_mirrored<4>(m);
  order_columns<2>(m);
  order_columns<1>(m);
  order_within_columns(m);
  store(m, warp);
}

/// Bits in the place of their keys: set where a key does not differ from the one before it in any of `bits`.
[[gnu::always_inline]] inline Row repeats_in_columns(const Row (&difference)[4], std::int32_t bits) {
  Row same{};
#pragma GCC unroll 4
  for (int r = 0; r < 4; ++r) same |= ((difference[r] & bits) == 0) & (1 << r);
  return same << Row{0, 4, 8, 12, 16, 20, 24, 28};
}

/// In each half of the columns, those of `a` and those of `b`, two by two.
[[gnu::always_inline]] inline Row or_of_neighbours(Row a, Row b) {
  return __builtin_shufflevector(a, b, 0, 2, 8, 10, 4, 6, 12, 14) |
         __builtin_shufflevector(a, b, 1, 3, 9, 11, 5, 7, 13, 15);
}

/// Bit i of a result: the i-th key is `first` of its group, or differs from the one before it in one of the bits.
WARPLENS_PER_PROCESSOR void find_starts(const Matrix& sorted, const std::int32_t (&bits)[4], exec::Mask first,
                                        exec::Mask active, SortedLanes::Starts& result) {
  const Rows m = loaded(sorted);
  const Row before = __builtin_shufflevector(m.row[3], m.row[3], 7, 0, 1, 2, 3, 4, 5, 6);
  const Row difference[] = {m.row[0] ^ before, m.row[1] ^ m.row[0], m.row[2] ^ m.row[1], m.row[3] ^ m.row[2]};
  Row repeats = or_of_neighbours(
      or_of_neighbours(repeats_in_columns(difference, bits[0]), repeats_in_columns(difference, bits[1])),
      or_of_neighbours(repeats_in_columns(difference, bits[2]), repeats_in_columns(difference, bits[3])));
  repeats |= exchanged<4>(repeats);
  const Row starts = (~repeats | static_cast<std::int32_t>(first)) & static_cast<std::int32_t>(active);
  std::memcpy(result.data(), &starts, sizeof result);
}

using Bits = std::uint32_t __attribute__((vector_size(32)));

/// Numbers in binary, 32 in each column, side by side: bit b of plane p is digit p of number b. Adds the numbers of
/// the column so far on.
template <int Distance, int Digits> [[gnu::always_inline]] inline void add_column(Bits (&plane)[6]) {
  Bits carry{};
#pragma GCC unroll 6
  for (int p = 0; p < Digits; ++p) {
    const Bits x = plane[p], y = reinterpret_cast<Bits>(exchanged<Distance>(reinterpret_cast<Row>(x)));
    plane[p] = x ^ y ^ carry;
    carry = (x & y) | (carry & (x ^ y));
  }
  plane[Digits] = carry;
}

/// The largest number of a column.
template <int Digits> [[gnu::always_inline]] inline std::uint8_t largest(const Bits (&plane)[6], int column) {
  std::uint32_t result = 0, among = ~0u;
#pragma GCC unroll 6
  for (int p = Digits - 1; p >= 0; --p) {
    const std::uint32_t with = among & plane[p][column];
    result |= with ? 1u << p : 0;
    among = with ? with : among;
  }
  return static_cast<std::uint8_t>(result);
}

/// For each group, the number of counted lanes in its fullest cell. `counted`: 1 or 0 for each key.
[[gnu::always_inline]] inline std::array<std::uint8_t, 4> fullest(const Rows& m, Group group, const Rows& counted,
                                                                  std::uint32_t shift, std::uint32_t last) {
  Bits cell[4]; // the bit of each lane's cell
#pragma GCC unroll 4
  for (unsigned r = 0; r < 4; ++r)
    cell[r] = reinterpret_cast<const Bits&>(counted.row[r])
              << (reinterpret_cast<const Bits&>(m.row[r]) >> shift & last);
  const Bits one = cell[0] ^ cell[1], other = cell[2] ^ cell[3], both = one & other;
  const Bits two = cell[0] & cell[1], other_two = cell[2] & cell[3];
  Bits plane[6] = {one ^ other, two ^ other_two ^ both, two & other_two};
  add_column<1, 3>(plane);
  if (group == Group::quarter)
    return {largest<4>(plane, 0), largest<4>(plane, 2), largest<4>(plane, 4), largest<4>(plane, 6)};
  add_column<2, 4>(plane);
  if (group == Group::half) return {largest<5>(plane, 0), 0, largest<5>(plane, 4), 0};
  add_column<4, 5>(plane);
  return {largest<6>(plane, 0), 0, 0, 0};
}

WARPLENS_PER_PROCESSOR std::array<std::uint8_t, 4> fullest_sorted(const Matrix& sorted, Group group, exec::Mask counted,
                                                                  std::uint32_t shift, std::uint32_t last) {
  const Bits place = {0, 4, 8, 12, 16, 20, 24, 28};
  Rows ones;
#pragma GCC unroll 4
  for (unsigned r = 0; r < 4; ++r) ones.row[r] = reinterpret_cast<Row>((Bits{} + counted) >> (place + r) & 1);
  return fullest(loaded(sorted), group, ones, shift, last);
}

/// Returns the bits that are set in the address of some active lane.
WARPLENS_PER_PROCESSOR std::uint32_t arrange(const std::uint64_t* addresses, exec::Mask mask, Matrix& keys,
                                             Matrix& active) {
  LaneKeys all, lanes;
  std::int32_t bits = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    lanes[i] = static_cast<std::int32_t>(mask >> i & 1);
    all[i] = static_cast<std::int32_t>(addresses[i]) & -lanes[i];
    bits |= all[i];
  }
  store(by_quarters(all), keys);
  store(by_quarters(lanes), active);
  return static_cast<std::uint32_t>(bits);
}

WARPLENS_PER_PROCESSOR std::array<std::uint8_t, 4>
fullest_unsorted(const Matrix& keys, const Matrix& active, Group group, std::uint32_t shift, std::uint32_t last) {
  return fullest(loaded(keys), group, loaded(active), shift, last);
}

using ByteRow = std::int8_t __attribute__((vector_size(32)));
using ShortRow = std::int16_t __attribute__((vector_size(32)));

/// Bit i: byte i is not 0, but -1.
[[gnu::always_inline]] inline std::uint32_t bits_of(ByteRow set) {
  using Quads = std::uint64_t __attribute__((vector_size(32)));
  set &= ByteRow{1, 2, 4, 8, 16, 32, 64, -128, 1, 2, 4, 8, 16, 32, 64, -128,
                 1, 2, 4, 8, 16, 32, 64, -128, 1, 2, 4, 8, 16, 32, 64, -128};
  const auto quads = reinterpret_cast<Quads>(set);
  std::uint32_t bits = 0;
#pragma GCC unroll 4
  for (unsigned i = 0; i < 4; ++i) // the sum of the bytes of each eight, which share no bit
    bits |= static_cast<std::uint32_t>(quads[i] * 0x0101'0101'0101'0101u >> 56) << 8 * i;
  return bits;
}

/// A word of each lane, after as many that stand before lane 0.
template <class Word> struct alignas(64) LaneWords { Word before[exec::kWarpSize], lane[exec::kWarpSize]; };

template <class Row, class Word> [[gnu::always_inline]] inline Row row_at(const LaneWords<Word>& words, int lane) {
  Row row;
  std::memcpy(&row, words.lane + lane, sizeof row);
  return row;
}

/// The lanes that have the word of an earlier one, or of `before`: each lane against the one `distance` lanes before
/// it, for all distances.
[[gnu::always_inline]] inline exec::Mask repeats(const LaneWords<std::uint8_t>& words) {
  const auto own = row_at<ByteRow>(words, 0);
  ByteRow repeated{};
#pragma GCC unroll 31
  for (int distance = 1; distance < exec::kWarpSize; ++distance) repeated |= own == row_at<ByteRow>(words, -distance);
  return bits_of(repeated);
}
[[gnu::always_inline]] inline exec::Mask repeats(const LaneWords<std::uint16_t>& words) {
  const auto low = row_at<ShortRow>(words, 0), high = row_at<ShortRow>(words, 16);
  ShortRow repeated[2]{};
#pragma GCC unroll 31
  for (int distance = 1; distance < exec::kWarpSize; ++distance) {
    repeated[0] |= low == row_at<ShortRow>(words, -distance);
    repeated[1] |= high == row_at<ShortRow>(words, 16 - distance);
  }
  return bits_of(__builtin_shufflevector(reinterpret_cast<ByteRow>(repeated[0]), reinterpret_cast<ByteRow>(repeated[1]),
                                         0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34, 36, 38, 40,
                                         42, 44, 46, 48, 50, 52, 54, 56, 58, 60, 62));
}

constexpr exec::Mask kFirstLanes[] = {0x01010101, 0x00010001, 0x00000001}; // by Group

} // namespace

WARPLENS_PER_PROCESSOR bool distances(const std::uint64_t* addresses, exec::Mask mask, std::uint64_t base,
                                      LaneKeys& keys) {
  std::uint64_t lanes[exec::kWarpSize];
  if (mask != ~exec::Mask{0}) {
    for (std::uint32_t first = 0; first < exec::kWarpSize; first += 8) {
      exec::Mask own = mask & 0xffu << first;
      if (!own) own = mask & 0xffffu << (first & 16);
      if (!own) own = mask;
      const std::uint64_t safe = addresses[std::countr_zero(own)];
      for (std::uint32_t i = first; i < first + 8; ++i) lanes[i] = mask >> i & 1 ? addresses[i] : safe;
    }
    addresses = lanes;
  }
  std::uint64_t far = 0; // its high half
  for (std::size_t i = 0; i < exec::kWarpSize; ++i) {
    const std::uint64_t distance = addresses[i] - base;
    far |= distance + 0x8000'0000u;
    keys[i] = static_cast<std::int32_t>(distance);
  }
  return far >> 32 == 0;
}

void SortedLanes::sort(const LaneKeys& keys) { sort_groups(keys, sorted_[0].row, sorted_[1].row, sorted_[2].row); }

void SortedLanes::starts(Group group, const std::int32_t (&bits)[4], exec::Mask active, Starts& result) const {
  const auto g = static_cast<std::size_t>(group);
  find_starts(sorted_[g].row, bits, kFirstLanes[g], active, result);
}

std::array<std::uint8_t, 4> SortedLanes::fullest_cells(Group group, exec::Mask counted, std::uint32_t shift,
                                                       std::uint32_t last) const {
  return fullest_sorted(sorted_[static_cast<std::size_t>(group)].row, group, counted, shift, last);
}

UnsortedLanes::UnsortedLanes(const std::uint64_t* lane_addresses, exec::Mask lanes)
    : addresses(lane_addresses), mask(lanes), all_bits_(arrange(addresses, mask, keys_, active_)) {}

std::array<std::uint8_t, 4> UnsortedLanes::fullest_cells(Group group, std::uint32_t shift, std::uint32_t last) const {
  return fullest_unsorted(keys_, active_, group, shift, last);
}

// Idle lanes have the word of the first active one, which also stands before lane 0: they repeat no other word.
WARPLENS_PER_PROCESSOR exec::Mask first_lanes(const std::uint64_t* addresses, exec::Mask mask) {
  constexpr int kLanes = exec::kWarpSize;
  const auto number = [&](int lane) { return static_cast<std::uint16_t>(addresses[lane] / sizeof(float)); };
  const std::uint16_t first = number(std::countr_zero(mask));
  LaneWords<std::uint16_t> words;
  for (int i = 0; i < kLanes; ++i) words.lane[i] = number(i);
  for (exec::Mask idle = ~mask; idle; idle &= idle - 1) words.lane[std::countr_zero(idle)] = first;
  std::uint16_t least = first, most = first;
  for (const std::uint16_t word : words.lane) {
    least = std::min(least, word);
    most = std::max(most, word);
  }
  exec::Mask repeated = 0;
  if (most - least < 256) { // their low bytes tell them apart
    LaneWords<std::uint8_t> bytes;
    for (int i = 0; i < kLanes; ++i) {
      bytes.before[i] = static_cast<std::uint8_t>(first);
      bytes.lane[i] = static_cast<std::uint8_t>(words.lane[i]);
    }
    repeated = repeats(bytes);
  } else {
    std::fill(std::begin(words.before), std::end(words.before), first);
    repeated = repeats(words);
  }
  return mask & (~repeated | (~mask + 1));
}

LaneKeys SortedLanes::keys(Group group) const {
  LaneKeys keys;
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = sorted_[static_cast<std::size_t>(group)].row[i % 4][i / 4];
  return keys;
}

} // namespace warplens::analyzers
