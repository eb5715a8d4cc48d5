#include "analyzers/analyzers.hpp"

#include "analyzers/divergence.hpp"
#include "analyzers/global_transactions.hpp"
#include "analyzers/instruction_mix.hpp"
#include "analyzers/local_memory.hpp"
#include "analyzers/rule_counts.hpp"
#include "analyzers/shared_banks.hpp"
#include "emulator/ir/print.hpp"

#include <array>
#include <optional>

namespace warplens::analyzers {

struct Analysis::Parts {
  Parts(const ir::Function& function, const exec::LaunchShape& shape, AnalysisOptions given)
      : options(std::move(given)), mix(function, shape), global(function.instructions.size()),
        shared(function.instructions.size()), local(function.instructions.size()),
        divergence(function.instructions.size()) {
    if (!options.rules.empty()) rules.emplace(function.instructions.size(), options.rules);
  }
  AnalysisOptions options;
  InstructionMix mix;
  GlobalTransactions global;
  SharedBanks shared;
  LocalMemory local;
  Divergence divergence;
  std::optional<RuleCounts> rules;

  [[nodiscard]] std::vector<Analyzer*> all() {
    std::vector<Analyzer*> list = {&mix, &global, &shared, &local, &divergence};
    if (rules) list.push_back(&*rules);
    return list;
  }
};

namespace {

/// One virtual call per event: the parts' types are known here.
class CombinedShard final : public exec::Shard {
public:
  CombinedShard(std::size_t rows, std::unique_ptr<exec::Shard> of_rules)
      : global(rows), shared(rows), local(rows), divergence(rows), rules(std::move(of_rules)) {}

  void access(const exec::Access& access) override {
    switch (access.space) {
    case isa::Space::global: global.access(access); break;
    case isa::Space::shared:
    case isa::Space::constant: shared.access(access); break;
    case isa::Space::local: local.access(access); break;
    default: break;
    }
    if (rules) rules->access(access);
  }
  void branch(const exec::Branch& branch) override { divergence.branch(branch); }

  GlobalTransactions::Shard global;
  SharedBanks::Shard shared;
  LocalMemory::Shard local;
  Divergence::Shard divergence;
  std::unique_ptr<exec::Shard> rules; ///< null where there are none
};

} // namespace

std::span<const AnalyzerInfo* const> analyzers() {
  static const ir::Function none;
  static const std::array<const AnalyzerInfo*, 6> list = {
      &InstructionMix(none, {}).info(), &GlobalTransactions(0).info(), &SharedBanks(0).info(),
      &LocalMemory(0).info(),           &Divergence(0).info(),         &RuleCounts(0, {}).info()};
  return list;
}

Analysis::Analysis(const ir::Module& module, const ir::Function& function, const exec::LaunchShape& shape,
                   AnalysisOptions options)
    : module_(module), function_(function), parts_(std::make_unique<Parts>(function, shape, std::move(options))) {}
Analysis::~Analysis() = default;

std::unique_ptr<exec::Shard> Analysis::make_shard() {
  return std::make_unique<CombinedShard>(function_.instructions.size() + 1,
                                         parts_->rules ? parts_->rules->make_shard() : nullptr);
}

void Analysis::finish(std::vector<std::unique_ptr<exec::Shard>> shards,
                      const std::vector<exec::InstructionCount>& counts) {
  for (const auto& shard : shards) {
    auto& combined = static_cast<CombinedShard&>(*shard);
    parts_->global.absorb(combined.global);
    parts_->shared.absorb(combined.shared);
    parts_->local.absorb(combined.local);
    parts_->divergence.absorb(combined.divergence);
    if (parts_->rules) parts_->rules->absorb(*combined.rules);
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
