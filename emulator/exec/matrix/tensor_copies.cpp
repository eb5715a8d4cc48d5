// SPDX-License-Identifier: Apache-2.0
// tcgen05.cp and tcgen05.shift (9.7.16.9). A single thread issues them.
#include "emulator/exec/matrix/tensor_handlers.hpp"

#include "emulator/exec/block/cta.hpp"
#include "emulator/exec/block/tensor_faults.hpp"
#include "emulator/exec/matrix/tensor_descriptor.hpp"

#include <fmt/format.h>

#include <cstring>

namespace warplens::exec {

namespace {

constexpr std::uint32_t kCopiedUnit = 16, kWordsOfUnit = 4;

std::uint32_t address_in_lane(const Op* op, Warp* warp, int lane) {
  return row<std::uint32_t>(warp, op->src[0])[lane] + static_cast<std::uint32_t>(op->imm);
}

/// The blocks that an instruction of `lane` concerns: that of the warp and, with .cta_group::2, the other of its pair.
struct Blocks {
  Cta* of[2]{};
  int count = 0; ///< 0: the kernel stops
};
Blocks blocks_of(const Op* op, Warp* warp, int lane, bool pair) {
  if (!pair) return {{warp->cta, nullptr}, 1};
  Cta* const peer = peer_in_pair(op, warp, Mask{1} << lane);
  return {{warp->cta, peer}, peer != nullptr ? 2 : 0};
}

/// Returns false if a unit is not in the shared memory of the block.
bool copy_rows(const SharedToTensor& c, const TensorDescriptor& from, const Cta& cta, TensorAddress to) {
  for (std::uint32_t r = 0; r < c.rows; ++r)
    for (std::uint32_t u = 0; u < c.columns / kWordsOfUnit; ++u) {
      const std::uint64_t at = from.unit(r, u);
      if (at > cta.shared_bytes || cta.shared_bytes - at < kCopiedUnit) return false;
      std::byte unit[kCopiedUnit];
      std::memcpy(unit, cta.shared + at, kCopiedUnit);
      if (c.packed != SharedToTensor::Packed::none)
        unpack_numbers(c.packed == SharedToTensor::Packed::six ? 6 : 4, unit);
      for (std::uint32_t i = 0; i < c.copies; ++i)
        std::memcpy(cta.tensor_memory->lane(to.lane + c.lane(r, i)) + to.column + u * kWordsOfUnit, unit, kCopiedUnit);
    }
  return true;
}

bool copy_by(const Op* op, Warp* warp, int lane) {
  const SharedToTensor& c = *op->copy;
  const Mask one = Mask{1} << lane;
  const std::uint32_t address = address_in_lane(op, warp, lane);
  const std::uint64_t bits = row<std::uint64_t>(warp, op->src[1])[lane];
  const auto stop = [&](std::string why) { return stop_at_tensor_memory(op, warp, one, std::move(why)) != nullptr; };
  const TensorDescriptor from(bits);
  if (from.fault() != nullptr) return stop(fmt::format("the descriptor {:#x} is invalid: {}", bits, from.fault()));
  const Blocks blocks = blocks_of(op, warp, lane, c.pair);
  if (blocks.count == 0) return false;
  const std::uint32_t lanes = c.lane(c.rows - 1, c.copies - 1) + 1;
  for (int b = 0; b < blocks.count; ++b) {
    const Cta& cta = *blocks.of[b];
    if (!holds_columns(op, warp, one, *cta.tensor_memory, "the destination", address, c.columns, lanes)) return false;
    if (!copy_rows(c, from, cta, TensorAddress(address)))
      return stop(fmt::format("the descriptor {:#x} reaches beyond the {} bytes of shared memory of the block", bits,
                              cta.shared_bytes));
  }
  return true;
}

bool shift_by(const Op* op, Warp* warp, int lane) {
  constexpr std::uint32_t kColumns = 8; // 32 bytes
  const Mask one = Mask{1} << lane;
  const std::uint32_t address = address_in_lane(op, warp, lane);
  const TensorAddress at(address);
  const Blocks blocks = blocks_of(op, warp, lane, op->extra != 0);
  if (blocks.count == 0) return false;
  if (at.lane % kWarpSize != 0) {
    stop_at_tensor_memory(op, warp, one, fmt::format("the lane of {:#x} must be a multiple of 32", address));
    return false;
  }
  for (int b = 0; b < blocks.count; ++b) {
    TensorMemory& memory = *blocks.of[b]->tensor_memory;
    if (!holds_columns(op, warp, one, memory, "the matrix", address, kColumns, kWarpSize)) return false;
    for (std::uint32_t l = at.lane + kWarpSize - 1; l > at.lane; --l)
      std::memcpy(memory.lane(l) + at.column, memory.lane(l - 1) + at.column, kColumns * sizeof(std::uint32_t));
  }
  return true;
}

template <bool (*perform)(const Op*, Warp*, int)> const Op* by_each_lane(const Op* op, Warp* warp) {
  for (const int lane : EachLane(acting(op, warp)))
    if (!perform(op, warp, lane)) return nullptr;
  return op + 1;
}

} // namespace

const Op* tensor_copy_shared(const Op* op, Warp* warp) { return by_each_lane<copy_by>(op, warp); }
const Op* tensor_shift(const Op* op, Warp* warp) { return by_each_lane<shift_by>(op, warp); }

} // namespace warplens::exec
