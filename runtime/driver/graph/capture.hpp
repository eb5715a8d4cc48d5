// Capturing streams into a graph (CUDA C++ Programming Guide, "Creating a Graph Using Stream Capture").
//
// While a stream is captured its operations become nodes. Each stream of a capture has its last nodes, which the next
// one comes after. An event that is recorded in a captured stream stands for the last nodes there; a stream that waits
// for it is captured from then on, too, or comes after them as well. The first error invalidates the whole capture:
// every later call answers so, until cuStreamEndCapture() in the stream in which it began.
#pragma once

#include "runtime/driver/graph/graph.hpp"
#include "runtime/driver/machine/stream.hpp"

#include <thread>

namespace warplens::runtime {

class Event;

class GraphCapture : public Capture, public std::enable_shared_from_this<GraphCapture> {
public:
  GraphCapture(Stream& origin, CUstreamCaptureMode mode, std::shared_ptr<Graph> graph, std::vector<Node*> first);

  /// Throws Failure CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, and CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED for what graphs
  /// cannot hold.
  void add(Stream& stream, Operation operation) override;
  [[noreturn]] void refuse(CUresult code) override;
  /// Adds a node after the last ones of the stream.
  void add_node(Stream& stream, Content content);
  /// The stream records the event.
  void record(Stream& stream, Event& event);
  /// The stream, captured or not yet, waits for an event of this capture.
  void join(Stream& stream, const Event& event);

  /// Makes the capture useless, then throws Failure with the code.
  [[noreturn]] void invalidate(CUresult code);
  void require_valid() const;

  /// Calls that may reach beyond streams are not allowed to this thread now.
  [[nodiscard]] bool forbids_unsafe_calls() const;

  /// Ends it in all its streams. Throws Failure: CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, _WRONG_THREAD (nothing has ended
  /// then), _INVALIDATED, _UNJOINED.
  std::shared_ptr<Graph> end(Stream& stream);

  [[nodiscard]] bool valid() const { return valid_; }
  [[nodiscard]] std::uint64_t id() const { return id_; }
  [[nodiscard]] const std::shared_ptr<Graph>& graph() const { return graph_; }
  [[nodiscard]] std::vector<Node*>& last_nodes(const Stream& stream) { return last_[&stream]; }
  std::vector<CUgraphNode> shown; ///< what cuStreamGetCaptureInfo() points to

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

/// Of a stream; null: it is not being captured.
std::shared_ptr<GraphCapture> capture_of(const Stream& stream);

/// cuEventRecord() and cuStreamWaitEvent() where capturing is concerned. False: it is not, and the caller goes on.
/// `external`: the event is left as it is for the world outside, and becomes a node.
bool record_captured(Stream& stream, CUevent handle, Event& event, bool external);
bool wait_captured(Stream& stream, CUevent handle, const Event& event, bool external);

/// How strict the calling thread is; cuThreadExchangeStreamCaptureMode().
CUstreamCaptureMode& thread_capture_mode();

/// For calls such as cuMemAlloc(): throws Failure CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, and invalidates the capture,
/// where one forbids them (CUDA Driver API reference, cuThreadExchangeStreamCaptureMode).
void refuse_unsafe_call();

} // namespace warplens::runtime
