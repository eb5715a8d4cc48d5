// What a stream can do, as values: launches, copies, fills, calls of the host, events. perform() does one of them, in
// the thread that calls it.
#pragma once

#include "api/launch/launch.hpp"
#include "runtime/abi/driver.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <variant>

namespace warplens::runtime {

class Context;
class Function;
class Pool;
class Stream;

struct KernelLaunch {
  std::shared_ptr<Function> function = {};
  api::Extent grid{1, 1, 1};  ///< blocks
  api::Extent block{1, 1, 1}; ///< threads
  std::optional<api::Extent> cluster = {};
  std::uint64_t shared_bytes = 0; ///< dynamic
  bool cooperative = false;
  std::vector<std::byte> parameters = {}; ///< laid out as the kernel's parameter space
};

/// A box of bytes; arrays are memory too (their rows lie at a pitch).
struct Box {
  std::uint64_t address = 0; ///< of the first byte
  std::uint64_t pitch = 0;   ///< from row to row, bytes
  std::uint64_t slice = 0;   ///< from slice to slice, bytes
};

struct Copy {
  Box from, to;
  std::uint64_t width = 0; ///< bytes of a row
  std::uint64_t rows = 1, slices = 1;
  std::shared_ptr<const std::vector<std::byte>> staged =
      {}; ///< keeps what pageable memory held when the copy was asked for
};

struct Fill {
  Box to;
  std::uint32_t value = 0;
  std::uint32_t element = 1; ///< bytes: 1, 2, 4
  std::uint64_t width = 0;   ///< elements of a row
  std::uint64_t rows = 1;
};

/// cuLaunchHostFunc: not called when the context has a fault.
struct HostCall {
  CUhostFn function = nullptr;
  void* data = nullptr;
};

/// cuStreamAddCallback: called in any case.
struct StreamCallback {
  CUstreamCallback function = nullptr;
  CUstream stream = nullptr; ///< as the program named it
  void* data = nullptr;
};

/// A point that a stream reaches: what an event refers to after it was recorded.
struct Mark {
  std::atomic<bool> reached{false};
  std::chrono::steady_clock::time_point when;
  void reach() {
    when = std::chrono::steady_clock::now();
    reached.store(true, std::memory_order_release);
    reached.notify_all();
  }
  void wait() const { reached.wait(false, std::memory_order_acquire); }
};

struct EventRecord {
  CUevent event = nullptr; ///< whose it is; for graphs, which record it anew
  std::shared_ptr<Mark> mark;
};

struct EventWait {
  CUevent event = nullptr;
  std::shared_ptr<Mark> mark; ///< null: the event was never recorded; nothing to wait for
};

/// cuMemAllocAsync: the memory is there already; for graphs, which allocate it anew.
struct PoolAllocation {
  CUdeviceptr address = 0;
  std::size_t bytes = 0;
  std::shared_ptr<Pool> pool;
};

/// cuMemFreeAsync, after Memory::begin_free().
struct PoolFree {
  CUdeviceptr address = 0;
};

/// What has no words of its own: work that graphs cannot show.
struct Work {
  std::function<void()> function;
};

using Operation = std::variant<KernelLaunch, Copy, Fill, HostCall, StreamCallback, EventRecord, EventWait,
                               PoolAllocation, PoolFree, Work>;

/// Does it now. In a context with a fault only marks are reached and stream callbacks called.
void perform(const Operation& operation, Context& context);

} // namespace warplens::runtime
