// SPDX-License-Identifier: Apache-2.0
// The costs under rules of the accesses of a launch, or of an instruction.
//
//   32 lanes load 4 bytes each, 8 bytes apart, under 1.2: counts.of(AccessKind::load).requests == 1, .sum.of(128) == 2
#pragma once

#include "analyzers/banks.hpp"
#include "analyzers/coalescing.hpp"
#include "analyzers/sampling.hpp"

#include <cstdint>
#include <vector>

namespace warplens::analyzers {

/// Loads, stores, atomics with a result, atomics without one: exec::AccessKind.
constexpr std::size_t kAccessKinds = 4;

/// Sums of transactions.
struct TransactionSums : Counted<std::uint64_t> {
  /// Adds an access that occurred `times` times; `sizes`: the number of sizes of the rule.
  void add(const Transactions& one, std::uint64_t times, std::size_t sizes) {
    smallest = one.smallest;
    for (std::size_t i = 0; i < sizes; ++i) count[i] += one.count[i] * times;
    uncoalesced += one.uncoalesced * times;
    ideal += one.ideal * times;
    if ((one.repeats | one.skipped) == 0) return; // of few rules, and of few accesses
    repeats += one.repeats * times;
    skipped += one.skipped * times;
  }
  void merge(const TransactionSums& other);
  void scale(const Scale& by) {
    for (std::uint64_t& n : count) by.apply(n);
    by.apply(uncoalesced, repeats, skipped, ideal);
  }
};

/// Accesses of global memory of one kind.
struct TransactionCount {
  std::uint64_t requests = 0;
  std::uint64_t asked = 0; ///< bytes: distinct addresses of each request, times the width
  TransactionSums sum;
  void merge(const TransactionCount& other);
};

/// Sums of passes.
struct PassSums {
  std::uint64_t passes = 0, worst = 0, fewest = 0;
  std::uint64_t besides = 0, besides_worst = 0; ///< extra passes of constants and parameters
  void add(const PassSums& other, std::uint64_t times = 1) {
    passes += other.passes * times;
    worst += other.worst * times;
    fewest += other.fewest * times;
    if ((other.besides | other.besides_worst) == 0) return; // of few rules
    besides += other.besides * times;
    besides_worst += other.besides_worst * times;
  }
  void scale(const Scale& by) { by.apply(passes, worst, fewest, besides, besides_worst); }
  [[nodiscard]] std::uint64_t conflicts() const { return passes - fewest; }
  [[nodiscard]] std::uint64_t worst_conflicts() const { return worst - fewest; }
  /// Includes the passes of constants and parameters.
  [[nodiscard]] std::uint64_t serialized() const { return conflicts() + besides; }
};

/// Accesses of shared memory of one kind, and of constants and parameters if the rule serves them.
struct PassCount {
  std::uint64_t requests = 0; ///< of shared memory
  PassSums sum;
  void merge(const PassCount& other);
};

/// Counts under one rule per memory, by exec::AccessKind; empty if there was no access.
struct RuleCounts {
  std::vector<TransactionCount> transactions;
  std::vector<PassCount> passes;

  [[nodiscard]] TransactionCount of_global(exec::AccessKind kind) const {
    return transactions.empty() ? TransactionCount{} : transactions[static_cast<std::size_t>(kind)];
  }
  [[nodiscard]] PassCount of_shared(exec::AccessKind kind) const {
    return passes.empty() ? PassCount{} : passes[static_cast<std::size_t>(kind)];
  }
  /// Over the kinds that the rule describes: all, or loads and stores.
  [[nodiscard]] TransactionCount described(const rules::Coalescing& rule) const;
  [[nodiscard]] PassCount of_all_shared() const;
};

} // namespace warplens::analyzers
