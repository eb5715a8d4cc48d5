// SPDX-License-Identifier: Apache-2.0
// What a thread knows of the others: until when their accesses happen before its next one.
//
// Racecheck counts time in steps of one clock for the whole emulation, which proceeds at each synchronisation. An
// access has the time at which it happened, and a thread knows of another one, of a warp or of a block "all until time
// t". One number thus stands for a whole block after a barrier, where vector clocks would have a thousand.
//
//   Clock c;  c.learn({who_warp(3), {17, 17}});  c.of_thread({.cta = 0, .warp = 3, .lane = 5}).time   ->  17
//
// Asynchronous copies go on while their thread does other things. `copies` is the time until which the copies that it
// started have finished.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

namespace warplens::exec::race {

/// 0: before everything.
using Time = std::uint32_t;

struct Moment {
  Time time = 0, copies = 0;
  void raise(Moment other) {
    time = std::max(time, other.time);
    copies = std::max(copies, other.copies);
  }
  friend bool operator==(const Moment&, const Moment&) = default;
};

/// A thread; warps are numbered through the grid.
struct Thread {
  std::uint64_t cta = 0;
  std::uint32_t warp = 0;
  int lane = 0;
};

/// A thread, a warp or a block.
using Who = std::uint64_t;
constexpr Who who_thread(std::uint32_t warp, int lane) { return Who{warp} << 5 | static_cast<unsigned>(lane); }
constexpr Who who_warp(std::uint32_t warp) { return Who{1} << 48 | warp; }
constexpr Who who_cta(std::uint64_t cta) { return Who{2} << 48 | cta; }

struct Known {
  Who who = 0;
  Moment until{};
};

/// Cheap to copy: copies share their entries until one of them learns more.
class Clock {
public:
  [[nodiscard]] bool empty() const { return !entries_; }
  /// Whether both are copies of the same; false does not say that they differ.
  [[nodiscard]] bool same(const Clock& other) const { return entries_ == other.entries_; }
  void learn(const Known& known);
  void learn(const Clock& other);
  [[nodiscard]] Moment of(Who who) const;
  [[nodiscard]] Moment of_thread(const Thread& thread) const;
  void clear() { entries_.reset(); }

private:
  using Entries = std::vector<Known>; ///< sorted by `who`
  Entries& own();
  [[nodiscard]] bool covers(const Clock& other) const;
  std::shared_ptr<Entries> entries_;
};

} // namespace warplens::exec::race
