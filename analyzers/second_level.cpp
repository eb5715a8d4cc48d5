// SPDX-License-Identifier: Apache-2.0
#include "analyzers/second_level.hpp"

#include <algorithm>

namespace warplens::analyzers {

SecondLevel::SecondLevel(CacheGeometry geometry) {
  const std::uint32_t count = std::max(geometry.partitions, 1u);
  geometry.bytes /= count;
  partitions_.assign(count, Cache(geometry));
}

std::size_t SecondLevel::home_of(std::uint64_t line) const {
  constexpr std::uint64_t kMix = 0x9e3779b97f4a7c15; // 2^64 divided by the golden ratio
  return (line * kMix >> 32) % partitions_.size();
}

Cache::Outcome SecondLevel::load(std::uint32_t multiprocessor, std::uint64_t line, std::uint32_t sectors) {
  const std::size_t home = home_of(line), near = multiprocessor % partitions_.size();
  if (near == home) return partitions_[home].load(line, sectors);
  const Cache::Outcome copy = partitions_[near].load(line, sectors);
  if (copy.missed == 0) return copy;
  Cache::Outcome outcome = partitions_[home].load(line, copy.missed);
  outcome.hit = copy.hit | (outcome.hit & sectors);
  outcome.again &= sectors;
  outcome.evicted += copy.evicted;
  outcome.written += copy.written;
  return outcome;
}

Cache::Outcome SecondLevel::store(std::uint64_t line, std::uint32_t sectors) {
  const std::size_t home = home_of(line);
  for (std::size_t i = 0; i < partitions_.size(); ++i)
    if (i != home) partitions_[i].invalidate(line);
  return partitions_[home].store(line, sectors);
}

} // namespace warplens::analyzers
