// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/block/cluster.hpp"

#include "emulator/exec/block/control.hpp"

namespace warplens::exec {

Cluster::Cluster(std::vector<Cta*> members)
    : ctas(std::move(members)), warps_(ctas.front()->worker.launch.shape.warps()), arrivals_(ctas.size() * warps_) {
  for (std::uint32_t rank = 0; rank < ctas.size(); ++rank) ctas[rank]->join(*this, rank);
}

void Cluster::start() {
  std::fill(arrivals_.begin(), arrivals_.end(), Arrivals{});
  missing_ = 0;
  met_ = false;
}

std::byte* Cluster::shared(const Cta& from, std::uint64_t place, std::uint64_t bytes, bool remote) const {
  const auto within = [&](const Cta& cta, std::uint64_t at) {
    return at <= cta.shared_bytes && cta.shared_bytes - at >= bytes ? cta.shared + at : nullptr;
  };
  if (ctas.size() == 1 || place < kClusterStride) return within(from, place);
  const std::uint64_t rank = place / kClusterStride - 1;
  if (rank >= ctas.size() || !remote) return nullptr;
  return within(*ctas[rank], place % kClusterStride);
}

bool Cluster::has_exited(std::uint64_t place) const {
  const std::uint64_t number = place / kClusterStride;
  return ctas.size() > 1 && number != 0 && number <= ctas.size() && ctas[number - 1]->exited;
}

void Cluster::release_if_complete() {
  // Within a phase, warps that have arrived or exited remain so.
  for (; missing_ < arrivals_.size(); ++missing_) {
    const Warp& warp = ctas[missing_ / warps_]->warp(static_cast<std::uint32_t>(missing_ % warps_));
    if ((warp.live & ~arrivals_[missing_].now) != 0) return;
  }
  missing_ = 0;
  met_ = true;
  for (Arrivals& a : arrivals_) {
    a.before |= a.now;
    a.now = 0;
  }
}

const Op* wait_later(Warp* warp, const Op* next) {
  warp->budget -= 1;
  warp->next = next;
  if (warp->cta->independent && !warp->paths->waiting.empty()) change_path(warp);
  return nullptr;
}

namespace {

bool stops(const Op* op, Warp* warp, Mask mask) {
  if (op->extra == 0 || mask == warp->live) return false;
  stop_with(op, warp, Trap::Kind::divergent_barrier, mask);
  return true;
}

const Op* stop_wrong_use(const Op* op, Warp* warp, Mask lanes, const char* why) {
  Trap trap = trap_at(warp, Trap::Kind::invalid_barrier, op->instruction, __builtin_ctz(lanes));
  trap.finding = ToolFinding::Kind::cluster_barrier;
  trap.detail = why;
  return stop_with(warp, std::move(trap), lanes);
}

} // namespace

const Op* cluster_arrive(const Op* op, Warp* warp) {
  const Mask mask = acting(op, warp);
  if (mask == 0) return op + 1;
  if (stops(op, warp, mask)) return nullptr;
  Cluster& cluster = *warp->cta->cluster;
  Cluster::Arrivals& a = cluster.arrivals(*warp);
  if (const Mask twice = mask & (a.now | a.before); twice != 0)
    return stop_wrong_use(op, warp, twice,
                          "barrier.cluster.arrive a second time without barrier.cluster.wait in between");
  a.now |= mask;
  cluster.release_if_complete();
  return op + 1;
}

const Op* cluster_wait(const Op* op, Warp* warp) {
  const Mask mask = acting(op, warp);
  if (mask == 0) return op + 1;
  if (stops(op, warp, mask)) return nullptr;
  Cluster& cluster = *warp->cta->cluster;
  Cluster::Arrivals& a = cluster.arrivals(*warp);
  if (const Mask never = mask & ~(a.now | a.before); never != 0)
    return stop_wrong_use(op, warp, never, "barrier.cluster.wait without barrier.cluster.arrive before it");
  if ((mask & a.now) != 0) cluster.release_if_complete(); // others may have exited since
  if ((mask & a.now) != 0) return wait_later(warp, op);
  a.before &= ~mask;
  return op + 1;
}

} // namespace warplens::exec
