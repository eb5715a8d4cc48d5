// Batcher's merges on a matrix of 4 rows and 8 columns, whose columns are one after the other in the sorted order:
// first the 4 keys of each column are sorted, then pairs of columns (quarter-warps), of pairs (half-warps), of fours.
// All rows are vectors, and every step does the same to all columns.
#include "analyzers/sorted_lanes.hpp"

#include "analyzers/processors.hpp"

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
  for (int r = 0; r < 4; ++r) m.row[r] = *reinterpret_cast<const RowInMemory*>(from[r]);
  return m;
}
[[gnu::always_inline]] inline void store(const Rows& m, std::int32_t (&to)[4][8]) {
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

/// Each key against the one so many columns on: the smaller one goes to the lower column.
template <int Distance> [[gnu::always_inline]] inline void order_columns(Rows& m) {
  for (Row& row : m.row) {
    const Row other = exchanged<Distance>(row);
    row = columns<Distance>(row < other ? row : other, row < other ? other : row);
  }
}

/// Each key against the one in the mirror image, of two sorted runs of `Columns` columns.
template <int Columns> [[gnu::always_inline]] inline void order_mirrored(Rows& m) {
  Row other[4];
  for (int r = 0; r < 4; ++r) other[r] = exchanged<2 * Columns - 1>(m.row[3 - r]);
  for (int r = 0; r < 4; ++r)
    m.row[r] = columns<Columns>(m.row[r] < other[r] ? m.row[r] : other[r], m.row[r] < other[r] ? other[r] : m.row[r]);
}

/// What is left to do inside each column.
[[gnu::always_inline]] inline void order_within_columns(Rows& m) {
  order(m.row[0], m.row[2]);
  order(m.row[1], m.row[3]);
  order(m.row[0], m.row[1]);
  order(m.row[2], m.row[3]);
}

/// 8 consecutive lanes in each pair of columns; in which order does not matter.
[[gnu::always_inline]] inline Rows by_quarters(const LaneKeys& keys) {
  Row quarter[4];
  for (int q = 0; q < 4; ++q) std::memcpy(&quarter[q], &keys[8 * q], sizeof quarter[q]);
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

/// Bit i of a result: the i-th key does not differ from the one before it in any of the bits.
WARPLENS_PER_PROCESSOR void find_repeats(const Matrix& sorted, const std::int32_t* bits, exec::Mask* result,
                                         std::size_t count) {
  const Rows m = loaded(sorted);
  const Row before = __builtin_shufflevector(m.row[3], m.row[3], 7, 0, 1, 2, 3, 4, 5, 6);
  const Row difference[] = {m.row[0] ^ before, m.row[1] ^ m.row[0], m.row[2] ^ m.row[1], m.row[3] ^ m.row[2]};
  for (std::size_t i = 0; i < count; ++i) {
    Row same{};
    for (int r = 0; r < 4; ++r) same |= ((difference[r] & bits[i]) == 0) & (1 << r);
    same <<= Row{0, 4, 8, 12, 16, 20, 24, 28};
    std::int32_t all = 0;
    for (int c = 0; c < 8; ++c) all |= same[c];
    result[i] = static_cast<exec::Mask>(all);
  }
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

void SortedLanes::find_starts(Group group, const std::int32_t* bits, exec::Mask* result, std::size_t count) const {
  const auto g = static_cast<std::size_t>(group);
  find_repeats(sorted_[g].row, bits, result, count);
  for (std::size_t i = 0; i < count; ++i) result[i] = ~result[i] | kFirstLanes[g];
}

LaneKeys SortedLanes::keys(Group group) const {
  LaneKeys keys;
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = sorted_[static_cast<std::size_t>(group)].row[i % 4][i / 4];
  return keys;
}

} // namespace warplens::analyzers
