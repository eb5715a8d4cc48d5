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
  auto* const handler = llvm::FunctionType::get(b_.getPtrTy(), {b_.getPtrTy(), b_.getPtrTy()}, false);
  for (std::uint32_t h = 0; h < part_.heads().size(); ++h) {
    llvm::Function* const head = llvm::Function::Create(handler, llvm::GlobalValue::ExternalLinkage,
                                                        "head_" + llvm::Twine(part_.heads()[h]), module_);
    b_.SetInsertPoint(BasicBlock::Create(b_.getContext(), "", head));
    Value* const first =
        b_.CreateConstGEP1_64(b_.getInt8Ty(), head->getArg(0),
                              static_cast<std::uint64_t>(-static_cast<std::int64_t>(part_.heads()[h] * sizeof(Op))));
    auto* const result = b_.CreateCall(body_, {first, head->getArg(1), b_.getInt32(h)});
    result->setTailCall();
    b_.CreateRet(result);
  }
}

void Emitter::enter() {
  BasicBlock* const start = BasicBlock::Create(b_.getContext(), "enter", body_);
  b_.SetInsertPoint(start);
  budget_ = b_.CreateAlloca(b_.getInt64Ty());
  rows_.emplace(program_, region_, target_.chunks, b_, warp_, start);
  Value* const active =
      b_.CreateAlignedLoad(b_.getInt32Ty(), rows_->home(offsetof(Warp, active)), llvm::Align(4), "active");
  rows_->enter(active);
  originals_ = call("originals_of", {warp_});
  b_.CreateStore(b_.CreateAlignedLoad(b_.getInt64Ty(), rows_->home(offsetof(Warp, budget)), llvm::Align(8)), budget_);
  blocks_.assign(region_.size(), nullptr);
  for (std::uint32_t i = 0; i < region_.size(); ++i)
    if (part_.reachable(i) && part_.leads(i)) blocks_[i] = block();
  Value* const left_for = rows_->home(offsetof(Warp, left_for));
  Value* const kept = b_.CreateAlignedLoad(b_.getPtrTy(), left_for, llvm::Align(8));
  b_.CreateAlignedStore(llvm::ConstantPointerNull::get(b_.getPtrTy()), left_for, llvm::Align(8));
  Value* const interprets = call("must_interpret", {warp_, b_.getInt1(program_.watched), b_.getInt8(shapes_.layout())});
  BasicBlock* const interpret = BasicBlock::Create(b_.getContext(), "interpret", body_);
  BasicBlock* const inside = BasicBlock::Create(b_.getContext(), "inside", body_);
  b_.CreateCondBr(interprets, interpret, inside);
  b_.SetInsertPoint(interpret);
  auto* const heads_type = llvm::ArrayType::get(b_.getInt32Ty(), part_.heads().size());
  auto* const heads = new llvm::GlobalVariable(
      module_, heads_type, true, llvm::GlobalValue::PrivateLinkage,
      llvm::ConstantDataArray::get(b_.getContext(), llvm::ArrayRef<std::uint32_t>(part_.heads())));
  Value* const op =
      b_.CreateAlignedLoad(b_.getInt32Ty(), b_.CreateGEP(heads_type, heads, {b_.getInt32(0), entry_}), llvm::Align(4));
  Value* const at =
      b_.CreateGEP(b_.getInt8Ty(), base_, b_.CreateMul(b_.CreateZExt(op, b_.getInt64Ty()), b_.getInt64(sizeof(Op))));
  b_.CreateRet(call_original(op, at));
  BasicBlock* const nowhere = block();
  b_.SetInsertPoint(nowhere);
  b_.CreateUnreachable();
  b_.SetInsertPoint(inside);
  llvm::SwitchInst* const choice = b_.CreateSwitch(entry_, nowhere, static_cast<unsigned>(part_.heads().size()));
  for (std::uint32_t h = 0; h < part_.heads().size(); ++h) {
    BasicBlock* const fetching = block();
    choice->addCase(b_.getInt32(h), fetching);
    b_.SetInsertPoint(fetching);
    enter_at(part_.heads()[h], kept, interpret);
  }
}

// Rows come from memory. Where one has another shape than the analysis said, the warp stays in the interpreter. After a
// barrier, rows are as this code left them.
void Emitter::enter_at(std::uint32_t head, Value* kept, BasicBlock* interpret) {
  rows_->shapes = shapes_.at(head);
  llvm::SmallVector<unsigned, 16> checked;
  for (const unsigned row : region_.live_before(head).set_bits()) {
    if (!part_.touches(row) || region_.rows()[row].constant >= 0) continue;
    rows_->fetch(row);
    if (rows_->shapes[row].is_sequence() && !shapes_.is_given(row)) checked.push_back(row);
  }
  if (head != 0 && keeps_rows(head - 1)) {
    BasicBlock* const checking = block();
    b_.CreateCondBr(b_.CreateICmpEQ(kept, real(head)), blocks_[head], checking);
    b_.SetInsertPoint(checking);
  }
  Value* wrong = b_.getInt32(0);
  for (const unsigned row : checked) wrong = b_.CreateOr(wrong, rows_->differing(row));
  b_.CreateCondBr(b_.CreateIsNull(wrong), blocks_[head], interpret);
}

// Whether the op is a barrier that changes no row, and after which warps enter this code.
bool Emitter::keeps_rows(std::uint32_t op) const {
  const OpFacts& f = region_.facts(op);
  return f.meaning.kind == Kind::barrier && !f.guarded && (program_.ops[op].extra & kReduces) == 0 &&
         part_.enters(op + 1) && !part_.elsewhere(op);
}

void Emitter::stop(Value* next) {
  b_.CreateAlignedStore(b_.CreateLoad(b_.getInt64Ty(), budget_), rows_->home(offsetof(Warp, budget)), llvm::Align(8));
  b_.CreateRet(next);
}

BasicBlock* Emitter::leave(std::uint32_t op) {
  BasicBlock*& leaving = leaving_[op];
  if (leaving != nullptr) return leaving;
  const llvm::IRBuilderBase::InsertPointGuard here(b_);
  leaving = BasicBlock::Create(b_.getContext(), "leave", body_);
  b_.SetInsertPoint(leaving);
  llvm::BitVector saved = region_.live_before(op);
  saved &= part_.dirty_before(op);
  for (const unsigned row : saved.set_bits()) rows_->take_home(row);
  if (keeps_rows(op)) {
    Value* const live = b_.CreateAlignedLoad(b_.getInt32Ty(), rows_->home(offsetof(Warp, live)), llvm::Align(4));
    b_.CreateAlignedStore(b_.CreateSelect(b_.CreateICmpEQ(live, rows_->active()), real(op + 1),
                                          llvm::ConstantPointerNull::get(b_.getPtrTy())),
                          rows_->home(offsetof(Warp, left_for)), llvm::Align(8));
  }
  // Where this code begins, the op would enter it again.
  if (part_.enters(op)) {
    b_.CreateAlignedStore(b_.CreateLoad(b_.getInt64Ty(), budget_), rows_->home(offsetof(Warp, budget)), llvm::Align(8));
    b_.CreateRet(call_original(b_.getInt32(op), real(op)));
  } else {
    stop(real(op));
  }
  return leaving;
}

void Emitter::arrive(std::uint32_t leader) {
  const RowShapes& wanted = shapes_.at(leader);
  for (const unsigned row : region_.live_before(leader).set_bits())
    if (part_.touches(row)) rows_->convert(row, wanted[row]);
}

} // namespace warplens::exec::compile
