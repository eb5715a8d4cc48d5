// SPDX-License-Identifier: Apache-2.0
#include "api/launch/statistics.hpp"

#include "analyzers/counted_rules.hpp"
#include "analyzers/instruction_mix.hpp"
#include "emulator/ir/block_dependence.hpp"
#include "emulator/ir/effects.hpp"
#include "emulator/ir/opcode_parts.hpp"

#include <algorithm>
#include <cmath>

namespace warplens::api {

namespace {

using Class = model::IssueClass;
using analyzers::InstructionRow;
using analyzers::MetricId;

// Where they were counted. Requests of several words do not merge (Dasgupta 2011, section 3.2.5).
std::optional<double> duplicates_of_scalar_loads(const analyzers::Profile& profile, const ir::Function& kernel) {
  std::uint64_t requested = 0, different = 0;
  for (const InstructionRow& row : profile.instructions) {
    if (analyzers::elements_of(kernel.instructions[row.instruction]) > 1) continue;
    requested += row.metrics.integer(MetricId::duplicates_requested);
    different += row.metrics.integer(MetricId::duplicates_on_multiprocessor);
  }
  return different > 0 ? std::optional(static_cast<double>(requested) / static_cast<double>(different)) : std::nullopt;
}

// Of the first level in every report of a device that has one, of a part of the launch; of both if asked for by name.
void add_hit_ratios(model::KernelStatistics& s, const analyzers::Profile& profile) {
  const auto ratio = [&](MetricId id) -> std::optional<double> {
    const analyzers::Metric* m = profile.metrics.find(id);
    return m != nullptr ? std::optional(m->number() / 100) : std::nullopt;
  };
  s.l1_hit_ratio = ratio(MetricId::l1_hit_rate);
  s.l2_hit_ratio = ratio(MetricId::l2_hit_rate);
  s.first_wave_from_memory = ratio(MetricId::first_wave_from_memory);
}

// Passes beyond the fewest, of constants as well where the rule serves them.
double bank_conflicts(const analyzers::Profile& profile, const rules::Banks& rule) {
  std::uint64_t conflicts = 0;
  for (const auto kind :
       {exec::AccessKind::load, exec::AccessKind::store, exec::AccessKind::atomic, exec::AccessKind::reduction})
    if (!analyzers::is_atomic(kind) || rule.atomics != rules::Banks::Atomics::own_unit)
      conflicts += profile.counts.of_shared(kind).sum.serialized();
  return static_cast<double>(conflicts);
}

// The hit ratio of the first level, where the changes leave it as it is or where it is not known per instruction.
void change_hit_ratio(model::KernelStatistics& s, const Totals& changed, const Totals& counted, double saved) {
  if (!s.l1_hit_ratio || counted.missed == 0 || changed.loads == 0) return;
  const double missed = counted.loads * (1 - *s.l1_hit_ratio) * changed.all_missed() / counted.missed - saved;
  s.l1_hit_ratio = std::clamp(1 - missed / changed.loads, 0.0, 1.0);
}

void scale(model::KernelStatistics::Field& field, double by) {
  if (field) field = *field * by;
}

/// A critical path if of the waits for memory only the share `waits` remains. How often it waits follows from what
/// slower memory adds to it.
void change_path(const model::CriticalPath& path, const model::Device& device, double waits) {
  if (!*path.l2 || !*path.memory || !device.critical_path) return;
  const double l2 = model::path_latency(*device.critical_path, "latency_l2"),
               memory = model::path_latency(*device.critical_path, "latency_memory");
  const double saved = (1 - waits) * (**path.memory - **path.l2) / (memory - l2);
  *path.l2 = std::max(1.0, **path.l2 - saved * l2);
  *path.memory = std::max(1.0, **path.memory - saved * memory);
}

/// What is not counted by instruction. Warp instructions that are saved are computation.
void apply_to_launch(model::KernelStatistics& s, const analyzers::Changes& changes, double warps) {
  const auto less = [&](model::KernelStatistics::Field& field, double saved) {
    if (field) field = std::max(0.0, *field - saved / warps);
  };
  less(s.bank_conflict_passes, changes.bank_passes);
  less(s.l1_wavefronts, changes.bank_passes);
  less(s.constant_passes, changes.constant_passes);
  less(s.synchronizations, changes.barriers);
  less(s.by_class[static_cast<std::size_t>(Class::double_precision)], changes.doubles);
  less(s.double_operations, changes.doubles);
  less(s.wide_conversions, changes.conversions);
  if (changes.instructions == 0) return;
  const double memory =
      model::value_of(s.global_requests) + model::value_of(s.shared_requests) + model::value_of(s.synchronizations);
  const double computing = *s.instructions - memory;
  if (computing <= 0) return;
  const double remaining = std::max(computing - changes.instructions / warps, 0.0) / computing;
  s.instructions = memory + computing * remaining;
  if (s.lanes_per_instruction && remaining < 1)
    s.lanes_per_instruction = std::min<double>(model::kWarpSize, *s.lanes_per_instruction / remaining);
  for (model::KernelStatistics::Field* field :
       {&s.issue_chain, &s.floating_point_instructions, &s.integer_divisions, &s.machine_instructions,
        &s.double_operations, &s.alu_operations, &s.special_operations})
    scale(*field, remaining);
  for (model::KernelStatistics::Field& field : s.by_class) scale(field, remaining);
}

void add_matrices(model::KernelStatistics& s, const analyzers::Profile& profile, double warps) {
  const std::pair<const char*, model::KernelStatistics::Field*> fields[] = {
      {"half", &s.matrix_half},         {"half_sums", &s.matrix_half_sums},
      {"bfloat16", &s.matrix_bfloat16}, {"tf32", &s.matrix_tf32},
      {"fp8", &s.matrix_fp8},           {"fp4", &s.matrix_fp4},
      {"double", &s.matrix_double},     {"int8", &s.matrix_int8},
      {"int4", &s.matrix_int4},         {"binary", &s.matrix_binary}};
  for (const auto& [rate, field] : fields)
    if (const auto count = profile.integer({MetricId::matrix_operations_of, rate}); count != 0)
      *field = static_cast<double>(count) / warps;
}

} // namespace

Statistics::Statistics(const analyzers::Profile& profile, const ir::Module& module, const ir::Function& kernel,
                       const model::Device& device)
    : profile_(profile), device_(device), rows_(profile, module, kernel, device.coalescing_rule),
      duplicates_(duplicates_of_scalar_loads(profile, kernel)),
      executed_(static_cast<double>(
          std::count_if(profile.instructions.begin(), profile.instructions.end(), [](const InstructionRow& row) {
            return row.metrics.integer(MetricId::warp_instructions) != 0;
          }))) {}

model::KernelStatistics Statistics::of(std::uint64_t threads_per_block, std::optional<int> resident_blocks,
                                       const analyzers::Changes& changes) const {
  const analyzers::Profile& profile = profile_;
  const model::Device& device = device_;
  const CountedRows::Counts counts = changes.any() ? rows_.after(changes) : rows_.counted();
  const Totals& t = counts.totals;
  const double warps = std::max(1.0, changes.threads * static_cast<double>(profile.integer(MetricId::warps_launched)));
  const auto launch = [&](const analyzers::MetricKey& key) { return static_cast<double>(profile.integer(key)); };

  const auto optional = [&](model::KernelStatistics::Field& field, MetricId id) {
    if (const analyzers::Metric* m = profile.metrics.find(id)) field = m->number();
  };

  model::KernelStatistics s;
  s.threads_per_block = static_cast<double>(threads_per_block);
  s.blocks = std::ceil(changes.threads * launch(MetricId::blocks_launched));
  if (resident_blocks) s.resident_blocks = *resident_blocks;
  s.instructions = launch(MetricId::warp_instructions) / warps;
  s.global_requests = t.requests / warps;
  s.coalesced_requests = t.coalesced / warps;
  s.uncoalesced_requests = t.uncoalesced / warps;
  if (t.uncoalesced > 0) s.uncoalesced_transactions = std::max(1.0, t.uncoalesced_transactions / t.uncoalesced);
  if (analyzers::unit_of_waste(device.coalescing_rule) == rules::Coalescing::Unit::sectors)
    s.lone_sectors = t.lone_sectors / warps;
  s.bytes_per_request = t.requests > 0 ? t.bytes / t.requests : 0;
  s.transactions_32 = t.by_size[0] / warps;
  s.transactions_64 = t.by_size[1] / warps;
  s.transactions_128 = t.by_size[2] / warps;
  s.vector_transactions_32 = t.vector_by_size[0] / warps;
  s.vector_transactions_64 = t.vector_by_size[1] / warps;
  s.vector_transactions_128 = t.vector_by_size[2] / warps;
  s.load_transactions = t.loads / warps;
  s.store_transactions = t.stores / warps;
  s.merged_store_transactions = t.merged_stores / warps;
  s.atomic_transactions = t.atomics / warps;
  s.integer_divisions = t.integer_divisions / warps;
  s.wide_conversions = t.wide_conversions / warps;
  s.machine_instructions = t.machine_instructions / warps;
  s.double_operations = t.doubles / warps;
  s.alu_operations = t.alu / warps;
  s.special_operations = t.special / warps;
  s.executed_machine_instructions = t.executed_text;
  counts.contention->put_into(s);
  add_hit_ratios(s, profile);
  // Counted are all that could merge. How many of them do is for the model to say, where it knows the device's queue.
  const bool queue = device.dasgupta && device.dasgupta->merge_queue;
  (queue ? s.ideal_duplicate_loads : s.duplicate_loads) = duplicates_;
  optional(s.independent_loads, MetricId::independent_loads);
  // The order in which the model that takes it was fitted.
  optional(s.load_waits, MetricId::load_waits_in_order);
  optional(s.issue_chain, MetricId::issue_chain);
  s.executed_instructions = executed_;
  optional(s.path_l2, MetricId::path_l2);
  optional(s.path_memory, MetricId::path_memory);
  optional(s.longest_of_blocks_path_l2, MetricId::path_of_blocks_l2);
  optional(s.longest_of_blocks_path_memory, MetricId::path_of_blocks_memory);
  optional(s.longest_warp_path_l2, MetricId::path_longest_l2);
  optional(s.longest_warp_path_memory, MetricId::path_longest_memory);
  s.synchronizations =
      launch({MetricId::instructions_of_class, isa::info(isa::InstructionClass::barrier).name}) / warps;
  s.bank_conflict_passes = bank_conflicts(profile, device.bank_rule) / warps;
  // Of devices that serve constants as shared memory, these are among the bank conflicts.
  if (!device.bank_rule.constants) s.constant_passes = launch(MetricId::constant_passes_excessive) / warps;
  s.constant_lines = launch(MetricId::constant_lines);
  s.constant_segments = launch(MetricId::constant_segments);
  s.parameter_lines = launch(MetricId::parameter_lines);
  double shared = 0, passes = t.wavefronts;
  for (const auto kind : {exec::AccessKind::load, exec::AccessKind::store, exec::AccessKind::atomic}) {
    shared += launch(by_operation(MetricId::shared_requests_ld, kind));
    passes += launch(by_operation(MetricId::shared_passes_ld, kind));
  }
  s.shared_requests = shared / warps;
  s.l1_wavefronts = passes / warps;
  if (const double executed = launch(MetricId::warp_instructions); executed > 0)
    s.lanes_per_instruction = std::max(1.0, launch(MetricId::thread_instructions) / executed);
  s.floating_point_instructions = t.floating_point / warps;
  s.flops = t.flops / warps;
  add_matrices(s, profile, warps);
  for (std::size_t i = 0; i < model::kIssueClasses; ++i) s.by_class[i] = t.by_class[i] / warps;
  if (changes.any()) change(s, t, changes);
  return s;
}

/// What is not counted by instruction.
void Statistics::change(model::KernelStatistics& s, const Totals& changed, const analyzers::Changes& changes) const {
  const Totals& before = rows_.counted().totals;
  const model::KernelStatistics::Field hits_before = s.l1_hit_ratio;
  change_hit_ratio(s, changed, before, changes.missed);
  const double requests = before.load_requests > 0 ? changed.load_requests / before.load_requests : 1;
  // A warp waits as often for each load that remains.
  if (before.load_requests > 0) scale(s.load_waits, requests / changes.threads);
  scale(s.issue_chain, 1 / changes.threads);
  if (const double missed = before.loads * (1 - model::value_of(hits_before)); missed > 0 && changed.loads > 0) {
    const double missing = (1 - model::value_of(s.l1_hit_ratio)) / (1 - model::value_of(hits_before));
    for (const model::CriticalPath& path : model::critical_paths(s))
      change_path(path, device_, std::min(1.0, requests * missing));
  }
  for (const model::CriticalPath& path : model::critical_paths(s))
    for (model::KernelStatistics::Field* cycles : {path.l2, path.memory}) scale(*cycles, 1 / changes.threads);
  const double warps = std::max(1.0, changes.threads * static_cast<double>(profile_.integer(MetricId::warps_launched)));
  apply_to_launch(s, changes, warps);
}

namespace {

/// Whether which warp is the longest depends on the order of the blocks: some wait for others, or they take their work
/// from a common counter, of which the longest warp asked far more often than those of other blocks. A warp that asks
/// once, to know whether it is the last, is none of them.
bool is_longest_by_order(const exec::LongestWarps& longest, double blocks, const ir::Module& module,
                         const ir::Function& kernel) {
  constexpr double kFarMore = 2;
  const ir::BlockDependence dependence = ir::block_dependence(module, kernel);
  if (dependence != ir::BlockDependence::order) return dependence == ir::BlockDependence::waiting;
  const std::vector<ir::Effect> effects = ir::effects(module, kernel);
  const std::size_t size = std::min(longest.launch_times.size(), kernel.instructions.size());
  for (std::size_t i = 0; i < size; ++i) {
    const ir::Instruction& instruction = kernel.instructions[i];
    if (instruction.instruction_class != isa::InstructionClass::atomic || ir::has_part(instruction, "shared")) continue;
    const double usual = static_cast<double>(longest.cta_times[i]) / blocks;
    if (!effects[i].writes.empty() && static_cast<double>(longest.launch_times[i]) > kFarMore * (usual + 1))
      return true;
  }
  return false;
}

} // namespace

void add_longest_warps(model::KernelStatistics& s, const exec::LongestWarps& longest, const ir::Module& module,
                       const ir::Function& kernel) {
  if (longest.of_launch == 0) return;
  constexpr double kMuchLonger = 1.5;
  const double blocks = std::max(1.0, model::value_of(s.blocks));
  s.longest_warp = static_cast<double>(longest.of_launch);
  s.longest_of_blocks = static_cast<double>(longest.of_ctas) / blocks;
  if (*s.longest_warp < kMuchLonger * *s.longest_of_blocks) return;
  if (!is_longest_by_order(longest, blocks, module, kernel)) return;
  s.longest_warp = s.longest_of_blocks;
  s.longest_warp_path_l2 = s.longest_of_blocks_path_l2;
  s.longest_warp_path_memory = s.longest_of_blocks_path_memory;
}

} // namespace warplens::api
