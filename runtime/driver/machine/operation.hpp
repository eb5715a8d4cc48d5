// SPDX-License-Identifier: Apache-2.0
// The operations of a stream, as values: launches, copies, fills, host function calls, events. perform() runs one of
// them in the calling thread.
#pragma once

#include "api/launch/launch.hpp"
#include "runtime/abi/driver.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <variant>

namespace warplens::runtime {

class Context;
class Function;
class Pool;
class Shared;
class Stream;

struct KernelLaunch {
  std::shared_ptr<Function> function = {};
  api::Extent grid{1, 1, 1};  ///< blocks
  api::Extent block{1, 1, 1}; ///< threads
  std::optional<api::Extent> cluster = {};
  std::uint64_t shared_bytes = 0; ///< dynamic
  bool cooperative = false;
  std::vector<std::byte> parameters = {};                      ///< laid out as the kernel's parameter space
  std::uint64_t stream = 0;                                    ///< Stream::id(), for reports; 0: of a graph
  std::shared_ptr<const api::Sanitizer::Checked> checked = {}; ///< with tools: where the program made the launch
};

/// A box of bytes; arrays are also memory (their rows have a pitch).
struct Box {
  std::uint64_t address = 0; ///< the first byte
  std::uint64_t pitch = 0;   ///< between rows, bytes
  std::uint64_t slice = 0;   ///< between slices, bytes
};

struct Copy {
  Box from, to;
  std::uint64_t width = 0; ///< bytes per row
  std::uint64_t rows = 1, slices = 1;
  std::shared_ptr<const std::vector<std::byte>> staged =
      {}; ///< the contents of pageable memory when the copy was requested
};

struct Fill {
  Box to;
  std::uint32_t value = 0;
  std::uint32_t element = 1; ///< bytes: 1, 2, 4
  std::uint64_t width = 0;   ///< elements per row
  std::uint64_t rows = 1;
};

/// cuLaunchHostFunc: not called if the context has a fault.
struct HostCall {
  CUhostFn function = nullptr;
  void* data = nullptr;
};

/// cuStreamAddCallback: always called.
struct StreamCallback {
  CUstreamCallback function = nullptr;
  CUstream stream = nullptr; ///< as given by the program
  void* data = nullptr;
};

/// A record of an event that other processes wait for, or that another process has made.
struct SharedRecord {
  std::shared_ptr<Shared> event;
  std::uint64_t number = 0;
  void reach() const;
  [[nodiscard]] bool is_reached() const;
  void wait() const;
};

/// A point in a stream: the target of an event after it was recorded.
struct Mark {
  std::atomic<bool> reached{false};
  std::chrono::steady_clock::time_point when;
  std::optional<SharedRecord> shared = {};
  void reach() {
    when = std::chrono::steady_clock::now();
    reached.store(true, std::memory_order_release);
    reached.notify_all();
    if (shared) shared->reach();
  }
  [[nodiscard]] bool is_reached() const {
    return shared ? shared->is_reached() : reached.load(std::memory_order_acquire);
  }
  void wait() const {
    if (shared) return shared->wait();
    reached.wait(false, std::memory_order_acquire);
  }
};

struct EventRecord {
  CUevent event = nullptr; ///< the event, for graphs, which record it again
  std::shared_ptr<Mark> mark;
};

struct EventWait {
  CUevent event = nullptr;
  std::shared_ptr<Mark> mark; ///< null: the event was never recorded; no wait
};

/// cuMemAllocAsync: the memory already exists; for graphs, which allocate it again.
struct PoolAllocation {
  CUdeviceptr address = 0;
  std::size_t bytes = 0;
  std::shared_ptr<Pool> pool;
};

/// cuMemFreeAsync, after Memory::begin_free().
struct PoolFree {
  CUdeviceptr address = 0;
};

/// Work without a type of its own, which graphs cannot represent.
struct Work {
  std::function<void()> function;
};

using Operation = std::variant<KernelLaunch, Copy, Fill, HostCall, StreamCallback, EventRecord, EventWait,
                               PoolAllocation, PoolFree, Work>;

/// Runs the operation now. In a context with a fault, it only reaches marks and calls stream callbacks.
void perform(const Operation& operation, Context& context);

} // namespace warplens::runtime
