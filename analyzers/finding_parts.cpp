// SPDX-License-Identifier: Apache-2.0
#include "analyzers/finding_parts.hpp"

#include "analyzers/finding_kinds.hpp"
#include "emulator/ir/effects.hpp"

#include <algorithm>

namespace warplens::analyzers {

Finding at_row(const InstructionRow& row, std::string_view rule, Severity severity) {
  Finding finding;
  finding.rule = rule;
  finding.severity = severity;
  finding.lines = {row.line};
  finding.source_file = row.source_file;
  finding.source_line = row.source_line;
  finding.page = page_of(rule);
  return finding;
}

Finding note_on_requests(const InstructionRow& row, std::string_view rule, std::string_view message,
                         std::string_view remedy) {
  Finding finding = at_row(row, rule, Severity::note);
  finding.message = message;
  finding.remedy = finding.advice = remedy;
  finding.unit = "requests";
  return finding;
}

void keep_evidence(Finding& finding, const InstructionRow& row, std::initializer_list<MetricKey> keys) {
  for (const MetricKey& key : keys)
    if (const Metric* metric = row.metrics.find(key)) finding.values.push_back(*metric);
}

double executed(const InstructionRow& row) {
  return static_cast<double>(row.metrics.integer(MetricId::warp_instructions));
}

std::optional<Address> address_of(const ir::Function& function, const ir::Instruction& instruction) {
  for (const ir::Operand& o : function.operands(instruction))
    if (o.kind == ir::OperandKind::address && o.count == 1) {
      const ir::Operand& base = function.operand_pool[o.index];
      if (base.kind == ir::OperandKind::reg) return Address(base.index, o.value);
    }
  return std::nullopt;
}

std::map<std::uint32_t, const InstructionRow*> rows_by_instruction(const Profile& profile) {
  std::map<std::uint32_t, const InstructionRow*> rows;
  for (const InstructionRow& row : profile.instructions) rows[row.instruction] = &row;
  return rows;
}

AddressRange range_of(const InstructionRow& row) {
  AddressRange range;
  for (const RecordedAccess& a : row.recorded)
    if (a.space == isa::Space::global && a.cta == 0)
      for (const int lane : exec::EachLane(a.mask)) {
        range.low = std::min(range.low, a.addresses[lane]);
        range.high = std::max(range.high, a.addresses[lane] + a.lane_bytes);
      }
  return range;
}

bool loads_halo(const InstructionRow& row, const Profile& profile) {
  constexpr double kTileWords = 2, kCoalesced = 1.1;
  const auto metric = [](const InstructionRow& of, MetricId id) { return static_cast<double>(of.metrics.integer(id)); };
  const double words = metric(row, MetricId::thread_instructions_on);
  if (row.counts.of_global(exec::AccessKind::load).requests == 0 || words >= exec::kWarpSize * executed(row))
    return false;
  const AddressRange range = range_of(row);
  return std::any_of(profile.instructions.begin(), profile.instructions.end(), [&](const InstructionRow& other) {
    return other.counts.of_global(exec::AccessKind::load).requests != 0 && other.lane_bytes == row.lane_bytes &&
           metric(other, MetricId::thread_instructions_on) >= kTileWords * words &&
           metric(other, MetricId::global_sectors) <= kCoalesced * metric(other, MetricId::global_sectors_ideal) &&
           range_of(other).meets(range);
  });
}

bool loads_what_it_stores(const Profile& profile) {
  for (const InstructionRow& store : profile.instructions) {
    if (store.counts.of_global(exec::AccessKind::store).requests == 0) continue;
    for (const InstructionRow& load : profile.instructions)
      if (load.counts.of_global(exec::AccessKind::load).requests != 0 && range_of(store).meets(range_of(load)))
        return true;
  }
  return false;
}

bool ties_threads(const ir::Function& kernel) {
  constexpr std::string_view kHeads[] = {"atom", "red",   "call",       "cp",    "fence",   "membar", "shfl",
                                         "vote", "match", "activemask", "redux", "barrier", "bar"};
  return std::any_of(kernel.instructions.begin(), kernel.instructions.end(), [&](const ir::Instruction& i) {
    return std::find(std::begin(kHeads), std::end(kHeads), i.head()) != std::end(kHeads) || has_part(i, "shared") ||
           has_part(i, "local") || has_part(i, "volatile");
  });
}

DataUses uses_of_data(const Code& code, std::span<const InstructionRow* const> accesses) {
  const std::vector<ir::Effect> effects = ir::effects(*code.module, *code.function);
  DataUses uses;
  std::set<std::uint32_t> moved, data; // instructions, registers
  for (const InstructionRow* row : accesses) {
    moved.insert(row->instruction);
    if (row->counts.of_global(exec::AccessKind::load).requests != 0)
      data.insert(effects[row->instruction].writes.begin(), effects[row->instruction].writes.end());
  }
  for (std::size_t known = 0; known != data.size();) {
    known = data.size();
    for (std::uint32_t i = 0; i < effects.size(); ++i) {
      const auto& reads = effects[i].reads;
      if (moved.count(i) != 0 ||
          std::none_of(reads.begin(), reads.end(), [&](std::uint32_t reg) { return data.count(reg) != 0; }))
        continue;
      uses.branch = uses.branch || code.function->instructions[i].head() == "bra";
      uses.instructions.insert(i);
      data.insert(effects[i].writes.begin(), effects[i].writes.end());
    }
  }
  return uses;
}

} // namespace warplens::analyzers
