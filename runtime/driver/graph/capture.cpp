// SPDX-License-Identifier: Apache-2.0
#include "runtime/driver/graph/capture.hpp"

#include "runtime/driver/machine/event.hpp"
#include "runtime/driver/machine/pool.hpp"

#include <algorithm>

namespace warplens::runtime {

namespace {

std::uint64_t next_id() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

void merge(std::vector<Node*>& into, const std::vector<Node*>& more) {
  for (Node* node : more)
    if (std::find(into.begin(), into.end(), node) == into.end()) into.push_back(node);
}

/// The memory was allocated by the call; from now on it belongs to the graph.
GraphMemory memory_of(const PoolAllocation& allocation) {
  const std::optional<Allocation> made = Machine::instance().memory().find(allocation.address);
  require(made.has_value());
  GraphMemory memory;
  memory.parameters.poolProps = allocation.pool->properties();
  memory.parameters.bytesize = allocation.bytes;
  memory.parameters.dptr = allocation.address;
  memory.memory = std::make_shared<ReservedMemory>(made->buffer);
  return memory;
}

} // namespace

GraphCapture::GraphCapture(Stream& origin, CUstreamCaptureMode mode, std::shared_ptr<Graph> graph,
                           std::vector<Node*> first)
    : graph_(std::move(graph)), origin_(&origin), mode_(mode), id_(next_id()) {
  last_[&origin] = std::move(first);
  streams_.push_back(origin.shared_from_this());
}

bool GraphCapture::forbids_unsafe_calls() const {
  const bool mine = thread_ == std::this_thread::get_id();
  switch (thread_capture_mode()) {
  case CU_STREAM_CAPTURE_MODE_GLOBAL:
    return mine ? mode_ != CU_STREAM_CAPTURE_MODE_RELAXED : mode_ == CU_STREAM_CAPTURE_MODE_GLOBAL;
  case CU_STREAM_CAPTURE_MODE_THREAD_LOCAL: return mine && mode_ != CU_STREAM_CAPTURE_MODE_RELAXED;
  default: return false;
  }
}

CUstreamCaptureMode& thread_capture_mode() {
  thread_local CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  return mode;
}

void refuse_unsafe_call() {
  if (Capture::count == 0) return;
  for (const std::shared_ptr<Stream>& stream : Machine::instance().streams.all())
    if (const std::shared_ptr<GraphCapture> capture = capture_of(*stream); capture && capture->forbids_unsafe_calls())
      capture->refuse(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
}

void GraphCapture::invalidate(CUresult code) {
  valid_ = false;
  throw Failure{code, {}};
}

void GraphCapture::refuse(CUresult code) {
  const std::lock_guard lock(Graphs::instance().mutex);
  require_valid();
  invalidate(code);
}

void GraphCapture::require_valid() const { require(valid_, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED); }

void GraphCapture::add(Stream& stream, Operation operation) {
  const std::lock_guard lock(Graphs::instance().mutex);
  require_valid();
  if (std::holds_alternative<StreamCallback>(operation)) invalidate(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  std::visit(
      [&](auto& o) {
        using T = std::decay_t<decltype(o)>;
        if constexpr (std::is_same_v<T, PoolAllocation>)
          add_node(stream, memory_of(o));
        else if constexpr (std::is_same_v<T, PoolFree>)
          add_node(stream, GraphFree{o.address});
        else if constexpr (std::is_constructible_v<Content, decltype(o)>)
          add_node(stream, std::move(o));
      },
      operation);
}

void GraphCapture::add_node(Stream& stream, Content content) {
  require_valid();
  std::vector<Node*>& last = last_nodes(stream);
  last = {&graph_->add(std::move(content), last)};
}

void GraphCapture::record(Stream& stream, Event& event) {
  require_valid();
  event.set_captured({weak_from_this(), last_nodes(stream)});
}

void GraphCapture::join(Stream& stream, const Event& event) {
  require_valid();
  if (!stream.capture()) {
    stream.set_capture(shared_from_this());
    streams_.push_back(stream.weak_from_this());
  }
  merge(last_nodes(stream), event.captured().nodes);
}

std::shared_ptr<Graph> GraphCapture::end(Stream& stream) {
  require(&stream == origin_, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
  require(mode_ == CU_STREAM_CAPTURE_MODE_RELAXED || thread_ == std::this_thread::get_id(),
          CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
  const std::shared_ptr<GraphCapture> self = shared_from_this(); // the streams release it
  for (const std::weak_ptr<Stream>& weak : streams_)
    if (const std::shared_ptr<Stream> captured = weak.lock()) captured->set_capture(nullptr);
  require_valid();
  // The last nodes of other streams must precede a node that leads back to this stream.
  const std::vector<Node*>& mine = last_nodes(stream);
  for (const auto& [other, last] : last_)
    for (const Node* node : last)
      require(std::find(mine.begin(), mine.end(), node) != mine.end() || !graph_->dependents(*node).empty(),
              CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
  return graph_;
}

std::shared_ptr<GraphCapture> capture_of(const Stream& stream) {
  return std::dynamic_pointer_cast<GraphCapture>(stream.capture());
}

bool record_captured(Stream& stream, CUevent handle, Event& event, bool external) {
  const std::shared_ptr<GraphCapture> capture = capture_of(stream);
  if (!capture) {
    event.set_captured({});
    return false;
  }
  const std::lock_guard lock(Graphs::instance().mutex);
  if (external)
    capture->add_node(stream, EventRecord{handle, nullptr});
  else
    capture->record(stream, event);
  return true;
}

bool wait_captured(Stream& stream, CUevent handle, const Event& event, bool external) {
  const std::shared_ptr<GraphCapture> capture = capture_of(stream);
  if (capture && external) {
    const std::lock_guard lock(Graphs::instance().mutex);
    capture->add_node(stream, EventWait{handle, nullptr});
    return true;
  }
  const auto recorded_in = std::static_pointer_cast<GraphCapture>(event.captured().capture.lock());
  if (!capture && !recorded_in) return false;
  const std::lock_guard lock(Graphs::instance().mutex);
  if (capture && !recorded_in) { // an event from outside the capture, which a graph cannot wait for
    if (!event.mark()) return true;
    capture->require_valid();
    capture->invalidate(CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
  }
  if (capture && capture != recorded_in) {
    capture->require_valid();
    capture->invalidate(CUDA_ERROR_STREAM_CAPTURE_MERGE);
  }
  if (stream.kind() == Stream::Kind::legacy) recorded_in->invalidate(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  recorded_in->join(stream, event);
  return true;
}

} // namespace warplens::runtime
