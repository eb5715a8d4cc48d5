// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/checks/pending_copies.hpp"

#include <algorithm>

namespace warplens::exec {

bool PendingCopies::are_in_conflict(AccessKind copy, AccessKind access) {
  const auto reduces = [](AccessKind kind) { return kind == AccessKind::atomic || kind == AccessKind::reduction; };
  if (copy == AccessKind::load) return access != AccessKind::load;
  return !(reduces(copy) && reduces(access));
}

void PendingCopies::mark(const PendingCopy& copy, Mask lanes, bool pending) {
  for (const int lane : EachLane(lanes)) {
    const std::uint64_t first = copy.address[static_cast<std::size_t>(lane)];
    const std::uint64_t end = (first + copy.bytes + kWord - 1) / kWord;
    if (end > words_.size()) words_.resize(end, false);
    for (std::uint64_t word = first / kWord; word < end; ++word) words_[word] = pending;
  }
}

void PendingCopies::add(PendingCopy copy) {
  if (copy.lanes == 0 || copy.bytes == 0) return;
  copy.low = ~std::uint64_t{0};
  for (const int lane : EachLane(copy.lanes)) {
    const std::uint64_t at = copy.address[static_cast<std::size_t>(lane)];
    copy.low = std::min(copy.low, at);
    copy.high = std::max(copy.high, at + copy.bytes);
  }
  if (copies_.size() >= kMost) copies_.erase(copies_.begin());
  if (copy.space == isa::Space::shared) mark(copy, copy.lanes, true);
  copies_.push_back(std::move(copy));
}

bool PendingCopies::may_conflict(std::uint64_t address, std::uint64_t bytes) const {
  if (copies_.empty()) return false;
  if (copies_.front().space != isa::Space::shared)
    return std::any_of(copies_.begin(), copies_.end(),
                       [&](const PendingCopy& copy) { return address < copy.high && address + bytes > copy.low; });
  const std::uint64_t end = std::min<std::uint64_t>((address + bytes + kWord - 1) / kWord, words_.size());
  for (std::uint64_t word = address / kWord; word < end; ++word)
    if (words_[word]) return true;
  return false;
}

std::pair<const PendingCopy*, int> PendingCopies::conflict(std::uint64_t address, std::uint64_t bytes,
                                                           AccessKind kind) const {
  for (const PendingCopy& copy : copies_) {
    if (address >= copy.high || address + bytes <= copy.low || !are_in_conflict(copy.kind, kind)) continue;
    for (const int lane : EachLane(copy.lanes)) {
      const std::uint64_t at = copy.address[static_cast<std::size_t>(lane)];
      if (address < at + copy.bytes && address + bytes > at) return {&copy, lane};
    }
  }
  return {nullptr, 0};
}

} // namespace warplens::exec
