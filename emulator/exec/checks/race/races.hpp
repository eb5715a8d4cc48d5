// SPDX-License-Identifier: Apache-2.0
// Races as values, and what order there is between launches.
#pragma once

#include "emulator/exec/checks/race/shadow.hpp"

#include <map>
#include <set>
#include <vector>

namespace warplens::exec::race {

/// What would have ordered the two accesses.
enum class Missing : std::uint8_t {
  barrier,         ///< of the block
  warp_barrier,    ///< __syncwarp
  cluster_barrier, ///< of the cluster
  grid_barrier,    ///< of a cooperative launch
  nothing,         ///< blocks do not wait for each other
  mbarrier,        ///< the phase of an mbarrier
  wait,            ///< for an asynchronous copy
  fence,           ///< of both sides of a message
  release,
  acquire,
  scope,  ///< both are strong, but the scope of one does not include the other's thread
  size,   ///< both are strong, but overlap partly
  atomic, ///< one is atomic
  stream  ///< an event, or an edge of a graph
};

struct RaceSide {
  std::uint64_t launch = 0; ///< number of the operation of the host: Timeline
  std::uint32_t instruction = 0;
  std::uint64_t cta = 0;
  std::uint32_t thread = 0; ///< in the CTA
  AccessKind access{};
};

struct Race {
  RaceSide earlier, later;
  isa::Space space{};
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  bool same_value = false; ///< both store what the memory then holds
  Missing missing{};
};

/// The races of a launch, one entry for each pair of instructions: the one of the lowest later thread stands for all.
class Races {
public:
  struct Pair {
    Race first;
    std::uint64_t count = 0;
    std::set<std::pair<std::uint64_t, std::uint32_t>> threads; ///< CTA and thread of the later access, the lowest
    static constexpr std::size_t kMostThreads = 1024;
  };
  void add(const Race& race);
  [[nodiscard]] std::vector<Pair> take();
  [[nodiscard]] bool empty() const { return pairs_.empty(); }

private:
  /// Launches and instructions of both sides, the lower one first, and the space.
  using Key = std::tuple<std::uint64_t, std::uint32_t, std::uint64_t, std::uint32_t, isa::Space>;
  std::map<Key, Pair> pairs_;
};

/// The operations of the host (launches, copies, fills) and the times at which they ran.
struct Timeline {
  struct Operation {
    Time begin = 0, end = 0;
    std::uint64_t number = 0; ///< as the caller numbers them
    std::uint32_t warps = 1;  ///< of a CTA
  };
  std::vector<Operation> operations;
  /// Operations, by index, that do not happen before the current one; ascending.
  std::vector<std::size_t> concurrent;

  [[nodiscard]] bool precedes(Time time) const;
  [[nodiscard]] const Operation& at(Time time) const;
};

} // namespace warplens::exec::race
