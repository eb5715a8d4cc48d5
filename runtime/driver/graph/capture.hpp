// SPDX-License-Identifier: Apache-2.0
// Captures streams into a graph (CUDA C++ Programming Guide, "Creating a Graph Using Stream Capture").
//
// While a stream is captured, its operations become nodes. Each captured stream has its last nodes, on which the next
// node depends. An event that is recorded in a captured stream represents these last nodes. A stream that waits for the
// event joins the capture, or adds them to its dependencies. The first error invalidates the whole capture: every later
// call returns the error, until cuStreamEndCapture() in the stream where the capture began.
#pragma once

#include "runtime/driver/graph/graph.hpp"
#include "runtime/driver/machine/stream.hpp"

#include <thread>

namespace warplens::runtime {

class Event;

class GraphCapture : public Capture, public std::enable_shared_from_this<GraphCapture> {
public:
  GraphCapture(Stream& origin, CUstreamCaptureMode mode, std::shared_ptr<Graph> graph, std::vector<Node*> first);

  /// Throws Failure CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, and CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED for operations
  /// that graphs cannot contain.
  void add(Stream& stream, Operation operation) override;
  [[noreturn]] void refuse(CUresult code) override;
  /// Adds a node after the last nodes of the stream.
  void add_node(Stream& stream, Content content);
  /// The stream records the event.
  void record(Stream& stream, Event& event);
  /// The stream, captured or not, waits for an event of this capture.
  void join(Stream& stream, const Event& event);

  /// Invalidates the capture, then throws Failure with the code.
  [[noreturn]] void invalidate(CUresult code);
  void require_valid() const;

  /// Whether this thread must not make calls that may affect more than streams.
  [[nodiscard]] bool forbids_unsafe_calls() const;

  /// Ends the capture in all its streams. Throws Failure: CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, _WRONG_THREAD (both
  /// leave it active), _INVALIDATED, _UNJOINED.
  std::shared_ptr<Graph> end(Stream& stream);

  [[nodiscard]] bool valid() const { return valid_; }
  [[nodiscard]] std::uint64_t id() const { return id_; }
  [[nodiscard]] const std::shared_ptr<Graph>& graph() const { return graph_; }
  [[nodiscard]] std::vector<Node*>& last_nodes(const Stream& stream) { return last_[&stream]; }
  std::vector<CUgraphNode> shown; ///< the target of cuStreamGetCaptureInfo()'s pointers

private:
  std::shared_ptr<Graph> graph_;
  const Stream* origin_;
  CUstreamCaptureMode mode_;
  std::thread::id thread_ = std::this_thread::get_id();
  std::uint64_t id_;
  bool valid_ = true;
  std::map<const Stream*, std::vector<Node*>> last_;
  std::vector<std::weak_ptr<Stream>> streams_;
};

/// The capture of a stream; null if it is not captured.
std::shared_ptr<GraphCapture> capture_of(const Stream& stream);

/// The capture part of cuEventRecord() and cuStreamWaitEvent(). False: not captured, and the caller continues.
/// `external`: the event keeps its meaning outside the capture, and becomes a node.
bool record_captured(Stream& stream, CUevent handle, Event& event, bool external);
bool wait_captured(Stream& stream, CUevent handle, const Event& event, bool external);

/// The calling thread's mode; cuThreadExchangeStreamCaptureMode().
CUstreamCaptureMode& thread_capture_mode();

/// For calls such as cuMemAlloc(): if a capture forbids them, invalidates it and throws Failure
/// CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED (CUDA Driver API reference, cuThreadExchangeStreamCaptureMode).
void refuse_unsafe_call();

} // namespace warplens::runtime
