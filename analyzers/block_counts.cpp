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
  Open(std::uint64_t number, const ir::Function& function)
      : cta(number), global(function.instructions.size() + 1), shared(function),
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

BlockCounts::Shard::Shard(const ir::Function& function) : function_(function) {}
BlockCounts::Shard::~Shard() = default;

bool BlockCounts::Shard::begin_cta(std::uint64_t cta) {
  open_.push_back(std::make_unique<Open>(cta, function_));
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
  const std::size_t size = function_.instructions.size();
  Metrics metrics;
  std::vector<InstructionRow> no_rows;
  const auto add = [&](Analyzer&& analyzer, exec::Shard& counted) {
    analyzer.absorb(counted);
    analyzer.report(metrics, no_rows);
  };
  add(GlobalTransactions(size), block->global);
  add(SharedBanks(function_), block->shared);
  add(LocalMemory(size), block->local);
  add(ConstantMemory(size), block->constant);
  add(TextureMemory(function_), block->texture);
  add(Divergence(function_), block->divergence);
  table_.add(cta, metrics);
  std::erase_if(open_, [&](const auto& one) { return one->cta == cta; });
}

std::unique_ptr<BlockCounts::Shard> BlockCounts::make_shard() const { return std::make_unique<Shard>(function_); }

void BlockCounts::absorb(Shard& shard) { table_.merge(shard.table_); }

BlockTable BlockCounts::table() const {
  BlockTable sorted = table_;
  sorted.sort();
  return sorted;
}

} // namespace warplens::analyzers
