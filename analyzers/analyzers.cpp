// SPDX-License-Identifier: Apache-2.0
#include "analyzers/analyzers.hpp"

#include "analyzers/arithmetic.hpp"
#include "analyzers/barrier_waits.hpp"
#include "analyzers/block_counts.hpp"
#include "analyzers/bulk_copies.hpp"
#include "analyzers/caches.hpp"
#include "analyzers/compiled_atomics.hpp"
#include "analyzers/constant_lines.hpp"
#include "analyzers/constant_memory.hpp"
#include "analyzers/divergence.hpp"
#include "analyzers/duplicate_loads.hpp"
#include "analyzers/global_transactions.hpp"
#include "analyzers/independent_loads.hpp"
#include "analyzers/instruction_mix.hpp"
#include "analyzers/issue_chain.hpp"
#include "analyzers/lane_copies.hpp"
#include "analyzers/local_memory.hpp"
#include "analyzers/partition_camping.hpp"
#include "analyzers/pipelines.hpp"
#include "analyzers/recorded_accesses.hpp"
#include "analyzers/reuse_distance.hpp"
#include "analyzers/shared_banks.hpp"
#include "analyzers/source_lines.hpp"
#include "analyzers/special_operands.hpp"
#include "analyzers/texture_memory.hpp"
#include "analyzers/warp_path.hpp"
#include "analyzers/watched_events.hpp"
#include "emulator/ir/print.hpp"

#include <algorithm>
#include <map>

namespace warplens::analyzers {

namespace {

using isa::Space;

template <class A>
std::unique_ptr<StreamAnalyzer> make(std::size_t instructions, const exec::LaunchShape& shape, const Board& board) {
  return std::make_unique<A>(instructions, shape, board);
}
/// Analyzers that run only on request.
constexpr std::unique_ptr<StreamAnalyzer> (*kMakers[])(std::size_t, const exec::LaunchShape&, const Board&) = {
#define BY_NAME(Class) make<Class>,
#include "analyzers/analyzers.def"
};

constexpr AnalyzerInfo kRules = {"rule_counts",
                                 "User-defined rules",
                                 "transactions and passes under the rules that --rule specifies, as rule.NAME.…",
                                 {}};

std::vector<DeviceRules> or_usual(const std::vector<DeviceRules>& devices) {
  return devices.empty() ? std::vector{DeviceRules::usual()} : devices;
}

/// Rules whose counters are reported as rule.NAME.…: the requested rules, and rules of the device that no profiler's
/// counters follow.
rules::RuleSet named(rules::RuleSet asked, const DeviceRules& device) {
  // A rule that was also requested is already present.
  if (!has_profilers_names(device.coalescing)) static_cast<void>(asked.add(device.coalescing));
  if (!has_profilers_names(device.banks)) static_cast<void>(asked.add(device.banks));
  return asked;
}

} // namespace

struct Analysis::Parts {
  Parts(const ir::Module& module, const ir::Function& function, const exec::LaunchShape& shape, AnalysisOptions given)
      : Parts(module, function, shape, std::move(given), function.instructions.size(), shape.ctas() * shape.warps()) {}

private:
  // Some members call `wanted`; the analyzers are constructed in the order of the list.
  Parts([[maybe_unused]] const ir::Module& module, const ir::Function& function, const exec::LaunchShape& shape,
        AnalysisOptions given, std::size_t instructions, std::uint64_t warps)
      : options(std::move(given)), board(options.board), rules(function, or_usual(options.devices), options.rules),
        atomics(module, function), recorded(instructions, shape), constant_lines(function, shape)
#define ANALYZER(name, Class, made_of) , name made_of
#include "analyzers/analyzers.def"
  {
    for (const auto maker : kMakers) {
      if (options.named.empty()) break;
      auto one = maker(function.instructions.size(), shape, options.board);
      if (wanted(one->info().id)) named.push_back(std::move(one));
    }
    streams.emplace(shape, options.board, part());
    if (options.per_block)
      blocks.emplace(function, rules, analyzers::named(options.rules, or_usual(options.devices).front()));
  }

public:
  [[nodiscard]] bool wanted(std::string_view id) const {
    return std::any_of(options.named.begin(), options.named.end(),
                       [&](const std::string& name) { return name == "all" || name == id; });
  }

  /// A stream analyzer requested by its own name gets as many accesses as memory allows; with "all", they get a
  /// glance.
  [[nodiscard]] Streams::Part part() const {
    bool by_name = false, any = false;
    for (const std::string& name : options.named) {
      const auto is_it = [&](const auto* one) { return one->info().id == name; };
      const std::vector<const StreamAnalyzer*> lookers = of_streams();
      const bool looks = std::any_of(lookers.begin(), lookers.end(), is_it);
      by_name = by_name || looks;
      any = any || looks || name == "all";
    }
    return by_name ? Streams::Part::first_waves : any ? Streams::Part::glance : Streams::Part::one_multiprocessor;
  }

  AnalysisOptions options;
  const Board& board; ///< of the options
  CountedRules rules;
  CompiledAtomics atomics;
  RecordedAccesses recorded;
  ConstantLines constant_lines;
#define ANALYZER(name, Class, made_of) Class name;
#include "analyzers/analyzers.def"
  std::vector<std::unique_ptr<StreamAnalyzer>> named;
  std::optional<Streams> streams; ///< input of the stream analyzers, until they have read it
  std::optional<BlockCounts> blocks;

  /// In the order of the report.
  [[nodiscard]] std::vector<const Analyzer*> all() const {
    std::vector<const Analyzer*> list = {
#define ANALYZER(name, Class, made_of) &(name),
#include "analyzers/analyzers.def"
    };
    for (const auto& one : named) list.push_back(one.get());
    return list;
  }
  [[nodiscard]] std::vector<const StreamAnalyzer*> of_streams() const {
    std::vector<const StreamAnalyzer*> list;
    for (const Analyzer* one : all())
      if (const auto* looker = dynamic_cast<const StreamAnalyzer*>(one)) list.push_back(looker);
    return list;
  }
  /// Called after the shards were absorbed.
  void conclude(const std::vector<exec::InstructionCount>& counts) {
    constant_lines.conclude(counts);
    const auto one = [&](auto& analyzer) {
      if constexpr (std::is_base_of_v<StreamAnalyzer, std::remove_reference_t<decltype(analyzer)>>)
        analyzer.study(*streams);
      else
        analyzer.conclude(counts);
    };
#define ANALYZER(name, Class, made_of) one(name);
#include "analyzers/analyzers.def"
    for (const auto& looker : named) one(*looker);
    streams.reset(); // the largest part, no longer needed
  }
};

namespace {

/// Needs one virtual call per event, because the types of the parts are known here.
class CombinedShard final : public exec::Shard {
public:
  CombinedShard(std::size_t rows, const CountedRules& rules, const CompiledAtomics& compiled, std::uint32_t warps,
                const LaneBoxes* boxes, std::unique_ptr<Streams::Shard> recorder,
                std::unique_ptr<RecordedAccesses::Shard> few, std::unique_ptr<ConstantLines::Shard> of_lines,
                std::unique_ptr<BlockCounts::Shard> of_blocks)
      : one_by_one(std::max(rules.global_period(), rules.shared_period()) > exec::kAlignmentPeriod)
#define WATCHER(name, Class, made_of, shard_of, events) , name shard_of
#include "analyzers/analyzers.def"
        ,
        atomics(compiled), streams(std::move(recorder)), recorded(std::move(few)), constant_lines(std::move(of_lines)),
        blocks(std::move(of_blocks)) {
  }

  void access(const exec::Access& written) override {
    exec::Access copy;
    const exec::Access& access = atomics.compiled(written, copy);
    switch (access.space) {
    case Space::global: tell<Space::global>(access, !one_by_one); break;
    case Space::shared: tell<Space::shared>(access, !one_by_one); break;
    case Space::constant: tell<Space::constant>(access, true); break;
    case Space::param: tell<Space::param>(access, true); break;
    case Space::texture: tell<Space::texture>(access, true); break;
    case Space::local: tell<Space::local>(access, true); break;
    default: break;
    }
    if (access.space == Space::global || access.space == Space::local) streams->access(access);
  }
  void access_rows(const exec::AccessRows& written) override {
    exec::Mask masks[exec::AccessRows::kMost];
    const exec::AccessRows all = atomics.compiled(written, masks);
#define WATCHER(name, Class, made_of, shard_of, events)                                                                \
  if ((events).in(all.space)) (name).access_rows(all);
#include "analyzers/analyzers.def"
    if (all.space == Space::global || all.space == Space::local) streams->access_rows(all);
  }
  void branch(const exec::Branch& branch) override {
#define WATCHER(name, Class, made_of, shard_of, events)                                                                \
  if constexpr ((events).branch) (name).branch(branch);
#include "analyzers/analyzers.def"
  }
  void barrier(const exec::Barrier& barrier) override {
#define WATCHER(name, Class, made_of, shard_of, events)                                                                \
  if constexpr ((events).barrier) (name).barrier(barrier);
#include "analyzers/analyzers.def"
  }
  void product(const exec::SizedProduct& product) override {
#define WATCHER(name, Class, made_of, shard_of, events)                                                                \
  if constexpr ((events).product) (name).product(product);
#include "analyzers/analyzers.def"
  }
  void special_operands(const exec::SpecialOperands& operands) override {
#define WATCHER(name, Class, made_of, shard_of, events)                                                                \
  if constexpr ((events).special) (name).special_operands(operands);
#include "analyzers/analyzers.def"
  }
  void bulk_copy(const exec::BulkCopy& copy) override {
#define WATCHER(name, Class, made_of, shard_of, events)                                                                \
  if constexpr ((events).bulk_copy) (name).bulk_copy(copy);
#include "analyzers/analyzers.def"
  }
  void lane_copy(const exec::LaneCopy& copy) override {
#define WATCHER(name, Class, made_of, shard_of, events)                                                                \
  if constexpr ((events).lane_copy) (name).lane_copy(copy);
#include "analyzers/analyzers.def"
  }
  template <class Event> void tell_async(void (exec::Shard::*receive)(const Event&), const Event& event) {
#define WATCHER(name, Class, made_of, shard_of, events)                                                                \
  if constexpr ((events).async) ((name).*receive)(event);
#include "analyzers/analyzers.def"
  }
  void async_step(const exec::AsyncStep& step) override { tell_async(&exec::Shard::async_step, step); }
  void phase_step(const exec::PhaseStep& step) override { tell_async(&exec::Shard::phase_step, step); }
  void async_waits(const exec::AsyncWaits& waits) override { tell_async(&exec::Shard::async_waits, waits); }
  bool begin_cta(std::uint64_t cta) override {
    const bool of_streams = streams->begin_cta(cta), of_few = recorded->begin_cta(cta);
    return (blocks && blocks->begin_cta(cta)) || of_streams || of_few || one_by_one;
  }
  void end_cta(std::uint64_t cta) override {
#define WATCHER(name, Class, made_of, shard_of, events)                                                                \
  if constexpr ((events).ends) (name).end_cta(cta);
#include "analyzers/analyzers.def"
    if (blocks) blocks->end_cta(cta);
  }
  [[nodiscard]] exec::EachWanted each_wanted() const override {
    if (blocks || one_by_one) return {};
    exec::EachWanted wanted = streams->each_wanted();
    wanted.rows = true;
    wanted.spaces |= RecordedAccesses::Shard::kSpaces | ConstantLines::Shard::kSpaces;
    return wanted;
  }
  [[nodiscard]] std::uint32_t each_spaces(const exec::WarpId& warp) const override {
    if (blocks || one_by_one) return ~0u;
    const std::uint32_t of_streams = streams->records(warp.cta) ? streams->each_wanted().spaces : 0;
    return of_streams | (recorded->records(warp) ? RecordedAccesses::Shard::kSpaces : 0) |
           (constant_lines->records(warp.cta) ? ConstantLines::Shard::kSpaces : 0);
  }
  void each_access(const exec::WarpId& warp, const exec::Access& written) override {
    exec::Access copy;
    const exec::Access& access = atomics.compiled(written, copy);
    streams->each_access(warp, access);
    recorded->each_access(warp, written);
    constant_lines->each_access(warp, written);
    if (one_by_one && access.space == Space::global) tell_by_rules<Space::global>(access);
    if (one_by_one && access.space == Space::shared) tell_by_rules<Space::shared>(access);
    if (blocks) blocks->each_access(warp, access);
  }
  void each_branch(const exec::WarpId& warp, const exec::Branch& branch) override {
    if (blocks) blocks->each_branch(warp, branch);
  }

  void fields(Archive& a) override {
#define WATCHER(name, Class, made_of, shard_of, events) (name).fields(a);
#include "analyzers/analyzers.def"
    streams->fields(a);
    recorded->fields(a);
    constant_lines->fields(a);
    if (blocks) blocks->fields(a);
  }

  void give_to(Analysis::Parts& parts) {
    give_accesses_to(parts);
    give_others_to(parts);
    give_recorded_to(parts);
  }
  void give_recorded_to(Analysis::Parts& parts) {
    parts.streams->absorb(*streams);
    parts.recorded.absorb(*recorded);
    parts.constant_lines.absorb(*constant_lines);
    if (parts.blocks) parts.blocks->absorb(*blocks);
  }

  /// The counts of accesses, …
  void give_accesses_to(Analysis::Parts& parts) {
#define WATCHER(name, Class, made_of, shard_of, events)                                                                \
  if constexpr ((events).spaces != 0) parts.name.absorb(name);
#include "analyzers/analyzers.def"
  }
  /// … and what is counted of all blocks of a sampled launch.
  void give_others_to(Analysis::Parts& parts) {
#define WATCHER(name, Class, made_of, shard_of, events)                                                                \
  if constexpr ((events).spaces == 0) parts.name.absorb(name);
#include "analyzers/analyzers.def"
  }

private:
  /// `together`: also tell watchers that count by rules.
  template <Space space> void tell(const exec::Access& access, bool together) {
#define WATCHER(name, Class, made_of, shard_of, events)                                                                \
  if constexpr ((events).in(space))                                                                                    \
    if (together || !(events).by_rules) (name).access(access);
#include "analyzers/analyzers.def"
  }
  template <Space space> void tell_by_rules(const exec::Access& access) {
#define WATCHER(name, Class, made_of, shard_of, events)                                                                \
  if constexpr ((events).in(space) && (events).by_rules) (name).access(access);
#include "analyzers/analyzers.def"
  }

  bool one_by_one; ///< some rule distinguishes accesses that are reported together
#define WATCHER(name, Class, made_of, shard_of, events) Class::Shard name;
#include "analyzers/analyzers.def"
  const CompiledAtomics& atomics;
  std::unique_ptr<Streams::Shard> streams;
  std::unique_ptr<RecordedAccesses::Shard> recorded;
  std::unique_ptr<ConstantLines::Shard> constant_lines;
  std::unique_ptr<BlockCounts::Shard> blocks; ///< null unless requested
};

} // namespace

std::span<const AnalyzerInfo* const> analyzers() {
  // Never destroyed: a program may call this during its exit.
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
    errors.error({}, "unknown analyzer '" + name + "'",
                 did_you_mean(name, known, "`warplens list analyzers` shows all analyzers"));
  }
  return errors;
}

Analysis::Analysis(const ir::Module& module, const ir::Function& function, const exec::LaunchShape& shape,
                   AnalysisOptions options)
    : module_(module), function_(function), shape_(shape),
      parts_(std::make_unique<Parts>(module, function, shape, std::move(options))) {}
Analysis::~Analysis() = default;

std::unique_ptr<exec::Shard> Analysis::make_shard() {
  return std::make_unique<CombinedShard>(function_.instructions.size() + 1, parts_->rules, parts_->atomics,
                                         shape_.warps(), &parts_->divergence.boxes(), parts_->streams->make_shard(),
                                         parts_->recorded.make_shard(), parts_->constant_lines.make_shard(),
                                         parts_->blocks ? parts_->blocks->make_shard() : nullptr);
}

void Analysis::longest_warps(const exec::LongestWarps& longest) {
  longest_ = longest;
  parts_->path.longest_warps(longest);
}

void Analysis::finish(std::vector<std::unique_ptr<exec::Shard>> shards,
                      const std::vector<exec::InstructionCount>& counts) {
  for (const auto& shard : shards) static_cast<CombinedShard&>(*shard).give_to(*parts_);
  parts_->conclude(counts);
}

bool Analysis::needs(std::uint64_t cta) const {
  return parts_->blocks || parts_->streams->records(cta) || parts_->recorded.records(cta);
}

/// The counts of the launch from a sample, or from one without a group. What is recorded access by access is missing.
std::unique_ptr<Analysis::Parts> Analysis::estimate(const exec::Sample& sample, std::size_t left_out) const {
  auto parts = std::make_unique<Parts>(module_, function_, shape_, parts_->options);
  const auto each = [](const exec::SampleGroup& group, const auto& give) {
    for (exec::Shard* const shard : group.shards) give(static_cast<CombinedShard&>(*shard));
  };
  for (std::size_t group = 0; group < sample.drawn.size(); ++group) {
    each(sample.drawn[group], [&](CombinedShard& shard) {
      if (group != left_out) shard.give_accesses_to(*parts);
      shard.give_others_to(*parts);
    });
  }
  const Scales scales(function_, sample, left_out);
#define WATCHER(name, Class, made_of, shard_of, events) parts->name.scale(scales);
#include "analyzers/analyzers.def"
  each(sample.rest, [&](CombinedShard& shard) {
    shard.give_accesses_to(*parts);
    shard.give_others_to(*parts);
  });
  if (longest_) parts->path.longest_warps(*longest_);
  return parts;
}

double Analysis::error_of(const exec::Sample& sample) {
  const DeviceRules device = or_usual(parts_->options.devices).front();
  const auto metrics = [&](std::size_t left_out) {
    std::vector<InstructionRow> rows(function_.instructions.size());
    const std::unique_ptr<Parts> parts = estimate(sample, left_out);
    parts->conclude(sample.counts);
    return metrics_of(*parts, device, rows);
  };
  const Metrics all = metrics(Scales::kAllGroups);
  std::vector<Metrics> without;
  for (std::size_t group = 0; group < sample.drawn.size(); ++group) without.push_back(metrics(group));
  const Scales scales(function_, sample, Scales::kAllGroups);
  return std::max(main_error(all, errors_of(all, without, sample.fraction)), scales.uncovered());
}

void Analysis::finish_sample(const exec::Sample& sample) {
  std::unique_ptr<Parts> all = estimate(sample, Scales::kAllGroups);
  for (exec::Shard* const shard : sample.rest.shards) static_cast<CombinedShard&>(*shard).give_recorded_to(*all);
  all->streams->set_all(all->global.requests(), all->local.requests());
  all->conclude(sample.counts);
  parts_ = std::move(all);
  for (std::size_t group = 0; group < sample.drawn.size(); ++group) {
    without_.push_back(estimate(sample, group));
    without_.back()->conclude(sample.counts);
  }
  fraction_ = sample.fraction;
  sample_ = report_of(sample, Scales(function_, sample, Scales::kAllGroups).uncovered());
}

Metrics Analysis::metrics_of(const Parts& parts, const DeviceRules& device, std::vector<InstructionRow>& rows) const {
  Metrics metrics;
  parts.constant_lines.report(metrics);
  for (const Analyzer* part : parts.all()) part->report(metrics, rows);
  const rules::RuleSet named = analyzers::named(parts.options.rules, device);
  for (const rules::CoalescingRule& rule : named.coalescing) parts.global.report(rule, metrics, rows);
  for (const rules::BankRule& rule : named.banks) parts.shared.report(rule, metrics, rows);
  return metrics;
}

std::vector<MetricError> Analysis::errors(const Metrics& metrics, const DeviceRules& device) const {
  std::vector<Metrics> without;
  for (const auto& parts : without_) {
    std::vector<InstructionRow> rows(function_.instructions.size());
    without.push_back(metrics_of(*parts, device, rows));
  }
  return errors_of(metrics, without, fraction_);
}

Profile Analysis::profile(const DeviceRules& device) const {
  Profile profile;
  profile.kernel = function_.name;
  if (parts_->blocks) profile.blocks = parts_->blocks->table();
  std::vector<InstructionRow> rows(function_.instructions.size());
  profile.metrics = metrics_of(*parts_, device, rows);
  profile.counts = {parts_->global.counts(device.coalescing, rows), parts_->shared.counts(device.banks, rows)};
  parts_->recorded.report(parts_->rules, device, rows);
  if (sample_) {
    profile.sample = sample_;
    profile.sample->errors = errors(profile.metrics, device);
    profile.sample->largest = std::max(main_error(profile.metrics, profile.sample->errors), sample_->uncovered);
  }
  std::vector<std::string> lines = ir::print_lines(module_, function_);
  std::map<std::uint32_t, std::string_view> files;
  for (const ir::SourceFile& file : module_.files) files[file.number] = file.name;
  const auto has_metrics = [](const InstructionRow& row) { return !row.metrics.list().empty(); };
  profile.instructions.reserve(static_cast<std::size_t>(std::count_if(rows.begin(), rows.end(), has_metrics)));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!has_metrics(rows[i])) continue;
    const ir::Instruction& instruction = function_.instructions[i];
    InstructionRow& row = rows[i];
    row.instruction = static_cast<std::uint32_t>(i);
    row.line = instruction.where.line;
    row.ptx = std::move(lines[i]);
    set_source(row, instruction.source, module_, files);
    profile.instructions.push_back(std::move(row));
  }
  return profile;
}

} // namespace warplens::analyzers
