// Streams: queues of operations that one thread each performs in order.
//
//   stream.submit(KernelLaunch{…});      returns at once; started when what came before it has ended
//   stream.run(Copy{…});                 returns when it has ended
//   stream.synchronize();
//
// The legacy default stream waits for all blocking streams of its context, and they for it (CUDA C++ Programming Guide,
// "Default Stream"); non-blocking streams wait for nobody. Submissions of a context are numbered under one lock, so
// that waiting has no cycles. A stream's thread starts with the first operation that somebody does not wait for.
//
// What is submitted to a stream that is being captured goes to its Capture instead. An operation is a value, so that a
// graph can keep it, show it, change it and perform it again with perform().
#pragma once

#include "runtime/driver/machine/operation.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace warplens::runtime {

class Context;

/// Takes what would have been done by a stream while it is captured.
class Capture {
public:
  Capture() { ++count; }
  virtual ~Capture() { --count; }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  virtual void add(Stream& stream, Operation operation) = 0;
  /// The program asks for what a captured stream cannot do. Throws Failure.
  [[noreturn]] virtual void refuse(CUresult code) = 0;
  inline static std::atomic<int> count{0}; ///< of those that there are now
};

class Stream : public std::enable_shared_from_this<Stream> {
public:
  enum class Kind : std::uint8_t { legacy, per_thread, blocking, non_blocking };
  Stream(Context& context, Kind kind, int priority);

  void submit(Operation operation);
  /// Not captured: throws Failure when the stream is.
  void run(Operation operation);
  /// Until all that was submitted so far, and all that the stream waits for, has ended. Throws Failure when captured.
  void synchronize();
  /// All that was submitted so far, and all that the stream would wait for, has ended.
  [[nodiscard]] bool idle() const;

  [[nodiscard]] Context& context() const { return context_; }
  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] int priority() const { return priority_; }
  [[nodiscard]] std::uint64_t id() const { return id_; }

  /// What cuStreamSetAttribute set; zeros otherwise.
  [[nodiscard]] CUstreamAttrValue attribute(CUstreamAttrID id) const;
  void set_attribute(CUstreamAttrID id, const CUstreamAttrValue& value);

  /// Null: not being captured.
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
  };

  void refuse_captured(CUresult code) const;
  [[nodiscard]] std::vector<Dependency> dependencies() const; ///< order_ of the context is held
  void wait_for(std::uint64_t number) const;
  void enqueue(Item item);
  void work();
  void execute(Item& item);
  std::optional<Item> next();

  Context& context_;
  Kind kind_;
  int priority_;
  std::uint64_t id_;
  std::shared_ptr<Capture> capture_;
  std::atomic<bool> captured_{false};
  std::atomic<std::uint64_t> submitted_{0}; ///< changed under order_ of the context only
  std::atomic<std::uint64_t> finished_{0};

  mutable std::mutex mutex_;
  std::map<CUstreamAttrID, CUstreamAttrValue> attributes_;
  std::condition_variable wake_;
  std::deque<Item> queue_;
  std::atomic<std::uint64_t> queued_{0};
  bool thread_started_ = false;
};

} // namespace warplens::runtime
