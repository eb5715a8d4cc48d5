// SPDX-License-Identifier: Apache-2.0
// Orders in which blocks and warps run. Seed 0 is the usual one, from the first to the last; 1 the reverse; each other
// seed another permutation.
//
//   scheduled(0, 8, 1) == 7     // first comes the last of eight
#pragma once

#include <cstdint>
#include <numeric>

namespace warplens::exec {

/// The number that runs at place `index` of `count`.
inline std::uint64_t scheduled(std::uint64_t index, std::uint64_t count, std::uint64_t seed) {
  if (seed == 0 || count < 2) return index;
  if (seed == 1) return count - 1 - index;
  // Steps of a size that has no divisor in common with the count visit each number once.
  const std::uint64_t mixed = seed * 0x9e3779b97f4a7c15u;
  std::uint64_t step = (mixed >> 32) % count + 1;
  while (std::gcd(step, count) != 1) ++step;
  const auto product = static_cast<unsigned __int128>(index) * step + (mixed & 0xffff'ffffu);
  return static_cast<std::uint64_t>(product % count);
}

} // namespace warplens::exec
