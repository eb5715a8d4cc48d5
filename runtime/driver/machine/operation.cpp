// SPDX-License-Identifier: Apache-2.0
#include "runtime/driver/machine/operation.hpp"

#include "runtime/driver/machine/host_checks.hpp"
#include "runtime/driver/machine/launch.hpp"
#include "runtime/driver/machine/pool.hpp"
#include "runtime/driver/machine/serve.hpp"

#include <algorithm>
#include <cstring>

namespace warplens::runtime {

namespace {

std::byte* at(const Box& box, std::uint64_t row, std::uint64_t slice) {
  return reinterpret_cast<std::byte*>(box.address + slice * box.slice + row * box.pitch);
}

void copy(const Copy& c) {
  const bool rows_adjoin = c.from.pitch == c.width && c.to.pitch == c.width;
  for (std::uint64_t slice = 0; slice < c.slices; ++slice) {
    if (rows_adjoin || c.rows == 1) {
      std::memmove(at(c.to, 0, slice), at(c.from, 0, slice), c.width * c.rows);
      continue;
    }
    for (std::uint64_t row = 0; row < c.rows; ++row)
      std::memmove(at(c.to, row, slice), at(c.from, row, slice), c.width);
  }
}

template <class Element> void fill_row(std::byte* row, std::uint32_t value, std::uint64_t width) {
  std::fill_n(reinterpret_cast<Element*>(row), width, static_cast<Element>(value));
}

void fill(const Fill& f) {
  for (std::uint64_t r = 0; r < f.rows; ++r) {
    std::byte* const row = at(f.to, r, 0);
    if (f.element == 1) fill_row<std::uint8_t>(row, f.value, f.width);
    if (f.element == 2) fill_row<std::uint16_t>(row, f.value, f.width);
    if (f.element == 4) fill_row<std::uint32_t>(row, f.value, f.width);
  }
}

struct Performer {
  Context& context;
  void operator()(const KernelLaunch& launch) const {
    const auto writing = Machine::instance().memory().writing();
    perform_launch(launch, context);
  }
  void operator()(const Copy& c) const {
    const auto writing = Machine::instance().memory().writing();
    if (HostChecks* const checks = host_checks()) checks->touch(c);
    copy(c);
  }
  void operator()(const Fill& f) const {
    const auto writing = Machine::instance().memory().writing();
    if (HostChecks* const checks = host_checks()) checks->touch(f);
    fill(f);
  }
  void operator()(const HostCall& call) const { call.function(call.data); }
  void operator()(const StreamCallback& call) const {
    context.flush_printed();
    call.function(call.stream, context.fault(), call.data);
  }
  void operator()(const EventRecord& record) const { record.mark->reach(); }
  void operator()(const EventWait& wait) const {
    if (wait.mark) wait.mark->wait();
  }
  void operator()(const PoolAllocation& allocation) const {
    if (HostChecks* const checks = host_checks()) checks->touch(allocation);
  }
  void operator()(const PoolFree& free) const {
    if (HostChecks* const checks = host_checks()) checks->touch(free);
    Machine& machine = Machine::instance();
    const std::optional<Allocation> found = machine.memory().find(free.address);
    if (!found || !machine.memory().free(free.address, found->kind)) return;
    const auto handle = static_cast<CUmemoryPool>(const_cast<void*>(found->owner));
    if (const std::shared_ptr<Pool> pool = machine.pools.find(handle)) pool->was_freed(found->size);
  }
  void operator()(const Work& work) const { work.function(); }
};

bool survives_fault(const Operation& operation) {
  return std::holds_alternative<EventRecord>(operation) || std::holds_alternative<StreamCallback>(operation);
}

} // namespace

void perform(const Operation& operation, Context& context) {
  if (context.fault() != CUDA_SUCCESS && !survives_fault(operation)) return;
  try {
    std::visit(Performer{context}, operation);
  } catch (const Failure& failure) {
    translate("stream", failure);
    context.set_fault(failure.code);
  } catch (const std::exception& exception) {
    context.set_fault(translate("stream", exception));
  }
}

} // namespace warplens::runtime
