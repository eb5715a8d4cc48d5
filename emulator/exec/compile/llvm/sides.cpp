// SPDX-License-Identifier: Apache-2.0
// Branches around a few ops, and between two sides of a few ops. The lanes of a side run it under a mask, in the code
// that whole warps run, too; then all lanes go on together. The interpreter would make paths of the two sides.
//
// Inside of a side, only its lanes are active. Rows have values for these lanes, which are mixed with the older ones of
// the other lanes where all meet; or where the warp leaves for the interpreter, which then finds it split. Rows in
// memory need not be mixed: there, the side only writes those of its lanes.
#include "emulator/exec/compile/llvm/emitter.hpp"

#include "emulator/exec/block/control.hpp"

#include <cstddef>

namespace warplens::exec::compile {

using llvm::BasicBlock;
using llvm::Value;

void Emitter::branch_under_mask(std::uint32_t op) {
  const Op& o = program_.ops[op];
  spend(op);
  Value* const taken = b_.CreateAnd(guard(op), rows_->active());
  count_any_branch(o.extra, taken);
  if (region_.has_two_sides(op)) return both_sides_under_masks(op, taken);
  BasicBlock* const all = block();
  BasicBlock* const some = block();
  b_.CreateCondBr(b_.CreateICmpEQ(taken, rows_->active()), all, some);
  b_.SetInsertPoint(all);
  take(op);
  b_.SetInsertPoint(some);
  count_partial_branch(op, taken);
  masked_.push_back(begin_side(op, op + 1, b_.CreateAnd(rows_->active(), b_.CreateNot(taken))));
  arrive(op + 1);
  b_.CreateBr(blocks_[op + 1]);
}

void Emitter::count_way(std::uint32_t op, Value* taken) {
  if (!program_.watched || in_memory()) return;
  BasicBlock* const all = block();
  BasicBlock* const others = block();
  BasicBlock* const on = block();
  b_.CreateCondBr(b_.CreateICmpEQ(taken, rows_->active()), all, others);
  b_.SetInsertPoint(all);
  count_branch(program_.ops[op].extra, rows_->active());
  b_.CreateBr(on);
  b_.SetInsertPoint(others);
  count_partial_branch(op, taken);
  b_.CreateBr(on);
  b_.SetInsertPoint(on);
}

// A branch that not all lanes take.
void Emitter::count_partial_branch(std::uint32_t op, Value* taken) {
  if (!program_.watched || in_memory()) return;
  const Op& o = program_.ops[op];
  BasicBlock* const none = block();
  BasicBlock* const part = block();
  BasicBlock* const counted = block();
  b_.CreateCondBr(b_.CreateIsNull(taken), none, part);
  b_.SetInsertPoint(none);
  count_branch(o.extra, b_.getInt32(0));
  b_.CreateBr(counted);
  b_.SetInsertPoint(part);
  call("count_branch_of", {warp_, b_.getInt32(o.extra), taken});
  b_.CreateBr(counted);
  b_.SetInsertPoint(counted);
}

// Lanes of a branch run the side that begins at this op.
Emitter::MaskedSide Emitter::begin_side(std::uint32_t op, std::uint32_t begin, Value* lanes) {
  MaskedSide side;
  side.branch = op;
  side.meeting = part_.masked_until(region_, op);
  side.second = begin == op + 1 ? 0 : op + 1;
  side.before = rows_->lanes();
  if (in_memory())
    side.at_home = begin_side_in_memory(side);
  else
    keep_old_rows(begin, side);
  side.lanes = lanes;
  rows_->enter(lanes);
  set_active();
  return side;
}

// Both sides of a branch have ops. As in the interpreter, the lanes that jump run theirs first. The code of the other
// side begins behind the branch, and may go on behind that of the first.
void Emitter::both_sides_under_masks(std::uint32_t op, Value* taken) {
  const Op& o = program_.ops[op];
  const std::uint32_t target = region_.target(op);
  const RowShapes shapes = rows_->shapes;
  const RowValues::Lanes lanes = rows_->lanes();
  BasicBlock* const none = block();
  BasicBlock* const some = block();
  BasicBlock* const second = block();
  count_way(op, taken);
  b_.CreateCondBr(b_.CreateIsNull(taken), none, some);
  b_.SetInsertPoint(some);
  MaskedSide first = begin_side(op, target, taken);
  first.begins = second;
  if (program_.watched && o.src[1] != kNotCounted) count_block(o.src[1]);
  arrive(target);
  b_.CreateBr(blocks_[target]);
  const RowValues::Lanes inside = rows_->lanes();
  rows_->shapes = shapes;
  rows_->set_lanes(lanes);
  b_.SetInsertPoint(none);
  arrive_at_second(first);
  b_.CreateBr(second);
  sides_at_.emplace(target, std::pair(std::move(first), inside));

  b_.SetInsertPoint(second);
  rows_->shapes = shapes_.at(op + 1);
  if (in_memory()) begin_block();
  masked_.push_back(begin_side(op, op + 1, b_.CreateAnd(rows_->active(), b_.CreateNot(taken))));
  b_.CreateBr(blocks_[op + 1]);
}

// Code that follows is of this side.
void Emitter::lead_in_side(std::uint32_t leader) {
  const auto found = sides_at_.find(leader);
  if (found == sides_at_.end()) return;
  masked_.push_back(std::move(found->second.first));
  rows_->set_lanes(found->second.second);
  sides_at_.erase(found);
}

// Code that follows a jump at the end of a piece is of the other side.
void Emitter::end_piece(std::uint32_t jump) {
  if (masked_.empty() || masked_.back().looping != nullptr) return;
  MaskedSide& side = masked_.back();
  if (!region_.has_two_sides(side.branch)) return;
  const std::uint32_t target = region_.target(side.branch), rest = region_.goes_on_at(side.branch);
  const bool before_first = jump == region_.jump_before(target);
  if (!before_first && (rest == side.meeting || jump != region_.jump_before(rest))) return;
  const RowValues::Lanes inside = rows_->lanes();
  rows_->set_lanes(side.before);
  if (before_first && rest != side.meeting) sides_at_.emplace(rest, std::pair(std::move(side), inside));
  masked_.pop_back();
}

// Rows have the shapes that the second side expects; those that it does not read, for where all meet.
void Emitter::arrive_at_second(const MaskedSide& first) {
  if (in_memory()) return arrive_in_memory(first.second);
  const RowShapes& wanted = shapes_.at(first.second);
  for (const unsigned row : live_for_others(first).set_bits())
    if (part_.touches(row)) rows_->convert(row, wanted[row]);
}

// The lanes that jumped have come to where all meet; the others run their side now, if there are any. With rows in
// memory, nothing of theirs has changed.
void Emitter::end_first(const MaskedSide& side) {
  BasicBlock* const on = block();
  BasicBlock* const others = block();
  set_active();
  b_.CreateCondBr(b_.CreateICmpEQ(side.lanes, side.before.active), on, others);
  b_.SetInsertPoint(others);
  if (!in_memory()) arrive_at_second(side);
  b_.CreateBr(side.begins);
  b_.SetInsertPoint(on);
}

// The rows whose values lanes that wait need.
llvm::BitVector Emitter::live_for_others(const MaskedSide& side) const {
  llvm::BitVector live = region_.live_before(side.meeting);
  if (side.second != 0) live |= region_.live_before(side.second);
  return live;
}

void Emitter::keep_old_rows(std::uint32_t begin, MaskedSide& side) {
  const llvm::BitVector live = live_for_others(side);
  const auto keep = [&](std::uint32_t from, std::uint32_t to) {
    for (std::uint32_t i = from; i < to; ++i)
      for (const RowUse& def : region_.facts(i).defs) {
        const std::uint32_t row = region_.row(def.offset), bytes = region_.rows()[row].bytes;
        if (!live.test(row) || side.old.contains(row)) continue;
        llvm::SmallVector<Value*, 8>& old = side.old[row];
        for (std::uint32_t c = 0; c < rows_->chunks().of(bytes); ++c) old.push_back(rows_->chunk(def.offset, c));
      }
  };
  if (!region_.has_two_sides(side.branch)) return keep(begin, side.meeting);
  const std::uint32_t target = region_.target(side.branch), rest = region_.goes_on_at(side.branch);
  if (begin == target) return keep(target, rest);
  keep(begin, target);
  keep(rest, side.meeting);
}

// Goes from the sides that end at this op to where all lanes meet.
void Emitter::meet(std::uint32_t op) {
  bool ends = false;
  for (auto side = masked_.rbegin(); side != masked_.rend() && side->meeting == op; ++side) {
    if (side->looping != nullptr) {
      meet_behind_loop(*side);
      continue;
    }
    merge(*side);
    rows_->set_lanes(side->before);
    if (side->begins != nullptr)
      end_first(*side);
    else
      ends = true;
  }
  if (ends) set_active();
}

void Emitter::merge(const MaskedSide& side) {
  for (const auto& [row, old] : side.old) {
    const auto [offset, bytes, constant] = region_.rows()[row];
    llvm::SmallVector<Value*, 8> mixed;
    for (std::uint32_t c = 0; c < old.size(); ++c) {
      Value* const fresh = rows_->chunk(offset, c);
      Value* const kept = side.looping == nullptr ? old[c] : b_.CreateLoad(fresh->getType(), old[c], true);
      mixed.push_back(bytes == 0
                          ? b_.CreateOr(b_.CreateAnd(fresh, side.lanes), b_.CreateAnd(kept, b_.CreateNot(side.lanes)))
                          : b_.CreateSelect(rows_->lanes_of(side.lanes, bytes, c), fresh, kept));
    }
    for (std::uint32_t c = 0; c < mixed.size(); ++c) rows_->set_chunk(offset, c, mixed[c]);
    rows_->shapes[row] = Shape::varying();
  }
}

// As activate().
void Emitter::set_active() {
  b_.CreateAlignedStore(rows_->active(), rows_->home(offsetof(Warp, active)), llvm::Align(4));
  Value* const count = b_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, rows_->active());
  b_.CreateAlignedStore(b_.CreateZExt(count, b_.getInt64Ty()), rows_->home(offsetof(Warp, lanes)), llvm::Align(8));
}

// Where the warp leaves a side: the rows of all lanes, …
void Emitter::merge_all() {
  if (masked_.empty()) return;
  for (auto side = masked_.rbegin(); side != masked_.rend(); ++side) merge(*side);
  rows_->set_lanes(masked_.front().before);
  set_active();
}

// … and the warp as the interpreter would have split it.
void Emitter::split_again() {
  for (const MaskedSide& side : masked_)
    call_support("warplens_split_off", b_.getVoidTy(),
                 {warp_, real(side.branch), side.lanes,
                  side.second != 0 ? real(side.second) : llvm::ConstantPointerNull::get(b_.getPtrTy())});
}

} // namespace warplens::exec::compile
