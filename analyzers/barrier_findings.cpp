// SPDX-License-Identifier: Apache-2.0
// Barriers that no data crosses: of kernels whose threads exchange nothing, and single ones of other kernels.
#include "analyzers/access_findings.hpp"
#include "analyzers/code_findings.hpp"
#include "analyzers/finding_kinds.hpp"
#include "analyzers/finding_parts.hpp"
#include "emulator/ir/control_flow.hpp"

#include <algorithm>
#include <set>
#include <span>
#include <utility>

namespace warplens::analyzers {

namespace {

using ir::Instruction;
using isa::InstructionClass;

/// What instructions do with the memory that threads of a block share.
struct Touched {
  bool shared_read = false, shared_written = false, global_read = false, global_written = false;

  static Touched all() { return {true, true, true, true}; }
  friend bool operator==(const Touched&, const Touched&) = default;
  void add(const Touched& o) {
    shared_read |= o.shared_read, shared_written |= o.shared_written;
    global_read |= o.global_read, global_written |= o.global_written;
  }
  [[nodiscard]] bool shared() const { return shared_read || shared_written; }
  [[nodiscard]] bool global() const { return global_read || global_written; }
  [[nodiscard]] bool any() const { return shared() || global(); }
  /// Whether what one thread does may change what the other one does.
  [[nodiscard]] bool meets(const Touched& o) const {
    return (shared_written && o.shared()) || (shared_read && o.shared_written) || (global_written && o.global()) ||
           (global_read && o.global_written);
  }
};

bool is_barrier(const Instruction& i) {
  return i.instruction_class == InstructionClass::barrier && has_part(i, "sync") && !has_part(i, "warp");
}

/// Whether an instruction touches nothing that another thread does: it computes, reads constants, or moves data in its
/// warp.
bool is_private(const Instruction& i) {
  switch (i.instruction_class) {
  case InstructionClass::global:
  case InstructionClass::shared:
  case InstructionClass::matrix_load:
  case InstructionClass::generic:
  case InstructionClass::surface_load:
  case InstructionClass::surface_store:
  case InstructionClass::surface_reduction:
  case InstructionClass::atomic:
  case InstructionClass::fence: return false;
  case InstructionClass::matrix: return i.head() == "mma" || i.head() == "movmatrix";
  case InstructionClass::control: return i.head() != "call";
  case InstructionClass::barrier: return has_part(i, "warp");
  default: return true;
  }
}

Touched touched_by(const Instruction& i, bool global_matters) {
  if (is_private(i)) return {};
  const bool load = i.head() == "ld", store = i.head() == "st";
  if ((!load && !store) || has_part(i, "volatile") || has_part(i, "acquire") || has_part(i, "release"))
    return Touched::all();
  const bool shared = i.instruction_class != InstructionClass::global,
             global = i.instruction_class != InstructionClass::shared && global_matters && !has_part(i, "nc");
  return {shared && load, shared && store, global && load, global && store};
}

class BarrierFindings {
public:
  BarrierFindings(const Profile& profile, const Code& code, std::vector<Finding>& findings)
      : profile_(profile), function_(*code.function), code_(code), findings_(findings) {}

  void find() {
    const auto& all = function_.instructions;
    if (std::none_of(all.begin(), all.end(), is_barrier)) return;
    if (!data_may_cross())
      return tell_all("no data crosses this barrier: the kernel does not use shared memory, and does not load what it "
                      "stores");
    const auto only_moves = [](const Instruction& i) {
      return is_barrier(i) || !(touched_by(i, true) == Touched::all());
    };
    if (std::all_of(all.begin(), all.end(), only_moves) && keeps_to_own_words(profile_, code_) &&
        !loads_what_it_stores(profile_))
      return tell_together("no data crosses the barriers: each thread loads from shared memory only what it stored "
                           "itself, and the kernel does not load what it stores to global memory");
    if (std::all_of(all.begin(), all.end(), [&](const Instruction& i) { return is_usual(i); })) one_by_one();
  }

private:
  /// Whether the threads of a block may exchange data: through shared memory, or because the kernel loads from where it
  /// stores.
  [[nodiscard]] bool data_may_cross() const {
    for (const Instruction& i : function_.instructions) {
      const std::string_view head = i.head();
      if (has_part(i, "shared") || head == "call" || head == "cp" || head == "atom" || head == "red" ||
          head == "fence" || head == "membar" || has_part(i, "volatile"))
        return true;
    }
    return loads_what_it_stores(profile_);
  }

  /// Barriers of a part of the block, and those that threads pass without waiting, are not judged.
  [[nodiscard]] bool is_usual(const Instruction& i) const {
    if (i.instruction_class != InstructionClass::barrier || has_part(i, "warp")) return true;
    const auto operands = function_.operands(i);
    return is_barrier(i) && i.guard == ir::kNone && operands.size() == 1 &&
           operands[0].kind == ir::OperandKind::integer && operands[0].value == 0;
  }

  /// A barrier is judged as if those before it that are not needed had been removed.
  void one_by_one() {
    flow_ = ir::control_flow(function_);
    before_.resize(flow_.blocks.size());
    for (std::uint32_t block = 0; block < flow_.blocks.size(); ++block)
      for (const std::uint32_t next : flow_.blocks[block].successors) before_[next].push_back(block);
    global_matters_ = loads_what_it_stores(profile_);
    for (const InstructionRow& row : profile_.instructions) {
      if (!is_barrier(function_.instructions[row.instruction]) || executed(row) == 0) continue;
      removed_.insert(row.instruction);
      const Touched earlier = reached<false>(row.instruction), later = reached<true>(row.instruction);
      if (earlier.meets(later))
        removed_.erase(row.instruction);
      else
        tell(row, reason(earlier, later));
    }
  }

  static std::string_view reason(const Touched& earlier, const Touched& later) {
    if (!earlier.any())
      return "no data crosses this barrier: since the barrier before it, the threads access nothing that others change";
    if (!later.any())
      return "no data crosses this barrier: until the barrier after it, or the end, the threads access nothing that "
             "others change";
    return "no data crosses this barrier: between the barriers before and after it, the threads do not access what "
           "others change";
  }

  /// What the instructions between a barrier and the next ones, or those before it, touch.
  template <bool forward> [[nodiscard]] Touched reached(std::uint32_t barrier) const {
    Touched sum;
    std::set<std::uint32_t> seen;
    std::vector<std::uint32_t> open;
    const auto walk = [&](std::uint32_t block, std::uint32_t from, std::uint32_t to) {
      for (std::uint32_t k = from; k < to; ++k) {
        const std::uint32_t at = forward ? k : to - 1 - (k - from);
        const Instruction& i = function_.instructions[at];
        if (is_barrier(i) && removed_.count(at) == 0) return;
        if (!is_barrier(i)) sum.add(touched_by(i, global_matters_));
      }
      for (const std::uint32_t next : forward ? flow_.blocks[block].successors : before_[block])
        if (seen.insert(next).second) open.push_back(next);
    };
    const std::uint32_t home = flow_.block_of[barrier];
    if (forward)
      walk(home, barrier + 1, flow_.blocks[home].end);
    else
      walk(home, flow_.blocks[home].first, barrier);
    while (!open.empty()) {
      const std::uint32_t block = open.back();
      open.pop_back();
      walk(block, flow_.blocks[block].first, flow_.blocks[block].end);
    }
    return sum;
  }

  void tell_all(std::string_view why) {
    for (const InstructionRow& row : profile_.instructions)
      if (is_barrier(function_.instructions[row.instruction]) && executed(row) != 0) tell(row, why);
  }

  /// One finding: what takes the place of shared memory needs none of the barriers.
  void tell_together(std::string_view why) {
    std::vector<Finding> each;
    std::swap(each, findings_);
    tell_all(why);
    std::swap(each, findings_);
    if (each.empty()) return;
    const auto most = [](const Finding& a, const Finding& b) { return a.excess < b.excess; };
    const auto worst = std::max_element(each.begin(), each.end(), most);
    std::rotate(each.begin(), worst, worst + 1);
    Finding& all = each.front();
    for (const Finding& other : std::span(each).subspan(1)) {
      all.lines.insert(all.lines.end(), other.lines.begin(), other.lines.end());
      all.excess += other.excess;
      all.changes.add(other.changes);
    }
    std::sort(all.lines.begin(), all.lines.end());
    all.remedy = all.advice = "remove the barriers, and keep the words in registers if their number allows that";
    findings_.push_back(std::move(all));
  }

  void tell(const InstructionRow& row, std::string_view why) {
    Finding finding = at_row(row, names::kUnneededBarrier, Severity::warning);
    finding.message = why;
    finding.remedy = finding.advice = "remove the barrier";
    finding.excess = executed(row);
    finding.unit = "barriers";
    finding.changes.barriers = executed(row);
    keep_evidence(finding, row, {MetricId::warp_instructions});
    findings_.push_back(std::move(finding));
  }

  const Profile& profile_;
  const ir::Function& function_;
  const Code& code_;
  std::vector<Finding>& findings_;
  ir::ControlFlow flow_;
  std::vector<std::vector<std::uint32_t>> before_; ///< predecessors of each block
  std::set<std::uint32_t> removed_;                ///< barriers that are not needed
  bool global_matters_ = false;
};

} // namespace

void find_unneeded_barriers(const Profile& profile, const Code& code, std::vector<Finding>& findings) {
  if (code.function != nullptr && code.module != nullptr) BarrierFindings(profile, code, findings).find();
}

} // namespace warplens::analyzers
