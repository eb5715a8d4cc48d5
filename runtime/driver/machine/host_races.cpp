// SPDX-License-Identifier: Apache-2.0
#include "runtime/driver/machine/host_races.hpp"

#include "runtime/driver/machine/operation_log.hpp"

#include "runtime/driver/machine/checks.hpp"
#include "runtime/driver/machine/machine.hpp"

#include <sys/mman.h>
#include <ucontext.h>

#include <csignal>

namespace warplens::runtime {

namespace {

struct sigaction before_us;

bool is_write([[maybe_unused]] const void* context) {
#if defined(__x86_64__)
  constexpr long long kWrite = 2; // of the page fault's error code
  return (static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_ERR] & kWrite) != 0;
#else
  return true;
#endif
}

// Faults that are not ours go to whoever handled them before.
void on_fault(int signal, siginfo_t* info, void* context) {
  HostRaces* const races = host_races();
  if (races != nullptr && races->accessed(reinterpret_cast<std::uint64_t>(info->si_addr), is_write(context))) return;
  if ((before_us.sa_flags & SA_SIGINFO) != 0) return before_us.sa_sigaction(signal, info, context);
  if (before_us.sa_handler != SIG_DFL && before_us.sa_handler != SIG_IGN) return before_us.sa_handler(signal);
  sigaction(signal, &before_us, nullptr); // the instruction runs again, and ends the process
}

void handle_faults() {
  struct sigaction ours {};
  ours.sa_sigaction = on_fault;
  ours.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
  sigemptyset(&ours.sa_mask);
  sigaction(SIGSEGV, &ours, &before_us);
}

void* page_at(std::uint64_t address) { return reinterpret_cast<void*>(address); }

} // namespace

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

void HostRaces::open_pages() {
  const std::lock_guard lock(mutex_);
  for (const std::uint64_t page : closed_) mprotect(page_at(page), exec::RaceCheck::kPageBytes, PROT_READ | PROT_WRITE);
  closed_.clear();
}

// Memory that a program registers belongs to others, too: it stays open.
void HostRaces::close_pages() {
  const std::lock_guard lock(mutex_);
  static const bool handled = (handle_faults(), true);
  for (const Allocation& a : Machine::instance().memory().host_writable()) {
    if (!handled || a.kind == Allocation::Kind::registered) continue;
    for (const exec::RaceCheck::InFlight& page : sanitizer()->in_flight(a.begin, a.size))
      if (mprotect(page_at(page.page), exec::RaceCheck::kPageBytes, page.written ? PROT_NONE : PROT_READ) == 0)
        closed_.insert(page.page);
  }
}

bool HostRaces::accessed(std::uint64_t address, bool writes) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t page = address / exec::RaceCheck::kPageBytes * exec::RaceCheck::kPageBytes;
  if (closed_.erase(page) == 0) return false;
  mprotect(page_at(page), exec::RaceCheck::kPageBytes, PROT_READ | PROT_WRITE);
  sanitizer()->host_touched(address, writes);
  return true;
}

void HostRaces::synchronized(const Stream& stream) {
  const std::lock_guard lock(mutex_);
  sanitizer()->host_order().synchronize(stream.id());
  open_pages();
  close_pages();
}

void HostRaces::synchronized(const Mark& mark) {
  const std::lock_guard lock(mutex_);
  sanitizer()->host_order().synchronize_mark(&mark);
  open_pages();
  close_pages();
}

HostRaces::Graph::Graph(const Stream& stream, const std::set<std::uint64_t>& after)
    : lock_(host_races()->mutex_), launch_(sanitizer()->host_order(), stream.id(), after) {}

void host_waited_for(const Stream& stream) {
  if (HostRaces* const races = host_races()) races->synchronized(stream);
  if (OperationLog* const log = operation_log()) log->synchronized(stream.id(), stream.waits_for());
}

void host_waited_for(const Mark& mark) {
  if (HostRaces* const races = host_races()) races->synchronized(mark);
  if (OperationLog* const log = operation_log()) log->synchronized(&mark);
}

} // namespace warplens::runtime
