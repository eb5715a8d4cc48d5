// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/access/mbarrier.hpp"

#include "emulator/exec/block/cluster.hpp"
#include "emulator/exec/block/control.hpp"
#include "emulator/exec/block/faults.hpp"

#include <cstring>

namespace warplens::exec {

void Mbarrier::set(std::uint32_t pending, std::uint32_t expected, std::int32_t bytes) {
  const auto biased = static_cast<std::uint64_t>(std::int64_t{bytes} + kMaxCount + 1);
  bits_ = (bits_ & (kPhase | kExists)) | std::uint64_t{pending} << kPending | std::uint64_t{expected} << kExpected |
          biased << kBytes;
}

Mbarrier::Fault Mbarrier::create(std::uint32_t count, std::uint64_t& bits) {
  if (count == 0 || count > kMaxCount) return "the expected count must be from 1 to 1048575";
  Mbarrier fresh(kExists);
  fresh.set(count, count, 0);
  bits = fresh.bits();
  return nullptr;
}

// A phase is complete when neither arrivals nor bytes are pending.
void Mbarrier::end_phase_if_complete() {
  if (pending() != 0 || bytes() != 0) return;
  bits_ ^= kPhase;
  set(expected(), expected(), 0);
}

Mbarrier::Fault Mbarrier::arrive(std::uint32_t count) {
  if (count == 0 || count > kMaxCount) return "the arrival count must be from 1 to 1048575";
  if (count > pending()) return "more arrivals in a phase than expected";
  set(pending() - count, expected(), bytes());
  end_phase_if_complete();
  return nullptr;
}

Mbarrier::Fault Mbarrier::drop(std::uint32_t count) {
  if (count > expected()) return "more arrivals are dropped than expected";
  set(pending(), expected() - count, bytes());
  return nullptr;
}

Mbarrier::Fault Mbarrier::expect(std::uint32_t count) {
  if (count > kMaxCount || bytes() + static_cast<std::int32_t>(count) > static_cast<std::int32_t>(kMaxCount))
    return "more than 1048575 bytes are pending";
  set(pending(), expected(), bytes() + static_cast<std::int32_t>(count));
  end_phase_if_complete(); // bytes may arrive before they are expected
  return nullptr;
}

Mbarrier::Fault Mbarrier::complete(std::uint32_t count) {
  if (count > kMaxCount || bytes() - static_cast<std::int32_t>(count) < -static_cast<std::int32_t>(kMaxCount))
    return "more than 1048575 unexpected bytes have arrived";
  set(pending(), expected(), bytes() - static_cast<std::int32_t>(count));
  end_phase_if_complete();
  return nullptr;
}

Mbarrier::Fault Mbarrier::add_pending() {
  if (pending() == kMaxCount) return "more than 1048575 arrivals are pending";
  set(pending() + 1, expected(), bytes());
  return nullptr;
}

namespace {

using WARPLENS_LEVEL::lane_address, WARPLENS_LEVEL::reach_known, WARPLENS_LEVEL::reach_only;

constexpr const char* kNoObject = "there is no initialised mbarrier at this address";
constexpr const char* kNotShared = "it must be in shared memory";

// Calls `act` with the initialised object at `place`; `act` returns a Fault.
template <class Act> Mbarrier::Fault change(std::byte* place, Act act) {
  std::uint64_t bits;
  std::memcpy(&bits, place, sizeof bits);
  Mbarrier object(bits);
  if (!object.exists()) return kNoObject;
  const Mbarrier::Fault fault = act(object);
  bits = object.bits();
  std::memcpy(place, &bits, sizeof bits);
  return fault;
}

bool stop_at(const Op* op, Warp* warp, int lane, Mbarrier::Fault fault) {
  Trap trap = trap_at(warp, Trap::Kind::invalid_mbarrier, op->instruction, lane);
  trap.detail = fault;
  if (fault == kNoObject) trap.finding = ToolFinding::Kind::mbarrier_not_initialised;
  stop_with(warp, std::move(trap));
  return false;
}

// Calls `act` with each lane and the place of its object, in lane order; `act` returns a Fault.
// Returns false if the kernel stops. Mostly one thread of a block acts.
template <class Act> bool each_object(const Op* op, Warp* warp, Mask mask, Act act) {
  const auto on_object = [&](int lane, std::byte* place) {
    if (place == warp->worker->nowhere) return true;
    Mbarrier::Fault fault = kNotShared;
    if (op->site->space == isa::Space::shared || warp->cta->cluster->owner(place) != nullptr) fault = act(lane, place);
    return fault == nullptr || stop_at(op, warp, lane, fault);
  };
  if (few(mask)) {
    const int lane = __builtin_ctz(mask);
    if (std::byte* const place = reach_only(op, warp, mask, lane)) return on_object(lane, place);
  }
  HostAccess host;
  if (!op->site->resolve(op, warp, mask, host)) return false;
  for (const int lane : EachLane(mask))
    if (!on_object(lane, host.at(lane))) return false;
  return true;
}

// The same for initialised objects.
template <class Act> const Op* on_objects(const Op* op, Warp* warp, Act act) {
  const Mask mask = acting(op, warp);
  if (mask == 0) return op + 1;
  const bool fine = each_object(op, warp, mask, [&](int lane, std::byte* place) {
    return change(place, [&](Mbarrier& object) { return act(lane, object); });
  });
  return fine ? op + 1 : nullptr;
}

} // namespace

namespace {

// The block's list of valid objects, for synccheck.
std::pair<std::set<std::uint64_t>*, std::uint64_t> listed(Warp* warp, const std::byte* place) {
  Cta* const cta = warp->worker->launch.tools.synccheck ? warp->cta->cluster->owner(place) : nullptr;
  if (cta == nullptr) return {nullptr, 0};
  return {&cta->mbarriers, static_cast<std::uint64_t>(place - cta->shared)};
}

void note_init(const Op* op, Warp* warp, int lane, const std::byte* place) {
  const auto [list, offset] = listed(warp, place);
  if (list != nullptr && !list->insert(offset).second)
    record(warp, ToolFinding::Kind::mbarrier_double_init, op->instruction, Mask{1} << lane,
           "the object is still valid: mbarrier.inval ends its use");
}

void note_invalid(Warp* warp, const std::byte* place) {
  if (const auto [list, offset] = listed(warp, place); list != nullptr) list->erase(offset);
}

} // namespace

const Op* mbarrier_init(const Op* op, Warp* warp) {
  const Mask mask = acting(op, warp);
  const auto* const counts = row<std::uint32_t>(warp, op->src[1]);
  const auto create = [&](int lane, std::byte* place) {
    std::uint64_t bits = 0;
    const Mbarrier::Fault fault = Mbarrier::create(counts[lane], bits);
    if (fault != nullptr) return fault;
    note_init(op, warp, lane, place);
    std::memcpy(place, &bits, sizeof bits);
    return fault;
  };
  return mask == 0 || each_object(op, warp, mask, create) ? op + 1 : nullptr;
}

const Op* mbarrier_invalidate(const Op* op, Warp* warp) {
  const Mask mask = acting(op, warp);
  const auto end = [&](int, std::byte* place) {
    note_invalid(warp, place);
    return change(place, [](Mbarrier& object) {
      object = Mbarrier(0);
      return Mbarrier::Fault{};
    });
  };
  return mask == 0 || each_object(op, warp, mask, end) ? op + 1 : nullptr;
}

const Op* mbarrier_expect(const Op* op, Warp* warp) {
  const auto* const bytes = row<std::uint32_t>(warp, op->src[1]);
  return on_objects(op, warp, [&](int lane, Mbarrier& object) { return object.expect(bytes[lane]); });
}

const Op* mbarrier_complete(const Op* op, Warp* warp) {
  const auto* const bytes = row<std::uint32_t>(warp, op->src[1]);
  return on_objects(op, warp, [&](int lane, Mbarrier& object) { return object.complete(bytes[lane]); });
}

const Op* mbarrier_arrive(const Op* op, Warp* warp) {
  const auto* const values = row<std::uint32_t>(warp, op->src[1]);
  bool completes = false;
  const Op* const next = on_objects(op, warp, [&](int lane, Mbarrier& object) {
    const std::uint64_t state = object.bits();
    const bool expects = (op->extra & kExpects) != 0, odd = object.odd_phase();
    const std::uint32_t count = expects ? 1 : values[lane];
    Mbarrier::Fault fault = expects ? object.expect(values[lane]) : nullptr;
    if (fault == nullptr && (op->extra & kDrops) != 0) fault = object.drop(count);
    if (fault == nullptr) fault = object.arrive(count);
    if (fault == nullptr && (op->extra & kNoComplete) != 0 && object.odd_phase() != odd)
      fault = "an arrival with .noComplete completes the phase";
    completes = completes || object.odd_phase() != odd;
    if (fault == nullptr && (op->extra & kHasResult) != 0) row<std::uint64_t>(warp, op->dst[0])[lane] = state;
    return fault;
  });
  // In other orders than the usual one, the last warp to arrive is not the first one to go on.
  if (!completes || next == nullptr || warp->worker->launch.schedule_seed == 0) return next;
  warp->next = next;
  return nullptr;
}

namespace {

// Tells the watcher that copies or products have a part in the phase of the object at `place`, or that a wait for it
// succeeds.
void tell_phase(const Op* op, const Warp* warp, const std::byte* place, bool waits) {
  if (!warp->worker->shard) return;
  if (const Cta* const owner = warp->cta->cluster->owner(place); owner != nullptr)
    warp->worker->shard->phase_step(
        {op->instruction, waits, owner->number, static_cast<std::uint64_t>(place - owner->shared)});
}

} // namespace

const Op* mbarrier_copies_arrive(const Op* op, Warp* warp) {
  const Mask mask = acting(op, warp);
  const auto arrive = [&](int, std::byte* place) {
    tell_phase(op, warp, place, false);
    return change(place, [&](Mbarrier& object) {
      const Mbarrier::Fault fault = (op->extra & kNoIncrement) != 0 ? nullptr : object.add_pending();
      return fault != nullptr ? fault : object.arrive(1);
    });
  };
  return mask == 0 || each_object(op, warp, mask, arrive) ? op + 1 : nullptr;
}

namespace {

// The object at this offset in each block that the mask names.
Mbarrier::Fault arrive_in_blocks(const Op* op, const Warp* warp, const std::byte* place, std::uint32_t mask) {
  const Cluster& cluster = *warp->cta->cluster;
  const Cta* const owner = cluster.owner(place);
  if (owner == nullptr) return kNotShared;
  if (mask >> cluster.ctas.size() != 0) return "the mask names blocks that the cluster does not have";
  for (std::size_t i = 0; i < cluster.ctas.size(); ++i) {
    if ((mask >> i & 1) == 0) continue;
    std::byte* const there = cluster.ctas[i]->shared + (place - owner->shared);
    tell_phase(op, warp, there, false);
    if (const auto fault = change(there, [](Mbarrier& object) { return object.arrive(1); })) return fault;
  }
  return nullptr;
}

} // namespace

const Op* mbarrier_commit(const Op* op, Warp* warp) {
  const Mask mask = acting(op, warp);
  const auto arrive = [&](int lane, std::byte* place) {
    if (op->extra != 0) return arrive_in_blocks(op, warp, place, row<std::uint16_t>(warp, op->src[1])[lane]);
    tell_phase(op, warp, place, false);
    return change(place, [](Mbarrier& object) { return object.arrive(1); });
  };
  return mask == 0 || each_object(op, warp, mask, arrive) ? op + 1 : nullptr;
}

const Op* mbarrier_wait(const Op* op, Warp* warp) {
  const Mask mask = acting(op, warp);
  if (mask == 0) return op + 1;
  Mask complete = 0;
  const std::byte* told = nullptr;
  const auto test = [&](int lane, std::byte* place) {
    const bool odd = (op->extra & kParity) != 0 ? (row<std::uint32_t>(warp, op->src[1])[lane] & 1) != 0
                                                : Mbarrier(row<std::uint64_t>(warp, op->src[1])[lane]).odd_phase();
    const Mbarrier::Fault fault = change(place, [&](const Mbarrier& object) {
      complete |= object.odd_phase() != odd ? Mask{1} << lane : 0;
      return Mbarrier::Fault{};
    });
    if ((complete >> lane & 1) != 0 && place != told) tell_phase(op, warp, told = place, true);
    return fault;
  };
  if (!each_object(op, warp, mask, test)) return nullptr;
  const Op* const next = op + 1;
  Mask& result = predicate(warp, op->dst[0]);
  result = (result & ~mask) | complete;
  return complete == 0 ? wait_later(warp, next) : next;
}

const Op* mbarrier_pending(const Op* op, Warp* warp) {
  const auto* const states = row<std::uint64_t>(warp, op->src[0]);
  auto* const counts = row<std::uint32_t>(warp, op->dst[0]);
  for (const int lane : EachLane(acting(op, warp))) counts[lane] = Mbarrier(states[lane]).pending();
  return op + 1;
}

bool complete_bytes(const Op* op, Warp* warp, int lane, const Cta* cta, bool multicast, std::uint32_t bytes) {
  constexpr unsigned kSize = sizeof(std::uint64_t);
  Reached at;
  if (!reach_known(op, warp, lane, lane_address(op, warp, lane), kSize, kSize, at)) return false;
  if (at.bytes == nullptr) return true;
  const Cta* const owner = warp->cta->cluster->owner(at.bytes);
  Mbarrier::Fault fault = nullptr;
  if (owner == nullptr) fault = kNotShared;
  if (fault == nullptr && !multicast && cta != nullptr && owner != cta)
    fault = "it is not in the shared memory of the destination block";
  if (fault == nullptr) {
    std::byte* const place = multicast ? cta->shared + (at.bytes - owner->shared) : at.bytes;
    fault = change(place, [&](Mbarrier& object) { return object.complete(bytes); });
    tell_phase(op, warp, place, false);
  }
  if (fault == nullptr) return true;
  stop_with(op, warp, Trap::Kind::invalid_mbarrier, Mask{1} << lane, fault);
  return false;
}

} // namespace warplens::exec
