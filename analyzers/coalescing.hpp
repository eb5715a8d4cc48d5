// SPDX-License-Identifier: Apache-2.0
// The transactions of a warp access under a coalescing rule, computed literally as the rule defines them.
//
//   Transactions t = transactions(*rules::find_coalescing_rule("1.2"), addresses, mask, 4);
//   t.of(128) == 1, t.of(64) == 1, t.of(32) == 1          // 32 lanes of 4 bytes from 132 on
#pragma once

#include "emulator/exec/state/events.hpp"
#include "rules/coalescing.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace warplens::analyzers {

constexpr std::uint32_t kLineBytes = 128, kSectorBytes = 32;

constexpr bool is_atomic(exec::AccessKind kind) {
  return kind == exec::AccessKind::atomic || kind == exec::AccessKind::reduction;
}

/// The kind of service that an access gets.
struct Service {
  exec::AccessKind kind = exec::AccessKind::load;
  std::uint32_t elements = 1; ///< of a vector access: 2, 4 or 8

  [[nodiscard]] rules::Served of() const {
    if (elements > 1) return rules::Served::vector;
    if (kind == exec::AccessKind::load) return rules::Served::load;
    return is_atomic(kind) ? rules::Served::atomic : rules::Served::store;
  }
};

/// Transactions by size: of one access, or the sums over many.
template <class Number> struct Counted {
  static constexpr std::size_t kSizes = 11; ///< powers of two from 4 to 4096
  std::uint32_t smallest = 32;              ///< bytes
  std::array<Number, kSizes> count{};       ///< of the smallest size, twice that, …
  Number uncoalesced = 0;                   ///< included: transactions that serve a single lane
  Number repeats = 0; ///< in addition: transactions repeated for lanes of one address that are served in turn
  Number skipped = 0; ///< bytes of sectors that no lane accesses, in segments that are moved by sector
  Number ideal = 0;   ///< minimum for the requests: transactions under in-order rules, otherwise bytes

  [[nodiscard]] Number of(std::uint32_t bytes) const {
    const int at = std::countr_zero(bytes) - std::countr_zero(smallest);
    return at < 0 || at >= static_cast<int>(kSizes) ? 0 : count[static_cast<std::size_t>(at)];
  }
  void add(std::uint32_t bytes) {
    ++count[static_cast<std::size_t>(std::countr_zero(bytes) - std::countr_zero(smallest))];
  }
  [[nodiscard]] Number total() const {
    Number sum = 0;
    for (const Number n : count) sum += n;
    return sum;
  }
  /// That are moved.
  [[nodiscard]] std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < kSizes; ++i) sum += (std::uint64_t{count[i]} * smallest) << i;
    return sum - skipped;
  }
  friend bool operator==(const Counted&, const Counted&) = default;
};
using Transactions = Counted<std::uint32_t>;

struct Transaction {
  std::uint32_t bytes = 0;
  std::uint64_t base = 0;
  exec::Mask lanes = 0; ///< that it serves; a lane whose word straddles transactions is served by several
};

/// Whether lanes that access the same address repeat its transaction.
bool in_turns(const rules::Coalescing& rule, exec::AccessKind kind);

/// The fewest bytes that hold `used` bytes of a request, in whole units; a last one may be halved down to `smallest`.
constexpr std::uint32_t least_moved(std::uint32_t used, std::uint32_t unit, std::uint32_t smallest) {
  const std::uint32_t rest = used & (unit - 1);
  return used - rest + (rest ? std::max(std::bit_ceil(rest), smallest) : 0);
}

/// For any rule; the engine that the fast one (fast_coalescing.hpp) is tested against. `addresses` [32], valid for the
/// lanes in `mask`; `lane_bytes` from 1 to 128. Appends every transaction to `list` if given.
Transactions transactions(const rules::Coalescing& rule, const std::uint64_t* addresses, exec::Mask mask,
                          std::uint32_t lane_bytes, Service service = {}, std::vector<Transaction>* list = nullptr);

} // namespace warplens::analyzers
