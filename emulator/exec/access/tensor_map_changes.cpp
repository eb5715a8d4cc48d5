// SPDX-License-Identifier: Apache-2.0
// tensormap.replace and tensormap.cp_fenceproxy.
#include "emulator/exec/access/tensor_copy.hpp"

#include "emulator/exec/block/control.hpp"
#include "emulator/exec/state/tensor_map.hpp"

#include <fmt/format.h>

#include <cstring>

namespace warplens::exec {

namespace {

template <class Value> const Op* replace_field(const Op* op, Warp* warp) {
  constexpr unsigned kAlignment = 64;
  for (const int lane : EachLane(acting(op, warp))) {
    Reached at;
    if (!reach(op, warp, lane, address_in(op, warp, lane), TensorMap::kBytes, kAlignment, at)) return nullptr;
    if (at.bytes == nullptr) continue;
    TensorMap::Words words{};
    std::memcpy(words.data(), at.bytes, sizeof words);
    const std::uint64_t value = row<Value>(warp, op->src[1])[lane];
    if (!replace(words, static_cast<TensorField>(op->extra & 0xff), op->extra >> 8, value))
      return stop_with(op, warp, Trap::Kind::invalid_tensor_copy, Mask{1} << lane,
                       fmt::format("a tensor map cannot have the value {:#x} in this field", value));
    std::memcpy(at.bytes, words.data(), sizeof words);
  }
  return op + 1;
}

} // namespace

const Op* replace_in_map(const Op* op, Warp* warp) { return replace_field<std::uint32_t>(op, warp); }
const Op* replace_in_map_64(const Op* op, Warp* warp) { return replace_field<std::uint64_t>(op, warp); }

// All threads of the warp name the same addresses.
const Op* copy_map(const Op* op, Warp* warp) {
  constexpr unsigned kAlignment = 64;
  const Mask mask = acting(op, warp);
  if (mask == 0) return op + 2;
  const int lane = __builtin_ctz(mask);
  Reached to, from;
  if (!reach(op, warp, lane, address_in(op, warp, lane), TensorMap::kBytes, kAlignment, to) ||
      !reach(op + 1, warp, lane, address_in(op + 1, warp, lane), TensorMap::kBytes, kAlignment, from))
    return nullptr;
  if (to.bytes != nullptr && from.bytes != nullptr) std::memcpy(to.bytes, from.bytes, TensorMap::kBytes);
  return op + 2;
}

} // namespace warplens::exec
