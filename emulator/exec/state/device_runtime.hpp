// What kernels ask of the driver when they launch kernels themselves (CUDA C++ Programming Guide, "CUDA Dynamic
// Parallelism"): launches, copies and fills. They are collected while the grid runs; whoever ran it does them when it
// has ended, in this order, which is one that the streams and events of all its blocks allow:
//
//   DeviceRuntime runtime{.depth = 0};  Launch launch{…, .device_runtime = &runtime};  run(launch);
//   runtime.in_order, and when all of those have ended: runtime.tail
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
  std::uint32_t kernel = 0; ///< of the module's functions
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
  static constexpr unsigned kMostDepth = 24; ///< grids launched by grids launched by … the host's

  unsigned depth = 0; ///< of the grid that asks; the host's have 0
  std::vector<DeviceOperation> in_order = {};
  std::vector<DeviceOperation> tail = {}; ///< in cudaStreamTailLaunch

  std::map<std::uint64_t, DeviceLaunch> buffers = {}; ///< by the address of the parameter buffer: not yet launched
  std::uint64_t handles = 0;                          ///< streams and events made
  std::map<std::pair<std::uint64_t, std::uint32_t>, int> errors = {}; ///< the last one, by CTA and thread
  std::map<const char*, std::uint64_t> texts = {};                    ///< of errors: copies on the heap

  /// Gives the heap back what only the grid itself could use, after it has ended.
  void clear(Heap& heap);
};

} // namespace warplens::exec
