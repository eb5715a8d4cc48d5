// SPDX-License-Identifier: Apache-2.0
#include "api/launch/statistics.hpp"

#include "analyzers/counted_rules.hpp"
#include "analyzers/instruction_mix.hpp"
#include "analyzers/machine_code.hpp"
#include "api/launch/contention.hpp"
#include "api/launch/merged_stores.hpp"
#include "emulator/ir/block_dependence.hpp"
#include "emulator/ir/effects.hpp"
#include "emulator/ir/opcode_parts.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace warplens::api {

namespace {

using Class = model::IssueClass;
using analyzers::InstructionRow;
using analyzers::MetricId;
using Order = rules::Coalescing::Order;

double metric(const InstructionRow& row, MetricId id) { return static_cast<double>(row.metrics.integer(id)); }
/// The sizes that models know: 32, 64 and 128 bytes. A larger transaction is several of 128, a smaller one is of 32; of
/// a segment that moves in sectors, these.
void add_transactions(double (&by_size)[3], const analyzers::TransactionSums& sum) {
  if (sum.skipped != 0) {
    by_size[0] += static_cast<double>(sum.bytes()) / 32;
    return;
  }
  std::uint64_t bytes = sum.smallest;
  for (const std::uint64_t count : sum.count) {
    by_size[bytes <= 32   ? 0
            : bytes == 64 ? 1
                          : 2] += static_cast<double>(count * std::max<std::uint64_t>(1, bytes / 128));
    bytes *= 2;
  }
}

/// The model's class of an instruction; none where the issue port is busy with it as long as with most.
std::optional<Class> class_of(isa::InstructionClass which) {
  for (std::size_t i = 0; i < model::kIssueClasses; ++i)
    if (model::to_string(static_cast<Class>(i)) == isa::info(which).issue) return static_cast<Class>(i);
  return std::nullopt;
}

// Compilers shift instead: addresses of arrays are such products.
bool multiplies_by_power_of_two(const ir::Function& kernel, const ir::Instruction& instruction) {
  if (instruction.instruction_class != isa::InstructionClass::integer_multiply) return false;
  const auto operands = kernel.operands(instruction);
  return std::any_of(operands.begin(), operands.end(), [](const ir::Operand& o) {
    return o.kind == ir::OperandKind::integer && o.value > 0 &&
           std::has_single_bit(static_cast<std::uint64_t>(o.value));
  });
}

/// Sums over the instructions of a launch.
struct Totals {
  double requests = 0, bytes = 0;
  double coalesced = 0, uncoalesced = 0, uncoalesced_transactions = 0, lone_sectors = 0;
  double by_size[3]{}, vector_by_size[3]{};
  double by_class[model::kIssueClasses]{};
  double floating_point = 0, flops = 0;
  double loads = 0, stores = 0, atomics = 0; ///< transactions
  double merged_stores = 0;                  ///< those that the first-level cache does not join with earlier ones
  double wavefronts = 0, integer_divisions = 0, wide_conversions = 0;
  analyzers::MachineWork machine{.instructions = 0};
  double executed_text = 0;               ///< machine instructions, of those that some warp executes
  double missed = 0;                      ///< load transactions that miss the first-level cache, where it was simulated
  double changed = 0, changed_missed = 0; ///< those of changed loads: transactions now, and misses before
  double load_requests = 0;
  /// A change that saves transactions saves first those that hit: what the loads need of the lines is the same.
  [[nodiscard]] double all_missed() const { return missed + std::min(changed, changed_missed); }
};

class Counting {
public:
  Counting(const analyzers::Profile& profile, const ir::Function& kernel,
           const std::vector<analyzers::MachineWork>& machine_code, const model::Device& device,
           const analyzers::Changes& changes)
      : kernel_(kernel), machine_code_(machine_code), rule_(device.coalescing_rule), changes_(changes),
        blocks_(std::max(1.0, static_cast<double>(profile.integer(MetricId::blocks_launched)))),
        fresh_stores_(fresh_store_sectors(profile, kernel)) {
    for (const InstructionRow& row : profile.instructions) add(row);
  }

  Totals totals;
  Contention contention;

private:
  void add(const InstructionRow& row) {
    const ir::Instruction& instruction = kernel_.instructions[row.instruction];
    const isa::InstructionClass which = instruction.instruction_class;
    if (const auto c = class_of(which); c && !multiplies_by_power_of_two(kernel_, instruction))
      totals.by_class[static_cast<std::size_t>(*c)] += metric(row, MetricId::warp_instructions);
    if (which == isa::InstructionClass::integer_divide)
      totals.integer_divisions += metric(row, MetricId::warp_instructions);
    if (analyzers::converts_wide(instruction)) totals.wide_conversions += metric(row, MetricId::warp_instructions);
    const analyzers::MachineWork& work = machine_code_[row.instruction];
    totals.machine.add(work, metric(row, MetricId::warp_instructions));
    if (metric(row, MetricId::warp_instructions) > 0) totals.executed_text += work.text;
    if (const double special = metric(row, MetricId::special_operands); special > 0)
      totals.machine.instructions += analyzers::instructions_of_special(instruction) * special;
    floating_point(row, isa::info(which).operations);
    global(row, analyzers::elements_of(instruction) > 1);
    if (!changes_.local) local(row);
    contention.add_shared(row, instruction,
                          change_of(row.instruction).requests * metric(row, MetricId::thread_instructions_on) /
                              blocks_);
  }

  void floating_point(const InstructionRow& row, int operations) {
    if (operations == 0) return;
    totals.floating_point += metric(row, MetricId::warp_instructions);
    totals.flops += operations * metric(row, MetricId::thread_instructions_on);
  }

  void global(const InstructionRow& row, bool vector) {
    const analyzers::TransactionCount own = row.counts.described(rule_);
    const analyzers::Changes::Access change = change_of(row.instruction);
    const auto before = static_cast<double>(own.requests);
    if (before == 0) return;
    double transactions[3]{};
    if (change.remaining < 1)
      add_ideal(transactions, row, own.sum, before);
    else
      add_transactions(transactions, own.sum);
    const bool atomics = own.requests != row.counts.of_global(exec::AccessKind::load).requests +
                                             row.counts.of_global(exec::AccessKind::store).requests;
    if (!atomics && change.remaining == 1) transactions[0] += static_cast<double>(own.sum.repeats);
    for (int i = 0; i < 3; ++i) {
      transactions[i] *= change.requests * change.wider;
      totals.by_size[i] += transactions[i];
      if (vector) totals.vector_by_size[i] += transactions[i];
    }
    const double all = transactions[0] + transactions[1] + transactions[2], requests = before * change.requests;
    by_kind(row, requests, all, change);
    totals.requests += requests;
    totals.bytes += change.requests * change.wider * metric(row, MetricId::thread_instructions_on) * row.lane_bytes;
    if (change.remaining < 1)
      totals.coalesced += requests;
    else if (rule_.order == Order::kth_word)
      split_by_lanes(row, own.sum, before, change.requests);
    else
      split_by_excess(row, requests, all, change.requests * change.wider * metric(row, MetricId::global_lone_sectors));
  }

  /// The fewest transactions that serve these requests, of one size.
  void add_ideal(double (&by_size)[3], const InstructionRow& row, const analyzers::TransactionSums& sum,
                 double requests) const {
    const rules::Coalescing::Unit unit = analyzers::unit_of_waste(rule_);
    const bool sectors = unit == rules::Coalescing::Unit::sectors;
    const double fewest = rule_.fewest(std::max(row.lane_bytes, 1u)) * requests;
    const double bytes = sectors ? 32 * metric(row, MetricId::global_sectors_ideal)
                         : unit == rules::Coalescing::Unit::bytes
                             ? static_cast<double>(sum.ideal)
                             : static_cast<double>(sum.ideal) * rule_.word(row.lane_bytes).segment;
    const int size = sectors || bytes <= 32 * fewest ? 0 : bytes <= 64 * fewest ? 1 : 2;
    by_size[size] += bytes / (32 << size);
  }

  // A pass over the first cache serves what lies in different banks, looks up four lines, and fills a register.
  void by_kind(const InstructionRow& row, double requests, double transactions,
               const analyzers::Changes::Access& change) {
    const double remaining = change.remaining * change.requests, sectors = remaining * change.wider;
    if (metric(row, MetricId::gld_request) > 0)
      add_loads(row, requests, transactions, sectors);
    else if (metric(row, MetricId::gst_request) > 0)
      add_stores(row, transactions, change.remaining == 1);
    else
      add_atomics(row,
                  sectors * (metric(row, MetricId::global_sectors_atom) + metric(row, MetricId::global_sectors_red)));
    constexpr double kLinesOfPass = 4;
    totals.wavefronts +=
        std::max({requests * row.lane_bytes * change.wider / 4.0, remaining * metric(row, MetricId::global_bank_passes),
                  remaining * metric(row, MetricId::global_lines) / kLinesOfPass});
  }

  // Perfect accesses have no sectors in common.
  void add_stores(const InstructionRow& row, double transactions, bool as_recorded) {
    const auto fresh = fresh_stores_.find(row.instruction);
    totals.stores += transactions;
    totals.merged_stores += transactions * (as_recorded && fresh != fresh_stores_.end() ? fresh->second : 1);
  }

  void add_atomics(const InstructionRow& row, double sectors) {
    totals.atomics += sectors;
    contention.add(row, kernel_.instructions[row.instruction], sectors);
  }

  void add_loads(const InstructionRow& row, double requests, double transactions, double remaining) {
    totals.load_requests += requests;
    totals.loads += transactions;
    const analyzers::Metric* const hits = row.metrics.find(MetricId::l1_hit_rate);
    const double misses = hits != nullptr ? 1 - hits->number() / 100 : 1;
    if (remaining == 1) {
      totals.missed += transactions * misses;
    } else if (remaining > 0) {
      totals.changed += transactions;
      totals.changed_missed += transactions / remaining * misses;
    }
  }

  [[nodiscard]] analyzers::Changes::Access change_of(std::uint32_t instruction) const {
    for (const analyzers::Changes::Access& access : changes_.accesses)
      if (access.instruction == instruction) return access;
    return {instruction};
  }

  void split_by_lanes(const InstructionRow& row, const analyzers::TransactionSums& sum, double requests,
                      double remaining) {
    const auto alone = static_cast<double>(sum.uncoalesced);
    const double together = static_cast<double>(sum.total() - sum.uncoalesced) / rule_.fewest(row.lane_bytes);
    const double coalesced = alone == 0 ? requests : std::min(requests, together);
    totals.coalesced += remaining * coalesced;
    totals.uncoalesced += remaining * (requests - coalesced);
    if (requests > coalesced) totals.uncoalesced_transactions += remaining * alone;
  }

  void split_by_excess(const InstructionRow& row, double requests, double transactions, double lone_sectors) {
    constexpr double kTolerance = 1.1;
    const bool coalesced = transactions <= kTolerance * rule_.fewest(std::max(row.lane_bytes, 1u)) * requests;
    (coalesced ? totals.coalesced : totals.uncoalesced) += requests;
    if (coalesced) return;
    totals.uncoalesced_transactions += transactions;
    totals.lone_sectors += lone_sectors;
  }

  // Interleaved by lanes: a variable of 32 lanes is four sectors, an element of each lane's array up to 32; where a
  // request is a half-warp, each moves 64 bytes.
  void local(const InstructionRow& row) {
    double loads = metric(row, MetricId::local_load), stores = metric(row, MetricId::local_store);
    const double requests = loads + stores;
    totals.requests += requests;
    totals.coalesced += requests;
    totals.load_requests += loads;
    totals.bytes += 128 * requests;
    totals.wavefronts += requests;
    const std::uint32_t parts = rule_.word(4).requests.count(); // of a warp's variable
    loads = parts == 1 ? metric(row, MetricId::local_sectors_ld) : parts * loads;
    stores = parts == 1 ? metric(row, MetricId::local_sectors_st) : parts * stores;
    totals.by_size[parts == 2 ? 1 : 0] += loads + stores;
    totals.loads += loads;
    totals.stores += stores;
    totals.merged_stores += stores;
  }

  const ir::Function& kernel_;
  const std::vector<analyzers::MachineWork>& machine_code_; ///< by instruction
  const rules::Coalescing& rule_;
  const analyzers::Changes& changes_;
  const double blocks_;
  const std::map<std::uint32_t, double> fresh_stores_;
};

// Where they were counted. Requests of several words do not merge (Dasgupta 2011, section 3.2.5).
std::optional<double> duplicates_of_scalar_loads(const analyzers::Profile& profile, const ir::Function& kernel) {
  double requested = 0, different = 0;
  for (const InstructionRow& row : profile.instructions) {
    if (analyzers::elements_of(kernel.instructions[row.instruction]) > 1) continue;
    requested += metric(row, MetricId::duplicates_requested);
    different += metric(row, MetricId::duplicates_on_multiprocessor);
  }
  return different > 0 ? std::optional(requested / different) : std::nullopt;
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

model::KernelStatistics statistics(const analyzers::Profile& profile, const ir::Module& module,
                                   const ir::Function& kernel, const model::Device& device,
                                   std::uint64_t threads_per_block, std::optional<int> resident_blocks,
                                   const analyzers::Changes& changes) {
  const std::vector<analyzers::MachineWork> machine_code = analyzers::machine_code(module, kernel);
  const Counting counting(profile, kernel, machine_code, device, changes);
  const Totals& t = counting.totals;
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
  s.machine_instructions = t.machine.instructions / warps;
  s.double_operations = t.machine.doubles / warps;
  s.alu_operations = t.machine.alu / warps;
  s.special_operations = t.machine.special / warps;
  s.executed_machine_instructions = t.executed_text;
  counting.contention.put_into(s);
  add_hit_ratios(s, profile);
  // Counted are all that could merge. How many of them do is for the model to say, where it knows the device's queue.
  const bool queue = device.dasgupta && device.dasgupta->merge_queue;
  (queue ? s.ideal_duplicate_loads : s.duplicate_loads) = duplicates_of_scalar_loads(profile, kernel);
  optional(s.independent_loads, MetricId::independent_loads);
  // The order in which the model that takes it was fitted.
  optional(s.load_waits, MetricId::load_waits_in_order);
  optional(s.issue_chain, MetricId::issue_chain);
  s.executed_instructions = static_cast<double>(
      std::count_if(profile.instructions.begin(), profile.instructions.end(),
                    [](const InstructionRow& row) { return row.metrics.integer(MetricId::warp_instructions) != 0; }));
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
  if (!changes.any()) return s;
  const analyzers::Changes none;
  const Counting unchanged(profile, kernel, machine_code, device, none);
  const model::KernelStatistics::Field hits_before = s.l1_hit_ratio;
  change_hit_ratio(s, t, unchanged.totals, changes.missed);
  // A warp waits as often for each load that remains.
  if (unchanged.totals.load_requests > 0)
    scale(s.load_waits, t.load_requests / unchanged.totals.load_requests / changes.threads);
  scale(s.issue_chain, 1 / changes.threads);
  if (const double before = unchanged.totals.loads * (1 - model::value_of(hits_before)); before > 0 && t.loads > 0) {
    const double requests = unchanged.totals.load_requests > 0 ? t.load_requests / unchanged.totals.load_requests : 1;
    const double missing = (1 - model::value_of(s.l1_hit_ratio)) / (1 - model::value_of(hits_before));
    for (const model::CriticalPath& path : model::critical_paths(s))
      change_path(path, device, std::min(1.0, requests * missing));
  }
  for (const model::CriticalPath& path : model::critical_paths(s))
    for (model::KernelStatistics::Field* cycles : {path.l2, path.memory}) scale(*cycles, 1 / changes.threads);
  apply_to_launch(s, changes, warps);
  return s;
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
