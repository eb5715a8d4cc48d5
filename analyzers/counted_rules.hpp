// SPDX-License-Identifier: Apache-2.0
// The rules under which a launch is counted: the rules of the profilers' counters, which every report has, the rules of
// the devices, and the requested rules. Equivalent rules are counted once.
//
//   CountedRules counted(function, {{device.coalescing_rule, device.bank_rule}}, asked);
//   counted.coalescing()[counted.column(rule)].transactions(footprint)
#pragma once

#include "analyzers/fast_banks.hpp"
#include "analyzers/fast_coalescing.hpp"
#include "rules/rule_set.hpp"

#include <span>
#include <vector>

namespace warplens::analyzers {

/// The rules of a device.
struct DeviceRules {
  rules::CoalescingRule coalescing;
  rules::BankRule banks;
  /// 32-byte sectors, and the banks of compute capability 5.0 and later.
  static DeviceRules usual();
};

/// Whether the banks are those of Nsight Compute's counters: 32 banks of 4 bytes, each of which serves all lanes of a
/// word.
bool are_usual_banks(const rules::Banks& rule);

/// Whether a profiler counts under this rule: every report has these counts under the profiler's names.
bool has_profilers_names(const rules::Coalescing& rule);
bool has_profilers_names(const rules::Banks& rule);

class CountedRules {
public:
  /// `function` must outlive it.
  CountedRules(const ir::Function& function, std::span<const DeviceRules> devices, const rules::RuleSet& asked);

  // Columns of the rules that define profilers' counters.
  static constexpr std::size_t kInOrder = 0, kHalfWarps = 1, kSectors = 2; ///< 1.0, 1.2, 6.0
  static constexpr std::size_t kOldBanks = 0, kBanks = 1;                  ///< 1.x, 5.x+

  [[nodiscard]] const std::vector<FastCoalescing>& coalescing() const { return coalescing_; }
  [[nodiscard]] const std::vector<FastBanks>& banks() const { return banks_; }
  [[nodiscard]] std::size_t column(const rules::Coalescing& rule) const;
  [[nodiscard]] std::size_t column(const rules::Banks& rule) const;
  /// Accesses this many bytes apart, a power of two, cost the same under all rules.
  [[nodiscard]] std::uint64_t global_period() const { return global_period_; }
  [[nodiscard]] std::uint64_t shared_period() const { return shared_period_; }
  [[nodiscard]] Service service(const exec::Access& access) const { return {access.kind, elements(access)}; }
  [[nodiscard]] Service service_of_banks(const exec::Access& access) const {
    return {kind_for_banks(function_, access), elements(access)};
  }

private:
  void add(const rules::Coalescing& rule);
  void add(const rules::Banks& rule);
  [[nodiscard]] std::uint32_t elements(const exec::Access& access) const { return vectors_ ? elements_of(access) : 1; }
  [[nodiscard]] std::uint32_t elements_of(const exec::Access& access) const;

  const ir::Function& function_;
  std::vector<FastCoalescing> coalescing_;
  std::vector<FastBanks> banks_;
  std::uint64_t global_period_ = kLineBytes, shared_period_ = 4;
  bool vectors_ = false; ///< some rule serves vector accesses differently
};

/// The elements of a vector access: 2, 4 or 8; 1 for other accesses.
std::uint32_t elements_of(const ir::Instruction& instruction);

} // namespace warplens::analyzers
