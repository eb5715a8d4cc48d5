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

std::vector<std::size_t> HostOrder::unknown_to(const Clock& clock) const {
  std::vector<std::size_t> list;
  for (const auto& [number, timeline] : operations_) {
    const auto found = clock.find(number);
    const std::uint64_t known = found == clock.end() ? 0 : found->second;
    const std::size_t unknown =
        std::min<std::size_t>(timeline.recent.size(), timeline.last - std::min(timeline.last, known));
    list.insert(list.end(), timeline.recent.end() - static_cast<std::ptrdiff_t>(unknown), timeline.recent.end());
  }
  std::sort(list.begin(), list.end());
  return list;
}

std::uint64_t HostOrder::add(std::uint64_t timeline) {
  Timeline& one = operations_[timeline];
  one.recent.push_back(count_++);
  return ++one.last;
}

std::vector<std::size_t> HostOrder::submit(StreamId id, const std::set<StreamId>& after) {
  Stream& stream = streams_[id];
  if (stream.timeline == 0) stream.timeline = ++timelines_;
  learn(stream.clock, host_);
  for (const StreamId other : after)
    if (const auto found = streams_.find(other); found != streams_.end()) learn(stream.clock, found->second.clock);
  std::vector<std::size_t> concurrent = unknown_to(stream.clock);
  stream.clock[stream.timeline] = add(stream.timeline);
  return concurrent;
}

void HostOrder::record(StreamId stream, const std::set<StreamId>& after, Mark mark) {
  Clock clock = streams_[stream].clock;
  learn(clock, host_);
  for (const StreamId other : after)
    if (const auto found = streams_.find(other); found != streams_.end()) learn(clock, found->second.clock);
  marks_[mark] = std::move(clock);
}

std::vector<std::size_t> HostOrder::unknown() const { return unknown_to(host_); }

// The program is the timeline 0.
std::vector<std::size_t> HostOrder::access() {
  std::vector<std::size_t> concurrent = unknown();
  host_[0] = add(0);
  return concurrent;
}

bool HostOrder::all_known() {
  for (const auto& [number, timeline] : operations_) {
    const auto found = host_.find(number);
    if (!timeline.recent.empty() && (found == host_.end() || found->second < timeline.last)) return false;
  }
  count_ = 0;
  // Numbers go on, so that what is known of them remains true; timelines of graphs are not needed any more.
  std::set<std::uint64_t> current;
  Clock streams;
  if (const auto own = host_.find(0); own != host_.end()) streams.insert(*own);
  for (const auto& [id, stream] : streams_) {
    if (const auto known = host_.find(stream.timeline); known != host_.end()) streams.insert(*known);
    current.insert(stream.timeline);
  }
  std::erase_if(operations_, [&](const auto& o) { return o.second.of_node && !current.contains(o.first); });
  for (auto& [number, timeline] : operations_) timeline.recent.clear();
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
  order_.operations_[s.timeline].of_node = true;
}

void HostOrder::GraphLaunch::end(const void* node) { nodes_[node] = order_.streams_[stream_].clock; }

HostOrder::GraphLaunch::~GraphLaunch() {
  Stream& s = order_.streams_[stream_];
  s.timeline = timeline_;
  s.clock = base_;
  for (const auto& [node, clock] : nodes_) learn(s.clock, clock);
}

} // namespace warplens::api
