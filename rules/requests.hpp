// SPDX-License-Identifier: Apache-2.0
// The lanes of a warp that form one request.
//
//   {.lanes = 16}: lanes 0 to 15, lanes 16 to 31;  {.groups = {0x55555555, 0xaaaaaaaa}}: the even ones, the odd ones
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace warplens::rules {

struct Requests {
  std::uint32_t lanes = 32;            ///< consecutive lanes: a power of two
  std::vector<std::uint32_t> groups{}; ///< a mask for each request; empty: consecutive lanes

  /// Calls `see` with the lane mask of each request.
  template <class See> void for_each(See&& see) const {
    for (const std::uint32_t group : groups) see(group);
    if (!groups.empty()) return;
    for (std::uint32_t first = 0; first < 32; first += lanes)
      see(static_cast<std::uint32_t>(((std::uint64_t{1} << lanes) - 1) << first));
  }
  [[nodiscard]] std::uint32_t count() const {
    return groups.empty() ? 32 / lanes : static_cast<std::uint32_t>(groups.size());
  }
  friend bool operator==(const Requests&, const Requests&) = default;
};

/// "warp", "half-warp", "quarter-warp", "group of 4 lanes", "group of lanes".
std::string to_string(const Requests& requests);

/// The accesses that a table of words applies to. Atomics without a table are served like stores, and all accesses
/// without a table like loads.
enum class Served : std::uint8_t { load, store, atomic, vector };
constexpr std::size_t kServed = 4;

} // namespace warplens::rules
