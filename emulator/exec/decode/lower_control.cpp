// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/decode/decoder.hpp"

#include "emulator/exec/block/barriers.hpp"
#include "emulator/exec/block/control.hpp"
#include "emulator/exec/block/membermasks.hpp"
#include "emulator/exec/calls/calls.hpp"

namespace warplens::exec {

// The instructions that a branch or exit charges to the warp's turn: those since the last charge, in source order. A
// jump into a block also pays for instructions that fall through into it: the step limit is approximate.
std::int64_t Decoder::uncharged_instructions() {
  const std::int64_t count = current_index_ + 1 - charged_;
  charged_ = current_index_ + 1;
  return count;
}

void Decoder::branch() {
  const ir::Operand& label = function_.operands(*current_)[0];
  const bool conditional = current_->guard != ir::kNone;
  const std::uint32_t own_block = flow_.block_of[current_index_];
  patches_.push_back(
      {program_->ops.size(), block_at(label.index), conditional ? flow_.blocks[own_block].ipdom : ir::kNone});
  Op& op = emit(conditional ? (watched_ ? branch_watched : exec::branch) : (watched_ ? jump_watched : jump));
  op.imm = uncharged_instructions();
  count_branch(op);
}

void Decoder::count_branch(Op& op) {
  if (!watched_) return;
  op.extra = static_cast<std::uint32_t>(program_->branches.size());
  program_->branches.push_back(current_index_);
}

/// The number of the block that begins with the instruction of a label, or of the end.
std::uint32_t Decoder::block_at(std::uint32_t label) const {
  const std::uint32_t target = function_.labels[label].instruction;
  return target < function_.instructions.size() ? flow_.block_of[target]
                                                : static_cast<std::uint32_t>(flow_.blocks.size());
}

void Decoder::leave() {
  const bool returns = part_ != 0 && module_.spellings[current_->form].entry->family == isa::Family::ret;
  emit(returns ? return_lanes : exit_lanes).imm = uncharged_instructions();
  if (current_->guard != ir::kNone) count_rest_of_block();
}

// Fewer lanes may continue: the rest of the block gets its own counter.
void Decoder::count_rest_of_block() {
  if (!watched_) return;
  CountedBlock& counted = program_->blocks.back();
  const std::uint32_t end = counted.first + counted.count, next = current_index_ + 1;
  if (next == end) return;
  counted.count = next - counted.first;
  count_instructions(next, end);
}

// Operands: [result,] barrier[, threads][, predicate].
void Decoder::barrier(const isa::Spelling& spelling) {
  using isa::Word;
  const auto operands = function_.operands(*current_);
  const bool reduces = spelling.has(Word::w_red), population = spelling.has(Word::w_popc);
  std::size_t next = 0;
  std::uint32_t dst[2]{}, src[3]{}, what = spelling.has(Word::w_arrive) ? kArrive : 0;
  bool flip = false;
  if (reduces) {
    what = population ? kPopulation : spelling.has(Word::w_and_) ? kAll : kAny;
    dst[population ? 0 : 1] = destination(operands[next++], population ? isa::Type::u32 : isa::Type::pred, false);
  }
  src[0] = source(operands[next++], isa::Type::u32, false);
  if (next + (reduces ? 1 : 0) < operands.size()) {
    what |= kCounted;
    src[1] = source(operands[next++], isa::Type::u32, false);
  }
  if (reduces) {
    ir::Operand vote = operands[next];
    std::swap(flip, vote.negated); // the handler flips it
    src[2] = source(vote, isa::Type::pred, false);
  }
  if (spelling.entry->opcode == "bar" || spelling.has(Word::w_aligned)) what |= kAligned;
  const auto written = [&](std::size_t i) { return operands[i].kind == ir::OperandKind::integer; };
  const std::size_t first = reduces ? 1 : 0;
  if (written(first) && ((what & kCounted) == 0 || written(first + 1))) what |= kUniform;
  const bool simple = (what & ~kAligned) == kUniform && current_->guard == ir::kNone && operands[first].value >= 0 &&
                      operands[first].value < kBarriers;
  Op& op = emit_main(simple ? barrier_of_cta : exec::barrier, {dst[0], dst[1]}, {src[0], src[1], src[2]});
  op.imm = simple ? operands[first].value : flip ? -1 : 0;
  op.extra = what;
}

void Decoder::warp_barrier() {
  const ir::Operand& mask = function_.operands(*current_)[0];
  const std::uint32_t masks = source(mask, isa::Type::u32, false);
  emit_main(exec::warp_barrier, {}, {0, 0, 0, masks}).extra = mask.kind == ir::OperandKind::integer ? kOneMask : 0;
}

} // namespace warplens::exec
