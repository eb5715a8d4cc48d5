// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/compile/support.hpp"

#include "emulator/exec/block/control.hpp"
#include "emulator/exec/block/cta.hpp"

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

} // namespace

std::vector<std::pair<const char*, void*>> support_functions() {
  return {{"warplens_tell_access", reinterpret_cast<void*>(&tell_access)},
          {"warplens_tell_special", reinterpret_cast<void*>(&tell_special)},
          {"warplens_tell_branch", reinterpret_cast<void*>(&tell_branch)}};
}

} // namespace warplens::exec
