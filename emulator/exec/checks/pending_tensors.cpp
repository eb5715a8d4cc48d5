// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/checks/pending_tensors.hpp"

#include <algorithm>

namespace warplens::exec {

namespace {

bool same_thread(const PendingTensor& a, const PendingTensor& b) {
  return a.cta == b.cta && a.warp == b.warp && a.lane == b.lane && a.ends == b.ends;
}

bool contains(const TensorRectangle& outer, const TensorRectangle& inner) {
  return outer.first <= inner.first && outer.end >= inner.end && (inner.lanes & ~outer.lanes).none() &&
         outer.writes == inner.writes;
}

} // namespace

// What is complete is looked at until the same thread does the same again.
void PendingTensors::add(PendingTensor one) {
  if (one.where.lanes.none() || one.where.first >= one.where.end) return;
  std::erase_if(all_, [&](const PendingTensor& old) {
    return !old.pending() && same_thread(old, one) && contains(one.where, old.where);
  });
  if (all_.size() >= kMost) all_.erase(all_.begin());
  all_.push_back(std::move(one));
}

void PendingTensors::complete_phase(const ObjectPlace& object, bool odd, std::uint64_t now) {
  const auto arrives = [&](const PendingTensor& one, bool any_phase) {
    return std::any_of(one.phases.begin(), one.phases.end(),
                       [&](const PendingCopy::Phase& p) { return p.object == object && (any_phase || p.odd == odd); });
  };
  const auto last =
      std::find_if(all_.rbegin(), all_.rend(), [&](const PendingTensor& one) { return arrives(one, false); });
  for (auto one = all_.begin(); one != last.base(); ++one) {
    if (!arrives(*one, true)) continue;
    one->done = now;
    one->phases.clear();
  }
}

void PendingTensors::complete_transfers(std::uint64_t cta, std::uint32_t warp, PendingTensor::Ends ends,
                                        std::uint64_t now) {
  for (PendingTensor& one : all_)
    if (one.pending() && one.cta == cta && one.warp == warp && one.ends == ends) one.done = now;
}

void PendingTensors::release(std::uint64_t cta, std::uint32_t warp, Mask lanes, bool issued, std::uint64_t now) {
  for (PendingTensor& one : all_) {
    const bool of_warp = one.ends != PendingTensor::Ends::with_commit;
    if (one.released != 0 || one.cta != cta || one.warp != warp) continue;
    if ((of_warp || (lanes >> one.lane & 1) != 0) && (issued || !one.pending())) one.released = now;
  }
}

} // namespace warplens::exec
