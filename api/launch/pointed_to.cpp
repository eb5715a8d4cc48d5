// SPDX-License-Identifier: Apache-2.0
#include "api/launch/pointed_to.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <set>

namespace warplens::api {

PointedTo pointed_to(const exec::Launch& launch) {
  std::set<std::uint64_t> seen;
  PointedTo result;
  for (std::size_t at = 0; at + sizeof(std::uint64_t) <= launch.params.size(); at += sizeof(std::uint64_t)) {
    std::uint64_t value = 0;
    std::memcpy(&value, &launch.params[at], sizeof value);
    const auto& all = launch.allocations; // by address
    const auto after =
        std::upper_bound(all.begin(), all.end(), value, [](std::uint64_t v, const auto& a) { return v < a.begin; });
    if (after == all.begin()) continue;
    const exec::Allocation& one = *std::prev(after);
    if (value >= one.end || !seen.insert(one.begin).second) continue;
    result.bytes += one.size();
    if (one.host) result.host_bytes += one.size();
  }
  return result;
}

} // namespace warplens::api
