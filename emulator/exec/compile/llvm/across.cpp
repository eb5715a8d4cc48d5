// SPDX-License-Identifier: Apache-2.0
// Shuffles, votes and reductions across the lanes of a warp, as in emulator/exec/lanes/warp_handlers.cpp.
#include "emulator/exec/compile/llvm/emitter.hpp"

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <cstddef>

namespace warplens::exec::compile {

using llvm::Value;

// The acting lanes, which must be all that their membermask names, but those that have exited. Otherwise the
// interpreter runs the op: it forms groups, and lets the others arrive.
Value* Emitter::acting_group(std::uint32_t op, bool has_membermask) {
  const Op& o = program_.ops[op];
  Value* const acting = b_.CreateAnd(guard(op), rows_->active());
  if (!has_membermask) return acting;
  const Shape shape = rows_->shape(o.src[3]);
  const bool is_known = shape.is_uniform();
  Value* const named =
      is_known ? rows_->first(o.src[3], 0) : b_.CreateExtractElement(rows_->chunk(o.src[3], 0), std::uint64_t{0});
  Value* const live = b_.CreateAlignedLoad(b_.getInt32Ty(), rows_->home(offsetof(Warp, live)), llvm::Align(4));
  Value* const missing = b_.CreateAnd(b_.CreateAnd(named, live), b_.CreateNot(acting));
  Value* wrong = b_.CreateOr(b_.CreateAnd(acting, b_.CreateNot(named)), missing);
  const Chunks& chunks = rows_->chunks();
  for (std::uint32_t c = 0; !is_known && c < chunks.of(4); ++c) {
    Value* const others = b_.CreateICmpNE(rows_->chunk(o.src[3], c), b_.CreateVectorSplat(chunks.lanes(4), named));
    wrong = b_.CreateOr(wrong, b_.CreateZExt(b_.CreateBitCast(others, b_.getIntNTy(chunks.lanes(4))), b_.getInt32Ty()));
  }
  llvm::BasicBlock* const on = block();
  b_.CreateCondBr(b_.CreateIsNull(wrong), on, leave(op));
  b_.SetInsertPoint(on);
  return acting;
}

void Emitter::across(std::uint32_t op, const Computed& computed) {
  const WarpHandlerKey& key = region_.facts(op).meaning.warp;
  Value* const acting = acting_group(op, key.sync);
  if (shuffles(key.operation)) return define(op, computed, shuffled(op, acting));
  define(op, computed,
         votes(key.operation)                          ? vote(op, acting)
         : key.operation == WarpOperation::active_mask ? acting
                                                       : reduced(op, acting));
}

// The chunks of the value, and the predicate if there is one: as shuffle_source() says. Lanes that do not act send 0.
llvm::SmallVector<Value*, 8> Emitter::shuffled(std::uint32_t op, Value* acting) {
  using enum WarpOperation;
  const Op& o = program_.ops[op];
  const WarpHandlerKey& key = region_.facts(op).meaning.warp;
  const Chunks& chunks = rows_->chunks();
  const std::uint32_t lanes = chunks.lanes(4);
  const auto all = [&](std::uint32_t number) { return b_.CreateVectorSplat(lanes, b_.getInt32(number)); };
  llvm::SmallVector<Value*, 8> given, results;
  for (std::uint32_t c = 0; c < chunks.of(4); ++c)
    given.push_back(b_.CreateSelect(rows_->lanes_of(acting, 4, c), rows_->chunk(o.src[0], c), all(0)));
  Value* truths = b_.getInt32(0);
  for (std::uint32_t c = 0; c < chunks.of(4); ++c) {
    llvm::SmallVector<llvm::Constant*, 16> numbers;
    for (std::uint32_t i = 0; i < lanes; ++i) numbers.push_back(b_.getInt32(c * lanes + i));
    Value* const own = llvm::ConstantVector::get(numbers);
    Value* const bounds = rows_->chunk(o.src[2], c);
    Value* const distance = b_.CreateAnd(rows_->chunk(o.src[1], c), all(31));
    Value* const segment = b_.CreateAnd(b_.CreateLShr(bounds, all(8)), all(31));
    Value* const begin = b_.CreateAnd(own, segment);
    const auto in_segment = [&](Value* x) { return b_.CreateOr(begin, b_.CreateAnd(x, b_.CreateNot(segment))); };
    Value* const last = in_segment(b_.CreateAnd(bounds, all(31)));
    Value* const source = key.operation == shuffle_up          ? b_.CreateSub(own, distance)
                          : key.operation == shuffle_down      ? b_.CreateAdd(own, distance)
                          : key.operation == shuffle_butterfly ? b_.CreateXor(own, distance)
                                                               : in_segment(distance);
    Value* const in_range =
        key.operation == shuffle_up ? b_.CreateICmpSGE(source, last) : b_.CreateICmpSLE(source, last);
    results.push_back(permuted(given, b_.CreateSelect(in_range, source, own)));
    Value* const bits = b_.CreateZExt(b_.CreateBitCast(in_range, b_.getIntNTy(lanes)), b_.getInt32Ty());
    truths = b_.CreateOr(truths, b_.CreateShl(bits, c * lanes));
  }
  if (key.predicate) results.push_back(truths);
  return results;
}

// Lane i has the number from[i] of all lanes.
Value* Emitter::permuted(llvm::ArrayRef<Value*> given, Value* from) {
  if (given.size() == 2)
    return b_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_vpermi2var_d_512, {}, {given[0], from, given[1]});
  make_room(stored_values_);
  const std::uint32_t lanes = kWarpSize / static_cast<std::uint32_t>(given.size());
  for (std::size_t c = 0; c < given.size(); ++c)
    b_.CreateAlignedStore(given[c], b_.CreateConstGEP1_64(given[c]->getType(), stored_values_, c), llvm::Align(16));
  Value* const places = b_.CreateGEP(b_.getInt32Ty(), stored_values_, from);
  return b_.CreateMaskedGather(given[0]->getType(), places, llvm::Align(4),
                               llvm::ConstantInt::getTrue(llvm::FixedVectorType::get(b_.getInt1Ty(), lanes)));
}

// A number, or a truth, that is the same in all lanes.
Value* Emitter::vote(std::uint32_t op, Value* acting) {
  using enum WarpOperation;
  const Op& o = program_.ops[op];
  Value* const truths = b_.CreateXor(rows_->chunk(o.src[0], 0), b_.getInt32(static_cast<std::uint32_t>(o.imm)));
  Value* const yes = b_.CreateAnd(truths, acting);
  Value* const all = b_.CreateICmpEQ(yes, acting);
  Value* const none = b_.CreateIsNull(yes);
  switch (region_.facts(op).meaning.warp.operation) {
  case ballot: return yes;
  case vote_all: return all;
  case vote_any: return b_.CreateNot(none);
  default: return b_.CreateOr(all, none);
  }
}

Value* Emitter::reduced(std::uint32_t op, Value* acting) {
  using enum WarpOperation;
  const WarpOperation operation = region_.facts(op).meaning.warp.operation;
  const bool is_signed = operation == min_signed || operation == max_signed;
  const std::uint32_t least = is_signed ? 0x80000000u : 0u, most = is_signed ? 0x7fffffffu : ~0u;
  const bool takes_least = operation == min_unsigned || operation == min_signed;
  const std::uint32_t neutral = operation == bit_and || takes_least                    ? most
                                : operation == max_unsigned || operation == max_signed ? least
                                                                                       : 0u;
  const auto of = [&](Value* values) {
    switch (operation) {
    case WarpOperation::add: return b_.CreateAddReduce(values);
    case bit_and: return b_.CreateAndReduce(values);
    case bit_or: return b_.CreateOrReduce(values);
    case bit_xor: return b_.CreateXorReduce(values);
    default: return takes_least ? b_.CreateIntMinReduce(values, is_signed) : b_.CreateIntMaxReduce(values, is_signed);
    }
  };
  const Chunks& chunks = rows_->chunks();
  llvm::SmallVector<Value*, 8> members;
  for (std::uint32_t c = 0; c < chunks.of(4); ++c)
    members.push_back(b_.CreateSelect(rows_->lanes_of(acting, 4, c), rows_->chunk(program_.ops[op].src[0], c),
                                      b_.CreateVectorSplat(chunks.lanes(4), b_.getInt32(neutral))));
  return of(llvm::concatenateVectors(b_, members));
}

} // namespace warplens::exec::compile
