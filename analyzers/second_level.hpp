// SPDX-License-Identifier: Apache-2.0
// A second-level cache, which may consist of partitions. Each partition keeps the lines of the device memory that is
// connected to it, and copies of those that its multiprocessors load from the other ones ("NVIDIA A100 Tensor Core GPU
// Architecture": "each L2 partition caches data for memory accesses from SMs in the GPCs directly connected to the
// partition"). What multiprocessors of several partitions load takes room in each of these.
//
//   SecondLevel l2({.bytes = 52428800, .ways = 16, .partitions = 2});
//   l2.load(0, 7, 0b0001).missed == 0b0001;   // multiprocessor 0, line 7: from memory
//   l2.load(1, 7, 0b0001).hit == 0b0001;      // from the other partition
//
// On an H200, a load that comes first to a line counts as 1.5 loads of the second level on average, and further ones as
// one: half of the lines are in the other partition, and are copied once (lts__t_sectors_op_read of `vec_add` and
// `follow` in tests/data/hardware/times.jsonl).
#pragma once

#include "analyzers/cache.hpp"

#include <vector>

namespace warplens::analyzers {

class SecondLevel {
public:
  explicit SecondLevel(CacheGeometry geometry);

  /// As of Cache: a sector hits if the partition of the multiprocessor or that of the line has it.
  Cache::Outcome load(std::uint32_t multiprocessor, std::uint64_t line, std::uint32_t sectors);
  /// In the partition of the line. Copies elsewhere become invalid.
  Cache::Outcome store(std::uint64_t line, std::uint32_t sectors);

private:
  /// Real devices hash the address, too, in a way that is not known.
  [[nodiscard]] std::size_t home_of(std::uint64_t line) const;

  std::vector<Cache> partitions_;
};

} // namespace warplens::analyzers
