// SPDX-License-Identifier: Apache-2.0
// A 128-byte line and the 32-byte sectors of it that an access touches.
//
//   LineUse::of(3, 0b0101).line() == 3;  LineUse::count(0b0101) == 2;
#pragma once

#include <cstdint>

namespace warplens::analyzers {

struct LineUse {
  std::uint64_t packed = 0; ///< line number * 16 + a bit for each sector
  static LineUse of(std::uint64_t line, std::uint32_t sectors) { return {line << 4 | sectors}; }
  [[nodiscard]] std::uint64_t line() const { return packed >> 4; }
  [[nodiscard]] std::uint32_t sectors() const { return packed & 15; }
  /// The number of sectors in a set.
  static std::uint64_t count(std::uint32_t sectors) { return 0x4332322132212110u >> 4 * sectors & 15; }
};

} // namespace warplens::analyzers
