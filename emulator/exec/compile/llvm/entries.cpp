// SPDX-License-Identifier: Apache-2.0
// Where warps enter and leave compiled code.
#include "emulator/exec/compile/llvm/emitter.hpp"

#include "emulator/exec/block/barriers.hpp"

#include <cstddef>

namespace warplens::exec::compile {

using Kind = OpMeaning::Kind;
using llvm::BasicBlock;
using llvm::Value;

void Emitter::make_heads() {
  llvm::SmallVector<llvm::Type*, 3> const types(1 + sides_.size(), b_.getPtrTy());
  auto* const type = llvm::FunctionType::get(b_.getPtrTy(), types, false);
  for (std::uint32_t h = 0; h < part_.heads().size(); ++h) {
    llvm::Function* const head =
        llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage,
                               (is_pair() ? "pair_" : "head_") + llvm::Twine(part_.heads()[h]), module_);
    b_.SetInsertPoint(BasicBlock::Create(b_.getContext(), "", head));
    llvm::SmallVector<Value*, 4> passed;
    for (llvm::Argument& argument : head->args()) passed.push_back(&argument);
    passed[0] =
        b_.CreateConstGEP1_64(b_.getInt8Ty(), passed[0],
                              static_cast<std::uint64_t>(-static_cast<std::int64_t>(part_.heads()[h] * sizeof(Op))));
    passed.push_back(b_.getInt32(h));
    auto* const result = b_.CreateCall(body_, passed);
    result->setTailCall();
    b_.CreateRet(result);
  }
}

// The warps of a pair have the same active lanes (Cta::run_pair()). Their turns may differ in what is left of them.
void Emitter::enter_sides() {
  Value *active = nullptr, *least = nullptr;
  for (Side& side : sides_) {
    side.rows.emplace(program_, region_, target_.chunks, b_, side.warp, b_.GetInsertBlock());
    if (active == nullptr)
      active = b_.CreateAlignedLoad(b_.getInt32Ty(), side.rows->home(offsetof(Warp, active)), llvm::Align(4), "active");
  }
  for_each_side([&](Side& side) {
    rows_->enter(active);
    side.kept = b_.CreateAlignedLoad(b_.getPtrTy(), rows_->home(offsetof(Warp, left_for)), llvm::Align(8));
    side.ahead = b_.CreateAlignedLoad(b_.getInt64Ty(), rows_->home(offsetof(Warp, budget)), llvm::Align(8));
    least = least == nullptr ? side.ahead : b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, least, side.ahead);
  });
  b_.CreateStore(least, budget_);
  for (Side& side : sides_) side.ahead = is_pair() ? b_.CreateSub(side.ahead, least) : nullptr;
}

void Emitter::enter() {
  BasicBlock* const start = BasicBlock::Create(b_.getContext(), "enter", body_);
  b_.SetInsertPoint(start);
  budget_ = b_.CreateAlloca(b_.getInt64Ty());
  enter_sides();
  if (!is_pair()) originals_ = call("originals_of", {warp_});
  blocks_.assign(region_.size(), nullptr);
  for (std::uint32_t i = 0; i < region_.size(); ++i)
    if (part_.reachable(i) && part_.leads(i)) blocks_[i] = block();
  if (!is_pair()) forget_left_for();
  Value* interprets = b_.getFalse();
  for_each_side([&](Side&) {
    Value* const must = call(
        "must_interpret", {warp_, b_.getInt1(program_.watched), b_.getInt8(shapes_.layout()), b_.getInt1(is_pair())});
    interprets = b_.CreateOr(must, interprets);
  });
  BasicBlock* const interpret = BasicBlock::Create(b_.getContext(), "interpret", body_);
  BasicBlock* const inside = BasicBlock::Create(b_.getContext(), "inside", body_);
  b_.CreateCondBr(interprets, interpret, inside);
  b_.SetInsertPoint(interpret);
  interpret_head();
  BasicBlock* const nowhere = block();
  b_.SetInsertPoint(nowhere);
  b_.CreateUnreachable();
  b_.SetInsertPoint(inside);
  if (program_.watched) find_counters();
  if (in_memory()) return enter_in_memory(interpret);
  llvm::SwitchInst* const choice = b_.CreateSwitch(entry_, nowhere, static_cast<unsigned>(part_.heads().size()));
  for (std::uint32_t h = 0; h < part_.heads().size(); ++h) {
    BasicBlock* const fetching = block();
    choice->addCase(b_.getInt32(h), fetching);
    b_.SetInsertPoint(fetching);
    enter_at(part_.heads()[h], interpret);
  }
}

// Of a pair, each warp goes on by itself.
void Emitter::interpret_head() {
  if (is_pair()) {
    b_.CreateRet(llvm::ConstantPointerNull::get(b_.getPtrTy()));
    return;
  }
  auto* const heads_type = llvm::ArrayType::get(b_.getInt32Ty(), part_.heads().size());
  auto* const heads = new llvm::GlobalVariable(
      module_, heads_type, true, llvm::GlobalValue::PrivateLinkage,
      llvm::ConstantDataArray::get(b_.getContext(), llvm::ArrayRef<std::uint32_t>(part_.heads())));
  Value* const op =
      b_.CreateAlignedLoad(b_.getInt32Ty(), b_.CreateGEP(heads_type, heads, {b_.getInt32(0), entry_}), llvm::Align(4));
  Value* const at =
      b_.CreateGEP(b_.getInt8Ty(), base_, b_.CreateMul(b_.CreateZExt(op, b_.getInt64Ty()), b_.getInt64(sizeof(Op))));
  b_.CreateRet(call_original(op, at));
}

void Emitter::forget_left_for() {
  for_each_side([&](Side&) {
    b_.CreateAlignedStore(llvm::ConstantPointerNull::get(b_.getPtrTy()), rows_->home(offsetof(Warp, left_for)),
                          llvm::Align(8));
  });
}

// Rows come from memory. Where one has another shape than the analysis said, the warp stays in the interpreter.
void Emitter::enter_at(std::uint32_t head, BasicBlock* interpret) {
  for_each_side([&](Side& side) {
    BasicBlock* const right = is_pair() ? block() : blocks_[head];
    check_shapes(head, side, right, interpret);
    b_.SetInsertPoint(right);
  });
  if (!is_pair()) return;
  forget_left_for();
  b_.CreateBr(blocks_[head]);
}

// After a barrier, rows are as this code left them.
void Emitter::check_shapes(std::uint32_t head, const Side& side, BasicBlock* right, BasicBlock* otherwise) {
  rows_->shapes = shapes_.at(head);
  llvm::SmallVector<unsigned, 16> checked;
  for (const unsigned row : region_.live_before(head).set_bits()) {
    if (!part_.touches(row) || region_.rows()[row].constant >= 0) continue;
    rows_->fetch(row);
    if (rows_->shapes[row].is_sequence() && !shapes_.is_given(row, head)) checked.push_back(row);
  }
  if (head != 0 && keeps_rows(head - 1)) {
    BasicBlock* const checking = block();
    b_.CreateCondBr(b_.CreateICmpEQ(side.kept, real(head)), right, checking);
    b_.SetInsertPoint(checking);
  }
  Value* wrong = b_.getInt32(0);
  for (const unsigned row : checked) wrong = b_.CreateOr(wrong, rows_->differing(row));
  b_.CreateCondBr(b_.CreateIsNull(wrong), right, otherwise);
}

// Whether the op is a barrier that changes no row, and after which warps enter this code.
bool Emitter::keeps_rows(std::uint32_t op) const {
  const OpFacts& f = region_.facts(op);
  return f.meaning.kind == Kind::barrier && !f.guarded && (program_.ops[op].extra & kReduces) == 0 &&
         part_.enters(op + 1) && !part_.elsewhere(op);
}

void Emitter::keep_budget(const Side& side) {
  Value* left = b_.CreateLoad(b_.getInt64Ty(), budget_);
  if (side.ahead != nullptr) left = b_.CreateAdd(left, side.ahead);
  b_.CreateAlignedStore(left, rows_->home(offsetof(Warp, budget)), llvm::Align(8));
}

void Emitter::stop(Value* next) {
  keep_budget(sides_.front());
  b_.CreateRet(next);
}

BasicBlock* Emitter::stopped() {
  if (stopped_ != nullptr) return stopped_;
  const llvm::IRBuilderBase::InsertPointGuard here(b_);
  stopped_ = BasicBlock::Create(b_.getContext(), "stopped", body_);
  b_.SetInsertPoint(stopped_);
  stop(llvm::ConstantPointerNull::get(b_.getPtrTy()));
  return stopped_;
}

BasicBlock* Emitter::leave(std::uint32_t op) {
  BasicBlock*& leaving = leaving_[op];
  if (leaving != nullptr) return leaving;
  const llvm::IRBuilderBase::InsertPointGuard here(b_);
  leaving = BasicBlock::Create(b_.getContext(), "leave", body_);
  b_.SetInsertPoint(leaving);
  const RowShapes shapes = rows_->shapes;
  const RowValues::Lanes lanes = rows_->lanes();
  if (in_memory()) save_in_memory(op);
  llvm::BitVector saved = region_.live_before(op);
  for (const MaskedSide& masked : masked_) saved |= live_for_others(masked);
  saved &= part_.dirty_before(op);
  if (in_memory()) saved.reset();
  merge_all();
  for_each_side([&](Side& side) {
    for (const unsigned row : saved.set_bits()) rows_->take_home(row);
    if (is_pair()) keep_budget(side);
    if (keeps_rows(op)) {
      Value* const live = b_.CreateAlignedLoad(b_.getInt32Ty(), rows_->home(offsetof(Warp, live)), llvm::Align(4));
      b_.CreateAlignedStore(b_.CreateSelect(b_.CreateICmpEQ(live, rows_->active()), real(op + 1),
                                            llvm::ConstantPointerNull::get(b_.getPtrTy())),
                            rows_->home(offsetof(Warp, left_for)), llvm::Align(8));
    }
  });
  split_again();
  if (!masked_.empty()) {
    rows_->shapes = shapes;
    rows_->set_lanes(lanes);
  }
  if (is_pair()) {
    b_.CreateRet(real(op));
  } else if (part_.enters(op)) { // the op would enter this code again
    keep_budget(sides_.front());
    b_.CreateRet(call_original(b_.getInt32(op), real(op)));
  } else {
    stop(real(op));
  }
  return leaving;
}

// Rows in memory are written for the lanes of a side only before it ends; those in registers are mixed first.
void Emitter::arrive_and_meet(std::uint32_t op) {
  if (in_memory()) arrive(op);
  meet(op);
  if (!in_memory()) arrive(op);
}

void Emitter::arrive(std::uint32_t leader) {
  if (in_memory()) return arrive_in_memory(leader);
  const RowShapes& wanted = shapes_.at(leader);
  for_each_side([&](Side&) {
    for (const unsigned row : region_.live_before(leader).set_bits())
      if (part_.touches(row)) rows_->convert(row, wanted[row]);
  });
}

} // namespace warplens::exec::compile
