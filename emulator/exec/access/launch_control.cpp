// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/access/launch_control.hpp"

#include "emulator/exec/access/async_copy.hpp"
#include "emulator/exec/access/mbarrier.hpp"
#include "emulator/exec/block/cluster.hpp"
#include "emulator/exec/block/control.hpp"

#include <cstring>

namespace warplens::exec {

namespace {

struct Response {
  std::uint32_t first_cta[3]{};
  std::uint32_t canceled = 0;
};
constexpr unsigned kBytes = sizeof(Response);

Response cancel(const Warp* warp) {
  Response r;
  const std::optional<std::uint64_t> first = warp->worker->cancel_next();
  if (!first) return r;
  std::uint64_t rest = *first;
  for (int d = 0; d < 3; ++d) {
    const std::uint32_t size = warp->worker->launch.shape.grid[d];
    r.first_cta[d] = static_cast<std::uint32_t>(rest % size);
    rest /= size;
  }
  r.canceled = 1;
  return r;
}

bool cancel_for(const Op* op, Warp* warp, int lane) {
  Reached to;
  if (!reach(op, warp, lane, address_in(op, warp, lane), kBytes, kBytes, to)) return false;
  if (to.bytes == nullptr) return true; // dropped
  const Cta* const own = warp->cta;
  if (own->cluster->owner(to.bytes) != own) {
    stop_with(op, warp, Trap::Kind::invalid_copy, Mask{1} << lane,
              "its response must be in shared memory of the block");
    return false;
  }
  const Response response = cancel(warp);
  const bool multicast = (op->extra & kMulticast) != 0;
  for (const Cta* const cta : own->cluster->ctas) {
    if (!multicast && cta != own) continue;
    Reached there = to;
    there.bytes = cta->shared + (to.bytes - own->shared);
    there.offset = place_in_block(warp, *cta, static_cast<std::uint64_t>(to.bytes - own->shared));
    observe_run(op, warp, there, kBytes);
    std::memcpy(there.bytes, &response, kBytes);
    if (!complete_bytes(op + 1, warp, lane, cta, multicast, kBytes)) return false;
  }
  return true;
}

Response response_of(const Op* op, Warp* warp, int lane) {
  Response r;
  std::memcpy(&r, row<std::byte>(warp, op->src[0]) + static_cast<unsigned>(lane) * kBytes, kBytes);
  return r;
}

} // namespace

// The turn of the warp ends, so that blocks share those that can be cancelled.
const Op* try_cancel(const Op* op, Warp* warp) {
  const Mask mask = acting(op, warp);
  for (const int lane : EachLane(mask))
    if (!cancel_for(op, warp, lane)) return nullptr;
  // The checkers learn of the arrival before others wait for it.
  const Op* const next = handler_of(op + 2, warp) == tell_step ? tell_step(op + 2, warp) : op + 2;
  return mask == 0 ? next : wait_later(warp, next);
}

const Op* query_canceled(const Op* op, Warp* warp) {
  const Mask mask = acting(op, warp);
  Mask canceled = 0;
  for (const int lane : EachLane(mask)) canceled |= response_of(op, warp, lane).canceled != 0 ? Mask{1} << lane : 0;
  Mask& result = predicate(warp, op->dst[0]);
  result = (result & ~mask) | canceled;
  return op + 1;
}

const Op* query_first_cta(const Op* op, Warp* warp) {
  auto* const to = row<std::uint32_t>(warp, op->dst[0]);
  for (const int lane : EachLane(acting(op, warp))) to[lane] = response_of(op, warp, lane).first_cta[op->extra];
  return op + 1;
}

} // namespace warplens::exec
