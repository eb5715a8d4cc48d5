// SPDX-License-Identifier: Apache-2.0
// How large the allocations are that the arguments of a launch point into, regardless of their declared types.
//
//   pointed_to(launch).host_bytes          // of zerocopy: all of them
#pragma once

#include "emulator/exec/state/launch.hpp"

#include <cstdint>

namespace warplens::api {

struct PointedTo {
  std::uint64_t bytes = 0;
  std::uint64_t host_bytes = 0; ///< those in memory of the host
};

PointedTo pointed_to(const exec::Launch& launch);

} // namespace warplens::api
