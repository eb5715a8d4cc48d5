// SPDX-License-Identifier: Apache-2.0
// The memory that a program has from CUDA, by address: device, managed, host and registered memory, and the memory of
// modules and arrays. Device addresses are host addresses, so one table serves all.
//
//   CUdeviceptr a = memory.allocate(4096, Allocation::Kind::device, context);
//   memory.find(a + 100)->begin == a;   memory.covers(a, 4096);   memory.free(a, Allocation::Kind::device);
#pragma once

#include "api/session/session.hpp"
#include "runtime/abi/driver.hpp"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <vector>

namespace warplens::runtime {

class Context;
class Shared;

struct Allocation {
  enum class Kind : std::uint8_t { device, managed, host, registered, array, module, pool, virtual_range, imported };
  Kind kind{};
  std::uint64_t begin = 0, size = 0;
  std::uint64_t id = 0;        ///< never reused: CU_POINTER_ATTRIBUTE_BUFFER_ID
  unsigned flags = 0;          ///< as given at creation
  const void* owner = nullptr; ///< its Context, or its pool for pool memory; destroying a context also frees its memory
  std::shared_ptr<api::Buffer> buffer; ///< null: not in the arena
  bool dying = false;                  ///< a stream will free it: no other call may
  std::shared_ptr<Shared> shared = {}; ///< what other processes know of it
  std::shared_ptr<void> mapping = {};  ///< of imported memory: unmaps it when nobody uses it any more
  [[nodiscard]] std::uint64_t end() const { return begin + size; }
};

class Memory {
public:
  /// `limit`: the maximum total size of device memory of all kinds, in bytes.
  Memory(std::shared_ptr<api::Context> api, std::uint64_t limit) : api_(std::move(api)), limit_(limit) {}

  /// Throws Failure: CUDA_ERROR_INVALID_VALUE for a size of zero, CUDA_ERROR_OUT_OF_MEMORY.
  std::uint64_t allocate(std::uint64_t size, Allocation::Kind kind, const void* owner, unsigned flags = 0);
  /// Memory from another source: a module's variable, an array, a range that the program registers.
  void add(Allocation allocation);
  /// False if no allocation of that kind begins at the address.
  bool free(std::uint64_t address, Allocation::Kind kind);
  /// The first half of a stream-ordered free. Empty if no such allocation begins there, or it was already freed.
  std::optional<Allocation> begin_free(std::uint64_t address, Allocation::Kind kind);
  /// Lets other processes map the device memory that contains the address, until it is freed; what they need to know.
  /// Waits until no operation of a stream writes memory, as pages are replaced. Throws Failure:
  /// CUDA_ERROR_INVALID_VALUE if there is none of kind device, CUDA_ERROR_OUT_OF_MEMORY.
  std::shared_ptr<Shared> share(std::uint64_t address);
  /// Held by whoever writes memory on behalf of a stream.
  [[nodiscard]] std::shared_lock<std::shared_mutex> writing() { return std::shared_lock(writing_); }
  /// Frees everything that belongs to the owner.
  void free_all_of(const void* owner);

  /// The allocation that contains the address.
  [[nodiscard]] std::optional<Allocation> find(std::uint64_t address) const;
  /// All allocations that the host can write directly.
  [[nodiscard]] std::vector<Allocation> host_writable() const;
  /// Whether all bytes are in one allocation.
  [[nodiscard]] bool covers(std::uint64_t address, std::uint64_t size) const;
  /// Whether any byte is in an allocation.
  [[nodiscard]] bool overlaps(std::uint64_t address, std::uint64_t size) const;
  /// Whether others can write some memory while a kernel runs: managed, host, registered and shared memory.
  [[nodiscard]] bool others_may_write() const { return written_by_others_.load() != 0; }
  /// Whether a copy of this process would not have a copy of all memory: there may be pages that processes share.
  [[nodiscard]] bool leaves_process() const { return shared_ever_.load() || in_shared_pages_.load() != 0; }
  [[nodiscard]] bool has_room(std::uint64_t size) const; ///< within the limit
  /// Counts device memory that is allocated elsewhere. Throws Failure CUDA_ERROR_OUT_OF_MEMORY.
  void claim(std::uint64_t size);
  void unclaim(std::uint64_t size);
  [[nodiscard]] std::uint64_t used() const; ///< bytes of device memory
  [[nodiscard]] std::uint64_t limit() const { return limit_; }

private:
  std::shared_ptr<Shared> share_unwritten(std::uint64_t address);
  void count(const Allocation& allocation);   ///< mutex_ is held
  void uncount(const Allocation& allocation); ///< mutex_ is held
  std::shared_ptr<api::Context> api_;
  std::uint64_t limit_;
  mutable std::mutex mutex_;
  std::map<std::uint64_t, Allocation> allocations_; ///< by begin
  std::uint64_t used_ = 0, next_id_ = 1;
  std::atomic<std::uint64_t> written_by_others_{0}; ///< number of allocations
  std::atomic<std::uint64_t> in_shared_pages_{0};   ///< number of allocations that may be
  std::atomic<bool> shared_ever_{false};            ///< another process was allowed to map some
  std::shared_mutex writing_;                       ///< taken before mutex_
};

} // namespace warplens::runtime
