// SPDX-License-Identifier: Apache-2.0
#include "runtime/driver/machine/host_checks.hpp"

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
  HostChecks* const checks = host_checks();
  if (checks != nullptr && checks->accessed(reinterpret_cast<std::uint64_t>(info->si_addr), is_write(context))) return;
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

// Pages that a program registers in part belong to others, too: they stay open.
bool may_close(const Allocation& a, std::uint64_t page) {
  if (a.kind != Allocation::Kind::registered) return true;
  const bool read_only = (a.flags & CU_MEMHOSTREGISTER_READ_ONLY) != 0; // perhaps also for the host
  return !read_only && page >= a.begin && page + exec::RaceCheck::kPageBytes <= a.begin + a.size;
}

} // namespace

HostChecks* host_checks() {
  static HostChecks& checks = *new HostChecks; // used until the process ends
  const bool follows = sanitizer() != nullptr && (sanitizer()->tools().racecheck || sanitizer()->tools().initcheck);
  return follows ? &checks : nullptr;
}

std::unique_lock<std::recursive_mutex> HostChecks::turn(const Operation& operation) {
  std::unique_lock lock(mutex_, std::defer_lock);
  if (!std::holds_alternative<HostCall>(operation) && !std::holds_alternative<StreamCallback>(operation)) lock.lock();
  return lock;
}

void HostChecks::begin(const Stream& stream, const std::set<std::uint64_t>& after, const Operation& operation) {
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
void HostChecks::touch(std::uint64_t address, std::uint64_t bytes, bool writes) {
  if (!sanitizer()->tools().racecheck || bytes == 0 || !Machine::instance().memory().find(address)) return;
  sanitizer()->touched(api::HostStack::here().caller(), address, bytes, writes);
}

namespace {

/// Calls `each` for the rows of a copy, or of a fill if `from` is `to`; adjacent ones together.
template <class Each>
void each_row(const Box& to, const Box& from, std::uint64_t width, std::uint64_t rows, std::uint64_t slices,
              Each each) {
  const bool adjacent = rows == 1 || (to.pitch == width && from.pitch == width);
  for (std::uint64_t slice = 0; slice < slices; ++slice) {
    const std::uint64_t t = to.address + slice * to.slice, f = from.address + slice * from.slice;
    if (adjacent) {
      each(t, f, width * rows);
      continue;
    }
    for (std::uint64_t row = 0; row < rows; ++row) each(t + row * to.pitch, f + row * from.pitch, width);
  }
}

// What memory of the program holds is written. What it gets must be.
void follow_contents(const Copy& c) {
  const Memory& memory = Machine::instance().memory();
  const std::optional<Allocation> to = memory.find(c.to.address);
  const bool from_known = !c.staged && memory.find(c.from.address).has_value();
  const bool to_host = !to || to->kind == Allocation::Kind::host || to->kind == Allocation::Kind::registered;
  const std::string what = api::HostStack::here().caller();
  std::vector<exec::InitCheck::Range> read;
  each_row(c.to, c.from, c.width, c.rows, c.slices, [&](std::uint64_t t, std::uint64_t f, std::uint64_t bytes) {
    if (from_known && !to_host) return sanitizer()->copied(what, t, f, bytes);
    if (from_known) read.push_back({f, bytes});
    if (to) sanitizer()->filled(t, bytes);
  });
  if (!read.empty()) sanitizer()->host_reads(what, read);
}

} // namespace

void HostChecks::touch(const Copy& c) {
  if (sanitizer()->tools().initcheck) follow_contents(c);
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

void HostChecks::touch(const Fill& f) {
  const std::uint64_t width = f.width * f.element;
  if (sanitizer()->tools().initcheck)
    each_row(f.to, f.to, width, f.rows, 1,
             [](std::uint64_t to, std::uint64_t, std::uint64_t bytes) { sanitizer()->filled(to, bytes); });
  if (f.to.pitch == width || f.rows == 1) return touch(f.to.address, width * f.rows, true);
  for (std::uint64_t row = 0; row < f.rows; ++row) touch(f.to.address + row * f.to.pitch, width, true);
}

void HostChecks::touch(const PoolAllocation& a) {
  if (sanitizer()->tools().initcheck) sanitizer()->given(a.address, a.bytes, false);
  sanitizer()->forget_accesses(a.address, a.bytes);
  touch(a.address, a.bytes, true);
}

void HostChecks::touch(const PoolFree& f) {
  if (const std::optional<Allocation> found = Machine::instance().memory().find(f.address))
    touch(f.address, found->size, true);
}

void HostChecks::open_pages() {
  const std::lock_guard lock(mutex_);
  for (const std::uint64_t page : closed_) mprotect(page_at(page), exec::RaceCheck::kPageBytes, PROT_READ | PROT_WRITE);
  closed_.clear();
}

void HostChecks::close_pages() {
  if (!sanitizer()->tools().racecheck) return;
  const std::lock_guard lock(mutex_);
  static const bool handled = (handle_faults(), true);
  for (const Allocation& a : Machine::instance().memory().host_writable()) {
    if (!handled) continue;
    for (const exec::RaceCheck::InFlight& page : sanitizer()->in_flight(a.begin, a.size))
      if (may_close(a, page.page) &&
          mprotect(page_at(page.page), exec::RaceCheck::kPageBytes, page.written ? PROT_NONE : PROT_READ) == 0)
        closed_.insert(page.page);
  }
}

bool HostChecks::accessed(std::uint64_t address, bool writes) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t page = address / exec::RaceCheck::kPageBytes * exec::RaceCheck::kPageBytes;
  if (closed_.erase(page) == 0) return false;
  mprotect(page_at(page), exec::RaceCheck::kPageBytes, PROT_READ | PROT_WRITE);
  sanitizer()->host_touched(address, writes);
  return true;
}

void HostChecks::synchronized(const Stream& stream) {
  const std::lock_guard lock(mutex_);
  sanitizer()->host_order().synchronize(stream.id());
  open_pages();
  close_pages();
}

void HostChecks::synchronized(const Mark& mark) {
  const std::lock_guard lock(mutex_);
  sanitizer()->host_order().synchronize_mark(&mark);
  open_pages();
  close_pages();
}

HostChecks::Graph::Graph(const Stream& stream, const std::set<std::uint64_t>& after)
    : lock_(host_checks()->mutex_), launch_(sanitizer()->host_order(), stream.id(), after) {}

void host_waited_for(const Stream& stream) {
  if (HostChecks* const checks = host_checks()) checks->synchronized(stream);
  if (OperationLog* const log = operation_log()) log->synchronized(stream.id(), stream.waits_for());
}

void host_waited_for(const Mark& mark) {
  if (HostChecks* const checks = host_checks()) checks->synchronized(mark);
  if (OperationLog* const log = operation_log()) log->synchronized(&mark);
}

} // namespace warplens::runtime
