// SPDX-License-Identifier: Apache-2.0
#include "analyzers/finding_parts.hpp"

#include "analyzers/finding_kinds.hpp"

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

bool loads_what_it_stores(const Profile& profile) {
  for (const InstructionRow& store : profile.instructions) {
    if (store.counts.of_global(exec::AccessKind::store).requests == 0) continue;
    for (const InstructionRow& load : profile.instructions)
      if (load.counts.of_global(exec::AccessKind::load).requests != 0 && range_of(store).meets(range_of(load)))
        return true;
  }
  return false;
}

} // namespace warplens::analyzers
