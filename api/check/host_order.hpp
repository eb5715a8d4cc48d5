// SPDX-License-Identifier: Apache-2.0
// Which operations of the host happen before which: streams, events, synchronisation, graphs.
//
//   HostOrder order;
//   order.submit(stream_a, {});      // the operation with index 0
//   order.submit(stream_b, {})       // {0}: nothing orders the two streams
//   order.record(stream_a, {}, mark);  order.wait(stream_b, mark);
//
// Each stream is a timeline, and so is each node of a graph. A clock says how far it knows each timeline.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace warplens::api {

class HostOrder {
public:
  using Clock = std::map<std::uint64_t, std::uint64_t>; ///< the last operation that is known, by timeline
  using StreamId = std::uint64_t;
  using Mark = const void*;

  /// An operation is submitted to a stream. `after`: streams that it implicitly waits for (legacy default stream).
  /// Returns the earlier operations that it is in no order with, by index.
  std::vector<std::size_t> submit(StreamId stream, const std::set<StreamId>& after);
  void record(StreamId stream, const std::set<StreamId>& after, Mark mark);
  void wait(StreamId stream, Mark mark) { learn(streams_[stream].clock, marks_[mark]); }
  /// The host has waited for a stream, or for a mark.
  void synchronize(StreamId stream) { learn(host_, streams_[stream].clock); }
  void synchronize_mark(Mark mark) { learn(host_, marks_[mark]); }
  /// The program itself accesses memory. Returns the operations with which it is in no order.
  std::vector<std::size_t> access();
  /// The operations that the host has not waited for.
  [[nodiscard]] std::vector<std::size_t> unknown() const;
  /// Whether the host knows all operations: later ones are behind them. They are then forgotten.
  bool all_known();

  /// The launch of a graph into a stream: its nodes are ordered by their edges only.
  class GraphLaunch {
  public:
    GraphLaunch(HostOrder& order, StreamId stream, const std::set<StreamId>& after);
    ~GraphLaunch();
    GraphLaunch(const GraphLaunch&) = delete;
    GraphLaunch& operator=(const GraphLaunch&) = delete;
    /// What is submitted from now on belongs to this node.
    void begin(const void* node, const std::vector<const void*>& after);
    void end(const void* node);

  private:
    HostOrder& order_;
    StreamId stream_;
    std::uint64_t timeline_;
    Clock base_;
    std::map<const void*, Clock> nodes_;
  };

private:
  struct Stream {
    Clock clock;
    std::uint64_t timeline = 0; ///< 0: not used yet
  };
  /// The operations of a timeline since all were last known; those of the timeline before them are forgotten.
  struct Timeline {
    std::uint64_t last = 0;          ///< number of the last operation
    bool of_node = false;            ///< of a graph: not used again
    std::vector<std::size_t> recent; ///< by index; the numbers are last - recent.size() + 1 to last
  };
  static void learn(Clock& clock, const Clock& other);
  /// Those that the clock does not know, ascending: not more work than there are timelines and such operations.
  [[nodiscard]] std::vector<std::size_t> unknown_to(const Clock& clock) const;
  /// Returns its number.
  std::uint64_t add(std::uint64_t timeline);

  std::map<StreamId, Stream> streams_;
  std::map<Mark, Clock> marks_;
  Clock host_;
  std::map<std::uint64_t, Timeline> operations_; ///< by timeline
  std::size_t count_ = 0;                        ///< of recent operations
  std::uint64_t timelines_ = 0;
};

} // namespace warplens::api
