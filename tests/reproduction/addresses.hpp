// SPDX-License-Identifier: Apache-2.0
// The addresses of the lanes of a warp, for rules of coalescing and of banks:
//
//   const Addresses column = addresses([](std::uint64_t lane) { return 16384 * lane; });
#pragma once

#include <array>
#include <cstdint>

namespace warplens::reproduction {

using Addresses = std::array<std::uint64_t, 32>;

template <class Address> Addresses addresses(Address address) {
  Addresses list{};
  for (std::uint64_t lane = 0; lane < 32; ++lane) list[lane] = address(lane);
  return list;
}

} // namespace warplens::reproduction
