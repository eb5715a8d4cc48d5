// SPDX-License-Identifier: Apache-2.0
// How bulk copies and copies by tensor map access global memory.
//
//   copied_sectors(0x1010, 0, 256)  ->  10: two pieces of 128 bytes, of five sectors each
#pragma once

#include <algorithm>
#include <cstdint>

namespace warplens::exec {

/// The 32-byte sectors that a row of a copy accesses. An H200 cuts it into pieces at multiples of 128 bytes of shared
/// memory, and accesses the sectors of each piece (tests/data/hardware/counted_copies.jsonl).
inline std::uint64_t copied_sectors(std::uint64_t global, std::uint64_t shared, std::uint64_t bytes) {
  constexpr std::uint64_t kPieceBytes = 128, kSectorBytes = 32;
  std::uint64_t sectors = 0;
  while (bytes != 0) {
    const std::uint64_t piece = std::min(bytes, kPieceBytes - shared % kPieceBytes);
    sectors += (global + piece - 1) / kSectorBytes - global / kSectorBytes + 1;
    global += piece;
    shared += piece;
    bytes -= piece;
  }
  return sectors;
}

} // namespace warplens::exec
