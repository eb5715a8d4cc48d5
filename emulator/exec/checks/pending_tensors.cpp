// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/checks/pending_tensors.hpp"

#include <algorithm>

namespace warplens::exec {

void PendingTensors::add(PendingTensor one) {
  if (one.where.lanes.none() || one.where.first >= one.where.end) return;
  if (all_.size() >= kMost) all_.erase(all_.begin());
  all_.push_back(std::move(one));
}

void PendingTensors::complete_phase(const ObjectPlace& object, bool odd) {
  const auto arrives = [&](const PendingTensor& one, bool any_phase) {
    return std::any_of(one.phases.begin(), one.phases.end(),
                       [&](const PendingCopy::Phase& p) { return p.object == object && (any_phase || p.odd == odd); });
  };
  const auto last =
      std::find_if(all_.rbegin(), all_.rend(), [&](const PendingTensor& one) { return arrives(one, false); });
  if (last == all_.rend()) return;
  const auto end = last.base();
  const auto kept = std::remove_if(all_.begin(), end, [&](const PendingTensor& one) { return arrives(one, true); });
  all_.erase(kept, end);
}

void PendingTensors::complete_transfers(std::uint64_t cta, std::uint32_t warp, PendingTensor::Ends ends) {
  std::erase_if(all_, [&](const PendingTensor& one) { return one.cta == cta && one.warp == warp && one.ends == ends; });
}

} // namespace warplens::exec
