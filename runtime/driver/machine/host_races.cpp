// SPDX-License-Identifier: Apache-2.0
#include "runtime/driver/machine/host_races.hpp"

#include "runtime/driver/machine/checks.hpp"
#include "runtime/driver/machine/machine.hpp"

namespace warplens::runtime {

HostRaces* host_races() {
  static HostRaces& races = *new HostRaces; // used until the process ends
  return sanitizer() != nullptr && sanitizer()->tools().racecheck ? &races : nullptr;
}

std::unique_lock<std::recursive_mutex> HostRaces::turn(const Operation& operation) {
  std::unique_lock lock(mutex_, std::defer_lock);
  if (!std::holds_alternative<HostCall>(operation) && !std::holds_alternative<StreamCallback>(operation)) lock.lock();
  return lock;
}

void HostRaces::begin(const Stream& stream, const std::set<std::uint64_t>& after, const Operation& operation) {
  const std::lock_guard lock(mutex_);
  api::HostOrder& order = sanitizer()->host_order();
  if (const auto* record = std::get_if<EventRecord>(&operation)) {
    order.record(stream.id(), after, record->mark.get());
  } else if (const auto* wait = std::get_if<EventWait>(&operation)) {
    order.wait(stream.id(), wait->mark.get());
  } else {
    sanitizer()->begin_operation(stream.id(), after);
  }
}

// Memory that only the host has is not looked at.
void HostRaces::touch(std::uint64_t address, std::uint64_t bytes, bool writes) {
  if (bytes == 0 || !Machine::instance().memory().find(address)) return;
  sanitizer()->touched(api::HostStack::here().caller(), address, bytes, writes);
}

void HostRaces::touch(const Copy& c) {
  for (const bool writes : {false, true}) {
    const Box& box = writes ? c.to : c.from;
    if (!writes && c.staged) continue;
    for (std::uint64_t slice = 0; slice < c.slices; ++slice) {
      const std::uint64_t first = box.address + slice * box.slice;
      if (box.pitch == c.width || c.rows == 1) {
        touch(first, c.width * c.rows, writes);
        continue;
      }
      for (std::uint64_t row = 0; row < c.rows; ++row) touch(first + row * box.pitch, c.width, writes);
    }
  }
}

void HostRaces::touch(const Fill& f) {
  const std::uint64_t width = f.width * f.element;
  if (f.to.pitch == width || f.rows == 1) return touch(f.to.address, width * f.rows, true);
  for (std::uint64_t row = 0; row < f.rows; ++row) touch(f.to.address + row * f.to.pitch, width, true);
}

void HostRaces::touch(const PoolAllocation& a) {
  sanitizer()->forget_accesses(a.address, a.bytes);
  touch(a.address, a.bytes, true);
}

void HostRaces::touch(const PoolFree& f) {
  if (const std::optional<Allocation> found = Machine::instance().memory().find(f.address))
    touch(f.address, found->size, true);
}

void HostRaces::synchronized(const Stream& stream) {
  const std::lock_guard lock(mutex_);
  sanitizer()->host_order().synchronize(stream.id());
}

void HostRaces::synchronized(const Mark& mark) {
  const std::lock_guard lock(mutex_);
  sanitizer()->host_order().synchronize_mark(&mark);
}

HostRaces::Graph::Graph(const Stream& stream, const std::set<std::uint64_t>& after)
    : lock_(host_races()->mutex_), launch_(sanitizer()->host_order(), stream.id(), after) {}

} // namespace warplens::runtime
