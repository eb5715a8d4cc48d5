// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/compile/row_tables.hpp"

#include <bit>
#include <cstring>

namespace warplens::exec {

namespace {

__extension__ using Wide = unsigned __int128;

constexpr int kHalfRow = kWarpSize / 2;

template <class T> bool fetch_row(Warp* warp, const SequenceRow& r, SequenceSlot* slots) {
  const T* const lanes = row<T>(warp, r.offset);
  const T stride = static_cast<T>(r.stride);
  const Mask active = warp->active;
  const int length = r.whole != 0 ? kWarpSize : kHalfRow;
  T different = 0;
  for (int begin = 0; begin < kWarpSize; begin += length) {
    const Mask here = active >> begin & (r.whole != 0 ? kFullMask : 0xffffu);
    const int lane = here == 0 ? 0 : std::countr_zero(here);
    const T first = static_cast<T>(lanes[begin + lane] - static_cast<T>(static_cast<T>(lane) * stride));
    std::memcpy(&slots[r.slot + (begin != 0 ? 1u : 0u)], &first, sizeof first);
    if (r.given != 0) continue;
    T expected = first;
    if (here == kFullMask >> (kWarpSize - length)) {
      for (int i = 0; i < length; ++i)
        different |= static_cast<T>(lanes[begin + i] ^ static_cast<T>(first + static_cast<T>(i) * stride));
      continue;
    }
    for (int i = 0; i < length; ++i, expected = static_cast<T>(expected + stride))
      if ((here >> i & 1) != 0) different |= static_cast<T>(lanes[begin + i] ^ expected);
  }
  return different == 0;
}

bool fetch_truth(Warp* warp, const SequenceRow& r, SequenceSlot* slots) {
  const Mask set = predicate(warp, r.offset) & warp->active;
  slots[r.slot].words[0] = set != 0 ? 1 : 0;
  return r.given != 0 || set == 0 || set == warp->active;
}

template <class T> void store_row(Warp* warp, const SequenceRow& r, const SequenceSlot* slots) {
  T* const lanes = row<T>(warp, r.offset);
  const T stride = static_cast<T>(r.stride);
  T first[2];
  for (const unsigned half : {0u, 1u}) std::memcpy(&first[half], &slots[r.slot + half], sizeof(T));
  for (int i = 0; i < kWarpSize; ++i) {
    const bool second = r.whole == 0 && i >= kHalfRow;
    const int lane = second ? i - kHalfRow : i;
    const auto value = static_cast<T>(first[second ? 1 : 0] + static_cast<T>(static_cast<T>(lane) * stride));
    lanes[i] = (warp->active >> i & 1) != 0 ? value : lanes[i];
  }
}

} // namespace

bool fetch_sequences(Warp* warp, const SequenceTable* table, SequenceSlot* slots) {
  bool right = true;
  for (std::uint64_t i = 0; i < table->count; ++i) {
    const SequenceRow& r = table->rows[i];
    switch (r.bytes) {
    case 0: right &= fetch_truth(warp, r, slots); break;
    case 1: right &= fetch_row<std::uint8_t>(warp, r, slots); break;
    case 2: right &= fetch_row<std::uint16_t>(warp, r, slots); break;
    case 4: right &= fetch_row<std::uint32_t>(warp, r, slots); break;
    case 8: right &= fetch_row<std::uint64_t>(warp, r, slots); break;
    default: right &= fetch_row<Wide>(warp, r, slots); break;
    }
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

} // namespace warplens::exec
