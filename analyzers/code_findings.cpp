// SPDX-License-Identifier: Apache-2.0
#include "analyzers/code_findings.hpp"

#include "analyzers/finding_kinds.hpp"
#include "analyzers/finding_parts.hpp"
#include "emulator/ir/control_flow.hpp"
#include "emulator/ir/effects.hpp"
#include "emulator/ir/origins.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace warplens::analyzers {

namespace {

using ir::Instruction;

bool is_loop(const ir::ControlFlow& flow, std::uint32_t instruction) {
  const std::uint32_t block = flow.block_of[instruction];
  const std::vector<std::uint32_t>& next = flow.blocks[block].successors;
  return std::any_of(next.begin(), next.end(), [&](std::uint32_t to) { return to <= block; });
}

bool one_path_is_empty(const ir::ControlFlow& flow, std::uint32_t instruction) {
  const ir::Block& block = flow.blocks[flow.block_of[instruction]];
  return std::find(block.successors.begin(), block.successors.end(), block.ipdom) != block.successors.end();
}

} // namespace

DivergenceRemedies::DivergenceRemedies(const Profile& profile, const Code& code) {
  if (code.function == nullptr || code.module == nullptr) return;
  std::vector<const InstructionRow*> divergent;
  for (const InstructionRow& row : profile.instructions)
    if (row.metrics.integer(MetricId::divergent_branch) != 0) divergent.push_back(&row);
  if (divergent.empty()) return;
  const ir::ControlFlow flow = ir::control_flow(*code.function);
  const ir::OriginFinder origins(*code.module, *code.function);
  bool others = false;
  for (const InstructionRow* row : divergent) {
    const Instruction& branch = code.function->instructions[row->instruction];
    // A branch through a table has its index in an operand, not in a guard.
    ir::Origins from;
    if (branch.guard != ir::kNone) from = origins.of(branch.guard);
    for (const ir::Operand& o : code.function->operands(branch))
      if (o.kind == ir::OperandKind::reg) from.add(origins.of(o.index));
    Cause& cause = causes_[row->instruction];
    if (is_loop(flow, row->instruction))
      cause = Cause::loop;
    else if (from.memory)
      cause = Cause::data;
    else if (from.lane)
      cause = one_path_is_empty(flow, row->instruction) ? Cause::lane_one_sided : Cause::lane;
    others = others || (cause != Cause::data && !row->bounds_check && !skips_border(*row));
    if (cause == Cause::data) by_data_ += static_cast<double>(row->metrics.integer(MetricId::branch_lost_lane_slots));
  }
  // Where nothing else diverges, these branches also cost the lanes of the functions that they call.
  if (!others) by_data_ = std::max(by_data_, static_cast<double>(profile.integer(MetricId::lost_lane_slots)));
}

DivergenceRemedies::Cause DivergenceRemedies::cause_of(const InstructionRow& row) const {
  const auto found = causes_.find(row.instruction);
  return found == causes_.end() ? Cause::unknown : found->second;
}

std::string DivergenceRemedies::sentence(const InstructionRow& row) const {
  switch (cause_of(row)) {
  case Cause::loop:
    return "give the threads of a warp loops of equal length: sort the work by its length, or let the warp share the "
           "iterations of one thread";
  case Cause::data:
    return "replace the branch by a table or a select instruction where the paths differ only in a value; otherwise "
           "sort the threads of the block by the path that they take";
  case Cause::lane_one_sided:
    return "let threads with neighbouring indices do the work, so that whole warps take the branch and others skip it";
  case Cause::lane: return "choose the path by the warp, such as threadIdx.x / 32, instead of by the thread";
  case Cause::unknown: break;
  }
  return {};
}

double DivergenceRemedies::lost_slots(const InstructionRow& row) const {
  return cause_of(row) == Cause::data ? by_data_
                                      : static_cast<double>(row.metrics.integer(MetricId::branch_lost_lane_slots));
}

namespace {

class CodeFindings {
public:
  CodeFindings(const Profile& profile, const Code& code, std::vector<Finding>& findings)
      : profile_(profile), code_(code), findings_(findings) {}

  void find() {
    doubles();
    local_memory();
    constant_memory();
    loaded_again();
  }

private:
  [[nodiscard]] const Instruction& of(const InstructionRow& row) const {
    return code_.function->instructions[row.instruction];
  }

  void doubles() {
    bool data = false, converted = false;
    double arithmetic = 0, conversions = 0, most = 0;
    const InstructionRow* worst = nullptr;
    for (const InstructionRow& row : profile_.instructions) {
      const Instruction& i = of(row);
      if (!has_part(i, "f64")) continue;
      data = data || i.head() == "ld" || i.head() == "st" || i.head() == "atom" || i.head() == "red";
      converted = converted || (i.head() == "cvt" && i.opcode.ends_with(".f32"));
      if (i.head() == "cvt" && has_part(i, "f32")) conversions += executed(row);
      if (isa::info(i.instruction_class).issue != "double_precision") continue;
      arithmetic += executed(row);
      if (executed(row) <= most) continue;
      most = executed(row);
      worst = &row;
    }
    if (data || !converted || worst == nullptr) return;
    Finding finding = at_row(*worst, names::kDoublePrecisionInFloat, Severity::warning);
    finding.message = fmt::format("{:.10g} warp instructions compute in double precision, but the kernel loads and "
                                  "stores no double: a constant such as 1.0 makes the expression around it double",
                                  arithmetic);
    finding.remedy = finding.advice = "write the constants as float, such as 1.0f, and call the float functions";
    finding.excess = arithmetic;
    finding.unit = "instructions";
    finding.changes.doubles = arithmetic;
    finding.changes.instructions = finding.changes.conversions = conversions;
    keep_evidence(finding, *worst, {MetricId::warp_instructions});
    findings_.push_back(std::move(finding));
  }

  void local_memory() {
    const InstructionRow* worst = nullptr;
    double requests = 0, most = 0;
    for (const InstructionRow& row : profile_.instructions) {
      const auto own =
          static_cast<double>(row.metrics.integer(MetricId::local_load) + row.metrics.integer(MetricId::local_store));
      requests += own;
      if (own <= most) continue;
      most = own;
      worst = &row;
    }
    if (worst == nullptr) return;
    const double all = static_cast<double>(profile_.integer(MetricId::warp_instructions));
    if (requests < kLeastLocal * all) return;
    Finding finding = at_row(*worst, names::kLocalMemory, Severity::note);
    finding.message = fmt::format("{:.3g} % of the instructions access local memory, which lies in device memory: an "
                                  "array of each thread whose indices are not known at compile time",
                                  100 * requests / all);
    finding.remedy = "unroll the loops that index the local array, so that the compiler can keep it in registers";
    finding.advice = "unroll the loops that index the array, make it smaller, or keep it in shared memory with one "
                     "column per thread";
    finding.excess = requests;
    finding.unit = "requests";
    finding.changes.local = true;
    finding.changes.instructions = requests;
    keep_evidence(finding, *worst, {MetricId::local_load, MetricId::local_store});
    findings_.push_back(std::move(finding));
  }

  void constant_memory() {
    for (const InstructionRow& row : profile_.instructions) {
      const auto passes = static_cast<double>(row.metrics.integer(MetricId::constant_passes));
      const auto extra = static_cast<double>(row.metrics.integer(MetricId::constant_passes_excessive));
      if (extra == 0 || extra < kLeastExcess * passes) continue;
      const double requests = passes - extra;
      Finding finding =
          at_row(row, names::kConstantSerialized, extra >= kMostlyWaste * passes ? Severity::warning : Severity::note);
      finding.message = fmt::format("the threads of a warp read {:.3g} different words of constant memory at a time, "
                                    "one after the other",
                                    passes / requests);
      finding.remedy = "copy the table to shared memory, or read it as const __restrict__ from global memory";
      finding.advice = "use constant memory only for what all threads of a warp read at the same index";
      finding.excess = extra;
      finding.unit = "passes";
      if (const auto besides = static_cast<double>(row.counts.of_all_shared().sum.besides); besides > 0) {
        finding.changes.bank_passes = besides;
      } else {
        finding.changes.constant_passes = extra;
        finding.changes.bank_passes = -static_cast<double>(row.passes_if_shared);
        finding.changes.accesses.push_back({.instruction = row.instruction, .from_shared = true});
      }
      keep_evidence(finding, row, {MetricId::constant_passes, MetricId::constant_passes_excessive});
      findings_.push_back(std::move(finding));
    }
  }

  /// Loads of the same address in a basic block, with a store in between that the compiler cannot tell apart.
  void loaded_again() {
    const ir::ControlFlow flow = ir::control_flow(*code_.function);
    const std::vector<ir::Effect> effects = ir::effects(*code_.module, *code_.function);
    const std::map<std::uint32_t, const InstructionRow*> row_of = rows_by_instruction(profile_);
    for (const ir::Block& block : flow.blocks) {
      std::map<Address, bool> known; // whether a store followed
      for (std::uint32_t i = block.first; i < block.end; ++i) {
        const Instruction& instruction = code_.function->instructions[i];
        const bool global = has_part(instruction, "global");
        if (instruction.head() == "st" && global)
          for (auto& [address, stored] : known) stored = true;
        if (instruction.head() == "bar" || instruction.head() == "call" || instruction.head() == "barrier")
          known.clear();
        const auto address = address_of(*code_.function, instruction);
        if (instruction.head() == "ld" && global && address && !has_part(instruction, "volatile")) {
          const auto found = known.find(*address);
          if (found != known.end() && found->second && row_of.count(i) != 0) again(*row_of.at(i));
          known[*address] = false;
        }
        for (const std::uint32_t written : effects[i].writes)
          std::erase_if(known, [&](const auto& one) { return one.first.first == written; });
      }
    }
  }

  void again(const InstructionRow& row) {
    Finding finding =
        note_on_requests(row, names::kRepeatedLoad,
                         "the kernel loads this word again after a store, because the store could have changed it",
                         "declare the pointers of the kernel const and __restrict__, or keep the word in a variable");
    finding.excess = executed(row);
    finding.changes.accesses.push_back({row.instruction, 1, 0});
    finding.changes.instructions = executed(row);
    keep_evidence(finding, row, {MetricId::global_requests_ld, MetricId::global_sectors});
    findings_.push_back(std::move(finding));
  }

  const Profile& profile_;
  const Code& code_;
  std::vector<Finding>& findings_;
};

} // namespace

void find_in_code(const Profile& profile, const DeviceRules&, const Code& code, std::vector<Finding>& findings) {
  if (code.function == nullptr || code.module == nullptr) return;
  CodeFindings(profile, code, findings).find();
}

} // namespace warplens::analyzers
