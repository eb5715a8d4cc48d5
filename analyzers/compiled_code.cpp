// SPDX-License-Identifier: Apache-2.0
#include "analyzers/compiled_code.hpp"

#include "analyzers/machine_work.hpp"
#include "emulator/ir/calls.hpp"
#include "emulator/ir/opcode_parts.hpp"

#include <algorithm>

namespace warplens::analyzers {

namespace {

using isa::InstructionClass;

/// A branch over one block, or to one of two, that meet again behind them.
struct Detour {
  std::uint32_t side = ir::kNone;  ///< the block behind the branch
  std::uint32_t other = ir::kNone; ///< the block that is branched to; kNone: that is where they meet
  std::uint32_t join = ir::kNone;
};

class Merger {
public:
  Merger(const ir::Function& function, const ir::ControlFlow& flow) : function_(function), flow_(flow) {
    before_.resize(flow.blocks.size());
    back_to_.assign(flow.blocks.size() + 1, ir::kNone);
    for (std::size_t b = flow.blocks.size(); b-- > 0;) {
      back_to_[b] = back_to_[b + 1];
      for (const std::uint32_t to : flow.blocks[b].successors) {
        ++before_[to];
        back_to_[b] = std::min(back_to_[b], to);
      }
    }
  }

  /// A global load alone does not get a predicate: ptxas does so if the next block has such a detour, too, or in a
  /// loop.
  [[nodiscard]] Detour short_detour(std::uint32_t block) const {
    Detour found = detour(block);
    if (found.side == ir::kNone || !loads(found) || in_loop(block)) return found;
    const bool continued = detour(found.join).side != ir::kNone, other = found.other != ir::kNone;
    return continued || other || follows_detour(block) ? found : Detour{};
  }

  /// How many blocks lead there.
  [[nodiscard]] std::uint32_t leading_to(std::uint32_t block) const { return before_[block]; }

private:
  [[nodiscard]] Detour detour(std::uint32_t block) const {
    const ir::Block& head = flow_.blocks[block];
    if (head.first == head.end || head.successors.size() != 2 || head.exits) return {};
    const ir::Instruction& branch = function_.instructions[head.end - 1];
    if (branch.head() != "bra" || branch.guard == ir::kNone) return {};
    const std::uint32_t side = block + 1;
    if (side >= flow_.blocks.size()) return {};
    const std::uint32_t target = head.successors[0] == side ? head.successors[1] : head.successors[0];
    if (target <= side || !is_short(side)) return {};
    const std::uint32_t join = flow_.blocks[side].successors[0];
    if (join == target) return {side, ir::kNone, join};
    if (target == side + 1 && is_short(target) && flow_.blocks[target].successors[0] == join && join > target)
      return {side, target, join};
    return {};
  }

  /// Whether only one block leads there, and ptxas gives all its instructions a predicate.
  [[nodiscard]] bool is_short(std::uint32_t side) const {
    constexpr double kMostInstructions = 8;
    const ir::Block& b = flow_.blocks[side];
    if (before_[side] != 1 || b.successors.size() != 1 || b.exits || b.first == b.end) return false;
    double issued = 0;
    for (std::uint32_t i = b.first; i < b.end; ++i) {
      const ir::Instruction& instruction = function_.instructions[i];
      const bool jumps = i + 1 == b.end && instruction.head() == "bra";
      if (jumps && instruction.guard == ir::kNone) continue;
      if (!takes_predicate(instruction)) return false;
      issued += machine_work(instruction).instructions;
    }
    return issued <= kMostInstructions;
  }

  [[nodiscard]] static bool takes_predicate(const ir::Instruction& i) {
    const InstructionClass which = isa::info(i.instruction_class).counted_as;
    if (which == InstructionClass::fence || which == InstructionClass::atomic || which == InstructionClass::texture)
      return false;
    if (i.guard != ir::kNone || ir::is_call(i) || has_branch_inside(i)) return false;
    const std::string_view head = i.head();
    for (const std::string_view never : {"bra", "brx", "ret", "exit", "trap", "setp", "shfl", "vote", "match", "redux"})
      if (head == never) return false;
    return true;
  }

  [[nodiscard]] bool loads(std::uint32_t block) const {
    if (block == ir::kNone) return false;
    const ir::Block& b = flow_.blocks[block];
    for (std::uint32_t i = b.first; i < b.end; ++i) {
      const ir::Instruction& one = function_.instructions[i];
      if (one.head() == "ld" && !ir::has_any_part(one, {"shared", "param", "const", "local"})) return true;
    }
    return false;
  }
  [[nodiscard]] bool loads(const Detour& d) const { return loads(d.side) || loads(d.other); }

  [[nodiscard]] bool in_loop(std::uint32_t block) const { return back_to_[block] <= block; }

  [[nodiscard]] bool follows_detour(std::uint32_t block) const {
    for (std::uint32_t b = block > 3 ? block - 3 : 0; b < block; ++b)
      if (detour(b).join == block) return true;
    return false;
  }

  const ir::Function& function_;
  const ir::ControlFlow& flow_;
  std::vector<std::uint32_t> before_;  ///< how many lead to a block
  std::vector<std::uint32_t> back_to_; ///< the first block to which a block or one behind it leads
};

} // namespace

bool has_branch_inside(const ir::Instruction& instruction) {
  switch (machine_class(instruction)) {
  case InstructionClass::f32_divide:
  case InstructionClass::f64_divide:
  case InstructionClass::square_root:
  case InstructionClass::reciprocal: return ir::rounds(instruction);
  case InstructionClass::integer_divide: return ir::of_wide_integers(instruction);
  default: return false;
  }
}

CompiledCode compiled_code(const ir::Function& function, const ir::ControlFlow& flow) {
  CompiledCode code;
  code.predicate_of.assign(function.instructions.size(), ir::kNone);
  code.removed.assign(function.instructions.size(), false);
  const Merger merger(function, flow);
  std::vector<std::uint32_t> compiled(flow.blocks.size()); // of a block
  std::vector<std::uint32_t> last;                         // block whose successors are those of a compiled block
  for (std::uint32_t b = 0; b < flow.blocks.size();) {
    CompiledBlock& block = code.blocks.emplace_back();
    const auto add = [&](std::uint32_t which, std::uint32_t predicate) {
      compiled[which] = static_cast<std::uint32_t>(code.blocks.size() - 1);
      for (std::uint32_t i = flow.blocks[which].first; i < flow.blocks[which].end; ++i) {
        block.instructions.push_back(i);
        code.predicate_of[i] = predicate;
        if (predicate != ir::kNone && function.instructions[i].head() == "bra") code.removed[i] = true;
      }
    };
    std::uint32_t end = b;
    add(end, ir::kNone);
    for (Detour d = merger.short_detour(end); d.side != ir::kNone; d = merger.short_detour(end)) {
      const std::uint32_t branch = flow.blocks[end].end - 1;
      code.removed[branch] = true;
      add(d.side, function.instructions[branch].guard);
      if (d.other != ir::kNone) add(d.other, function.instructions[branch].guard);
      end = d.other == ir::kNone ? d.side : d.other;
      if (d.join != end + 1 || merger.leading_to(d.join) != 2) break;
      add(d.join, ir::kNone);
      end = d.join;
    }
    last.push_back(end);
    b = end + 1;
  }
  for (std::size_t c = 0; c < code.blocks.size(); ++c)
    for (const std::uint32_t to : flow.blocks[last[c]].successors) code.blocks[c].successors.push_back(compiled[to]);
  return code;
}

} // namespace warplens::analyzers
