// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/compile/support.hpp"

#include "emulator/exec/access/collisions.hpp"
#include "emulator/exec/block/control.hpp"
#include "emulator/exec/block/cta.hpp"

#include <cstring>

namespace warplens::exec {

namespace {

void tell_access(Warp* warp, const Op* op, isa::Space space, std::uint64_t base, std::int64_t stride,
                 std::int64_t half) {
  const std::int64_t strides[] = {stride, stride};
  warp->worker->watch->regular(*warp, *op->site, space, kFullMask, base, strides, half);
}

void tell_branch(Warp* warp, std::uint32_t branch, Mask taken) {
  warp->worker->count_branch(*warp, branch, warp->active, taken);
}

template <class Element> void store(const std::uint64_t* places, const void* values, Mask mask) {
  const auto* const elements = static_cast<const Element*>(values);
  const auto lane = [&](int i) { std::memcpy(reinterpret_cast<void*>(places[i]), elements + i, sizeof(Element)); };
  if (mask == kFullMask)
    for_each_storing_lane<sizeof(Element)>(lane);
  else
    for_each_storing_lane(mask, sizeof(Element), lane);
}

} // namespace

std::vector<std::pair<const char*, void*>> support_functions() {
  return {{"warplens_tell_access", reinterpret_cast<void*>(&tell_access)},
          {"warplens_store_1", reinterpret_cast<void*>(&store<std::uint8_t>)},
          {"warplens_store_2", reinterpret_cast<void*>(&store<std::uint16_t>)},
          {"warplens_store_4", reinterpret_cast<void*>(&store<std::uint32_t>)},
          {"warplens_store_8", reinterpret_cast<void*>(&store<std::uint64_t>)},
          {"warplens_tell_special", reinterpret_cast<void*>(&tell_special)},
          {"warplens_tell_branch", reinterpret_cast<void*>(&tell_branch)}};
}

} // namespace warplens::exec
