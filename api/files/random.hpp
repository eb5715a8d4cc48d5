// SPDX-License-Identifier: Apache-2.0
// Pseudo-random numbers: SplitMix64 (Steele, Lea, Flood, OOPSLA 2014) is small, fast, and the same on every machine.
//
//   Random random(7); random.bits();
#pragma once

#include <cstdint>

namespace warplens::api {

class Random {
public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  /// From 0 up to 1.
  double fraction() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

private:
  std::uint64_t state_;
};

} // namespace warplens::api
