// SPDX-License-Identifier: Apache-2.0
// mbarrier objects (manual 9.7.13.15): 64 bits of shared memory that count arrivals and bytes, phase by phase.
//
//   Mbarrier b = *Mbarrier::create(2);  b.arrive(1);  b.expect(16);  b.arrive(1);  b.complete(16);   // now in phase 1
//
// The bit layout is opaque: programs read the count of a state only with mbarrier.pending_count.
#pragma once

#include "emulator/exec/access/access.hpp"
#include "emulator/isa/table.hpp"

namespace warplens::exec {

class Mbarrier {
public:
  static constexpr std::uint32_t kMaxCount = (1u << 20) - 1;

  explicit Mbarrier(std::uint64_t bits) : bits_(bits) {}
  [[nodiscard]] std::uint64_t bits() const { return bits_; }

  /// The error message; nullptr: no error, and the object has changed.
  using Fault = const char*;
  static Fault create(std::uint32_t count, std::uint64_t& bits);
  /// Of memory that holds no object: it was not initialised, or invalidated.
  [[nodiscard]] bool exists() const { return (bits_ & kExists) != 0; }
  [[nodiscard]] bool odd_phase() const { return (bits_ & kPhase) != 0; }
  [[nodiscard]] std::uint32_t pending() const { return static_cast<std::uint32_t>(bits_ >> kPending) & kMaxCount; }

  Fault arrive(std::uint32_t count);
  /// Reduces the expected arrivals of later phases.
  Fault drop(std::uint32_t count);
  Fault expect(std::uint32_t bytes);
  Fault complete(std::uint32_t bytes);
  /// Adds one pending arrival to this phase.
  Fault add_pending();

private:
  // From the low end: pending and expected arrivals, bytes (from -kMaxCount to kMaxCount), phase, whether it exists.
  static constexpr int kPending = 0, kExpected = 20, kBytes = 40;
  static constexpr std::uint64_t kPhase = std::uint64_t{1} << 62, kExists = std::uint64_t{1} << 63;
  [[nodiscard]] std::uint32_t expected() const { return static_cast<std::uint32_t>(bits_ >> kExpected) & kMaxCount; }
  [[nodiscard]] std::int32_t bytes() const {
    return (static_cast<std::int32_t>(bits_ >> kBytes) & 0x3fffff) - static_cast<std::int32_t>(kMaxCount) - 1;
  }
  void set(std::uint32_t pending, std::uint32_t expected, std::int32_t bytes);
  void end_phase_if_complete();

  std::uint64_t bits_;
};

/// Lowers and handles mbarrier and cp.async.mbarrier.arrive. Operands: src[0] addresses; src[1] counts, bytes, states
/// or parities; dst[0] states or a predicate; `extra`: a set of MbarrierOption.
enum MbarrierOption : std::uint32_t {
  kHasResult = 1,
  kDrops = 2,
  kExpects = 4,
  kNoComplete = 8,
  kParity = 16,
  kNoIncrement = 32
};
const Op* mbarrier_init(const Op*, Warp*);
const Op* mbarrier_invalidate(const Op*, Warp*);
const Op* mbarrier_expect(const Op*, Warp*);
const Op* mbarrier_complete(const Op*, Warp*);
const Op* mbarrier_arrive(const Op*, Warp*);
/// The arrival of the copies of a thread, which are already complete.
const Op* mbarrier_copies_arrive(const Op*, Warp*);
/// tcgen05.commit: the arrival of the multiplications of a thread, which are already complete. `extra`: 1 for
/// multicast, with the mask of the blocks in src[1].
const Op* mbarrier_commit(const Op*, Warp*);
/// test_wait and try_wait: a warp without a complete phase gives up its turn.
const Op* mbarrier_wait(const Op*, Warp*);
/// From a state in src[0] to dst[0].
const Op* mbarrier_pending(const Op*, Warp*);

/// Completes `bytes` of a copy by one lane at the object that op addresses (mbarrier::complete_tx::bytes). If not
/// nullptr, `cta` is the destination of the bytes. With multicast, the object at that offset in its shared memory is
/// used; otherwise the object must be in its shared memory. Returns false after setting the worker's trap.
bool complete_bytes(const Op* op, Warp* warp, int lane, const Cta* cta, bool multicast, std::uint32_t bytes);

} // namespace warplens::exec
