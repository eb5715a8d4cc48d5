// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/checks/proxy_fences.hpp"

#include "emulator/exec/state/events.hpp"

#include <algorithm>

namespace warplens::exec {

void ProxyFences::store(std::uint64_t address, std::uint64_t bytes, Writer writer) {
  const std::uint64_t end = (address + bytes + kWord - 1) / kWord;
  if (end > words_.size()) words_.resize(end);
  for (std::uint64_t word = address / kWord; word < end; ++word) words_[word] = {writer, now_};
}

void ProxyFences::forget(std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t end = std::min<std::uint64_t>((address + bytes + kWord - 1) / kWord, words_.size());
  for (std::uint64_t word = address / kWord; word < end; ++word) words_[word] = {};
}

bool ProxyFences::is_unfenced(const Mark& mark, bool object) const {
  if (mark.time == 0 || mark.time < all_before_) return false;
  if (mark.writer.thread >= fences_.size()) return true;
  const Fence& fence = fences_[mark.writer.thread];
  return mark.time > (object ? fence.objects : fence.memory);
}

std::optional<ProxyFences::Unfenced> ProxyFences::unfenced(std::uint64_t address, std::uint64_t bytes) const {
  const std::uint64_t end = std::min<std::uint64_t>((address + bytes + kWord - 1) / kWord, words_.size());
  for (std::uint64_t word = address / kWord; word < end; ++word)
    if (is_unfenced(words_[word], false)) return Unfenced{words_[word].writer, word * kWord, kWord};
  return std::nullopt;
}

std::optional<ProxyFences::Unfenced> ProxyFences::take_unfenced_object(std::uint64_t object) {
  const auto found = objects_.find(object);
  if (found == objects_.end()) return std::nullopt;
  const Mark mark = found->second;
  objects_.erase(found);
  constexpr std::uint64_t kObject = 8;
  return is_unfenced(mark, true) ? std::optional(Unfenced{mark.writer, object, kObject}) : std::nullopt;
}

void ProxyFences::passed(std::uint32_t warp) {
  if (warp >= passed_.size()) passed_.resize(warp + 1);
  passed_[warp] = ++now_;
}

void ProxyFences::fence(std::uint32_t thread, bool objects) {
  if (thread >= fences_.size()) fences_.resize(thread + 1);
  Fence& fence = fences_[thread];
  fence.objects = now_;
  if (!objects) {
    fence.memory = now_;
    if (const std::size_t warp = thread / kWarpSize; warp < passed_.size())
      all_before_ = std::max(all_before_, passed_[warp]);
  }
  ++now_;
}

} // namespace warplens::exec
