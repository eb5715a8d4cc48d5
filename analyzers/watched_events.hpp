// SPDX-License-Identifier: Apache-2.0
// Which events an analyzer receives, as analyzers/analyzers.def states it.
//
//   accesses(Space::constant, Space::param)
#pragma once

#include "emulator/isa/types.hpp"

#include <cstdint>

namespace warplens::analyzers {

/// The events that a watcher receives.
struct Events {
  std::uint32_t spaces = 0; ///< of accesses, by bit
  bool by_rules = false;    ///< counts global and shared memory under rules that may need each access separately
  bool branch = false, barrier = false, product = false, bulk_copy = false, lane_copy = false, async = false;
  bool special = false;
  bool ends = false; ///< of blocks

  [[nodiscard]] constexpr bool in(isa::Space space) const { return (spaces >> static_cast<unsigned>(space) & 1) != 0; }
  [[nodiscard]] constexpr Events counted_by_rules() const {
    Events also = *this;
    also.by_rules = true;
    return also;
  }
  [[nodiscard]] constexpr Events with_lane_copies() const {
    Events also = *this;
    also.lane_copy = true;
    return also;
  }
};
template <class... S> constexpr Events accesses(S... spaces) {
  return {.spaces = ((1u << static_cast<unsigned>(spaces)) | ...)};
}
constexpr Events branches() { return {.branch = true}; }
constexpr Events barriers_and_ends() { return {.barrier = true, .ends = true}; }
constexpr Events products() { return {.product = true}; }
constexpr Events special_events() { return {.special = true}; }
constexpr Events bulk_copies() { return {.bulk_copy = true}; }
constexpr Events lane_copies() { return {.lane_copy = true}; }
constexpr Events async_steps_and_ends() { return {.async = true, .ends = true}; }

} // namespace warplens::analyzers
