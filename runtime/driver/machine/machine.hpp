// SPDX-License-Identifier: Apache-2.0
// The emulated machine: one device, the memory of the kernels, and all objects that a program holds by handle.
//
//   Machine& machine = Machine::instance();   machine.initialise();   machine.device().name
//
// cuInit() creates it, and it is never destroyed: threads may still use it at process exit. A child of fork() finds it
// as with CUDA: not initialized, and unusable if the parent has used it.
#pragma once

#include "api/launch/launch.hpp"
#include "runtime/driver/machine/context.hpp"
#include "runtime/driver/machine/contexts.hpp"
#include "runtime/driver/machine/memory.hpp"
#include "runtime/driver/machine/registry.hpp"

#include <atomic>

namespace warplens::runtime {

class Event;
class Function;
class Kernel;
class Library;
class Module;
class Pool;

class Machine {
public:
  static Machine& instance();

  /// Implements cuInit(). Errors: an unknown device in WARPLENS_DEVICE, no address space for device memory.
  CUresult initialise();
  [[nodiscard]] bool initialised() const;
  /// Waits until all contexts are idle, for ten seconds at most; returns whether they are.
  bool finish_work();

  /// Set by initialise():
  [[nodiscard]] const model::Device& device() const { return device_; }
  [[nodiscard]] const std::shared_ptr<api::Context>& api() const { return api_; } ///< the arena, textures, heap
  Memory& memory() { return *memory_; }
  [[nodiscard]] std::uint64_t total_memory() const { return total_memory_; } ///< bytes that programs can allocate

  /// The primary context: created when first retained; destroyed by as many releases, or by a reset; revived by the
  /// next use.
  std::shared_ptr<Context> retain_primary();
  void release_primary();
  void reset_primary();
  void set_primary_flags(unsigned flags) { primary_flags_ = flags; }
  [[nodiscard]] unsigned primary_flags() const { return primary_flags_; }
  std::shared_ptr<Context> primary() const;                    ///< null: not active
  [[nodiscard]] bool is_primary(const Context& context) const; ///< active or not

  /// The pool of cuMemAllocAsync; the default pool unless the program sets another.
  [[nodiscard]] std::shared_ptr<Pool> default_pool() const { return default_pool_; }
  [[nodiscard]] std::shared_ptr<Pool> current_pool() const;
  void set_current_pool(std::shared_ptr<Pool> pool);

  /// Ends a context and releases everything that belongs to it.
  void destroy_context(const std::shared_ptr<Context>& context);

  Contexts contexts;
  Registry<Stream, CUstream> streams;
  Registry<Event, CUevent> events;
  Registry<Module, CUmodule> modules;
  Registry<Function, CUfunction> functions;
  Registry<Library, CUlibrary> libraries;
  Registry<Kernel, CUkernel> kernels;
  Registry<Pool, CUmemoryPool> pools;

private:
  Machine() = default;
  mutable std::mutex mutex_;
  std::atomic<int> process_{0}; ///< the process that called initialise(); 0: none
  model::Device device_;
  std::shared_ptr<api::Context> api_;
  std::unique_ptr<Memory> memory_;
  std::uint64_t total_memory_ = 0;
  std::shared_ptr<Context> primary_;
  std::shared_ptr<Pool> default_pool_, current_pool_;
  unsigned primary_uses_ = 0;
  std::atomic<unsigned> primary_flags_ = 0;
};

/// The only device.
constexpr CUdevice kDevice = 0;

} // namespace warplens::runtime
