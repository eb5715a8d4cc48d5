// SPDX-License-Identifier: Apache-2.0
// tcgen05.alloc, tcgen05.dealloc and tcgen05.relinquish_alloc_permit (9.7.16.7.1).
#include "emulator/exec/matrix/tensor_handlers.hpp"

#include "emulator/exec/access/access.hpp"
#include "emulator/exec/block/cluster.hpp"
#include "emulator/exec/block/membermasks.hpp"
#include "emulator/exec/block/tensor_faults.hpp"

#include <fmt/format.h>

namespace warplens::exec {

namespace {

constexpr std::uint32_t kPair = 1;

std::uint32_t columns_of(const Op* op, Warp* warp) { return row<std::uint32_t>(warp, op->src[1])[0]; }

bool is_wrong(const Op* op, Warp* warp, std::uint32_t columns) {
  const TensorMemory& memory = *warp->cta->tensor_memory;
  std::string why;
  if (!same_in_all_lanes(op, warp, op->src[1], "numbers of columns")) return true;
  if (!TensorMemory::is_size(columns))
    why = fmt::format("expected a power of two from 32 to 512 as the number of columns, got {}", columns);
  else if (memory.relinquished)
    why = "tcgen05.alloc after tcgen05.relinquish_alloc_permit in this block";
  else if (columns > memory.last_columns())
    why = fmt::format("{} columns are more than the {} of the last allocation of the block", columns,
                      memory.last_columns());
  if (why.empty()) return false;
  stop_at_tensor_memory(op, warp, kFullMask, std::move(why));
  return true;
}

bool write_address(const Op* op, Warp* warp, std::uint32_t column) {
  HostAccess to;
  if (!op->site->resolve(op, warp, Mask{1}, to)) return false;
  std::byte* const place = to.at(0);
  const Cta& cta = *warp->cta;
  const bool dropped = place == warp->worker->nowhere;
  if (!dropped && (place < cta.shared || place >= cta.shared + cta.shared_bytes)) {
    stop_at_tensor_memory(op, warp, kFullMask, "tcgen05.alloc must write the address to the block's shared memory");
    return false;
  }
  std::memcpy(place, &column, sizeof column);
  return true;
}

// The first warp of the two leaves a request; the second one allocates for both, as soon as both blocks have room.
// Returns whether the warp has columns; otherwise it waits, or the kernel stops.
std::optional<std::uint32_t> allocate_in_pair(const Op* op, Warp* warp, const TensorMemory::Origin& origin,
                                              std::uint32_t columns) {
  TensorMemory& mine = *warp->cta->tensor_memory;
  Cta* const peer = peer_in_pair(op, warp, kFullMask);
  if (peer == nullptr) return {};
  TensorMemory& other = *peer->tensor_memory;
  if (mine.request && mine.request->warp != warp->index) return wait_later(warp, op), std::nullopt;
  if (!mine.request) mine.request = {warp->index, columns, origin, {}};
  std::optional<std::uint32_t> column = mine.request->granted;
  if (!column && other.request && !other.request->granted) {
    if (other.request->columns != columns) {
      stop_at_tensor_memory(
          op, warp, kFullMask,
          fmt::format("the blocks of a pair ask for {} and {} columns", columns, other.request->columns));
      return {};
    }
    column = mine.place_for(columns, &other);
    if (column) {
      mine.allocate_at(*column, columns, origin);
      other.allocate_at(*column, columns, other.request->origin);
      other.request->granted = column;
    }
  }
  if (!column) return wait_later(warp, op), std::nullopt;
  mine.request.reset();
  return column;
}

} // namespace

const Op* tensor_allocate(const Op* op, Warp* warp) {
  if (acting(op, warp) == 0) return op + 1;
  if (acting(op, warp) != kFullMask) return stop_at_incomplete_warp(op, warp), nullptr;
  const std::uint32_t columns = columns_of(op, warp);
  TensorMemory& memory = *warp->cta->tensor_memory;
  const bool pair = op->extra == kPair;
  // The other warp of a pair may have allocated already.
  const bool granted = pair && memory.request && memory.request->warp == warp->index && memory.request->granted;
  if (!granted && is_wrong(op, warp, columns)) return nullptr;
  const TensorMemory::Origin origin{op->instruction, warp->index * kWarpSize, pair};
  std::optional<std::uint32_t> column;
  if (pair) {
    column = allocate_in_pair(op, warp, origin, columns);
    if (!column) return nullptr;
  } else {
    column = memory.allocate(columns, origin);
    if (!column) return wait_later(warp, op);
  }
  return write_address(op, warp, *column) ? op + 1 : nullptr;
}

const Op* tensor_release(const Op* op, Warp* warp) {
  if (acting(op, warp) == 0) return op + 1;
  if (acting(op, warp) != kFullMask) return stop_at_incomplete_warp(op, warp), nullptr;
  if (!same_in_all_lanes(op, warp, op->src[0], "addresses") ||
      !same_in_all_lanes(op, warp, op->src[1], "numbers of columns"))
    return nullptr;
  TensorMemory& memory = *warp->cta->tensor_memory;
  const std::uint32_t address = row<std::uint32_t>(warp, op->src[0])[0], columns = columns_of(op, warp);
  const TensorAddress at(address);
  const TensorMemory::Allocation* const a = at.lane == 0 ? memory.allocation_at(at.column) : nullptr;
  std::string why;
  if (a == nullptr)
    why = fmt::format("{:#x} is not the address of an allocation{}", address,
                      at.lane == 0 && memory.state(at.column, 1) == TensorMemory::State::released
                          ? ": its columns were released already"
                          : "");
  else if (a->columns != columns)
    why =
        fmt::format("the allocation at {:#x} has {} columns, but {} are to be released", address, a->columns, columns);
  else if (op->extra == kPair && peer_in_pair(op, warp, kFullMask) == nullptr)
    return nullptr;
  if (!why.empty()) return stop_at_tensor_memory(op, warp, kFullMask, std::move(why));
  memory.release(at.column);
  return op + 1;
}

const Op* tensor_relinquish(const Op* op, Warp* warp) {
  if (acting(op, warp) == 0) return op + 1;
  if (acting(op, warp) != kFullMask) return stop_at_incomplete_warp(op, warp), nullptr;
  warp->cta->tensor_memory->relinquished = true;
  return op + 1;
}

} // namespace warplens::exec
