// SPDX-License-Identifier: Apache-2.0
// The functions of the device library that compilers call: printf, malloc, free, assert. The functions for launches by
// kernels are in device_runtime_calls.cpp.
#include "emulator/exec/block/control.hpp"
#include "emulator/exec/block/faults.hpp"
#include "emulator/exec/calls/device_printf.hpp"
#include "emulator/exec/calls/library_call.hpp"
#include "emulator/exec/state/device_runtime.hpp"

#include <fmt/format.h>

namespace warplens::exec {

std::optional<std::uint64_t> LibraryCall::load(std::uint64_t address, int bytes) {
  const std::byte* const p = reach(warp_, *site_.strings, address, static_cast<std::uint16_t>(bytes), lane_);
  std::uint64_t value = 0;
  if (p == nullptr) {
    if (!out_of_bounds(AccessKind::load, address, static_cast<std::uint64_t>(bytes))) return std::nullopt;
    return 0;
  }
  std::memcpy(&value, p, static_cast<std::size_t>(bytes));
  if (!worker().checkers.empty()) {
    const Located where = locate(warp_, *site_.strings, address);
    for (const auto& checker : worker().checkers)
      checker->read(*warp_, lane_, where.space, where.offset, static_cast<std::uint64_t>(bytes));
  }
  return value;
}

bool LibraryCall::store(std::uint64_t address, std::uint64_t value, int bytes) {
  MemorySite site = *site_.strings;
  site.kind = AccessKind::store;
  std::byte* const p = reach(warp_, site, address, static_cast<std::uint16_t>(bytes), lane_);
  if (p == nullptr) return out_of_bounds(AccessKind::store, address, static_cast<std::uint64_t>(bytes));
  std::memcpy(p, &value, static_cast<std::size_t>(bytes));
  const Located where = locate(warp_, site, address);
  for (const auto& checker : worker().checkers)
    checker->written(*warp_, lane_, where.space, where.offset, static_cast<std::uint64_t>(bytes));
  return true;
}

void LibraryCall::fresh(std::uint64_t address, std::uint64_t bytes) {
  for (const auto& checker : worker().checkers) checker->fresh(*warp_, lane_, isa::Space::global, address, bytes);
}

std::optional<std::string> LibraryCall::text(std::uint64_t address) {
  constexpr std::size_t kMost = 1 << 16;
  std::string result;
  while (result.size() < kMost) {
    const auto c = load(address + result.size(), 1);
    if (!c) return std::nullopt;
    if (*c == 0) break;
    result += static_cast<char>(*c);
  }
  return result;
}

bool LibraryCall::is_global(std::uint64_t address, std::uint64_t bytes) {
  return bytes == 0 || worker().find_region(site_.strings->index, address, address + bytes);
}

bool LibraryCall::stop(Trap::Kind kind, std::string detail) {
  return stop_with(op_, warp_, kind, Mask{1} << lane_, std::move(detail)) != nullptr;
}

bool LibraryCall::out_of_bounds(AccessKind access, std::uint64_t address, std::uint64_t bytes) {
  Trap trap = trap_at(warp_, Trap::Kind::out_of_bounds, op_->instruction, lane_);
  trap.space = isa::Space::global;
  trap.access = access;
  trap.lane_bytes = static_cast<std::uint32_t>(bytes);
  trap.address = address;
  return drops(warp_, trap) || stop_with(warp_, std::move(trap)) != nullptr;
}

bool LibraryCall::invalid_free(std::uint64_t address) {
  Trap trap = trap_at(warp_, Trap::Kind::invalid_free, op_->instruction, lane_);
  trap.space = isa::Space::global;
  trap.address = address;
  trap.detail = fmt::format("{:#x} is not a block that malloc returned", address);
  const Heap* const heap = worker().launch.heap;
  if (const auto block = heap != nullptr ? heap->freed(address) : std::nullopt; block && block->begin == address) {
    trap.detail = fmt::format("the block at {:#x} has been freed already", address);
    trap.finding = ToolFinding::Kind::double_free;
  }
  return drops(warp_, trap) || stop_with(warp_, std::move(trap)) != nullptr;
}

namespace {

constexpr std::int64_t kStepsOfPrint = 100;

bool print(LibraryCall& call) {
  const std::uint64_t format_address = call.address(0), arguments = call.address(1);
  if (format_address == 0) {
    call.result(static_cast<std::uint32_t>(-1), 4);
    return true;
  }
  const auto format = call.text(format_address);
  if (!format) return false;
  const PrintfMemory memory{
      [&](std::uint64_t offset, int bytes) { return call.load(arguments + offset, bytes); },
      [&](std::uint64_t address) { return address == 0 ? std::optional<std::string>("(null)") : call.text(address); }};
  const auto printed = printed_text(*format, memory);
  if (!printed) return false;
  call.charge(kStepsOfPrint);
  call.worker().print(call.cta(), printed->text);
  call.result(static_cast<std::uint32_t>(printed->arguments), 4);
  return true;
}

bool allocate(LibraryCall& call) {
  Heap* const heap = call.worker().launch.heap;
  const std::uint64_t block = heap != nullptr ? heap->allocate(call.address(0), call.user()) : 0;
  if (block != 0) call.fresh(block, call.address(0));
  call.result(block, call.address_bytes());
  return true;
}

bool free(LibraryCall& call) {
  const std::uint64_t address = call.address(0);
  Heap* const heap = call.worker().launch.heap;
  if (address == 0 || (heap != nullptr && heap->free(address, call.user()))) return true;
  return call.invalid_free(address);
}

bool fail_assertion(LibraryCall& call) {
  const auto message = call.text(call.address(0)), file = call.text(call.address(1)),
             function = call.text(call.address(3));
  if (!message || !file || !function) return false;
  return call.stop(Trap::Kind::assertion,
                   fmt::format("{}, in {} ({}:{})", *message, *function, *file, call.argument(2, 4)));
}

bool run(LibraryCall& call) {
  switch (call.function()) {
  case ir::Library::none: return true;
  case ir::Library::vprintf: return print(call);
  case ir::Library::malloc: return allocate(call);
  case ir::Library::free: return free(call);
  case ir::Library::assertfail: return fail_assertion(call);
  // The driver uses the address of its word as the handle of a condition.
  case ir::Library::graph_set_conditional: return call.store(call.address(0), call.argument(1, 4), 4);
  default: return run_device_runtime(call);
  }
}

} // namespace

bool run_library(const Op* op, Warp* warp, const CallSite& site, const CalledPart& part, Mask lanes,
                 const std::uint32_t* frames) {
  for (const int lane : EachLane(lanes)) {
    LibraryCall call(op, warp, site, part, lane, frames[lane]);
    if (!run(call)) return false;
  }
  return true;
}

} // namespace warplens::exec
