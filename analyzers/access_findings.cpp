// SPDX-License-Identifier: Apache-2.0
#include "analyzers/access_findings.hpp"

#include "analyzers/finding_kinds.hpp"
#include "analyzers/finding_parts.hpp"
#include "analyzers/instruction_mix.hpp"
#include "emulator/ir/control_flow.hpp"
#include "emulator/ir/effects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace warplens::analyzers {

namespace {

// The widest load of a thread.
constexpr std::uint32_t kWidestLoad = 16;

/// Whether all recorded addresses are multiples of `bytes`.
bool always_aligned(const InstructionRow& row, std::uint32_t bytes) {
  bool any = false;
  for (const RecordedAccess& a : row.recorded) {
    if (a.space != isa::Space::global) return false;
    for (const int lane : exec::EachLane(a.mask)) {
      any = true;
      if (a.addresses[lane] % bytes != 0) return false;
    }
  }
  return any;
}

/// Loads of one word each that nothing separates which could change the words.
struct OpenLoad {
  std::uint32_t base, guard;
  bool guard_negated;
  std::int64_t offset;
  const InstructionRow* row;
  [[nodiscard]] auto place() const { return std::tuple(base, guard, guard_negated, row->lane_bytes, offset); }
  [[nodiscard]] bool followed_by(const OpenLoad& o) const {
    return base == o.base && guard == o.guard && guard_negated == o.guard_negated &&
           row->lane_bytes == o.row->lane_bytes && offset + row->lane_bytes == o.offset &&
           executed(*row) == executed(*o.row);
  }
};

/// Calls `found` with each group that fits one load: first and last of `loads`, and bytes.
template <class Found> void join(std::vector<OpenLoad>& loads, const Found& found) {
  std::sort(loads.begin(), loads.end(), [](const OpenLoad& a, const OpenLoad& b) { return a.place() < b.place(); });
  for (std::size_t i = 0; i < loads.size();) {
    std::size_t end = i + 1;
    while (end < loads.size() && loads[end - 1].followed_by(loads[end])) ++end;
    const std::uint32_t word = loads[i].row->lane_bytes;
    std::size_t taken = 1;
    for (std::uint32_t bytes = kWidestLoad; bytes > word; bytes /= 2)
      if (bytes % word == 0 && bytes / word <= end - i && always_aligned(*loads[i].row, bytes)) {
        taken = bytes / word;
        found(std::span(loads).subspan(i, taken), bytes);
        break;
      }
    i += taken;
  }
  loads.clear();
}

bool orders_memory(const ir::Instruction& i) {
  const std::string_view head = i.head();
  return head == "st" || head == "atom" || head == "red" || head == "call" || head == "fence" || head == "membar" ||
         i.instruction_class == isa::InstructionClass::barrier;
}

} // namespace

NarrowLoads::NarrowLoads(const Profile& profile, const Code& code) {
  if (code.function == nullptr || code.module == nullptr) return;
  const ir::ControlFlow flow = ir::control_flow(*code.function);
  const std::vector<ir::Effect> effects = ir::effects(*code.module, *code.function);
  const std::map<std::uint32_t, const InstructionRow*> row_of = rows_by_instruction(profile);
  std::vector<OpenLoad> open;
  const auto close = [&] {
    join(open, [&](std::span<const OpenLoad> loads, std::uint32_t bytes) {
      Group& group = groups_.emplace_back();
      group.bytes = bytes;
      for (const OpenLoad& load : loads) {
        group.rows.push_back(load.row);
        if (magnitude(load.row->stride) == bytes) whole_.insert(load.row->instruction);
      }
    });
  };
  for (const ir::Block& block : flow.blocks) {
    for (std::uint32_t i = block.first; i < block.end; ++i) {
      const ir::Instruction& instruction = code.function->instructions[i];
      if (orders_memory(instruction)) close();
      const auto row = row_of.find(i);
      const auto address = address_of(*code.function, instruction);
      if (row != row_of.end() && address && instruction.head() == "ld" && has_part(instruction, "global") &&
          !has_part(instruction, "volatile") && elements_of(instruction) == 1 && row->second->lane_bytes != 0)
        open.push_back({address->first, instruction.guard, instruction.guard_negated, address->second, row->second});
      const auto& writes = effects[i].writes;
      if (std::any_of(open.begin(), open.end(), [&](const OpenLoad& load) {
            return std::find(writes.begin(), writes.end(), load.base) != writes.end();
          }))
        close();
    }
    close();
  }
}

void NarrowLoads::find(const DeviceRules& rules, std::vector<Finding>& findings) const {
  std::map<std::pair<std::string, std::uint32_t>, std::size_t> of_line;
  for (const Group& group : groups_) {
    const InstructionRow& first = *group.rows.front();
    const double saved = executed(first) * static_cast<double>(group.rows.size() - 1);
    const auto place = std::pair(first.source_file, first.source_line != 0 ? first.source_line : first.line);
    const auto [known, is_new] = of_line.try_emplace(place, findings.size());
    if (is_new) {
      Finding& finding = findings.emplace_back(at_row(first, names::kNarrowLoads, Severity::note));
      finding.lines.clear();
      finding.message = fmt::format("each thread loads {} words of {} bytes that follow each other, one by one",
                                    group.rows.size(), first.lane_bytes);
      finding.remedy = fmt::format("load {} bytes at once, aligned to {} bytes{}", group.bytes, group.bytes,
                                   first.lane_bytes == 4 && group.bytes == 16  ? ", such as float4 or int4"
                                   : first.lane_bytes == 4 && group.bytes == 8 ? ", such as float2 or int2"
                                                                               : "");
      finding.advice = finding.remedy;
      finding.unit = "requests";
      finding.only_if_faster = true;
      keep_evidence(finding, first, {MetricId::global_requests_ld, MetricId::global_sectors});
    }
    Finding& finding = findings[known->second];
    finding.excess += saved;
    finding.changes.instructions += saved;
    for (const InstructionRow* row : group.rows) {
      finding.lines.push_back(row->line);
      const auto taken = static_cast<double>(row->metrics.integer(MetricId::global_sectors));
      const auto least = static_cast<double>(row->metrics.integer(MetricId::global_sectors_ideal));
      const bool sectors = unit_of_waste(rules.coalescing) == rules::Coalescing::Unit::sectors;
      if (sectors && fill_structures(*row) && least < taken)
        finding.changes.accesses.push_back({row->instruction, least / taken});
    }
    std::sort(finding.lines.begin(), finding.lines.end());
  }
}

namespace {

class LoopFindings {
public:
  LoopFindings(const Profile& profile, const Code& code, std::vector<Finding>& findings)
      : profile_(profile), code_(code), findings_(findings) {}

  void find() {
    unread_loads();
    if (others_may_look()) return;
    std::set<std::uint32_t> told; // loads
    for (const InstructionRow& row : profile_.instructions)
      if (is(row, exec::AccessKind::store) && stays(row)) overwritten(row, told);
    const bool stores = std::any_of(profile_.instructions.begin(), profile_.instructions.end(),
                                    [](const InstructionRow& row) { return is(row, exec::AccessKind::store); });
    for (const InstructionRow& row : profile_.instructions)
      if (stores && is(row, exec::AccessKind::load) && told.count(row.instruction) == 0 && stays(row)) again(row);
  }

private:
  static constexpr std::uint32_t kVisits = 4; ///< from which on a loop is worth a finding

  static bool is(const InstructionRow& row, exec::AccessKind kind) { return row.counts.of_global(kind).requests != 0; }

  /// Whether other threads may read or write the words in the meantime.
  [[nodiscard]] bool others_may_look() const {
    const auto& all = code_.function->instructions;
    return std::any_of(all.begin(), all.end(), [](const ir::Instruction& i) {
      const bool memory = i.head() == "ld" || i.head() == "st";
      return (orders_memory(i) && !memory) || has_part(i, "volatile") || (memory && has_part(i, "relaxed"));
    });
  }

  /// Whether each recorded warp accesses the same words at every visit, at least `least` of them.
  static bool stays(const InstructionRow& row, std::uint32_t least = kVisits) {
    const RecordedAccess* first = nullptr;
    std::uint32_t visits = least;
    for (const RecordedAccess& a : row.recorded) {
      if (a.space != isa::Space::global) return false;
      if (first == nullptr || a.cta != first->cta || a.warp != first->warp) {
        if (a.visit != 0 || visits < least) return false;
        first = &a;
        visits = 0;
      }
      if (a.mask != first->mask || a.addresses != first->addresses) return false;
      ++visits;
    }
    return first != nullptr && visits >= least;
  }

  /// Of its executions, the share in which a warp comes for the first time.
  [[nodiscard]] double first_share(const InstructionRow& row) const {
    return std::min(1.0, static_cast<double>(profile_.integer(MetricId::warps_launched)) / executed(row));
  }

  /// The finding is about the executions that are no first ones.
  void remove_repeats(Finding& finding, const InstructionRow& row) const {
    finding.excess = executed(row) * (1 - first_share(row));
    finding.only_if_faster = true;
    remove_all_but_first(finding, row);
  }

  void remove_all_but_first(Finding& finding, const InstructionRow& row) const {
    finding.changes.accesses.push_back({row.instruction, 1, first_share(row)});
    finding.changes.instructions += executed(row) * (1 - first_share(row));
  }

  void overwritten(const InstructionRow& row, std::set<std::uint32_t>& told) {
    std::vector<const InstructionRow*> loads; // of the same words
    for (const InstructionRow& other : profile_.instructions) {
      if (!is(other, exec::AccessKind::load) || !range_of(other).meets(range_of(row))) continue;
      if (!stays(other, 1) || other.recorded.front().addresses != row.recorded.front().addresses) return;
      if (stays(other)) loads.push_back(&other);
    }
    Finding finding =
        note_on_requests(row, names::kUnusedResult,
                         "each thread stores to the same word in every iteration, but only the last result remains",
                         "keep the value in a variable during the loop, and store it once at the end");
    remove_repeats(finding, row);
    for (const InstructionRow* load : loads) {
      remove_all_but_first(finding, *load);
      told.insert(load->instruction);
    }
    keep_evidence(finding, row, {MetricId::global_requests_st, MetricId::global_sectors});
    findings_.push_back(std::move(finding));
  }

  void again(const InstructionRow& row) {
    Finding finding =
        note_on_requests(row, names::kRepeatedLoad,
                         "each thread loads the same word in every iteration, because a store could have changed it",
                         "declare the pointers of the kernel const and __restrict__, or load the word before the loop");
    remove_repeats(finding, row);
    keep_evidence(finding, row, {MetricId::global_requests_ld, MetricId::global_sectors});
    findings_.push_back(std::move(finding));
  }

  /// ptxas removes other loads without a use.
  void unread_loads() {
    const auto& all = code_.function->instructions;
    if (std::none_of(all.begin(), all.end(), [](const ir::Instruction& i) { return has_part(i, "volatile"); })) return;
    std::set<std::uint32_t> read;
    const std::vector<ir::Effect> effects = ir::effects(*code_.module, *code_.function);
    for (const ir::Effect& effect : effects) read.insert(effect.reads.begin(), effect.reads.end());
    for (const InstructionRow& row : profile_.instructions) {
      const ir::Instruction& i = code_.function->instructions[row.instruction];
      const auto& writes = effects[row.instruction].writes;
      if (i.head() != "ld" || !has_part(i, "volatile") || !is(row, exec::AccessKind::load) ||
          std::any_of(writes.begin(), writes.end(), [&](std::uint32_t reg) { return read.count(reg) != 0; }))
        continue;
      Finding finding =
          note_on_requests(row, names::kUnusedResult,
                           "nothing uses what this load returns, but the compiler must keep it because it is volatile",
                           "remove the load");
      finding.advice = "remove the load, or the word volatile";
      finding.excess = executed(row);
      finding.changes.accesses.push_back({row.instruction, 1, 0});
      finding.changes.instructions = executed(row);
      keep_evidence(finding, row, {MetricId::global_requests_ld, MetricId::global_sectors});
      findings_.push_back(std::move(finding));
    }
  }

  const Profile& profile_;
  const Code& code_;
  std::vector<Finding>& findings_;
};

} // namespace

void find_in_loops(const Profile& profile, const Code& code, std::vector<Finding>& findings) {
  if (code.function != nullptr && code.module != nullptr) LoopFindings(profile, code, findings).find();
}

} // namespace warplens::analyzers
