// SPDX-License-Identifier: Apache-2.0
// Asynchronous copies that nobody has waited for yet, and the bytes that they read and write: the memory of synccheck.
//
//   PendingCopies pending;
//   pending.add({.warp = 3, .kind = AccessKind::store, .lanes = ~0u, .bytes = 16, .address = {…}});
//   const auto [copy, lane] = pending.conflict(0, 4, AccessKind::load);
//   pending.complete([](const PendingCopy& copy) -> Mask { … });
//
// The emulator copies at once. On hardware, the bytes change at some time until the wait that completes the copy.
#pragma once

#include "emulator/exec/state/events.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace warplens::exec {

/// An mbarrier: the CTA that has it in its shared memory, and where.
struct ObjectPlace {
  std::uint64_t cta = 0, offset = 0;
  friend bool operator==(const ObjectPlace&, const ObjectPlace&) = default;
};

/// Bytes of shared or global memory.
struct Extent {
  std::uint64_t first = 0, end = 0;
};
/// Sorts them, and joins those that touch.
void join_neighbours(std::vector<Extent>& extents);

/// What lanes of a warp copy with one instruction, on one side: what they read, or what they write.
struct PendingCopy {
  std::uint64_t cta = 0;  ///< of the threads
  std::uint32_t warp = 0; ///< in the CTA
  std::uint32_t instruction = 0;
  std::vector<std::uint32_t> calls; ///< that led there: ThreadAccess::calls
  isa::Space space{};
  AccessKind kind{};
  Mask lanes = 0; ///< not complete
  std::uint64_t bytes = 0;
  std::array<std::uint64_t, kWarpSize> address{};
  std::vector<Extent> parts; ///< of a copy by one lane, if there are several; `bytes` is their sum

  enum class Ends : std::uint8_t { with_group, with_bulk_group, with_product, with_commit, at_object } ends{};
  std::uint32_t group = 0; ///< number of its group among those of its threads
  /// Phases of mbarriers that are complete only when these lanes' copies are.
  struct Phase {
    ObjectPlace object;
    bool odd = false;
    Mask lanes = 0;
  };
  std::vector<Phase> phases;

  std::uint64_t low = 0, high = 0; ///< contains all its bytes
};

class PendingCopies {
public:
  [[nodiscard]] bool empty() const { return copies_.empty(); }
  void add(PendingCopy copy);
  /// False: no pending copy conflicts with any access to these bytes.
  [[nodiscard]] bool may_conflict(std::uint64_t address, std::uint64_t bytes) const;
  /// The oldest copy, and its lane, that conflicts with an access of this kind; null: there is none.
  [[nodiscard]] std::pair<const PendingCopy*, int> conflict(std::uint64_t address, std::uint64_t bytes,
                                                            AccessKind kind) const;
  /// `done` returns the lanes whose part of a copy is complete.
  template <class Done> void complete(Done done) {
    std::uint64_t low = ~std::uint64_t{0}, high = 0;
    for (PendingCopy& copy : copies_) {
      const Mask lanes = done(copy) & copy.lanes;
      if (lanes == 0) continue;
      if (copy.space == isa::Space::shared) mark(copy, lanes, false);
      copy.lanes &= ~lanes;
      low = std::min(low, copy.low);
      high = std::max(high, copy.high);
    }
    std::erase_if(copies_, [](const PendingCopy& copy) { return copy.lanes == 0; });
    for (const PendingCopy& copy : copies_) // others may read the same bytes
      if (copy.space == isa::Space::shared && copy.low < high && low < copy.high) mark(copy, copy.lanes, true);
  }
  [[nodiscard]] std::vector<PendingCopy>& all() { return copies_; }

private:
  static constexpr std::size_t kMost = 4096; ///< then the oldest are forgotten: they were never waited for
  static constexpr std::uint64_t kWord = 4;
  static bool are_in_conflict(AccessKind copy, AccessKind access);
  void mark(const PendingCopy& copy, Mask lanes, bool pending);
  /// Calls `visit` with each lane and bytes of it, until it returns true; whether it did.
  template <class Visit> static bool each_extent(const PendingCopy& copy, Mask lanes, Visit visit);

  std::vector<PendingCopy> copies_;
  std::vector<bool> words_; ///< of shared memory: whether a pending copy reads or writes it
};

} // namespace warplens::exec
