// SPDX-License-Identifier: Apache-2.0
// The requests of kernels that launch kernels themselves (CUDA C++ Programming Guide, "CUDA Dynamic Parallelism"):
// launches, copies and fills. They are collected while the grid runs. After the grid has ended, the caller executes
// them in this order, which is valid for the streams and events of all its blocks:
//
//   DeviceRuntime runtime{.depth = 0};  Launch launch{…, .device_runtime = &runtime};  run(launch);
//   runtime.in_order, and when all of these have ended: runtime.tail
//
// Not thread-safe: a grid that uses it runs its CTAs one after the other.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <variant>
#include <vector>

namespace warplens::exec {

class Heap;

struct DeviceLaunch {
  std::uint32_t kernel = 0; ///< index into the module's functions
  std::array<std::uint32_t, 3> grid{}, block{};
  std::uint64_t shared_bytes = 0;      ///< dynamic
  std::vector<std::byte> parameters{}; ///< laid out by parameter_layout()
};
struct DeviceCopy {
  std::uint64_t to = 0, from = 0, bytes = 0;
};
struct DeviceFill {
  std::uint64_t to = 0, bytes = 0;
  std::byte value{};
};
using DeviceOperation = std::variant<DeviceLaunch, DeviceCopy, DeviceFill>;

struct DeviceRuntime {
  static constexpr unsigned kMostDepth = 24; ///< nesting depth of launches below the host's

  unsigned depth = 0; ///< of the launching grid; grids launched by the host have 0
  std::vector<DeviceOperation> in_order = {};
  std::vector<DeviceOperation> tail = {}; ///< in cudaStreamTailLaunch

  std::map<std::uint64_t, DeviceLaunch> buffers = {}; ///< not yet launched, by address of the parameter buffer
  std::uint64_t handles = 0;                          ///< number of streams and events created
  std::map<std::pair<std::uint64_t, std::uint32_t>, int> errors = {}; ///< the last error, by CTA and thread
  std::map<const char*, std::uint64_t> texts = {};                    ///< of errors: copies on the heap

  /// Frees the heap memory that only the grid itself could use. Call it after the grid has ended.
  void clear(Heap& heap);
};

} // namespace warplens::exec
