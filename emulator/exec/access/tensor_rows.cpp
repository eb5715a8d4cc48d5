// SPDX-License-Identifier: Apache-2.0
// A swizzle permutes units of 16 bytes. All units of a row are in one row of the swizzle, which permutes them by the
// same bits.
#include "emulator/exec/access/tensor_rows.hpp"

#include <array>
#include <cstring>
#include <utility>

namespace warplens::exec {

namespace {

constexpr std::int64_t kMoved = TensorMap::kUnit; ///< bytes of a move

template <bool loads> void move(std::byte* shared, std::byte* memory, std::size_t bytes) {
  loads ? std::memcpy(shared, memory, bytes) : std::memcpy(memory, shared, bytes);
}

// A row of so many units, whose places in shared memory differ in `bits`. All units are read before one is written,
// which is faster: probably because reads wait for writes whose addresses have the same lower 12 bits.
template <bool loads, std::size_t... i>
void move_row(std::byte* shared, std::byte* memory, std::int64_t bits, std::index_sequence<i...>) {
  using Unit = std::array<std::uint64_t, kMoved / sizeof(std::uint64_t)>;
  const auto place = [=](std::size_t unit) { return shared + (static_cast<std::int64_t>(unit) * kMoved ^ bits); };
  Unit units[sizeof...(i)];
  (std::memcpy(&units[i], loads ? memory + i * kMoved : place(i), kMoved), ...);
  (std::memcpy(loads ? place(i) : memory + i * kMoved, &units[i], kMoved), ...);
}

// `units`: of a row; 0: not a constant.
template <bool loads, int units> void move_units(const TensorRows& rows, const TensorMap& map) {
  std::byte* memory = rows.memory;
  std::int64_t at = rows.at;
  // Copies, so that the compiler knows that no store changes them.
  std::byte* const shared = rows.shared;
  const std::int64_t pitch = rows.pitch, moved = map.moved(), mask = map.moving();
  const std::uint64_t stride = rows.stride;
  for (std::int64_t n = rows.count; n != 0; --n, memory += stride, at += pitch) {
    const std::int64_t bits = at / TensorMap::kRow * moved & mask;
    std::byte* const row = shared + at;
    if constexpr (units == 0)
      for (std::int64_t i = 0; i < rows.bytes; i += kMoved) move<loads>(row + (i ^ bits), memory + i, kMoved);
    else
      move_row<loads>(row, memory, bits, std::make_index_sequence<units>{});
  }
}

template <bool loads> void move_rows(const TensorRows& rows, const TensorMap& map) {
  constexpr std::int64_t kLong = 16 * kMoved;
  if (map.swizzle == 0 && (rows.bytes % kMoved != 0 || rows.bytes >= kLong)) {
    for (std::int64_t n = 0; n < rows.count; ++n)
      move<loads>(rows.shared + rows.at + n * rows.pitch, rows.memory + static_cast<std::uint64_t>(n) * rows.stride,
                  static_cast<std::size_t>(rows.bytes));
    return;
  }
  switch (rows.bytes / kMoved) {
  case 1: return move_units<loads, 1>(rows, map);
  case 2: return move_units<loads, 2>(rows, map);
  case 4: return move_units<loads, 4>(rows, map);
  case 8: return move_units<loads, 8>(rows, map);
  default: return move_units<loads, 0>(rows, map);
  }
}

} // namespace

void TensorRows::load(const TensorMap& map) const { move_rows<true>(*this, map); }
void TensorRows::store(const TensorMap& map) const { move_rows<false>(*this, map); }

} // namespace warplens::exec
