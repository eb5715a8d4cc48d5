#include "analyzers/analyzers.hpp"

#include "analyzers/arithmetic.hpp"
#include "analyzers/barrier_waits.hpp"
#include "analyzers/block_counts.hpp"
#include "analyzers/caches.hpp"
#include "analyzers/constant_memory.hpp"
#include "analyzers/divergence.hpp"
#include "analyzers/duplicate_loads.hpp"
#include "analyzers/global_transactions.hpp"
#include "analyzers/independent_loads.hpp"
#include "analyzers/instruction_mix.hpp"
#include "analyzers/issue_chain.hpp"
#include "analyzers/local_memory.hpp"
#include "analyzers/partition_camping.hpp"
#include "analyzers/reuse_distance.hpp"
#include "analyzers/shared_banks.hpp"
#include "analyzers/texture_memory.hpp"
#include "emulator/ir/print.hpp"

#include <algorithm>
#include <map>

namespace warplens::analyzers {

namespace {

template <class A>
std::unique_ptr<StreamAnalyzer> make(std::size_t instructions, const exec::LaunchShape& shape, const Board& board) {
  return std::make_unique<A>(instructions, shape, board);
}
/// Those that are asked for by name.
constexpr std::unique_ptr<StreamAnalyzer> (*kMakers[])(std::size_t, const exec::LaunchShape&,
                                                       const Board&) = {make<PartitionCamping>, make<ReuseDistance>};

constexpr AnalyzerInfo kRules = {"rule_counts",
                                 "Rules of your own",
                                 "transactions and passes under the rules given with --rule, as rule.NAME.…",
                                 {}};

std::vector<DeviceRules> or_usual(const std::vector<DeviceRules>& devices) {
  return devices.empty() ? std::vector{DeviceRules::usual()} : devices;
}

/// Whose counters are given as rule.NAME.…: those that were asked for, and those of a device that no counter of a
/// profiler goes by.
rules::RuleSet named(rules::RuleSet asked, const DeviceRules& device) {
  // One that was asked for as well is there already.
  if (!has_profilers_names(device.coalescing)) static_cast<void>(asked.add(device.coalescing));
  if (!has_profilers_names(device.banks)) static_cast<void>(asked.add(device.banks));
  return asked;
}

} // namespace

struct Analysis::Parts {
  Parts(const ir::Module& module, const ir::Function& function, const exec::LaunchShape& shape, AnalysisOptions given)
      : options(std::move(given)), rules(function, or_usual(options.devices), options.rules), mix(function, shape),
        global(function.instructions.size(), rules), shared(function.instructions.size(), rules),
        local(function.instructions.size()), constant(function.instructions.size()), texture(function),
        divergence(function), arithmetic(function, global), loads(module, function, shape.ctas() * shape.warps()),
        chain(module, function, shape.ctas() * shape.warps(), options.board),
        barriers(function.instructions.size(), shape), duplicates(function.instructions.size(), shape, options.board),
        caches(function.instructions.size(), shape, options.board,
               wanted("caches") ? Caches::Coverage::whole : Caches::Coverage::sample) {
    for (const auto maker : kMakers) {
      if (options.named.empty()) break;
      auto one = maker(function.instructions.size(), shape, options.board);
      if (wanted(one->info().id)) named.push_back(std::move(one));
    }
    streams.emplace(shape, options.board, part());
    if (options.per_block)
      blocks.emplace(function, rules, analyzers::named(options.rules, or_usual(options.devices).front()));
  }
  [[nodiscard]] bool wanted(std::string_view id) const {
    return std::any_of(options.named.begin(), options.named.end(),
                       [&](const std::string& name) { return name == "all" || name == id; });
  }

  /// Of those who look at streams, one that is asked for by its own name gets as much as there is, all together a
  /// glance.
  [[nodiscard]] Streams::Part part() const {
    bool by_name = false, any = false;
    for (const std::string& name : options.named) {
      const bool looks =
          name == duplicates.info().id || name == caches.info().id ||
          std::any_of(named.begin(), named.end(), [&](const auto& one) { return one->info().id == name; });
      by_name = by_name || looks;
      any = any || looks || name == "all";
    }
    return by_name ? Streams::Part::first_waves : any ? Streams::Part::glance : Streams::Part::one_multiprocessor;
  }

  AnalysisOptions options;
  CountedRules rules;
  InstructionMix mix;
  GlobalTransactions global;
  SharedBanks shared;
  LocalMemory local;
  ConstantMemory constant;
  TextureMemory texture;
  Divergence divergence;
  Arithmetic arithmetic;
  IndependentLoads loads;
  IssueChain chain;
  BarrierWaits barriers;
  DuplicateLoads duplicates;
  Caches caches;
  std::vector<std::unique_ptr<StreamAnalyzer>> named;
  std::optional<Streams> streams; ///< what duplicates, caches and the named ones look at; until they have
  std::optional<BlockCounts> blocks;

  /// In the order of the report.
  [[nodiscard]] std::vector<Analyzer*> all() {
    std::vector<Analyzer*> list = {&mix,        &arithmetic, &global, &shared,     &local,    &constant, &texture,
                                   &divergence, &loads,      &chain,  &duplicates, &barriers, &caches};
    for (const auto& one : named) list.push_back(one.get());
    return list;
  }
};

namespace {

/// With one for instructions out of range.
std::size_t rows_of(const ir::Function& function) { return function.instructions.size() + 1; }

/// One virtual call per event: the parts' types are known here.
class CombinedShard final : public exec::Shard {
public:
  CombinedShard(const ir::Function& function, const CountedRules& rules, std::uint32_t warps,
                std::unique_ptr<Streams::Shard> recorder, std::unique_ptr<BlockCounts::Shard> of_blocks)
      : one_by_one(std::max(rules.global_period(), rules.shared_period()) > exec::kAlignmentPeriod),
        global(rows_of(function), rules), shared(rows_of(function) * SharedBanks::kOperations, rules),
        local(rows_of(function)), constant(rows_of(function)), texture(rows_of(function)),
        divergence(rows_of(function)), loads(rows_of(function)), barriers(rows_of(function), warps),
        streams(std::move(recorder)), blocks(std::move(of_blocks)) {}

  void access(const exec::Access& access) override {
    switch (access.space) {
    case isa::Space::global:
      if (!one_by_one) global.access(access);
      streams->access(access);
      break;
    case isa::Space::shared:
      if (!one_by_one) shared.access(access);
      break;
    case isa::Space::constant:
    case isa::Space::param:
      shared.access(access);
      constant.access(access);
      break;
    case isa::Space::texture: texture.access(access); break;
    case isa::Space::local:
      local.access(access);
      streams->access(access);
      break;
    default: break;
    }
  }
  void branch(const exec::Branch& branch) override {
    divergence.branch(branch);
    loads.branch(branch);
  }
  void barrier(const exec::Barrier& barrier) override { barriers.barrier(barrier); }
  bool begin_cta(std::uint64_t cta) override {
    const bool of_streams = streams->begin_cta(cta);
    return (blocks && blocks->begin_cta(cta)) || of_streams || one_by_one;
  }
  void end_cta(std::uint64_t cta) override {
    barriers.end_cta(cta);
    if (blocks) blocks->end_cta(cta);
  }
  [[nodiscard]] exec::EachWanted each_wanted() const override {
    return blocks || one_by_one ? exec::EachWanted{} : streams->each_wanted();
  }
  void each_access(const exec::WarpId& warp, const exec::Access& access) override {
    streams->each_access(warp, access);
    if (one_by_one && access.space == isa::Space::global) global.access(access);
    if (one_by_one && access.space == isa::Space::shared) shared.access(access);
    if (blocks) blocks->each_access(warp, access);
  }
  void each_branch(const exec::WarpId& warp, const exec::Branch& branch) override {
    if (blocks) blocks->each_branch(warp, branch);
  }

  bool one_by_one; ///< some rule tells accesses apart that come together
  GlobalTransactions::Shard global;
  SharedBanks::Shard shared;
  LocalMemory::Shard local;
  ConstantMemory::Shard constant;
  TextureMemory::Shard texture;
  Divergence::Shard divergence;
  IndependentLoads::Shard loads;
  BarrierWaits::Shard barriers;
  std::unique_ptr<Streams::Shard> streams;
  std::unique_ptr<BlockCounts::Shard> blocks; ///< null where they are not asked for
};

} // namespace

std::span<const AnalyzerInfo* const> analyzers() {
  // Never destroyed: a program may ask while it ends.
  static const std::vector<const AnalyzerInfo*>& list = *new std::vector<const AnalyzerInfo*>([] {
    const ir::Module module;
    const ir::Function none;
    Analysis::Parts parts(module, none, {}, {.named = {"all"}});
    std::vector<const AnalyzerInfo*> infos;
    for (const Analyzer* part : parts.all()) infos.push_back(&part->info());
    infos.push_back(&kRules);
    return infos;
  }());
  return list;
}

Diagnostics check_names(const std::vector<std::string>& named) {
  std::vector<std::string_view> known = {"all"};
  for (const AnalyzerInfo* info : analyzers()) known.push_back(info->id);
  Diagnostics errors;
  for (const std::string& name : named) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string near = closest(name, known);
    errors.error({}, "no analyzer is called '" + name + "'",
                 near.empty() ? "`warplens list analyzers` names them" : "did you mean '" + near + "'?");
  }
  return errors;
}

Analysis::Analysis(const ir::Module& module, const ir::Function& function, const exec::LaunchShape& shape,
                   AnalysisOptions options)
    : module_(module), function_(function), warps_(shape.warps()),
      parts_(std::make_unique<Parts>(module, function, shape, std::move(options))) {}
Analysis::~Analysis() = default;

std::unique_ptr<exec::Shard> Analysis::make_shard() {
  return std::make_unique<CombinedShard>(function_, parts_->rules, warps_, parts_->streams->make_shard(),
                                         parts_->blocks ? parts_->blocks->make_shard() : nullptr);
}

void Analysis::finish(std::vector<std::unique_ptr<exec::Shard>> shards,
                      const std::vector<exec::InstructionCount>& counts) {
  for (const auto& shard : shards) {
    auto& combined = static_cast<CombinedShard&>(*shard);
    parts_->global.absorb(combined.global);
    parts_->shared.absorb(combined.shared);
    parts_->local.absorb(combined.local);
    parts_->constant.absorb(combined.constant);
    parts_->texture.absorb(combined.texture);
    parts_->divergence.absorb(combined.divergence);
    parts_->loads.absorb(combined.loads);
    parts_->barriers.absorb(combined.barriers);
    parts_->streams->absorb(*combined.streams);
    if (parts_->blocks) parts_->blocks->absorb(*combined.blocks);
  }
  parts_->mix.conclude(counts);
  parts_->divergence.conclude(counts);
  parts_->arithmetic.conclude(counts);
  parts_->loads.conclude(counts);
  parts_->chain.conclude(counts);
  parts_->duplicates.study(*parts_->streams);
  parts_->caches.study(*parts_->streams);
  for (const auto& one : parts_->named) one->study(*parts_->streams);
  parts_->streams.reset(); // the largest part, no longer needed
}

Profile Analysis::profile(const DeviceRules& device) const {
  Profile profile;
  profile.kernel = function_.name;
  if (parts_->blocks) profile.blocks = parts_->blocks->table();
  std::vector<InstructionRow> rows(function_.instructions.size());
  for (const Analyzer* part : parts_->all()) part->report(profile.metrics, rows);
  profile.counts = {parts_->global.counts(device.coalescing, rows), parts_->shared.counts(device.banks, rows)};
  const rules::RuleSet named = analyzers::named(parts_->options.rules, device);
  for (const rules::CoalescingRule& rule : named.coalescing) parts_->global.report(rule, profile.metrics, rows);
  for (const rules::BankRule& rule : named.banks) parts_->shared.report(rule, profile.metrics, rows);
  std::vector<std::string> lines = ir::print_lines(module_, function_);
  std::map<std::uint32_t, std::string_view> files;
  for (const ir::SourceFile& file : module_.files) files[file.number] = file.name;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].metrics.list().empty()) continue;
    const ir::Instruction& instruction = function_.instructions[i];
    InstructionRow& row = rows[i];
    row.instruction = static_cast<std::uint32_t>(i);
    row.line = instruction.where.line;
    row.ptx = std::move(lines[i]);
    row.source_line = instruction.source.line;
    if (const auto file = files.find(instruction.source.file); file != files.end()) row.source_file = file->second;
    profile.instructions.push_back(std::move(row));
  }
  return profile;
}

} // namespace warplens::analyzers
