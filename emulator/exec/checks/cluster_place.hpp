// SPDX-License-Identifier: Apache-2.0
// From an address of WarpAccess in shared memory to a block and an offset: the inverse of Cluster::place().
//
//   cluster_place(cta, 8)                       ->  {&cta, 8}
//   cluster_place(cta, 3 * kClusterStride + 8)  ->  {the block of rank 2, 8}; if there is none, {nullptr, 8}
#pragma once

#include "emulator/exec/block/cluster.hpp"
#include "emulator/exec/memory/memory.hpp"

namespace warplens::exec {

struct ClusterPlace {
  const Cta* cta = nullptr;
  std::uint64_t offset = 0;
};

inline ClusterPlace cluster_place(const Cta& from, std::uint64_t place) {
  if (place < kClusterStride) return {&from, place};
  const std::vector<Cta*>& ctas = from.cluster->ctas;
  const std::uint64_t rank = place / kClusterStride - 1;
  return {rank < ctas.size() ? ctas[rank] : nullptr, place % kClusterStride};
}

} // namespace warplens::exec
