// SPDX-License-Identifier: Apache-2.0
// One lane's call of a function of the device library: its arguments, its result, the memory that it accesses.
#pragma once

#include "emulator/exec/access/access.hpp"
#include "emulator/exec/calls/calls.hpp"

#include <cstring>
#include <optional>
#include <string>

namespace warplens::exec {

class LibraryCall {
public:
  LibraryCall(const Op* op, Warp* warp, const CallSite& site, const CalledPart& part, int lane, std::uint32_t frame)
      : op_(op), warp_(warp), site_(site), part_(part), lane_(lane), frame_(frame) {}

  [[nodiscard]] ir::Library function() const { return part_.library; }
  [[nodiscard]] const ir::Module& module() const { return *warp_->cta->program.module; }
  [[nodiscard]] int address_bytes() const { return module().address_size / 8; }
  [[nodiscard]] Worker& worker() const { return *warp_->worker; }
  [[nodiscard]] std::uint64_t cta() const { return warp_->cta->number; }
  [[nodiscard]] std::uint32_t thread() const { return warp_->index * kWarpSize + static_cast<std::uint32_t>(lane_); }

  /// `first`: bytes of the argument to skip.
  [[nodiscard]] std::uint64_t argument(std::size_t number, int bytes, std::uint32_t first = 0) const {
    std::uint64_t value = 0;
    std::memcpy(&value, Stacks(warp_).at(lane_, frame_ + part_.param_offsets[number] + first),
                static_cast<std::size_t>(bytes));
    return value;
  }
  [[nodiscard]] std::uint64_t address(std::size_t number) const { return argument(number, address_bytes()); }
  void result(std::uint64_t value, int bytes) {
    std::memcpy(Stacks(warp_).at(lane_, frame_ + part_.result_offsets[0]), &value, static_cast<std::size_t>(bytes));
  }

  // Memory at generic addresses. On an error, they set the worker's trap and return nothing or false.
  std::optional<std::uint64_t> load(std::uint64_t address, int bytes);
  bool store(std::uint64_t address, std::uint64_t value, int bytes);
  /// Tells the tools of a new block of the heap, whose contents are undefined.
  void fresh(std::uint64_t address, std::uint64_t bytes);
  /// A zero-terminated string.
  std::optional<std::string> text(std::uint64_t address);
  /// Whether the whole range is global memory that the kernel may access; sets no trap.
  bool is_global(std::uint64_t address, std::uint64_t bytes);

  /// Charges the work of the host, in warp instructions of the same duration.
  void charge(std::int64_t steps) { warp_->budget -= steps; }
  /// Stops the kernel and returns false.
  bool stop(Trap::Kind kind, std::string detail);
  bool out_of_bounds(AccessKind access, std::uint64_t address, std::uint64_t bytes);
  /// free() of an address that is not a block. True: memcheck lets the kernel go on.
  bool invalid_free(std::uint64_t address);
  [[nodiscard]] Heap::User user() const { return {worker().launch.number, cta(), thread(), op_->instruction}; }

private:
  const Op* op_;
  Warp* warp_;
  const CallSite& site_;
  const CalledPart& part_;
  int lane_;
  std::uint32_t frame_;
};

/// Runs a function of the device runtime for one lane. False after setting the worker's trap.
bool run_device_runtime(LibraryCall& call);

} // namespace warplens::exec
