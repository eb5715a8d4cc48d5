// SPDX-License-Identifier: Apache-2.0
// The threads of a block and what they know: how barriers of warps, blocks and clusters order accesses.
//
// Knowledge is kept where synchronisation usually is: of the own block and of the own warp one moment per warp; of
// others a clock, which all lanes of a warp share until one of them learns something for itself.
//
//   Block b(7, 14, 2);                     // block 7 of two warps, which are numbers 14 and 15 of the grid
//   b.arrive({0, ~0u, ~0u, true}, 0, 0, t);  b.arrive({1, …}, …);  b.leave(0, 0, ~0u);   // __syncthreads()
#pragma once

#include "emulator/exec/checks/race/knowledge.hpp"
#include "emulator/exec/checks/race/meaning.hpp"
#include "emulator/exec/state/events.hpp"

#include <array>
#include <map>
#include <memory>
#include <vector>

namespace warplens::exec::race {

/// How far apart two threads are: the index of what a thread has observed of the other.
enum class Distance : std::uint8_t { cta, cluster, grid };

inline bool covers(Scope scope, Distance distance) {
  return scope >= Scope::gpu || (scope == Scope::cluster && distance != Distance::grid) ||
         (scope == Scope::cta && distance == Distance::cta);
}

/// What a lane knows for itself.
struct LaneState {
  Clock known;
  std::array<Clock, 3> observed; ///< released by others and read by this lane, until a fence acquires it
  Clock fenced;                  ///< known at the last fence that releases, …
  Scope fence = Scope::none;     ///< … and its scope
  bool acquired = false;         ///< has executed an acquiring operation or fence
};

/// The asynchronous copies of a lane: groups of cp.async, and of bulk copies.
struct LaneCopies {
  struct Groups {
    std::vector<Time> begun; ///< of each incomplete group, the time of its first copy; kNone: it has none
    Time open = kNone;       ///< of the group that is not yet committed
    static constexpr Time kNone = ~Time{0};
    void commit();
    void wait(std::uint32_t still_running);
    [[nodiscard]] Time first() const;
  };
  Groups each, bulk;
  Time last = 0; ///< of its copies, also of those that are complete
};

struct WarpState {
  Time epoch = 0;         ///< when it last published what it has done: the time of its accesses
  Moment block{}, warp{}; ///< what all lanes know of all threads of their block, and of their warp
  Clock known;            ///< of all others, while `lanes` is null
  std::unique_ptr<std::array<LaneState, kWarpSize>> lanes;
  std::unique_ptr<std::array<LaneCopies, kWarpSize>> copies;
  LaneCopies::Groups products; ///< of its warp group
  struct Members {
    Mask named = 0, arrived = 0;
  };
  std::vector<Members> members; ///< of bar.warp.sync, by membermask
  std::uint32_t cluster_phase = 0;
  Mask cluster_waited = 0;
};

/// Lanes of a warp at a barrier of the block.
struct BarrierArrival {
  std::uint32_t warp = 0; ///< in the block
  Mask lanes = 0;
  Mask live = 0;
  bool waits = true;
};

class Block {
public:
  Block(std::uint64_t cta, std::uint32_t first_warp, std::uint32_t warps, bool lockstep);

  [[nodiscard]] std::uint64_t cta() const { return cta_; }
  [[nodiscard]] Thread thread(std::uint32_t warp, int lane) const { return {cta_, first_warp_ + warp, lane}; }
  [[nodiscard]] bool holds(std::uint32_t grid_warp) const { return grid_warp - first_warp_ < warps_.size(); }
  [[nodiscard]] std::uint32_t first_warp() const { return first_warp_; }
  WarpState& warp(std::uint32_t index) { return warps_[index]; }
  [[nodiscard]] bool lockstep() const { return lockstep_; }

  /// Whether an access of another thread at that time happens before the next one of this thread. The copies of a
  /// thread are another thread's.
  [[nodiscard]] bool knows(std::uint32_t warp, int lane, const Thread& other, Time time, bool copy) const;
  [[nodiscard]] const Clock& known(std::uint32_t warp, int lane) const;
  /// What a thread that synchronises with this one now learns.
  [[nodiscard]] Clock published(std::uint32_t warp, int lane, Time now) const;
  /// A clock learns what these lanes publish.
  void publish(std::uint32_t warp, Mask lanes, Time now, Clock& to) const;
  LaneState& lane(std::uint32_t warp, int lane);
  LaneCopies& copies(std::uint32_t warp, int lane);
  /// The time until which the copies that a lane has started have finished.
  [[nodiscard]] Time copies_done(std::uint32_t warp, int lane, Time now) const;

  /// bar.warp.sync by these lanes.
  void sync_warp(std::uint32_t warp, Mask lanes, Mask live, Time now);
  /// Lanes arrive at a barrier for `threads` threads (0: all), and go on behind it.
  void arrive(const BarrierArrival& arrival, std::uint32_t number, std::uint32_t threads, Time now);
  void leave(std::uint32_t number, std::uint32_t warp, Mask lanes);
  /// These lanes learn something.
  void learn(std::uint32_t warp, Mask lanes, Mask live, const Clock& clock);

private:
  struct Arrived {
    BarrierArrival who;
    Moment at{};
    Clock copies; ///< see running_copies()
  };
  struct Barrier {
    std::vector<Arrived> arrived;
    std::uint32_t threads = 0;
    Time last = 0;
  };
  static constexpr std::uint32_t kBarriers = 16;
  void publish_own(std::uint32_t warp, int lane, Time now, Clock& to) const;
  [[nodiscard]] Moment moment(std::uint32_t warp, Mask lanes, Time now) const;
  /// Which copies of these lanes have finished, if some of them still go on.
  [[nodiscard]] Clock running_copies(std::uint32_t warp, Mask lanes, Moment at) const;
  [[nodiscard]] bool alike() const;
  void complete(Barrier& barrier);
  void complete_all(const Barrier& barrier, Moment at);
  [[nodiscard]] Clock sum_of(const Barrier& barrier) const;

  std::uint64_t cta_;
  std::uint32_t first_warp_;
  bool lockstep_; ///< the lanes of a warp execute an instruction together: before sm_70
  std::vector<WarpState> warps_;
  std::array<Barrier, kBarriers> barriers_;
};

} // namespace warplens::exec::race
