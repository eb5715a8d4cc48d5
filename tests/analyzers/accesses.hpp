// SPDX-License-Identifier: Apache-2.0
// Hand-written warp accesses for the tests, classified as in the emulator.
//
//   WarpAccess a(0xffffffff, 4, [](int lane) { return 128 + 8 * lane; });
//   shard.access(a.event(exec::AccessKind::load, isa::Space::global));
#pragma once

#include "emulator/exec/state/events.hpp"

#include <array>
#include <bit>
#include <fstream>
#include <string>
#include <vector>

namespace warplens::testing {

struct WarpAccess {
  std::array<std::uint64_t, exec::kWarpSize> addresses{};
  exec::Mask mask = 0;
  std::uint16_t lane_bytes = 4;

  WarpAccess() = default;
  template <class Address>
  WarpAccess(exec::Mask lanes, std::uint16_t bytes, Address&& address) : mask(lanes), lane_bytes(bytes) {
    for (int lane = 0; lane < exec::kWarpSize; ++lane)
      if (mask >> lane & 1) addresses[static_cast<std::size_t>(lane)] = static_cast<std::uint64_t>(address(lane));
  }

  [[nodiscard]] exec::Access event(exec::AccessKind kind, isa::Space space, std::uint32_t instruction = 0,
                                   std::uint64_t count = 1) const {
    exec::Access access{.instruction = instruction,
                        .space = space,
                        .kind = kind,
                        .shape = exec::Shape::irregular,
                        .lane_bytes = lane_bytes,
                        .mask = mask,
                        .stride = 0,
                        .addresses = addresses.data(),
                        .count = count};
    const int first = std::countr_zero(mask);
    const exec::Mask others = mask & (mask - 1);
    const std::uint64_t base = addresses[static_cast<std::size_t>(first)];
    std::int64_t stride = 0;
    if (others) {
      const int second = std::countr_zero(others);
      const auto distance = static_cast<std::int64_t>(addresses[static_cast<std::size_t>(second)] - base);
      if (distance % (second - first) != 0) return access;
      stride = distance / (second - first);
    }
    for (int lane = 0; lane < exec::kWarpSize; ++lane)
      if ((mask >> lane & 1) &&
          addresses[static_cast<std::size_t>(lane)] !=
              base + static_cast<std::uint64_t>(stride) * static_cast<std::uint64_t>(lane - first))
        return access;
    access.stride = stride;
    access.shape = stride == 0            ? exec::Shape::broadcast
                   : stride == lane_bytes ? exec::Shape::contiguous
                                          : exec::Shape::strided;
    return access;
  }
};

/// A line of tests/data/vectors/h200_accesses.txt.
struct MeasuredAccess {
  std::string operation; ///< shared_ld, global_atom, …
  WarpAccess access;
  std::uint32_t first = 0, second = 0; ///< wavefronts and conflicts, or requests and sectors
};

inline std::vector<MeasuredAccess> measured_accesses() {
  std::ifstream file(WARPLENS_SOURCE_DIR "/tests/data/vectors/h200_accesses.txt");
  std::vector<MeasuredAccess> result;
  std::string line;
  while (file.peek() == '#') std::getline(file, line);
  MeasuredAccess one;
  while (file >> one.operation >> one.access.lane_bytes >> one.access.mask) {
    for (std::uint64_t& address : one.access.addresses) file >> address;
    file >> one.first >> one.second;
    result.push_back(one);
  }
  return result;
}

} // namespace warplens::testing
