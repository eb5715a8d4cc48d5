// The functions of the device's library that compilers call: printf, malloc, free, assert.
#include "emulator/exec/access.hpp"
#include "emulator/exec/calls.hpp"
#include "emulator/exec/control.hpp"
#include "emulator/exec/device_printf.hpp"

#include <fmt/format.h>

#include <cstring>

namespace warplens::exec {

namespace {

// What one CTA may print; CUDA keeps as much of a whole launch by default (cudaLimitPrintfFifoSize).
constexpr std::size_t kMaxPrinted = 1 << 20;
constexpr std::size_t kMaxText = 1 << 16;

// One lane's call.
class LibraryCall {
public:
  LibraryCall(const Op* op, Warp* warp, const CallSite& site, const CalledPart& part, int lane, std::uint32_t frame)
      : op_(op), warp_(warp), site_(site), part_(part), lane_(lane), frame_(frame),
        address_bytes_(warp->cta->program.module->address_size / 8) {}

  bool run() {
    switch (part_.library) {
    case ir::Library::vprintf: return print();
    case ir::Library::malloc: allocate(); return true;
    case ir::Library::free: return free();
    case ir::Library::assertfail: fail_assertion(); return false;
    case ir::Library::none: break;
    }
    return true;
  }

private:
  bool print() {
    const std::uint64_t format_address = argument(0, address_bytes_), arguments = argument(1, address_bytes_);
    if (format_address == 0) {
      result(static_cast<std::uint32_t>(-1), 4);
      return true;
    }
    const auto format = text(format_address);
    if (!format) return false;
    const PrintfMemory memory{
        [&](std::uint64_t offset, int bytes) { return word(arguments + offset, bytes); },
        [&](std::uint64_t address) { return address == 0 ? std::optional<std::string>("(null)") : text(address); }};
    const auto printed = printed_text(*format, memory);
    if (!printed) return false;
    std::string& out = warp_->worker->printed[warp_->cta->number];
    out.append(printed->text, 0, kMaxPrinted - std::min(kMaxPrinted, out.size()));
    result(static_cast<std::uint32_t>(printed->arguments), 4);
    return true;
  }

  void allocate() {
    Heap* const heap = warp_->worker->launch.heap;
    result(heap != nullptr ? heap->allocate(argument(0, address_bytes_)) : 0, address_bytes_);
  }

  bool free() {
    const std::uint64_t address = argument(0, address_bytes_);
    Heap* const heap = warp_->worker->launch.heap;
    if (address == 0 || (heap != nullptr && heap->free(address))) return true;
    stop_with(op_, warp_, Trap::Kind::invalid_free, Mask{1} << lane_,
              fmt::format("{:#x} is no block that malloc gave", address));
    return false;
  }

  void fail_assertion() {
    const auto message = text(argument(0, address_bytes_)), file = text(argument(1, address_bytes_)),
               function = text(argument(3, address_bytes_));
    if (!message || !file || !function) return;
    stop_with(op_, warp_, Trap::Kind::assertion, Mask{1} << lane_,
              fmt::format("{}, in {} ({}:{})", *message, *function, *file, argument(2, 4)));
  }

  std::uint64_t argument(std::size_t number, int bytes) const {
    std::uint64_t value = 0;
    std::memcpy(&value, Stacks(warp_).at(lane_, frame_ + part_.param_offsets[number]), static_cast<std::size_t>(bytes));
    return value;
  }

  void result(std::uint64_t value, int bytes) {
    std::memcpy(Stacks(warp_).at(lane_, frame_ + part_.result_offsets[0]), &value, static_cast<std::size_t>(bytes));
  }

  // A word at a generic address; nothing after setting the worker's trap.
  std::optional<std::uint64_t> word(std::uint64_t address, int bytes) {
    const std::byte* const p = reach(warp_, *site_.strings, address, static_cast<std::uint16_t>(bytes), lane_);
    std::uint64_t value = 0;
    if (p == nullptr) {
      unreadable(address, bytes);
      return std::nullopt;
    }
    std::memcpy(&value, p, static_cast<std::size_t>(bytes));
    return value;
  }

  std::optional<std::string> text(std::uint64_t address) {
    std::string result;
    while (result.size() < kMaxText) {
      const auto c = word(address + result.size(), 1);
      if (!c) return std::nullopt;
      if (*c == 0) break;
      result += static_cast<char>(*c);
    }
    return result;
  }

  void unreadable(std::uint64_t address, int bytes) {
    Trap trap;
    trap.kind = Trap::Kind::out_of_bounds;
    trap.instruction = op_->instruction;
    trap.cta = warp_->cta->number;
    trap.thread = warp_->index * kWarpSize + static_cast<std::uint32_t>(lane_);
    trap.space = isa::Space::global;
    trap.access = AccessKind::load;
    trap.lane_bytes = static_cast<std::uint32_t>(bytes);
    trap.address = address;
    warp_->worker->trapped(std::move(trap));
    warp_->state = WarpState::trapped;
  }

  const Op* op_;
  Warp* warp_;
  const CallSite& site_;
  const CalledPart& part_;
  int lane_;
  std::uint32_t frame_;
  int address_bytes_;
};

} // namespace

bool run_library(const Op* op, Warp* warp, const CallSite& site, const CalledPart& part, Mask lanes,
                 const std::uint32_t* frames) {
  for (; lanes != 0; lanes &= lanes - 1) {
    const int lane = __builtin_ctz(lanes);
    if (!LibraryCall(op, warp, site, part, lane, frames[lane]).run()) return false;
  }
  return true;
}

} // namespace warplens::exec
