// SPDX-License-Identifier: Apache-2.0
#include "analyzers/counted_rules.hpp"

#include <algorithm>

namespace warplens::analyzers {

using rules::Banks;
using rules::Coalescing;

namespace {

// The rules of the profilers' counters; their columns in CountedRules have this order.
constexpr const char* kProfilersCoalescing[] = {"1.0", "1.2", "6.0"};
constexpr const char* kProfilersBanks[] = {"1.x", "5.x+"};

} // namespace

bool has_profilers_names(const Coalescing& rule) {
  return std::any_of(std::begin(kProfilersCoalescing), std::end(kProfilersCoalescing),
                     [&](const char* name) { return rules::find_coalescing_rule(name)->says_the_same(rule); });
}

bool has_profilers_names(const Banks& rule) {
  return std::any_of(std::begin(kProfilersBanks), std::end(kProfilersBanks),
                     [&](const char* name) { return rules::find_bank_rule(name)->says_the_same(rule); });
}

DeviceRules DeviceRules::usual() { return {*rules::find_coalescing_rule("6.0"), *rules::find_bank_rule("5.x+")}; }

bool are_usual_banks(const Banks& rule) {
  const Banks usual;
  return rule.banks == usual.banks && rule.bank_bytes == usual.bank_bytes && rule.index == usual.index &&
         rule.broadcast == usual.broadcast && !rule.constants;
}

CountedRules::CountedRules(const ir::Function& function, std::span<const DeviceRules> devices,
                           const rules::RuleSet& asked)
    : function_(function) {
  for (const char* name : kProfilersCoalescing) add(*rules::find_coalescing_rule(name));
  for (const char* name : kProfilersBanks) add(*rules::find_bank_rule(name));
  for (const rules::CoalescingRule& rule : asked.coalescing) add(rule);
  for (const rules::BankRule& rule : asked.banks) add(rule);
  for (const DeviceRules& device : devices) {
    add(device.coalescing);
    add(device.banks);
  }
}

std::size_t CountedRules::column(const Coalescing& rule) const {
  const auto found =
      std::find_if(coalescing_.begin(), coalescing_.end(), [&](const auto& c) { return c.rule() == rule; });
  return static_cast<std::size_t>(found - coalescing_.begin());
}

std::size_t CountedRules::column(const Banks& rule) const {
  const auto found = std::find_if(banks_.begin(), banks_.end(), [&](const auto& c) { return c.rule() == rule; });
  return static_cast<std::size_t>(found - banks_.begin());
}

void CountedRules::add(const Coalescing& rule) {
  if (column(rule) != coalescing_.size()) return;
  coalescing_.emplace_back(rule);
  global_period_ = std::max<std::uint64_t>(global_period_, rule.largest());
  vectors_ = vectors_ || rule.split_vectors || !rule.words[static_cast<std::size_t>(rules::Served::vector)].empty();
}

void CountedRules::add(const Banks& rule) {
  if (column(rule) != banks_.size()) return;
  banks_.emplace_back(rule);
  shared_period_ = std::max(shared_period_, rule.period());
  vectors_ = vectors_ || !rule.words[static_cast<std::size_t>(rules::Served::vector)].empty();
}

std::uint32_t CountedRules::elements_of(const exec::Access& access) const {
  if (access.instruction >= function_.instructions.size()) return 1;
  return analyzers::elements_of(function_.instructions[access.instruction]);
}

std::uint32_t elements_of(const ir::Instruction& instruction) {
  const std::string_view opcode = instruction.opcode;
  for (const std::uint32_t n : {2u, 4u, 8u})
    if (opcode.find(n == 2 ? ".v2" : n == 4 ? ".v4" : ".v8") != opcode.npos) return n;
  return 1;
}

} // namespace warplens::analyzers
