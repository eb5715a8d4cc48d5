// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/block/tensor_faults.hpp"

#include "emulator/exec/block/cluster.hpp"
#include "emulator/exec/block/control.hpp"
#include "emulator/exec/block/faults.hpp"

#include <fmt/format.h>

namespace warplens::exec {

const Op* stop_at_tensor_memory(const Op* op, Warp* warp, Mask lanes, std::string why) {
  return stop_with(op, warp, Trap::Kind::invalid_tensor_memory, lanes, std::move(why));
}

namespace {

std::string columns_from(std::uint32_t column, std::uint32_t columns) {
  return columns == 1 ? fmt::format("column {}", column)
                      : fmt::format("columns {} to {}", column, std::uint64_t{column} + columns - 1);
}

const char* why_not(TensorMemory::State state) {
  switch (state) {
  case TensorMemory::State::released: return "which tcgen05.dealloc has released";
  case TensorMemory::State::never_allocated: return "which tcgen05.alloc has not allocated";
  default: return "but there are only 512";
  }
}

} // namespace

bool holds_columns(const Op* op, Warp* warp, Mask at_fault, const TensorMemory& memory, const char* what,
                   std::uint32_t address, std::uint32_t columns, std::uint32_t lanes) {
  const TensorAddress at(address);
  if (at.lane >= TensorMemory::kLanes || lanes > TensorMemory::kLanes - at.lane) {
    stop_at_tensor_memory(op, warp, at_fault,
                          fmt::format("{} at {:#x} is in lanes {} to {}, but there are only 128", what, address,
                                      at.lane, at.lane + lanes - 1));
    return false;
  }
  const TensorMemory::State state = memory.state(at.column, columns);
  if (state == TensorMemory::State::allocated) return true;
  stop_at_tensor_memory(
      op, warp, at_fault,
      fmt::format("{} at {:#x} is in {}, {}", what, address, columns_from(at.column, columns), why_not(state)));
  return false;
}

Cta* peer_of(const Cta* cta) {
  const std::uint32_t rank = cta->rank ^ 1;
  return rank < cta->cluster->ctas.size() ? cta->cluster->ctas[rank] : nullptr;
}

Cta* peer_in_pair(const Op* op, Warp* warp, Mask at_fault) {
  Cta* const peer = peer_of(warp->cta);
  if (peer != nullptr && !peer->exited) return peer;
  stop_at_tensor_memory(op, warp, at_fault,
                        peer == nullptr ? "'.cta_group::2' needs a cluster with a second block of the pair"
                                        : "the other block of the pair has exited");
  return nullptr;
}

bool same_in_all_lanes(const Op* op, Warp* warp, std::uint32_t of, const char* what) {
  const auto* const values = row<std::uint32_t>(warp, of);
  for (int i = 1; i < kWarpSize; ++i)
    if (values[i] != values[0]) {
      stop_at_tensor_memory(op, warp, Mask{1} << i,
                            fmt::format("the lanes have different {}: {:#x} and {:#x}", what, values[0], values[i]));
      return false;
    }
  return true;
}

bool stop_at_leak(Cta& cta) {
  if (!cta.tensor_memory || cta.tensor_memory->allocations().empty()) return false;
  const TensorMemory::Allocation& a = cta.tensor_memory->allocations().front();
  Trap trap;
  trap.kind = Trap::Kind::tensor_memory_leak;
  trap.instruction = a.origin.instruction;
  trap.cta = cta.number;
  trap.thread = a.origin.thread;
  trap.detail = fmt::format("the block has exited without tcgen05.dealloc of {}, which this instruction allocated",
                            columns_from(a.column, a.columns));
  record_stop(cta.worker, trap, 0);
  cta.worker.trapped(std::move(trap));
  return true;
}

} // namespace warplens::exec
