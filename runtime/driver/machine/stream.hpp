// SPDX-License-Identifier: Apache-2.0
// Streams: queues of operations. One thread per stream performs them in order.
//
//   stream.submit(KernelLaunch{…});      returns at once; starts when the earlier operations have completed
//   stream.run(Copy{…});                 returns when the operation has completed
//   stream.synchronize();
//
// The legacy default stream waits for all blocking streams of its context, and they for it (CUDA C++ Programming Guide,
// "Default Stream"); non-blocking streams wait for no other stream. Submissions of a context are numbered under one
// lock, so that waits have no cycles. A stream's thread starts with the first asynchronous operation.
//
// Operations submitted to a captured stream go to its Capture instead. An operation is a value, so that a graph can
// store, return, change and repeat it with perform().
#pragma once

#include "runtime/driver/machine/operation.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

namespace warplens::runtime {

class Context;

/// Receives the operations of a stream while it is captured.
class Capture {
public:
  Capture() { ++count; }
  virtual ~Capture() { --count; }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  virtual void add(Stream& stream, Operation operation) = 0;
  /// Rejects a call that a captured stream does not allow. Throws Failure.
  [[noreturn]] virtual void refuse(CUresult code) = 0;
  inline static std::atomic<int> count{0}; ///< number of existing captures
};

class Stream : public std::enable_shared_from_this<Stream> {
public:
  enum class Kind : std::uint8_t { legacy, per_thread, blocking, non_blocking };
  Stream(Context& context, Kind kind, int priority);

  void submit(Operation operation);
  /// Throws Failure if the stream is captured. `host_waits`: the call does not return before the operation has ended,
  /// whatever the stream has done before; otherwise the program cannot rely on it.
  void run(Operation operation, bool host_waits = false);
  /// Waits for all work submitted so far, including the work that the stream waits for. Throws Failure if captured.
  void synchronize();
  /// Whether all work submitted so far, including the work that the stream would wait for, has completed.
  [[nodiscard]] bool idle() const;

  [[nodiscard]] Context& context() const { return context_; }
  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] int priority() const { return priority_; }
  [[nodiscard]] std::uint64_t id() const { return id_; }
  /// The streams whose work submitted so far the next operation waits for.
  [[nodiscard]] std::set<std::uint64_t> waits_for() const;

  /// The value from cuStreamSetAttribute; zeros otherwise.
  [[nodiscard]] CUstreamAttrValue attribute(CUstreamAttrID id) const;
  void set_attribute(CUstreamAttrID id, const CUstreamAttrValue& value);

  /// Null if not captured.
  [[nodiscard]] std::shared_ptr<Capture> capture() const;
  void set_capture(std::shared_ptr<Capture> capture);

private:
  friend class Context;
  struct Dependency {
    std::shared_ptr<Stream> stream;
    std::uint64_t number;
  };
  struct Item {
    std::uint64_t number = 0;
    std::vector<Dependency> after;
    Operation operation;
    std::optional<std::size_t> logged = {}; ///< index in the log of operations
  };

  void refuse_captured(CUresult code) const;
  [[nodiscard]] std::vector<Dependency> dependencies() const;  ///< requires order_ of the context
  [[nodiscard]] std::set<std::uint64_t> waits_for_now() const; ///< requires order_ of the context
  void log(Item& item) const;                                  ///< requires order_ of the context
  void wait_for(std::uint64_t number) const;
  void enqueue(Item item);
  void work();
  void execute(Item& item);
  void run_in_order(Operation operation);
  std::optional<Item> next();

  Context& context_;
  Kind kind_;
  int priority_;
  std::uint64_t id_;
  std::shared_ptr<Capture> capture_;
  std::atomic<bool> captured_{false};
  std::atomic<std::uint64_t> submitted_{0}; ///< changed only under order_ of the context
  std::atomic<std::uint64_t> finished_{0};

  mutable std::mutex mutex_;
  std::map<CUstreamAttrID, CUstreamAttrValue> attributes_;
  std::condition_variable wake_;
  std::deque<Item> queue_;
  std::atomic<std::uint64_t> queued_{0};
  bool thread_started_ = false;
};

} // namespace warplens::runtime
