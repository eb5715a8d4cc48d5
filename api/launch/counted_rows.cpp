// SPDX-License-Identifier: Apache-2.0
#include "api/launch/counted_rows.hpp"

#include "analyzers/compiled_atomics.hpp"
#include "analyzers/counted_rules.hpp"
#include "analyzers/instruction_mix.hpp"
#include "analyzers/machine_code.hpp"
#include "api/launch/merged_stores.hpp"

#include <array>
#include <bit>

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

} // namespace

Totals operator+(const Totals& a, const Totals& b) {
  using Fields = std::array<double, sizeof(Totals) / sizeof(double)>;
  auto sums = std::bit_cast<Fields>(a);
  const auto more = std::bit_cast<Fields>(b);
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += more[i];
  return std::bit_cast<Totals>(sums);
}

/// Counts one instruction.
class CountedRows::Counting {
public:
  Counting(const CountedRows& all, const analyzers::Changes& changes)
      : all_(all), rule_(all.rule_), changes_(changes) {}

  Row count(const InstructionRow& row) {
    const ir::Instruction& instruction = all_.kernel_.instructions[row.instruction];
    const isa::InstructionClass which = instruction.instruction_class;
    if (const auto c = class_of(which); c && !multiplies_by_power_of_two(all_.kernel_, instruction))
      row_.totals.by_class[static_cast<std::size_t>(*c)] += metric(row, MetricId::warp_instructions);
    if (which == isa::InstructionClass::integer_divide)
      row_.totals.integer_divisions += metric(row, MetricId::warp_instructions);
    if (analyzers::converts_wide(instruction)) row_.totals.wide_conversions += metric(row, MetricId::warp_instructions);
    const analyzers::MachineWork& work = all_.machine_code_[row.instruction];
    const double warps = metric(row, MetricId::warp_instructions);
    row_.totals.machine_instructions += work.instructions * warps;
    row_.totals.doubles += work.doubles * warps;
    row_.totals.alu += work.alu * warps;
    row_.totals.special += work.special * warps;
    if (warps > 0) row_.totals.executed_text += work.text;
    if (const double special = metric(row, MetricId::special_operands); special > 0)
      row_.totals.machine_instructions += analyzers::instructions_of_special(instruction) * special;
    floating_point(row, isa::info(which).operations);
    global(row, analyzers::elements_of(instruction) > 1);
    if (!changes_.local) local(row);
    row_.lanes = change_of(row.instruction).requests * metric(row, MetricId::thread_instructions_on) / all_.blocks_;
    return row_;
  }

private:
  void floating_point(const InstructionRow& row, int operations) {
    if (operations == 0) return;
    row_.totals.floating_point += metric(row, MetricId::warp_instructions);
    row_.totals.flops += operations * metric(row, MetricId::thread_instructions_on);
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
      row_.totals.by_size[i] += transactions[i];
      if (vector) row_.totals.vector_by_size[i] += transactions[i];
    }
    const double all = transactions[0] + transactions[1] + transactions[2], requests = before * change.requests;
    by_kind(row, requests, all, change);
    row_.totals.requests += requests;
    row_.totals.bytes +=
        change.requests * change.wider * metric(row, MetricId::thread_instructions_on) * row.lane_bytes;
    if (change.remaining < 1)
      row_.totals.coalesced += requests;
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
      add_atomics(sectors * (metric(row, MetricId::global_sectors_atom) + metric(row, MetricId::global_sectors_red)));
    constexpr double kLinesOfPass = 4;
    row_.totals.wavefronts +=
        std::max({requests * row.lane_bytes * change.wider / 4.0, remaining * metric(row, MetricId::global_bank_passes),
                  remaining * metric(row, MetricId::global_lines) / kLinesOfPass});
  }

  // Perfect accesses have no sectors in common.
  void add_stores(const InstructionRow& row, double transactions, bool as_recorded) {
    const auto fresh = all_.fresh_stores_.find(row.instruction);
    row_.totals.stores += transactions;
    row_.totals.merged_stores += transactions * (as_recorded && fresh != all_.fresh_stores_.end() ? fresh->second : 1);
  }

  void add_atomics(double sectors) {
    row_.totals.atomics += sectors;
    row_.updates = sectors;
  }

  void add_loads(const InstructionRow& row, double requests, double transactions, double remaining) {
    row_.totals.load_requests += requests;
    row_.totals.loads += transactions;
    const analyzers::Metric* const hits = row.metrics.find(MetricId::l1_hit_rate);
    const double misses = hits != nullptr ? 1 - hits->number() / 100 : 1;
    if (remaining == 1) {
      row_.totals.missed += transactions * misses;
    } else if (remaining > 0) {
      row_.totals.changed += transactions;
      row_.totals.changed_missed += transactions / remaining * misses;
    }
  }

  [[nodiscard]] analyzers::Changes::Access change_of(std::uint32_t instruction) const {
    std::optional<analyzers::Changes::Access> first;
    changes_.for_each_access([&](const analyzers::Changes::Access& access) {
      if (!first && access.instruction == instruction) first = access;
    });
    return first.value_or(analyzers::Changes::Access{instruction});
  }

  void split_by_lanes(const InstructionRow& row, const analyzers::TransactionSums& sum, double requests,
                      double remaining) {
    const auto alone = static_cast<double>(sum.uncoalesced);
    const double together = static_cast<double>(sum.total() - sum.uncoalesced) / rule_.fewest(row.lane_bytes);
    const double coalesced = alone == 0 ? requests : std::min(requests, together);
    row_.totals.coalesced += remaining * coalesced;
    row_.totals.uncoalesced += remaining * (requests - coalesced);
    if (requests > coalesced) row_.totals.uncoalesced_transactions += remaining * alone;
  }

  void split_by_excess(const InstructionRow& row, double requests, double transactions, double lone_sectors) {
    constexpr double kTolerance = 1.1;
    const bool coalesced = transactions <= kTolerance * rule_.fewest(std::max(row.lane_bytes, 1u)) * requests;
    (coalesced ? row_.totals.coalesced : row_.totals.uncoalesced) += requests;
    if (coalesced) return;
    row_.totals.uncoalesced_transactions += transactions;
    row_.totals.lone_sectors += lone_sectors;
  }

  // Interleaved by lanes: a variable of 32 lanes is four sectors, an element of each lane's array up to 32; where a
  // request is a half-warp, each moves 64 bytes.
  void local(const InstructionRow& row) {
    double loads = metric(row, MetricId::local_load), stores = metric(row, MetricId::local_store);
    const double requests = loads + stores;
    row_.totals.requests += requests;
    row_.totals.coalesced += requests;
    row_.totals.load_requests += loads;
    row_.totals.bytes += 128 * requests;
    row_.totals.wavefronts += requests;
    const std::uint32_t parts = rule_.word(4).requests.count(); // of a warp's variable
    loads = parts == 1 ? metric(row, MetricId::local_sectors_ld) : parts * loads;
    stores = parts == 1 ? metric(row, MetricId::local_sectors_st) : parts * stores;
    row_.totals.by_size[parts == 2 ? 1 : 0] += loads + stores;
    row_.totals.loads += loads;
    row_.totals.stores += stores;
    row_.totals.merged_stores += stores;
  }

  const CountedRows& all_;
  const rules::Coalescing& rule_;
  const analyzers::Changes& changes_;
  Row row_;
};

CountedRows::CountedRows(const analyzers::Profile& profile, const ir::Module& module, const ir::Function& kernel,
                         const rules::Coalescing& rule)
    : profile_(profile), kernel_(kernel), rule_(rule),
      blocks_(std::max(1.0, static_cast<double>(profile.integer(MetricId::blocks_launched)))),
      machine_code_(analyzers::machine_code(module, kernel)), fresh_stores_(fresh_store_sectors(profile, kernel)) {
  const analyzers::Changes none;
  for (const InstructionRow& row : profile.instructions) rows_.push_back(Counting(*this, none).count(row));
  const std::size_t size = rows_.size();
  sums_.resize(std::max<std::size_t>(2, 2 * size));
  for (std::size_t i = 0; i < size; ++i) sums_[size + i] = rows_[i].totals;
  for (std::size_t i = size; i-- > 1;) sums_[i] = sums_[2 * i] + sums_[2 * i + 1];
  counted_ = {sums_[1], contention({})};
}

// A long kernel has many findings, and each changes few instructions: only these are counted again.
CountedRows::Counts CountedRows::after(const analyzers::Changes& changes) const {
  ChangedRows changed;
  const auto count = [&](std::size_t row) {
    changed.emplace(row, Counting(*this, changes).count(profile_.instructions[row]));
  };
  if (changes.local)
    for (std::size_t row = 0; row < rows_.size(); ++row) count(row);
  changes.for_each_access([&](const analyzers::Changes::Access& access) {
    const auto row = std::lower_bound(profile_.instructions.begin(), profile_.instructions.end(), access.instruction,
                                      [](const InstructionRow& r, std::uint32_t i) { return r.instruction < i; });
    if (row != profile_.instructions.end() && row->instruction == access.instruction)
      count(static_cast<std::size_t>(row - profile_.instructions.begin()));
  });
  const bool contends = std::any_of(changed.begin(), changed.end(), [&](const auto& row) {
    return row.second.updates ||
           analyzers::repeats_swaps(kernel_.instructions[profile_.instructions[row.first].instruction]);
  });
  return {sum(changed), contends ? contention(changed) : counted_.contention};
}

Totals CountedRows::sum(const ChangedRows& changed) const {
  std::map<std::size_t, Totals> sums; // that differ from sums_
  for (const auto& [row, counts] : changed) sums[rows_.size() + row] = counts.totals;
  const auto at = [&](std::size_t i) -> const Totals& {
    const auto found = sums.find(i);
    return found == sums.end() ? sums_[i] : found->second;
  };
  if (sums.empty()) return sums_[1];
  while (sums.rbegin()->first > 1) { // both terms of a sum come before it
    const std::size_t last = sums.rbegin()->first;
    const Totals sum = at(last & ~std::size_t{1}) + at(last | 1);
    sums.erase(last);
    sums.erase(last ^ 1);
    sums[last / 2] = sum;
  }
  return sums.begin()->second;
}

std::shared_ptr<const Contention> CountedRows::contention(const ChangedRows& changed) const {
  const auto all = std::make_shared<Contention>();
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const auto found = changed.find(i);
    const Row& counts = found == changed.end() ? rows_[i] : found->second;
    const InstructionRow& row = profile_.instructions[i];
    const ir::Instruction& instruction = kernel_.instructions[row.instruction];
    if (counts.updates) all->add(row, instruction, *counts.updates);
    all->add_shared(row, instruction, counts.lanes);
  }
  return all;
}

} // namespace warplens::api
