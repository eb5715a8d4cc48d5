// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/checks/pending_copies.hpp"

#include <algorithm>

namespace warplens::exec {

void join_neighbours(std::vector<Extent>& extents) {
  std::sort(extents.begin(), extents.end(), [](const Extent& a, const Extent& b) { return a.first < b.first; });
  std::vector<Extent> joined;
  for (const Extent& e : extents)
    if (!joined.empty() && e.first <= joined.back().end)
      joined.back().end = std::max(joined.back().end, e.end);
    else
      joined.push_back(e);
  extents = std::move(joined);
}

bool PendingCopies::are_in_conflict(AccessKind copy, AccessKind access) {
  const auto reduces = [](AccessKind kind) { return kind == AccessKind::atomic || kind == AccessKind::reduction; };
  if (copy == AccessKind::load) return access != AccessKind::load;
  return !(reduces(copy) && reduces(access));
}

template <class Visit> bool PendingCopies::each_extent(const PendingCopy& copy, Mask lanes, Visit visit) {
  for (const int lane : EachLane(lanes)) {
    const std::uint64_t first = copy.address[static_cast<std::size_t>(lane)];
    if (copy.parts.empty() && visit(lane, Extent{first, first + copy.bytes})) return true;
    for (const Extent& part : copy.parts)
      if (visit(lane, part)) return true;
  }
  return false;
}

void PendingCopies::mark(const PendingCopy& copy, Mask lanes, bool pending) {
  each_extent(copy, lanes, [&](int, const Extent& e) {
    const std::uint64_t end = (e.end + kWord - 1) / kWord;
    if (end > words_.size()) words_.resize(end, false);
    for (std::uint64_t word = e.first / kWord; word < end; ++word) words_[word] = pending;
    return false;
  });
}

void PendingCopies::add(PendingCopy copy) {
  if (copy.lanes == 0 || copy.bytes == 0) return;
  copy.low = ~std::uint64_t{0};
  each_extent(copy, copy.lanes, [&](int, const Extent& e) {
    copy.low = std::min(copy.low, e.first);
    copy.high = std::max(copy.high, e.end);
    return false;
  });
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
    int found = -1;
    each_extent(copy, copy.lanes, [&](int lane, const Extent& e) {
      if (address < e.end && address + bytes > e.first) found = lane;
      return found >= 0;
    });
    if (found >= 0) return {&copy, found};
  }
  return {nullptr, 0};
}

} // namespace warplens::exec
