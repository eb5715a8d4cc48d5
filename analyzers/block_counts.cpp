// SPDX-License-Identifier: Apache-2.0
#include "analyzers/block_counts.hpp"

#include "analyzers/constant_memory.hpp"
#include "analyzers/divergence.hpp"
#include "analyzers/global_transactions.hpp"
#include "analyzers/local_memory.hpp"
#include "analyzers/shared_banks.hpp"
#include "analyzers/texture_memory.hpp"

#include <algorithm>

namespace warplens::analyzers {

struct BlockCounts::Shard::Open {
  Open(std::uint64_t number, const ir::Function& function, const CountedRules& rules)
      : cta(number), global(function.instructions.size() + 1, rules),
        shared((function.instructions.size() + 1) * SharedBanks::kOperations, rules),
        local(function.instructions.size() + 1), constant(function.instructions.size() + 1),
        texture(function.instructions.size() + 1), divergence(function.instructions.size() + 1) {}
  std::uint64_t cta;
  GlobalTransactions::Shard global;
  SharedBanks::Shard shared;
  LocalMemory::Shard local;
  ConstantMemory::Shard constant;
  TextureMemory::Shard texture;
  Divergence::Shard divergence;
};

BlockCounts::Shard::Shard(const BlockCounts& of) : of_(of) {}
BlockCounts::Shard::~Shard() = default;

bool BlockCounts::Shard::begin_cta(std::uint64_t cta) {
  open_.push_back(std::make_unique<Open>(cta, of_.function_, of_.rules_));
  return true;
}

BlockCounts::Shard::Open* BlockCounts::Shard::find(std::uint64_t cta) {
  const auto found = std::find_if(open_.begin(), open_.end(), [&](const auto& one) { return one->cta == cta; });
  return found == open_.end() ? nullptr : found->get();
}

void BlockCounts::Shard::each_access(const exec::WarpId& warp, const exec::Access& access) {
  Open* const block = find(warp.cta);
  if (!block) return;
  block->global.access(access); // each takes those of its space
  block->shared.access(access);
  block->local.access(access);
  block->constant.access(access);
  block->texture.access(access);
}

void BlockCounts::Shard::each_branch(const exec::WarpId& warp, const exec::Branch& branch) {
  if (Open* const block = find(warp.cta)) block->divergence.branch(branch);
}

void BlockCounts::Shard::end_cta(std::uint64_t cta) {
  Open* const block = find(cta);
  if (!block) return;
  const std::size_t size = of_.function_.instructions.size();
  Metrics metrics;
  std::vector<InstructionRow> no_rows;
  const auto add = [&](auto&& analyzer, exec::Shard& counted) {
    analyzer.absorb(counted);
    analyzer.report(metrics, no_rows);
  };
  GlobalTransactions global(size, of_.rules_);
  SharedBanks shared(size, of_.rules_);
  add(global, block->global);
  add(shared, block->shared);
  add(LocalMemory(size), block->local);
  add(ConstantMemory(size), block->constant);
  add(TextureMemory(of_.function_), block->texture);
  add(Divergence(of_.function_), block->divergence);
  for (const rules::CoalescingRule& rule : of_.named_.coalescing) global.report(rule, metrics, no_rows);
  for (const rules::BankRule& rule : of_.named_.banks) shared.report(rule, metrics, no_rows);
  table_.add(cta, metrics);
  std::erase_if(open_, [&](const auto& one) { return one->cta == cta; });
}

std::unique_ptr<BlockCounts::Shard> BlockCounts::make_shard() const { return std::make_unique<Shard>(*this); }

void BlockCounts::absorb(Shard& shard) { table_.merge(shard.table_); }

BlockTable BlockCounts::table() const {
  BlockTable sorted = table_;
  sorted.sort();
  return sorted;
}

} // namespace warplens::analyzers
