// SPDX-License-Identifier: Apache-2.0
#include "runtime/driver/machine/operation_log.hpp"

#include "api/session/limits.hpp"
#include "runtime/driver/machine/machine.hpp"

#include <algorithm>

namespace warplens::runtime {

namespace {

using Kind = api::ProgramOperation::Kind;

bool is_of_host(std::uint64_t address) {
  const std::optional<Allocation> found = Machine::instance().memory().find(address);
  return !found || found->kind == Allocation::Kind::host || found->kind == Allocation::Kind::registered;
}

struct Described {
  Kind kind;
  std::uint64_t bytes = 0;
};

/// None for what takes no time on the device, or on the host.
struct Describe {
  std::optional<Described> operator()(const KernelLaunch&) const { return Described{Kind::launch}; }
  std::optional<Described> operator()(const Copy& c) const {
    const std::uint64_t bytes = c.width * c.rows * c.slices;
    if (is_of_host(c.to.address)) return Described{Kind::copy_to_host, bytes};
    return Described{c.staged || is_of_host(c.from.address) ? Kind::copy_to_device : Kind::copy_on_device, bytes};
  }
  std::optional<Described> operator()(const Fill& f) const {
    return Described{Kind::fill, f.element * f.width * f.rows};
  }
  std::optional<Described> operator()(const HostCall&) const { return Described{Kind::host_function}; }
  std::optional<Described> operator()(const StreamCallback&) const { return Described{Kind::host_function}; }
  std::optional<Described> operator()(const Work&) const { return Described{Kind::other}; }
  template <class Other> std::optional<Described> operator()(const Other&) const { return std::nullopt; }
};

} // namespace

void OperationLog::learn(Frontier& frontier, const Frontier& other) {
  for (const auto& [stream, step] : other) {
    Step& known = frontier[stream];
    if (known.number < step.number)
      known = step;
    else if (known.number == step.number) // of one launch of a graph
      known.operations.insert(step.operations.begin(), step.operations.end());
  }
}

OperationLog::Frontier OperationLog::frontier_of(StreamId stream, const std::set<StreamId>& after) const {
  Frontier frontier = host_;
  const auto add = [&](StreamId one) {
    if (const auto found = streams_.find(one); found != streams_.end()) learn(frontier, found->second);
  };
  add(stream);
  for (const StreamId other : after) add(other);
  return frontier;
}

std::set<std::size_t> OperationLog::ends_of(const Frontier& frontier) {
  std::set<std::size_t> all;
  for (const auto& [stream, step] : frontier) all.insert(step.operations.begin(), step.operations.end());
  return all;
}

std::size_t OperationLog::add(StreamId stream, const Operation& operation, const std::set<std::size_t>& after) {
  const std::optional<Described> described = std::visit(Describe{}, operation);
  operations_.push_back({described->kind, stream, described->bytes, {after.begin(), after.end()}});
  return operations_.size() - 1;
}

/// What waits for these operations waits for all that they wait for.
void OperationLog::step(StreamId stream, std::set<std::size_t> operations) {
  streams_[stream] = {{stream, {++steps_[stream], std::move(operations)}}};
}

std::optional<std::size_t> OperationLog::submit(StreamId stream, const std::set<StreamId>& after,
                                                const Operation& operation) {
  const std::lock_guard lock(mutex_);
  GraphLaunch* const graph = graph_ != nullptr && graph_->stream_ == stream ? graph_ : nullptr;
  if (const auto* record = std::get_if<EventRecord>(&operation); record != nullptr && record->mark) {
    Frontier frontier = frontier_of(stream, after);
    if (graph != nullptr)
      frontier = {{stream, {steps_[stream] + 1, graph->current_}}}; // the step that the graph will be
    marks_[record->mark.get()] = std::move(frontier);
    return std::nullopt;
  }
  if (const auto* wait = std::get_if<EventWait>(&operation); wait != nullptr && wait->mark) {
    const auto found = marks_.find(wait->mark.get());
    if (found == marks_.end()) return std::nullopt;
    if (graph != nullptr)
      graph->current_.merge(ends_of(found->second));
    else
      learn(streams_[stream], found->second);
    return std::nullopt;
  }
  if (!limits::kTimelineOperations.admits(operations_.size() + 1) || !std::visit(Describe{}, operation))
    return std::nullopt;
  if (graph == nullptr) {
    const std::size_t number = add(stream, operation, ends_of(frontier_of(stream, after)));
    step(stream, {number});
    return number;
  }
  const std::size_t number = add(stream, operation, graph->current_);
  for (const std::size_t before : graph->current_) graph->open_.erase(before);
  graph->open_.insert(number);
  graph->current_ = {number};
  return number;
}

void OperationLog::synchronized(StreamId stream, const std::set<StreamId>& after) {
  const std::lock_guard lock(mutex_);
  host_ = frontier_of(stream, after);
}

void OperationLog::synchronized(const Mark* mark) {
  const std::lock_guard lock(mutex_);
  if (const auto found = marks_.find(mark); found != marks_.end()) learn(host_, found->second);
}

OperationLog::GraphLaunch::GraphLaunch(OperationLog& log, StreamId stream, const std::set<StreamId>& after)
    : log_(log), stream_(stream) {
  const std::lock_guard lock(log.mutex_);
  base_ = ends_of(log.frontier_of(stream, after));
  graph_ = this;
}

void OperationLog::GraphLaunch::begin(const void* node, const std::vector<const void*>& after) {
  const std::lock_guard lock(log_.mutex_);
  current_.clear();
  for (const void* other : after)
    if (const auto found = ends_.find(other); found != ends_.end())
      current_.insert(found->second.begin(), found->second.end());
  if (after.empty()) current_ = base_;
  ends_[node] = current_;
}

void OperationLog::GraphLaunch::end(const void* node) {
  const std::lock_guard lock(log_.mutex_);
  ends_[node] = current_;
}

OperationLog::GraphLaunch::~GraphLaunch() {
  const std::lock_guard lock(log_.mutex_);
  graph_ = nullptr;
  if (!open_.empty()) log_.step(stream_, std::move(open_));
}

std::vector<api::ProgramOperation> OperationLog::operations() const {
  const std::lock_guard lock(mutex_);
  return operations_;
}

namespace {

/// Never destroyed: it is used until the process ends.
OperationLog*& log_instance() {
  static OperationLog* instance = nullptr;
  return instance;
}

} // namespace

OperationLog* operation_log() { return log_instance(); }

void start_operation_log() {
  if (log_instance() == nullptr) log_instance() = new OperationLog;
}

} // namespace warplens::runtime
