// SPDX-License-Identifier: Apache-2.0
// Compiled once per level.
#include "emulator/exec/lanes/row_tables.hpp"

#include <bit>
#include <cstring>
#include <type_traits>

namespace warplens::exec::WARPLENS_LEVEL {

namespace {

__extension__ using Wide = unsigned __int128;

constexpr int kHalfRow = kWarpSize / 2;

// The bits in which lanes of the mask differ from a sequence. Loops become vectors: additions compute the sequence, as
// multiplications of 64 bits take longer.
template <int length, class T> T differing(const T* lanes, Mask here, T first, T stride) {
  T bits = 0;
  for (int i = 0; i < length; ++i, first = static_cast<T>(first + stride))
    bits |= static_cast<T>((lanes[i] ^ first) & static_cast<T>(T{0} - static_cast<T>(here >> i & 1)));
  return bits;
}

template <class T> bool fetch_row(Warp* warp, const SequenceRow& r, SequenceSlot* slots) {
  const T* const lanes = row<T>(warp, r.offset);
  const T stride = static_cast<T>(r.stride);
  const auto fetch = [&]<int length>(int begin, Mask here, std::integral_constant<int, length>) {
    const int lane = here == 0 ? 0 : std::countr_zero(here);
    const T first = static_cast<T>(lanes[begin + lane] - static_cast<T>(static_cast<T>(lane) * stride));
    std::memcpy(&slots[r.slot + (begin != 0 ? 1u : 0u)], &first, sizeof first);
    return r.given != 0 || differing<length>(lanes + begin, here, first, stride) == 0;
  };
  if (r.whole != 0) return fetch(0, warp->active, std::integral_constant<int, kWarpSize>());
  const std::integral_constant<int, kHalfRow> half;
  return static_cast<bool>(fetch(0, warp->active & 0xffffu, half) & fetch(kHalfRow, warp->active >> kHalfRow, half));
}

bool fetch_truth(Warp* warp, const SequenceRow& r, SequenceSlot* slots) {
  const Mask set = predicate(warp, r.offset) & warp->active;
  slots[r.slot].words[0] = set != 0 ? 1 : 0;
  return r.given != 0 || set == 0 || set == warp->active;
}

template <int length, class T> void store_lanes(T* lanes, Mask here, T first, T stride) {
  for (int i = 0; i < length; ++i, first = static_cast<T>(first + stride))
    lanes[i] = (here >> i & 1) != 0 ? first : lanes[i];
}

template <class T> void store_row(Warp* warp, const SequenceRow& r, const SequenceSlot* slots) {
  T* const lanes = row<T>(warp, r.offset);
  const T stride = static_cast<T>(r.stride);
  T first[2];
  for (const unsigned half : {0u, 1u}) std::memcpy(&first[half], &slots[r.slot + half], sizeof(T));
  if (r.whole != 0) return store_lanes<kWarpSize>(lanes, warp->active, first[0], stride);
  store_lanes<kHalfRow>(lanes, warp->active, first[0], stride);
  store_lanes<kHalfRow>(lanes + kHalfRow, warp->active >> kHalfRow, first[1], stride);
}

bool fetch(Warp* warp, const SequenceRow& r, SequenceSlot* slots) {
  switch (r.bytes) {
  case 0: return fetch_truth(warp, r, slots);
  case 1: return fetch_row<std::uint8_t>(warp, r, slots);
  case 2: return fetch_row<std::uint16_t>(warp, r, slots);
  case 4: return fetch_row<std::uint32_t>(warp, r, slots);
  case 8: return fetch_row<std::uint64_t>(warp, r, slots);
  default: return fetch_row<Wide>(warp, r, slots);
  }
}

} // namespace

bool fetch_sequences(Warp* warp, const SequenceTable* table, SequenceSlot* slots) {
  bool right = true;
  for (std::uint64_t i = 0; i < table->count; ++i) {
    right &= fetch(warp, table->rows[i], slots);
    if (!right && table->needs_all == 0) return false;
  }
  return right;
}

void store_sequences(Warp* warp, const SequenceTable* table, const SequenceSlot* slots) {
  for (std::uint64_t i = 0; i < table->count; ++i) {
    const SequenceRow& r = table->rows[i];
    switch (r.bytes) {
    case 0: {
      Mask& mask = predicate(warp, r.offset);
      mask = (slots[r.slot].words[0] & 1) != 0 ? mask | warp->active : mask & ~warp->active;
      break;
    }
    case 1: store_row<std::uint8_t>(warp, r, slots); break;
    case 2: store_row<std::uint16_t>(warp, r, slots); break;
    case 4: store_row<std::uint32_t>(warp, r, slots); break;
    case 8: store_row<std::uint64_t>(warp, r, slots); break;
    default: store_row<Wide>(warp, r, slots); break;
    }
  }
}

} // namespace warplens::exec::WARPLENS_LEVEL
