// SPDX-License-Identifier: Apache-2.0
#include "api/check/host_order.hpp"

#include <algorithm>

namespace warplens::api {

void HostOrder::learn(Clock& clock, const Clock& other) {
  for (const auto& [timeline, number] : other) {
    std::uint64_t& known = clock[timeline];
    known = std::max(known, number);
  }
}

bool HostOrder::knows(const Clock& clock, const Operation& o) {
  const auto found = clock.find(o.timeline);
  return found != clock.end() && found->second >= o.number;
}

std::vector<std::size_t> HostOrder::submit(StreamId id, const std::set<StreamId>& after) {
  Stream& stream = streams_[id];
  if (stream.timeline == 0) stream.timeline = ++timelines_;
  learn(stream.clock, host_);
  for (const StreamId other : after)
    if (const auto found = streams_.find(other); found != streams_.end()) learn(stream.clock, found->second.clock);
  std::vector<std::size_t> concurrent;
  for (std::size_t i = 0; i < operations_.size(); ++i)
    if (!knows(stream.clock, operations_[i])) concurrent.push_back(i);
  const std::uint64_t number = ++last_[stream.timeline];
  stream.clock[stream.timeline] = number;
  operations_.push_back({stream.timeline, number});
  return concurrent;
}

void HostOrder::record(StreamId stream, const std::set<StreamId>& after, Mark mark) {
  Clock clock = streams_[stream].clock;
  learn(clock, host_);
  for (const StreamId other : after)
    if (const auto found = streams_.find(other); found != streams_.end()) learn(clock, found->second.clock);
  marks_[mark] = std::move(clock);
}

std::vector<std::size_t> HostOrder::unknown() const {
  std::vector<std::size_t> list;
  for (std::size_t i = 0; i < operations_.size(); ++i)
    if (!knows(host_, operations_[i])) list.push_back(i);
  return list;
}

// The program is the timeline 0.
std::vector<std::size_t> HostOrder::access() {
  std::vector<std::size_t> concurrent = unknown();
  operations_.push_back({0, ++host_[0]});
  return concurrent;
}

bool HostOrder::all_known() {
  for (const Operation& o : operations_)
    if (!knows(host_, o)) return false;
  operations_.clear();
  // Numbers go on, so that what is known of them remains true; timelines of graphs are not needed any more.
  Clock streams;
  if (const auto own = host_.find(0); own != host_.end()) streams.insert(*own);
  for (const auto& [id, stream] : streams_)
    if (const auto known = host_.find(stream.timeline); known != host_.end()) streams.insert(*known);
  host_ = streams;
  for (auto& [id, stream] : streams_) stream.clock = streams;
  marks_.clear();
  return true;
}

HostOrder::GraphLaunch::GraphLaunch(HostOrder& order, StreamId stream, const std::set<StreamId>& after)
    : order_(order), stream_(stream) {
  Stream& s = order.streams_[stream];
  if (s.timeline == 0) s.timeline = ++order.timelines_;
  timeline_ = s.timeline;
  learn(s.clock, order.host_);
  for (const StreamId other : after)
    if (const auto found = order.streams_.find(other); found != order.streams_.end())
      learn(s.clock, found->second.clock);
  base_ = s.clock;
}

void HostOrder::GraphLaunch::begin(const void* node, const std::vector<const void*>& after) {
  Clock clock = base_;
  for (const void* other : after)
    if (const auto found = nodes_.find(other); found != nodes_.end()) learn(clock, found->second);
  nodes_[node] = clock;
  Stream& s = order_.streams_[stream_];
  s.clock = std::move(clock);
  s.timeline = ++order_.timelines_;
}

void HostOrder::GraphLaunch::end(const void* node) { nodes_[node] = order_.streams_[stream_].clock; }

HostOrder::GraphLaunch::~GraphLaunch() {
  Stream& s = order_.streams_[stream_];
  s.timeline = timeline_;
  s.clock = base_;
  for (const auto& [node, clock] : nodes_) learn(s.clock, clock);
}

} // namespace warplens::api
