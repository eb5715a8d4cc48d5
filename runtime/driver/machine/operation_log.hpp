// SPDX-License-Identifier: Apache-2.0
// The operations that a program submits, and which earlier ones each waits for: those before it in its stream, in the
// streams that it implicitly waits for, before the events that it waits for, and those that the host had waited for.
// api/report/timeline.hpp makes the timeline of a report of it.
//
//   if (OperationLog* log = operation_log()) number = log->submit(stream, operation);
//
// A frontier is what an operation waits for: in each stream, the last steps. Those before them have ended, too. The
// nodes of a graph are one step of their stream.
#pragma once

#include "api/report/timeline.hpp"
#include "runtime/driver/machine/operation.hpp"

#include <map>
#include <mutex>
#include <set>
#include <vector>

namespace warplens::runtime {

class OperationLog {
public:
  using StreamId = std::uint64_t;

  /// `after`: streams that the operation implicitly waits for. Returns the index of the operation; none for one that
  /// takes no time, such as a record of an event, and beyond the limit timeline-operations.
  std::optional<std::size_t> submit(StreamId stream, const std::set<StreamId>& after, const Operation& operation);
  /// The host has waited for a stream and the streams that this waits for, or for the mark of an event.
  void synchronized(StreamId stream, const std::set<StreamId>& after);
  void synchronized(const Mark* mark);

  /// A launch of a graph: until it ends, the edges of the graph order what is submitted to the stream by this thread.
  class GraphLaunch {
  public:
    GraphLaunch(OperationLog& log, StreamId stream, const std::set<StreamId>& after);
    ~GraphLaunch();
    GraphLaunch(const GraphLaunch&) = delete;
    GraphLaunch& operator=(const GraphLaunch&) = delete;
    /// What is submitted from now on belongs to this node, which waits for the others.
    void begin(const void* node, const std::vector<const void*>& after);
    void end(const void* node);

  private:
    friend class OperationLog;
    using Ends = std::set<std::size_t>; ///< operations
    OperationLog& log_;
    StreamId stream_;
    Ends base_;                        ///< what nodes without predecessors wait for
    std::map<const void*, Ends> ends_; ///< what whoever waits for a node waits for
    Ends current_;                     ///< of the node between begin() and end()
    std::set<std::size_t> open_;       ///< operations that no other node waits for so far
  };

  [[nodiscard]] std::vector<api::ProgramOperation> operations() const;

private:
  struct Step {
    std::uint64_t number = 0; ///< of the stream
    std::set<std::size_t> operations;
  };
  using Frontier = std::map<StreamId, Step>;
  static void learn(Frontier& frontier, const Frontier& other);
  [[nodiscard]] Frontier frontier_of(StreamId stream, const std::set<StreamId>& after) const;
  static std::set<std::size_t> ends_of(const Frontier& frontier);
  std::size_t add(StreamId stream, const Operation& operation, const std::set<std::size_t>& after);
  void step(StreamId stream, std::set<std::size_t> operations);

  mutable std::mutex mutex_;
  std::vector<api::ProgramOperation> operations_;
  std::map<StreamId, Frontier> streams_;
  std::map<StreamId, std::uint64_t> steps_;
  std::map<const Mark*, Frontier> marks_;
  Frontier host_;
  inline static thread_local GraphLaunch* graph_ = nullptr;
};

/// Null unless reports were requested.
OperationLog* operation_log();
/// From now on, operations are logged.
void start_operation_log();

/// The operation that the calling thread performs, for the reports of its launches.
class Performing {
public:
  explicit Performing(std::optional<std::size_t> operation) : before_(current_) { current_ = operation; }
  ~Performing() { current_ = before_; }
  Performing(const Performing&) = delete;
  Performing& operator=(const Performing&) = delete;
  static std::optional<std::size_t> current() { return current_; }

private:
  std::optional<std::size_t> before_;
  inline static thread_local std::optional<std::size_t> current_;
};

} // namespace warplens::runtime
