// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/block/lane_copies.hpp"

#include "emulator/base/processors.hpp"

namespace warplens::exec {

namespace {

constexpr std::uint64_t kSectorBytes = 32, kLineBytes = 128;
constexpr int kPlaceBits = 20; // of a sector of shared memory, and the order of halves

WARPLENS_PER_PROCESSOR std::uint32_t different(const std::uint64_t* keys) {
  std::uint32_t count = 0;
  for (int i = 0; i < kWarpSize; ++i) {
    std::uint64_t equal = 0; // without an early end, so that the loop is one of vectors
    for (int j = 0; j < i; ++j) equal |= static_cast<std::uint64_t>(keys[j] == keys[i]);
    count += equal == 0 ? 1 : 0;
  }
  return count;
}

// Warps of a block, and buffers in turn, make several kinds of copies alternately: one of a site is held in each slot.
constexpr int kSlotBits = 4;
constexpr std::size_t kHeld = std::size_t{1} << kSlotBits;

std::size_t slot_of(const LanePlaces& places, std::uint64_t rest) {
  for (const int lane : {1, 8, 16, 31})
    rest = (rest << 7 | rest >> 57) ^ (places.from[lane] - places.from[0]) ^ (places.to[lane] - places.to[0]) << 20;
  return rest * 0x9e3779b97f4a7c15u >> (64 - kSlotBits);
}

} // namespace

LaneCopy copied_by_lanes(const LanePlaces& places, Mask mask) {
  std::uint64_t sectors[kWarpSize], fetched[kWarpSize], looked_up[kWarpSize];
  const int first = __builtin_ctz(mask);
  for (int i = 0; i < kWarpSize; ++i) {
    const int lane = (mask >> i & 1) != 0 ? i : first; // an inactive lane does as the first one does
    const std::uint64_t from = places.from[lane], to = places.to[lane];
    sectors[i] = from / kSectorBytes;
    fetched[i] = from / kSectorBytes << kPlaceBits | to / kSectorBytes << 1 | ((from ^ to) >> 4 & 1);
    looked_up[i] = from / kLineBytes << kPlaceBits | to / kSectorBytes;
  }
  return {0, different(sectors), different(fetched), different(looked_up), 1};
}

WARPLENS_PER_PROCESSOR void LaneCopyWatch::add(Shard& shard, std::uint32_t site, std::uint32_t instruction,
                                               const LanePlaces& places, Mask mask) {
  const std::uint64_t low = (places.from[0] % kLineBytes) << 8 | places.to[0] % kLineBytes;
  const std::size_t index = kHeld * site + slot_of(places, low ^ std::uint64_t{mask} << 32);
  if (index >= held_.size()) held_.resize(kHeld * (std::size_t{site} + 1));
  if (!held_[index]) held_[index] = std::make_unique<Held>();
  Held& held = *held_[index];
  std::uint64_t other = (low ^ held.low) | (mask ^ held.mask);
  for (int i = 0; i < kWarpSize; ++i)
    other |=
        ((places.from[i] - places.from[0]) ^ held.places.from[i]) | ((places.to[i] - places.to[0]) ^ held.places.to[i]);
  if (other == 0) {
    ++held.copy.count;
    return;
  }
  if (held.mask != 0) shard.lane_copy(held.copy);
  for (int i = 0; i < kWarpSize; ++i) {
    held.places.from[i] = places.from[i] - places.from[0];
    held.places.to[i] = places.to[i] - places.to[0];
  }
  held.low = low;
  held.mask = mask;
  held.copy = copied_by_lanes(places, mask);
  held.copy.instruction = instruction;
}

void LaneCopyWatch::flush(Shard& shard) {
  for (const auto& held : held_) {
    if (!held || held->mask == 0) continue;
    shard.lane_copy(held->copy);
    held->mask = 0;
  }
}

} // namespace warplens::exec
