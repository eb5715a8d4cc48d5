// SPDX-License-Identifier: Apache-2.0
#include "analyzers/compiled_loops.hpp"

#include "analyzers/machine_work.hpp"
#include "emulator/ir/calls.hpp"
#include "emulator/ir/opcode_parts.hpp"

#include <algorithm>

namespace warplens::analyzers {

namespace {

using isa::InstructionClass;

/// A loop of one basic block of machine code.
class SingleBlockLoop {
public:
  SingleBlockLoop(const ir::Function& function, const CompiledCode& code, const CompiledBlock& block,
                  const std::vector<ir::Effect>& effects)
      : function_(function), code_(code), block_(block), effects_(effects) {}

  [[nodiscard]] bool is_unrolled() const {
    constexpr double kMostInstructions = 50;
    const std::vector<std::uint32_t>& kept = function_.kept_loops;
    if (std::binary_search(kept.begin(), kept.end(), block_.instructions.front())) return false;
    double issued = 0;
    for (const std::uint32_t i : block_.instructions) {
      if (code_.removed[i]) continue;
      issued += machine_work(function_.instructions[i]).instructions;
      // Long loops end here: what follows looks at the whole loop for each instruction.
      if (issued > kMostInstructions || holds_turns_apart(i)) return false;
    }
    return is_counted();
  }

private:
  [[nodiscard]] bool holds_turns_apart(std::uint32_t at) const {
    const ir::Instruction& i = function_.instructions[at];
    const InstructionClass which = isa::info(i.instruction_class).counted_as;
    if (which == InstructionClass::barrier || which == InstructionClass::fence || which == InstructionClass::atomic)
      return true;
    if (ir::is_call(i) || has_branch_inside(i)) return true;
    const std::string_view head = i.head();
    if (head == "shfl" || head == "vote" || head == "match" || head == "redux" || head == "activemask") return true;
    return head == "st" && !ir::has_part(i, "local") && !advances(i);
  }

  /// Whether the address of a store advances by a constant in each turn.
  [[nodiscard]] bool advances(const ir::Instruction& store) const {
    const ir::Operand& address = function_.operands(store)[0];
    if (address.kind != ir::OperandKind::address || address.count == 0) return false;
    const ir::Operand& base = function_.elements(address)[0];
    return base.kind == ir::OperandKind::reg && counts(base);
  }

  [[nodiscard]] bool writes(std::uint32_t at, std::uint32_t which) const {
    const std::vector<std::uint32_t>& written = effects_[at].writes;
    return std::find(written.begin(), written.end(), which) != written.end();
  }

  /// The only instruction of the block that writes the register; kNone: there is none, or there are several.
  [[nodiscard]] std::uint32_t writer_of(std::uint32_t which) const {
    std::uint32_t writer = ir::kNone;
    for (const std::uint32_t i : block_.instructions) {
      if (!writes(i, which)) continue;
      if (writer != ir::kNone) return ir::kNone;
      writer = i;
    }
    return writer;
  }

  [[nodiscard]] bool is_changed(std::uint32_t which) const {
    for (const std::uint32_t i : block_.instructions)
      if (writes(i, which)) return true;
    return false;
  }

  /// add.s32 %r1, %r1, 4
  [[nodiscard]] bool steps(std::uint32_t at) const {
    const ir::Instruction& i = function_.instructions[at];
    if ((i.head() != "add" && i.head() != "sub") || i.guard != ir::kNone || i.operand_count != 3) return false;
    if (code_.predicate_of[at] != ir::kNone) return false;
    const auto operands = function_.operands(i);
    return operands[0].kind == ir::OperandKind::reg && operands[1].kind == ir::OperandKind::reg &&
           operands[0].index == operands[1].index && operands[2].kind == ir::OperandKind::integer;
  }

  /// A register that each turn changes by a constant, and nothing else changes.
  [[nodiscard]] bool counts(const ir::Operand& o) const {
    const std::uint32_t writer = o.kind == ir::OperandKind::reg ? writer_of(o.index) : ir::kNone;
    return writer != ir::kNone && steps(writer);
  }

  /// Whether the branch at the end compares a register that steps with what the loop does not change.
  [[nodiscard]] bool is_counted() const {
    const std::uint32_t compared = writer_of(function_.instructions[block_.instructions.back()].guard);
    if (compared == ir::kNone) return false;
    const ir::Instruction& comparison = function_.instructions[compared];
    if (code_.predicate_of[compared] != ir::kNone || comparison.head() != "setp" || comparison.operand_count != 3 ||
        comparison.guard != ir::kNone)
      return false;
    const auto operands = function_.operands(comparison);
    const auto stays = [&](const ir::Operand& o) {
      return o.kind == ir::OperandKind::integer || (o.kind == ir::OperandKind::reg && !is_changed(o.index));
    };
    return (counts(operands[1]) && stays(operands[2])) || (counts(operands[2]) && stays(operands[1]));
  }

  const ir::Function& function_;
  const CompiledCode& code_;
  const CompiledBlock& block_;
  const std::vector<ir::Effect>& effects_;
};

} // namespace

void mark_unrolled(CompiledCode& code, const ir::Function& function, const std::vector<ir::Effect>& effects) {
  for (std::uint32_t b = 0; b < code.blocks.size(); ++b) {
    CompiledBlock& block = code.blocks[b];
    const std::vector<std::uint32_t>& next = block.successors;
    if (block.instructions.empty() || std::find(next.begin(), next.end(), b) == next.end()) continue;
    const ir::Instruction& last = function.instructions[block.instructions.back()];
    if (last.head() != "bra" || last.guard == ir::kNone || code.removed[block.instructions.back()]) continue;
    block.unrolled = SingleBlockLoop(function, code, block, effects).is_unrolled();
  }
}

} // namespace warplens::analyzers
