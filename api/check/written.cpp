// SPDX-License-Identifier: Apache-2.0
// initcheck in the order of the host: what operations write, what they read that nobody has written, and memory that
// is never written.
#include "api/check/sanitizer.hpp"

#include <fmt/format.h>

namespace warplens::api {

using Kind = exec::ToolFinding::Kind;

// Launches may run while the program allocates and frees: the next operation takes note.
void Sanitizer::given(std::uint64_t begin, std::uint64_t bytes, bool of_host) {
  const std::lock_guard lock(mutex_);
  events_.push_back({MemoryEvent::Kind::given, begin, bytes, of_host});
}

void Sanitizer::not_given(std::uint64_t begin, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  events_.push_back({MemoryEvent::Kind::not_given, begin, bytes});
}

void Sanitizer::settle() {
  std::vector<MemoryEvent> events;
  {
    const std::lock_guard lock(mutex_);
    events.swap(events_);
  }
  for (const MemoryEvent& e : events) {
    if (e.kind == MemoryEvent::Kind::given) {
      init_.fresh(e.begin, e.bytes, e.of_host);
      continue;
    }
    if (e.kind == MemoryEvent::Kind::freed) add_unused(*e.origin, e.order);
    init_.forget(e.begin, e.bytes);
  }
  init_.begin();
}

void Sanitizer::filled(std::uint64_t begin, std::uint64_t bytes) {
  settle();
  init_.write(begin, bytes);
}

void Sanitizer::copied(const std::string& what, std::uint64_t to, std::uint64_t from, std::uint64_t bytes) {
  settle();
  init_.copy(to, from, bytes, what);
}

void Sanitizer::host_reads(const std::string& what, const std::vector<exec::InitCheck::Range>& ranges) {
  settle();
  std::uint64_t bytes = 0, unwritten = 0, first = 0;
  for (const exec::InitCheck::Range& range : ranges) {
    bytes += range.bytes;
    for (const exec::InitCheck::Range& r : init_.unwritten(range.begin, range.bytes)) {
      if (unwritten == 0) first = r.begin;
      unwritten += r.bytes;
    }
  }
  if (unwritten == 0) return;
  CheckMessage m;
  m.kind = Kind::uninitialized;
  m.title =
      fmt::format("Host API memory access error at host access to {:#x} of size {} bytes", ranges.front().begin, bytes);
  m.detail = unwritten == bytes
                 ? "These bytes are uninitialized"
                 : fmt::format("{} of these bytes are uninitialized, the first one at {:#x}", unwritten, first);
  if (const auto origin = init_.origin_of(first))
    m.detail += fmt::format(". {} copied them from {:#x}", origin->what, origin->address);
  m.at.emplace();
  m.at->access = "read";
  m.at->space = "global";
  m.at->bytes = unwritten;
  m.at->address = first;
  if (const std::optional<Origin> origin = origin_of(first)) m.memory = memory_at(first, *origin);
  m.host_frames = HostStack::here().frames();
  m.call = what;
  m.order = next_order();
  add(std::move(m));
}

void Sanitizer::add_unused(const Origin& origin, std::uint64_t order) {
  if (!options_.track_unused || !origin.is_counted) return;
  const std::vector<exec::InitCheck::Range> ranges = init_.unused(origin.begin, origin.size);
  if (ranges.empty()) return;
  std::uint64_t bytes = 0;
  for (const exec::InitCheck::Range& r : ranges) bytes += r.bytes;
  CheckMessage m;
  m.kind = Kind::unused;
  m.title = fmt::format("Unused memory in allocation {:#x} of size {} bytes", origin.begin, origin.size);
  const exec::InitCheck::Range& first = ranges.front();
  const std::string rest =
      ranges.size() == 1 ? "" : fmt::format(" and {} bytes in {} more ranges", bytes - first.bytes, ranges.size() - 1);
  m.detail = fmt::format("Not written {} bytes at offset {:#x} ({:#x}){}; {:.1f}% of the allocation were unused",
                         first.bytes, first.begin - origin.begin, first.begin, rest,
                         100.0 * static_cast<double>(bytes) / static_cast<double>(origin.size));
  m.memory = memory_at(origin.begin, origin);
  m.order = order;
  add(std::move(m));
}

void Sanitizer::report_unused() {
  if (!options_.tools.initcheck || !options_.track_unused) return;
  settle();
  std::map<std::uint64_t, Origin> live;
  {
    const std::lock_guard lock(mutex_);
    live = live_;
  }
  for (const auto& [begin, origin] : live) add_unused(origin, next_order());
}

void Sanitizer::conclude(const exec::Heap* heap) {
  report_unused();
  report_leaks(heap);
}

} // namespace warplens::api
