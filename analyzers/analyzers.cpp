#include "analyzers/analyzers.hpp"

#include "analyzers/divergence.hpp"
#include "analyzers/global_transactions.hpp"
#include "analyzers/instruction_mix.hpp"
#include "analyzers/local_memory.hpp"
#include "analyzers/shared_banks.hpp"
#include "emulator/ir/print.hpp"

#include <array>

namespace warplens::analyzers {

struct Analysis::Parts {
  Parts(const ir::Function& function, const exec::LaunchShape& shape)
      : mix(function, shape), global(function.instructions.size()), shared(function.instructions.size()),
        local(function.instructions.size()), divergence(function.instructions.size()) {}
  InstructionMix mix;
  GlobalTransactions global;
  SharedBanks shared;
  LocalMemory local;
  Divergence divergence;

  [[nodiscard]] std::array<Analyzer*, 5> all() { return {&mix, &global, &shared, &local, &divergence}; }
};

namespace {

/// One virtual call per event: the parts' types are known here.
class CombinedShard final : public exec::Shard {
public:
  explicit CombinedShard(std::size_t rows) : global(rows), shared(rows), local(rows), divergence(rows) {}

  void access(const exec::Access& access) override {
    switch (access.space) {
    case isa::Space::global: global.access(access); break;
    case isa::Space::shared:
    case isa::Space::constant: shared.access(access); break;
    case isa::Space::local: local.access(access); break;
    default: break;
    }
  }
  void branch(const exec::Branch& branch) override { divergence.branch(branch); }

  GlobalTransactions::Shard global;
  SharedBanks::Shard shared;
  LocalMemory::Shard local;
  Divergence::Shard divergence;
};

} // namespace

std::span<const AnalyzerInfo* const> analyzers() {
  static const ir::Function none;
  static const std::array<const AnalyzerInfo*, 5> list = {&InstructionMix(none, {}).info(),
                                                          &GlobalTransactions(0).info(), &SharedBanks(0).info(),
                                                          &LocalMemory(0).info(), &Divergence(0).info()};
  return list;
}

Analysis::Analysis(const ir::Module& module, const ir::Function& function, const exec::LaunchShape& shape)
    : module_(module), function_(function), parts_(std::make_unique<Parts>(function, shape)) {}
Analysis::~Analysis() = default;

std::unique_ptr<exec::Shard> Analysis::make_shard() {
  return std::make_unique<CombinedShard>(function_.instructions.size() + 1);
}

void Analysis::finish(std::vector<std::unique_ptr<exec::Shard>> shards,
                      const std::vector<exec::InstructionCount>& counts) {
  for (const auto& shard : shards) {
    auto& combined = static_cast<CombinedShard&>(*shard);
    parts_->global.absorb(combined.global);
    parts_->shared.absorb(combined.shared);
    parts_->local.absorb(combined.local);
    parts_->divergence.absorb(combined.divergence);
  }
  for (Analyzer* part : parts_->all()) part->conclude(counts);
}

Profile Analysis::profile() const {
  Profile profile;
  profile.kernel = function_.name;
  std::vector<InstructionRow> rows(function_.instructions.size());
  for (const Analyzer* part : parts_->all()) part->report(profile.metrics, rows);
  std::vector<std::string> lines = ir::print_lines(module_, function_);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].metrics.list().empty()) continue;
    const ir::Instruction& instruction = function_.instructions[i];
    InstructionRow& row = rows[i];
    row.instruction = static_cast<std::uint32_t>(i);
    row.line = instruction.where.line;
    row.ptx = std::move(lines[i]);
    row.source_line = instruction.source.line;
    for (const ir::SourceFile& file : module_.files)
      if (file.number == instruction.source.file) row.source_file = file.name;
    profile.instructions.push_back(std::move(row));
  }
  return profile;
}

} // namespace warplens::analyzers
