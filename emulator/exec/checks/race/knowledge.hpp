// SPDX-License-Identifier: Apache-2.0
// What a thread knows of the others: until when their accesses happen before its next one.
//
// Racecheck counts time in steps of one clock for the whole emulation, which proceeds at each synchronisation. An
// access has the time at which it happened, and a thread knows of another one, of a warp or of a block "all until time
// t". One number thus stands for a whole block after a barrier, where vector clocks would have a thousand.
//
//   Clock c;  c.learn({who_warp(3), {17, 17}});  c.of_thread({.cta = 0, .warp = 3, .lane = 5}).time   ->  17
//
// What a clock knows of single lanes is kept per warp, in an array that clocks share: where all lanes of a warp arrive
// at an mbarrier, the next clock that learns of it has one number for them again.
//
// Asynchronous copies go on while their thread does other things. `copies` is the time until which the copies that it
// started have finished.
#pragma once

#include "emulator/exec/state/events.hpp"

#include <algorithm>
#include <array>
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
  [[nodiscard]] bool covers(Moment other) const { return time >= other.time && copies >= other.copies; }
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
  using Lanes = std::array<Moment, kWarpSize>;
  /// Of a warp or a block.
  struct Entry {
    Who who = 0;
    Moment until{};
    std::shared_ptr<Lanes> lanes; ///< of a warp: what is known of single lanes besides; may be null
    [[nodiscard]] bool covers(const Entry& other) const;
    void raise(Moment other);
    void raise(std::size_t lane, Moment other);
    void raise(const Entry& other);
    void simplify();
  };
  using Entries = std::vector<Entry>; ///< sorted by `who`
  Entries& own();
  Entry& entry(Who who);
  [[nodiscard]] const Entry* find(Who who) const;
  [[nodiscard]] bool covers(const Clock& other) const;
  std::shared_ptr<Entries> entries_;
};

/// Lets clocks learn from others. Lanes that know the same learn the same: this is done once, and they share the sum.
class Lesson {
public:
  void teach(Clock& clock, const Clock& other);

private:
  Clock before_, other_, after_; ///< of the last time
};

} // namespace warplens::exec::race
