// SPDX-License-Identifier: Apache-2.0
// Branches around a few ops. The lanes that do not jump run them under a mask, in the code that whole warps run, too;
// then all lanes go on together. The interpreter would make paths of the two sides.
//
// Inside of a side, only its lanes are active. Rows have values for these lanes, which are mixed with the older ones of
// the other lanes where all meet; or where the warp leaves for the interpreter, which then finds it split. Rows in
// memory need not be mixed: there, the side only writes those of its lanes.
#include "emulator/exec/compile/llvm/emitter.hpp"

#include <cstddef>

namespace warplens::exec::compile {

using llvm::BasicBlock;
using llvm::Value;

void Emitter::branch_under_mask(std::uint32_t op) {
  const Op& o = program_.ops[op];
  BasicBlock* const all = block();
  BasicBlock* const some = block();
  spend(op);
  Value* const taken = b_.CreateAnd(guard(op), rows_->active());
  count_any_branch(o.extra, taken);
  b_.CreateCondBr(b_.CreateICmpEQ(taken, rows_->active()), all, some);
  b_.SetInsertPoint(all);
  take(op);
  b_.SetInsertPoint(some);
  if (program_.watched && !in_memory()) {
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
  begin_side(op, taken);
  arrive(op + 1);
  b_.CreateBr(blocks_[op + 1]);
}

void Emitter::begin_side(std::uint32_t op, Value* taken) {
  MaskedSide side;
  side.branch = op;
  side.meeting = part_.masked_until(region_, op);
  side.before = rows_->lanes();
  if (in_memory())
    side.at_home = begin_side_in_memory(side.meeting);
  else
    keep_old_rows(op, side);
  side.lanes = b_.CreateAnd(rows_->active(), b_.CreateNot(taken));
  rows_->enter(side.lanes);
  set_active();
  masked_.push_back(std::move(side));
}

void Emitter::keep_old_rows(std::uint32_t op, MaskedSide& side) {
  for (std::uint32_t i = op + 1; i < side.meeting; ++i)
    for (const RowUse& def : region_.facts(i).defs) {
      const std::uint32_t row = region_.row(def.offset), bytes = region_.rows()[row].bytes;
      if (!region_.live_before(side.meeting).test(row) || side.old.contains(row)) continue;
      llvm::SmallVector<Value*, 8>& old = side.old[row];
      for (std::uint32_t c = 0; c < rows_->chunks().of(bytes); ++c) old.push_back(rows_->chunk(def.offset, c));
    }
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
    call_support("warplens_split_off", b_.getVoidTy(), {warp_, real(side.branch), side.lanes});
}

} // namespace warplens::exec::compile
