// SPDX-License-Identifier: Apache-2.0
// Detects whether a warp repeats itself. It samples the warp's state at intervals: registers, next instruction, lanes
// and paths. A warp whose states form a cycle only waits for memory to change (Brent, "An improved Monte Carlo
// factorization algorithm", 1980: the kept state is replaced after 1, 2, 4, … looks until it recurs).
//
// A loop that counts, or that reads a clock, is not a repetition. Memory is not part of the state: the caller must
// check whether it changes.
#pragma once

#include "emulator/exec/block/paths.hpp"

#include <span>

namespace warplens::exec {

class Repetition {
public:
  /// Records what a turn used; true if it is time to look. `bytes`: size of the warp's header and register file.
  bool due(std::int64_t used, std::uint32_t bytes) {
    used_ += used;
    return used_ >= kInterval && used_ >= kPerByte * std::int64_t{bytes};
  }
  void look(const Warp& warp, std::uint32_t bytes);
  [[nodiscard]] bool repeats() const { return period_ != 0; }

  /// Whether the warp has only waited or repeated itself since the last call. For a warp that can run, this is known
  /// after another look.
  bool quiet(const Warp& warp);
  [[nodiscard]] bool looked_at(const Warp& warp) const { return looked_ || warp.state != WarpState::ready; }

  std::uint32_t turns = 0; ///< turns that the warp used completely

private:
  // At this interval, looks cost less than one percent; most warps end before the first look that counts.
  static constexpr std::int64_t kInterval = 20'000, kPerByte = 6; // warp instructions
  static constexpr std::uint32_t kFirst = 4;

  std::int64_t used_ = 0;
  std::uint32_t looks_ = 0;                 ///< that did not count
  std::uint64_t kept_ = 0;                  ///< the kept state
  std::uint32_t since_ = 0;                 ///< looks since it was kept, or since it recurred
  std::uint32_t limit_ = 1;                 ///< looks after which another state is kept
  std::uint32_t period_ = 0;                ///< looks between recurrences; 0: it has not recurred
  bool looked_ = false;                     ///< since the last call of quiet() …
  std::uint64_t steps_ = ~std::uint64_t{0}; ///< … and the warp's steps at that call
};

/// A hash of the bytes.
std::uint64_t digest(std::span<const std::byte> bytes, std::uint64_t seed = 0);

} // namespace warplens::exec
