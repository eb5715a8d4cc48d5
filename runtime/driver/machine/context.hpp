// SPDX-License-Identifier: Apache-2.0
// A context: the streams, limits and error state of one user of the device; and the calling thread's stack of contexts.
//
//   push_context(context);   current_context().legacy_stream().submit(…);   current_context().synchronize();
//
// A kernel that fails leaves a fault in its context, which every later call returns until the context is destroyed. A
// destroyed context can still be pushed, and returns CUDA_ERROR_CONTEXT_IS_DESTROYED; its handle stays known forever.
#pragma once

#include "runtime/driver/machine/stream.hpp"

#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace warplens::runtime {

class Context : public std::enable_shared_from_this<Context> {
public:
  explicit Context(unsigned flags);

  /// The two kinds of default stream. The second belongs to the calling thread.
  Stream& legacy_stream() { return *legacy_; }
  Stream& per_thread_stream();
  std::shared_ptr<Stream> create_stream(bool blocking, int priority);
  /// Whether the program has created streams.
  [[nodiscard]] bool has_streams() const;
  /// Whether no work is pending.
  [[nodiscard]] bool idle() const;
  /// Waits for all work submitted so far to any stream, and writes the output of kernels. Returns the fault, if any.
  CUresult synchronize();

  [[nodiscard]] CUresult fault() const { return fault_.load(std::memory_order_acquire); }
  /// The same, as the answer to a call of the program: if there is one, racecheck learns that the program knows of it,
  /// and therefore that nothing runs in this context any more.
  [[nodiscard]] CUresult told_fault() const;
  void set_fault(CUresult code);

  /// Buffers the output of kernels until CUDA would write it to stdout: at launches and synchronizations.
  void add_printed(const std::string& text);
  void flush_printed();

  /// Ends the context: waits for its work, then releases its streams and memory.
  void destroy();
  [[nodiscard]] bool destroyed() const { return fault() == CUDA_ERROR_CONTEXT_IS_DESTROYED; }
  /// Starts again, as the primary context does. Keeps nothing.
  void revive(unsigned context_flags);
  [[nodiscard]] std::uint64_t id() const { return id_; }

  /// As the program has set it, also while kernels run; nothing: the limit has its default.
  [[nodiscard]] std::optional<std::size_t> limit(CUlimit which) const;
  void set_limit(CUlimit which, std::size_t value);

  std::atomic<unsigned> flags{0};
  std::atomic<unsigned> uses{1}; ///< by cuCtxAttach() and cuCtxDetach()
  std::atomic<CUfunc_cache> cache_config{CU_FUNC_CACHE_PREFER_NONE};
  std::atomic<CUsharedconfig> shared_config{CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE};

private:
  friend class Stream;
  std::vector<std::shared_ptr<Stream>> streams() const;

  std::uint64_t id_;
  std::atomic<CUresult> fault_{CUDA_SUCCESS};
  mutable std::mutex order_; ///< protects submissions: see Stream
  std::vector<std::weak_ptr<Stream>> all_;
  std::shared_ptr<Stream> legacy_;
  std::map<std::uint64_t, std::shared_ptr<Stream>> per_thread_; ///< by thread
  mutable std::mutex limits_mutex_;
  std::map<CUlimit, std::size_t> limits_;
  std::mutex printed_mutex_;
  std::string printed_;
};

/// The calling thread's current context. Throws Failure if there is none, or it was destroyed.
Context& current_context();
/// Null if there is none.
std::shared_ptr<Context> current_context_or_null();
void push_context(std::shared_ptr<Context> context);
/// The context that was on top; null if the stack was empty.
std::shared_ptr<Context> pop_context();
/// Replaces the top; null removes the top.
void set_current_context(std::shared_ptr<Context> context);

} // namespace warplens::runtime
