// SPDX-License-Identifier: Apache-2.0
// What compiled code counts by itself (Tally): one addition, where the watcher would get an event.
//
//   tallies.begin(code.tallies, code.tally_words);    // compiled code adds to words()
//   tallies.flush([&](const Tally& tally, std::uint64_t place, std::uint64_t half, std::uint64_t count) { … });
#pragma once

#include "emulator/exec/state/events.hpp"
#include "emulator/exec/state/kernel_code.hpp"

#include <memory>
#include <vector>

namespace warplens::exec {

class Tallies {
public:
  /// Null: compiled code tells of everything. Always inlined, because compiled code uses it.
  [[nodiscard]] [[gnu::always_inline]] std::uint64_t* words() const { return words_.get(); }

  void begin(const std::vector<Tally>& list, std::uint32_t words) {
    list_ = &list;
    words_ = std::make_unique<std::uint64_t[]>(words);
    for (const Tally& tally : list)
      if (tally.halves) words_[tally.first] = kNoDistance;
  }
  /// The halves of an access have a distance: later ones with the same one are counted, but no others.
  void know_distance(std::uint32_t first, std::int64_t half) const {
    if (words_ != nullptr && words_[first] == kNoDistance) words_[first] = static_cast<std::uint64_t>(half);
  }
  /// Calls `tell` with each count that is not 0, and forgets it. `place`: what it is the count of.
  template <class Tell> void flush(Tell&& tell) const {
    if (words_ == nullptr) return;
    for (const Tally& tally : *list_) {
      std::uint64_t* counts = &words_[tally.first];
      std::uint64_t half = static_cast<std::uint64_t>(16 * tally.stride);
      if (tally.halves) half = *counts++;
      const std::uint64_t step = tally.of == Tally::Of::accesses ? tally.alignment : 1;
      const std::uint64_t places = places_of(tally);
      for (std::uint64_t i = 0; i < places; ++i)
        if (counts[i] != 0) tell(tally, i * step, half, std::exchange(counts[i], 0));
    }
  }

  [[nodiscard]] static std::uint32_t places_of(const Tally& tally) {
    switch (tally.of) {
    case Tally::Of::accesses: return static_cast<std::uint32_t>(kAlignmentPeriod) / tally.alignment;
    case Tally::Of::branches: return 2;
    default: return 1;
    }
  }

private:
  const std::vector<Tally>* list_ = nullptr;
  std::unique_ptr<std::uint64_t[]> words_;
};

} // namespace warplens::exec
