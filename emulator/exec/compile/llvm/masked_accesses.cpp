// SPDX-License-Identifier: Apache-2.0
// Loads and stores by some of the lanes, at a sequence of addresses: the processor moves vectors under a mask. The
// whole sequence must be in the region that the op found last, as if all lanes accessed memory.
#include "emulator/exec/compile/llvm/access.hpp"

#include "emulator/exec/access/collisions.hpp"

#include <llvm/Analysis/VectorUtils.h>

namespace warplens::exec::compile {

using llvm::BasicBlock;
using llvm::Value;

// AVX2 has masks for words only. Of two sequences, watchers are told in another way.
bool Emitter::takes_masks(const Access& a) const {
  const unsigned vector_bytes = rows_->chunks().vector_bytes();
  const bool has_masks = vector_bytes == 64 || (vector_bytes == 32 && a.element_bytes() >= 4);
  return has_masks && a.address.is_sequence() && a.is_contiguous() && a.element_bytes() <= 8 &&
         (a.address.whole || !program_.watched);
}

void Emitter::access_masked(Access& a, bool loads, const Computed& computed) {
  reach(a);
  if (loads)
    load_masked(a, computed);
  else
    store_masked(a);
  b_.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent, llvm::SyncScope::SingleThread);
}

// For each element of some lanes, whether the lane acts.
Value* Emitter::mask_of(const Access& a, std::uint32_t lane, std::uint32_t count) {
  Value* const bits = b_.CreateTrunc(b_.CreateLShr(a.acting, lane), b_.getIntNTy(count));
  Value* const lanes = b_.CreateBitCast(bits, llvm::FixedVectorType::get(b_.getInt1Ty(), count));
  if (a.vector() == 1) return lanes;
  llvm::SmallVector<int, 64> order;
  for (std::uint32_t i = 0; i < count * a.vector(); ++i) order.push_back(static_cast<int>(i / a.vector()));
  return b_.CreateShuffleVector(lanes, order);
}

void Emitter::load_masked(const Access& a, const Computed& computed) {
  const Chunks& chunks = rows_->chunks();
  const std::uint32_t lanes = chunks.lanes(a.row_bytes()), count = chunks.of(a.row_bytes());
  llvm::Type* const element = b_.getIntNTy(8 * a.element_bytes());
  const auto loaded = [&](std::uint32_t first, std::uint32_t number) -> Value* {
    auto* const type = llvm::FixedVectorType::get(element, number * a.vector());
    return b_.CreateMaskedLoad(type, place(a, first), llvm::Align(a.lane_bytes()), mask_of(a, first, number),
                               llvm::Constant::getNullValue(type));
  };
  llvm::SmallVector<Value*, 8> values(count * a.vector());
  for (std::uint32_t c = 0; c < count; ++c) {
    Value* const there = load_chunk(a, c, loaded);
    for (unsigned e = 0; e < a.vector(); ++e) {
      Value* const own = a.vector() == 1 ? there : b_.CreateShuffleVector(there, every(lanes, a.vector(), e));
      values[e * count + c] = b_.CreateIntCast(own, llvm::FixedVectorType::get(b_.getIntNTy(8 * a.row_bytes()), lanes),
                                               isa::is_signed(a.key.type));
    }
  }
  deliver(a, computed, values, false);
}

void Emitter::store_masked(const Access& a) {
  for (std::uint32_t c = 0; c < rows_->chunks().of(a.row_bytes()); ++c) {
    Value* const values = elements_of(a, c);
    const auto stored = [&](Value* some, std::uint32_t first, std::uint32_t count) {
      b_.CreateMaskedStore(some, place(a, first), llvm::Align(a.lane_bytes()), mask_of(a, first, count));
    };
    store_chunk(a, c, values, stored);
  }
}

// All lanes store to one place.
bool Emitter::stores_to_one(const Access& a, bool loads) {
  return !loads && a.address.is_uniform() && a.vector() == 1 && a.element_bytes() <= 8;
}

// One of them wins: as for_each_storing_lane() has it, the lowest of the last ones that store together.
void Emitter::store_to_one(Access& a, BasicBlock* on) {
  BasicBlock* const storing = block();
  b_.CreateCondBr(b_.CreateIsNull(a.acting), on, storing);
  b_.SetInsertPoint(storing);
  a.all_act = false;
  reach(a);
  const auto together = static_cast<std::uint32_t>(lanes_together(a.lane_bytes()));
  const auto zeros = [&](llvm::Intrinsic::ID id, Value* of) { return b_.CreateBinaryIntrinsic(id, of, b_.getTrue()); };
  Value* const highest = b_.CreateSub(b_.getInt32(kWarpSize - 1), zeros(llvm::Intrinsic::ctlz, a.acting));
  Value* const group = b_.CreateAnd(highest, b_.getInt32(~(together - 1)));
  Value* const lane = b_.CreateAdd(group, zeros(llvm::Intrinsic::cttz, b_.CreateLShr(a.acting, group)));
  pass_values(a, 0);
  llvm::Type* const element = b_.getIntNTy(8 * a.element_bytes());
  const llvm::Align align(a.element_bytes());
  Value* const value =
      b_.CreateAlignedLoad(element, b_.CreateGEP(element, stored_values_, b_.CreateZExt(lane, b_.getInt64Ty())), align);
  b_.CreateAlignedStore(value, a.first[0], align);
  b_.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent, llvm::SyncScope::SingleThread);
}

} // namespace warplens::exec::compile
