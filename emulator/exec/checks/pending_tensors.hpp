// SPDX-License-Identifier: Apache-2.0
// Rectangles of tensor memory that instructions of tcgen05 may still read or write, and those that are complete, but
// perhaps not in order with what other threads do next.
//
//   PendingTensors pending;
//   pending.add({.warp = 3, .ends = PendingTensor::Ends::with_commit, .where = rectangle});
//   const PendingTensor* p = pending.conflict(other, [](const PendingTensor& one) { return one.pending(); });
#pragma once

#include "emulator/exec/checks/pending_copies.hpp"
#include "emulator/exec/checks/tensor_work.hpp"

namespace warplens::exec {

struct PendingTensor {
  std::uint64_t cta = 0;  ///< of the thread
  std::uint32_t warp = 0; ///< in the CTA
  int lane = 0;
  std::uint32_t instruction = 0;
  std::vector<std::uint32_t> calls; ///< that led there: ThreadAccess::calls

  enum class Ends : std::uint8_t { with_commit, with_wait_for_loads, with_wait_for_stores } ends{};
  TensorRectangle where;
  std::vector<PendingCopy::Phase> phases; ///< at which a commit arrives

  std::uint64_t done = 0;     ///< when a thread has waited for it; 0: not yet
  std::uint64_t released = 0; ///< when its thread, or its warp, has released it to others; 0: not yet
  [[nodiscard]] bool pending() const { return done == 0; }
};

class PendingTensors {
public:
  void add(PendingTensor one);
  /// The oldest that conflicts with an access, of those for which `counts` is true; null: there is none.
  template <class Counts>
  [[nodiscard]] const PendingTensor* conflict(const TensorRectangle& access, Counts counts) const {
    for (const PendingTensor& one : all_)
      if (one.where.conflicts(access) && counts(one)) return &one;
    return nullptr;
  }
  /// A phase has been waited for: what has arrived there, and what was issued before it.
  void complete_phase(const ObjectPlace& object, bool odd, std::uint64_t now);
  /// A warp has waited for its loads or stores.
  void complete_transfers(std::uint64_t cta, std::uint32_t warp, PendingTensor::Ends ends, std::uint64_t now);
  /// Lanes of a warp release what they have done, or, with a fence of tcgen05 or a commit, what they have issued.
  void release(std::uint64_t cta, std::uint32_t warp, Mask lanes, bool issued, std::uint64_t now);
  [[nodiscard]] std::vector<PendingTensor>& all() { return all_; }

private:
  static constexpr std::size_t kMost = 4096; ///< then the oldest are forgotten: they were never waited for
  std::vector<PendingTensor> all_;
};

} // namespace warplens::exec
