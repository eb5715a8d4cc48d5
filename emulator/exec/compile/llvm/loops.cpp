// SPDX-License-Identifier: Apache-2.0
// Loops that the lanes of a warp leave at different times. Those that have left wait, as where one side of a branch
// runs under a mask (sides.cpp): the rows that the loop writes are kept for them in variables, and are mixed with those
// of the last lanes where all meet. The interpreter would make a path of each lane that leaves.
#include "emulator/exec/compile/llvm/emitter.hpp"

#include "emulator/exec/block/control.hpp"

#include <algorithm>

namespace warplens::exec::compile {

using Kind = OpMeaning::Kind;
using llvm::BasicBlock;
using llvm::Value;

// The loop that begins at an op of this part, if lanes may leave it one after the other to an op right behind it, and
// go nowhere else. Warps enter it at its first op only.
std::optional<Emitter::Loop> Emitter::loop_under_mask(std::uint32_t head) const {
  const std::optional<std::uint32_t> last = innermost_loop(region_, head);
  if (!last || *last + 1 >= region_.size() || region_.facts(*last + 1).meaning.kind != Kind::rejoin) return {};
  Loop loop{head, *last, *last + 1, 0};
  bool leaves = false;
  for (std::uint32_t i = head; i <= *last; ++i) {
    if (region_.facts(i).leaves || part_.elsewhere(i) || (i != head && part_.enters(i))) return {};
    if (!region_.goes(i)) continue;
    const Op& o = program_.ops[i];
    const std::uint32_t target = region_.target(i);
    const bool is_branch = region_.facts(i).meaning.kind == Kind::branch;
    const bool exits = is_branch && (i == *last || target == loop.meeting);
    if (!exits && i != *last && (target <= head || target > *last)) return {};
    if (!exits) continue;
    if (i + o.src[0] != loop.meeting || (i != *last && program_.watched && o.src[1] != kNotCounted)) return {};
    loop.branch = i;
    leaves = leaves || shapes_.splits(i);
  }
  for (std::uint32_t i = 0; i < region_.size(); ++i) {
    const bool inside = i >= head && i <= *last;
    if (!inside && region_.goes(i) && region_.target(i) > head && region_.target(i) <= *last) return {};
  }
  return leaves ? std::optional(loop) : std::nullopt;
}

// A leader of a loop under a mask: the lanes that are left.
void Emitter::lead_in_loop(std::uint32_t leader) {
  if (is_pair() || in_memory()) return;
  if (masked_.empty()) {
    const std::optional<Loop> loop = loop_under_mask(leader);
    if (!loop) return;
    begin_loop(*loop);
  }
  if (masked_.size() != 1 || masked_.front().looping == nullptr) return;
  MaskedSide& side = masked_.front();
  side.lanes = b_.CreateLoad(b_.getInt32Ty(), side.looping);
  rows_->enter(side.lanes);
}

void Emitter::begin_loop(const Loop& loop) {
  MaskedSide side;
  side.branch = loop.branch;
  side.meeting = loop.meeting;
  side.before = rows_->lanes();
  loop_last_ = loop.last;
  const llvm::IRBuilderBase::InsertPointGuard here(b_);
  b_.SetInsertPoint(llvm::cast<llvm::Instruction>(side.before.active)->getNextNode());
  side.looping = b_.CreateAlloca(b_.getInt32Ty());
  b_.CreateStore(side.before.active, side.looping);
  for (std::uint32_t i = loop.head; i <= loop.last; ++i)
    for (const RowUse& def : region_.facts(i).defs) {
      const std::uint32_t row = region_.row(def.offset), bytes = region_.rows()[row].bytes;
      if (!region_.live_before(side.meeting).test(row) || side.old.contains(row)) continue;
      llvm::Type* const type = rows_->chunks().type(b_.getContext(), bytes);
      for (std::uint32_t c = 0; c < rows_->chunks().of(bytes); ++c) side.old[row].push_back(b_.CreateAlloca(type));
    }
  masked_.push_back(std::move(side));
}

bool Emitter::leaves_loop(std::uint32_t op) const {
  return masked_.size() == 1 && masked_.front().looping != nullptr &&
         (op == loop_last_ || region_.target(op) == masked_.front().meeting);
}

void Emitter::branch_in_loop(std::uint32_t op) {
  const Op& o = program_.ops[op];
  const bool goes_on = op == loop_last_; // if it jumps
  BasicBlock* const all = block();
  BasicBlock* const others = block();
  BasicBlock* const none = block();
  BasicBlock* const some = block();
  spend(op);
  Value* const active = rows_->active();
  Value* const taken = b_.CreateAnd(guard(op), active);
  b_.CreateCondBr(b_.CreateICmpEQ(taken, active), all, others);
  b_.SetInsertPoint(others);
  b_.CreateCondBr(b_.CreateIsNull(taken), none, some);
  b_.SetInsertPoint(all);
  take(op);
  const auto go = [&](std::uint32_t next) {
    const RowShapes shapes = rows_->shapes;
    const RowValues::Lanes lanes = rows_->lanes();
    arrive_and_meet(next);
    b_.CreateBr(blocks_[next]);
    rows_->shapes = shapes;
    rows_->set_lanes(lanes);
  };
  b_.SetInsertPoint(none);
  count_branch(o.extra, b_.getInt32(0));
  go(op + 1);
  b_.SetInsertPoint(some);
  if (program_.watched) call("count_branch_of", {warp_, b_.getInt32(o.extra), taken});
  Value* const rest = b_.CreateXor(active, taken);
  leave_loop(goes_on ? rest : taken, goes_on ? taken : rest);
  if (goes_on && program_.watched && o.src[1] != kNotCounted) count_block(o.src[1]);
  go(goes_on ? region_.target(op) : op + 1);
  if (goes_on) end_loop();
}

// What follows has code for all lanes again.
void Emitter::end_loop() {
  rows_->set_lanes(masked_.front().before);
  masked_.clear();
}

// The last lanes leave. Mostly, they are all.
void Emitter::meet_behind_loop(const MaskedSide& side) {
  for (const auto& [row, old] : side.old) {
    rows_->convert(row, Shape::varying());
    rows_->shapes[row] = Shape::varying();
  }
  BasicBlock* const mixing = block();
  BasicBlock* const on = block();
  b_.CreateCondBr(b_.CreateICmpEQ(side.lanes, side.before.active), on, mixing);
  b_.SetInsertPoint(mixing);
  merge(side);
  b_.CreateStore(side.before.active, side.looping);
  rows_->set_lanes(side.before);
  set_active();
  b_.CreateBr(on);
  b_.SetInsertPoint(on);
}

void Emitter::leave_loop(Value* leaving, Value* staying) {
  const MaskedSide& side = masked_.front();
  for (const auto& [row, old] : side.old) {
    const auto [offset, bytes, constant] = region_.rows()[row];
    for (std::uint32_t c = 0; c < old.size(); ++c) {
      Value* const fresh = rows_->chunk(offset, c);
      Value* const kept = b_.CreateLoad(fresh->getType(), old[c], true);
      // Volatile: in memory, they do not take registers from the loop.
      b_.CreateStore(bytes == 0 ? b_.CreateOr(b_.CreateAnd(fresh, leaving), b_.CreateAnd(kept, b_.CreateNot(leaving)))
                                : b_.CreateSelect(rows_->lanes_of(leaving, bytes, c), fresh, kept),
                     old[c], true);
    }
  }
  b_.CreateStore(staying, side.looping);
  const RowValues::Lanes lanes = rows_->lanes();
  rows_->enter(staying);
  set_active();
  rows_->set_lanes(lanes);
}

} // namespace warplens::exec::compile
