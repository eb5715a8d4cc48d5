// SPDX-License-Identifier: Apache-2.0
// Loads and stores by some of the lanes, or with addresses that are no sequence: each lane has its own address. They
// are compared with the region that the op found last; where one is outside or not aligned, the handler runs.
#include "emulator/exec/compile/llvm/access.hpp"

#include <llvm/Analysis/VectorUtils.h>

#include <algorithm>

namespace warplens::exec::compile {

using llvm::Value;

// Only AVX-512 gathers lanes under a mask. Elements are stored one after the other, which could make another lane win
// where several store to one place; in local memory, none do.
bool Emitter::takes_lanes_apart(const Access& a, bool loads, const Computed& computed) const {
  const bool is_local = a.site.space == isa::Space::local;
  return rows_->chunks().vector_bytes() == 64 && (is_local || is_quick(a.site.space)) && !computed.kept.is_sequence() &&
         a.element_bytes() <= 8 && (loads || is_local || a.vector() == 1);
}

void Emitter::access_lanes(Access& a, bool loads, const Computed& computed) {
  const LaneAddresses at = reach_lanes(a);
  b_.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent, llvm::SyncScope::SingleThread);
  // Loads come first: while the watcher is told, their data arrive.
  if (loads) gather_lanes(a, at, computed);
  if (program_.watched) tell_lanes(a, at);
  if (!loads) store_lanes(a, at);
  b_.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent, llvm::SyncScope::SingleThread);
}

// Checks the addresses of the acting lanes.
Emitter::LaneAddresses Emitter::reach_lanes(Access& a) {
  const std::uint32_t bytes = a.address_bytes();
  const Chunks& chunks = rows_->chunks();
  LaneAddresses at;
  Value *begin = b_.getInt64(0), *end = nullptr;
  at.origin = llvm::ConstantPointerNull::get(b_.getPtrTy());
  if (a.site.space == isa::Space::shared) {
    end = call("shared_bytes_of", {warp_});
    at.origin = call("shared_of", {warp_});
  } else if (a.site.space == isa::Space::local) {
    end = call("local_bytes_of", {warp_});
    at.origin = call("local_of", {warp_});
  } else {
    Value* const region = call("region_of", {warp_, a.site_index});
    begin = b_.CreateAlignedLoad(b_.getInt64Ty(), region, llvm::Align(8));
    end = b_.CreateAlignedLoad(b_.getInt64Ty(), b_.CreateConstGEP1_64(b_.getInt8Ty(), region, 8), llvm::Align(8));
  }
  // The last place where a lane's bytes may begin, counted from the first one.
  Value* const first_end = b_.CreateAdd(begin, b_.getInt64(a.lane_bytes()));
  Value* const room = b_.CreateAnd(b_.CreateICmpUGE(end, first_end), b_.CreateICmpUGE(first_end, begin));
  llvm::Type* const word = b_.getIntNTy(8 * bytes);
  Value* const last = b_.CreateTrunc(b_.CreateSub(end, first_end), word);
  Value* outside = b_.getInt32(0);
  for (std::uint32_t c = 0; c < chunks.of(bytes); ++c) {
    const std::uint32_t lanes = chunks.lanes(bytes);
    const auto all = [&](Value* v) { return b_.CreateVectorSplat(lanes, v); };
    Value* const address = address_chunk(a, c);
    Value* const distance = b_.CreateSub(address, all(b_.CreateTrunc(begin, word)));
    Value* wrong = b_.CreateICmpUGT(distance, all(last));
    if (a.lane_bytes() > 1) {
      Value* const low_bits = b_.CreateAnd(address, all(llvm::ConstantInt::get(word, a.lane_bytes() - 1)));
      wrong = b_.CreateOr(wrong, b_.CreateIsNotNull(low_bits));
    }
    Value* const bits = b_.CreateZExt(b_.CreateBitCast(wrong, b_.getIntNTy(lanes)), b_.getInt32Ty());
    outside = b_.CreateOr(outside, b_.CreateShl(bits, c * lanes));
    at.chunks.push_back(address);
  }
  Value* const inside = b_.CreateAnd(room, b_.CreateIsNull(b_.CreateAnd(outside, a.acting)));
  llvm::BasicBlock* const reached = block();
  b_.CreateCondBr(inside, reached, a.slow);
  b_.SetInsertPoint(reached);
  at.places = at.chunks;
  if (a.site.space == isa::Space::local) {
    Value* const stride = b_.CreateTrunc(call("local_stride_of", {warp_}), word);
    for (std::uint32_t c = 0; c < chunks.of(bytes); ++c)
      at.places[c] =
          b_.CreateAdd(at.chunks[c], b_.CreateMul(lanes_from(c * chunks.lanes(bytes), chunks.lanes(bytes), word),
                                                  b_.CreateVectorSplat(chunks.lanes(bytes), stride)));
  }
  return at;
}

Value* Emitter::address_chunk(const Access& a, std::uint32_t chunk) {
  const std::uint32_t bytes = a.address_bytes();
  if (a.address.is_sequence()) return rows_->spread(a.address, bytes, chunk, a.start[0], a.start[1]);
  Value* const offset = b_.CreateTrunc(a.imm, b_.getIntNTy(8 * bytes));
  return b_.CreateAdd(a.addresses[chunk], b_.CreateVectorSplat(rows_->chunks().lanes(bytes), offset));
}

// The numbers of some lanes.
llvm::Constant* Emitter::lanes_from(std::uint32_t first, std::uint32_t count, llvm::Type* type) {
  llvm::SmallVector<llvm::Constant*, 32> numbers;
  for (std::uint32_t i = 0; i < count; ++i) numbers.push_back(llvm::ConstantInt::get(type, first + i));
  return llvm::ConstantVector::get(numbers);
}

// The places of lanes that begin at a multiple of `count`.
Value* Emitter::places_of(const LaneAddresses& at, std::uint32_t lane, std::uint32_t count) {
  const auto own = kWarpSize / static_cast<std::uint32_t>(at.places.size());
  if (count <= own) {
    llvm::SmallVector<int, 32> order;
    for (std::uint32_t i = 0; i < count; ++i) order.push_back(static_cast<int>(lane % own + i));
    return count == own ? at.places[lane / own] : b_.CreateShuffleVector(at.places[lane / own], order);
  }
  llvm::SmallVector<Value*, 8> parts;
  for (std::uint32_t i = lane / own; i < (lane + count) / own; ++i) parts.push_back(at.places[i]);
  return llvm::concatenateVectors(b_, parts);
}

// The processor gathers words: one with a narrower element is as safe to read, since it is in the same page.
void Emitter::gather_lanes(const Access& a, const LaneAddresses& at, const Computed& computed) {
  constexpr std::uint32_t kWord = 4;
  const Chunks& chunks = rows_->chunks();
  const std::uint32_t lanes = chunks.lanes(a.row_bytes());
  const bool narrow = a.element_bytes() < kWord;
  const auto vector = [&](std::uint32_t bytes) { return llvm::FixedVectorType::get(b_.getIntNTy(8 * bytes), lanes); };
  llvm::SmallVector<Value*, 8> values;
  const std::uint32_t count = chunks.of(a.row_bytes());
  for (std::uint32_t i = 0; i < a.vector() * count; ++i) {
    const std::uint32_t c = i % count;
    const std::uint64_t offset = std::uint64_t{i / count} * a.element_bytes();
    Value* address = places_of(at, c * lanes, lanes);
    Value* shift = nullptr;
    if (narrow) {
      address = b_.CreateAdd(address, llvm::ConstantInt::get(address->getType(), offset));
      Value* const place = b_.CreateAnd(address, llvm::ConstantInt::get(address->getType(), kWord - 1));
      shift = b_.CreateShl(b_.CreateZExtOrTrunc(place, vector(kWord)), llvm::ConstantInt::get(vector(kWord), 3));
      address = b_.CreateSub(address, place);
    }
    // LLVM takes a narrow index for a signed number; those of shared memory are small, and gathered as they are.
    if (a.site.space != isa::Space::shared) address = b_.CreateZExt(address, vector(8));
    Value* const places = b_.CreateGEP(
        b_.getInt8Ty(), narrow ? at.origin : b_.CreateConstGEP1_64(b_.getInt8Ty(), at.origin, offset), address);
    llvm::Type* const gathered = vector(std::max(kWord, a.element_bytes()));
    Value* loaded =
        b_.CreateMaskedGather(gathered, places, llvm::Align(std::max(kWord, a.element_bytes())),
                              rows_->lanes_of(a.acting, a.row_bytes(), c), llvm::Constant::getNullValue(gathered));
    if (narrow) loaded = b_.CreateTrunc(b_.CreateLShr(loaded, shift), vector(a.element_bytes()));
    values.push_back(b_.CreateIntCast(loaded, vector(a.row_bytes()), isa::is_signed(a.key.type)));
  }
  deliver(a, computed, values, false);
}

// Once in a function.
void Emitter::make_variable(Value*& variable, llvm::Type* type, llvm::Align align) {
  if (variable != nullptr) return;
  const llvm::IRBuilderBase::InsertPointGuard here(b_);
  b_.SetInsertPoint(&body_->getEntryBlock(), body_->getEntryBlock().begin());
  auto* const made = b_.CreateAlloca(type);
  made->setAlignment(align);
  variable = made;
}

// For 8 bytes of each lane.
void Emitter::make_room(Value*& variable) {
  make_variable(variable, llvm::ArrayType::get(b_.getInt8Ty(), kWarpSize * 8), llvm::Align(64));
}

// Tells the watcher of the lanes' addresses; a function finds out whether they are sequences, as the handler does.
void Emitter::tell_lanes(const Access& a, const LaneAddresses& at) {
  make_room(told_addresses_);
  const std::uint32_t bytes = a.address_bytes();
  for (std::size_t c = 0; c < at.chunks.size(); ++c)
    b_.CreateAlignedStore(
        at.chunks[c], b_.CreateConstGEP1_64(b_.getInt8Ty(), told_addresses_, c * kWarpSize / at.chunks.size() * bytes),
        llvm::Align(64));
  call_far(bytes == 4 ? "tell_lanes_of_32" : "tell_lanes_of_64",
           {warp_, a.real, b_.getInt8(static_cast<std::uint8_t>(a.site.space)), told_addresses_, a.acting});
}

// Puts the lanes' host addresses and elements where a function finds them.
void Emitter::pass_lanes(const Access& a, const LaneAddresses& at, unsigned element) {
  make_room(stored_places_);
  Value* const origin = b_.CreateAdd(b_.CreatePtrToInt(at.origin, b_.getInt64Ty()),
                                     b_.getInt64(std::uint64_t{element} * a.element_bytes()));
  for (std::uint32_t lane = 0; lane < kWarpSize; lane += 8) {
    Value* const address = b_.CreateZExt(places_of(at, lane, 8), llvm::FixedVectorType::get(b_.getInt64Ty(), 8));
    b_.CreateAlignedStore(b_.CreateAdd(address, b_.CreateVectorSplat(8, origin)),
                          b_.CreateConstGEP1_64(b_.getInt8Ty(), stored_places_, std::uint64_t{lane} * 8),
                          llvm::Align(64));
  }
  pass_values(a, element);
}

void Emitter::pass_values(const Access& a, unsigned element) {
  make_room(stored_values_);
  const Chunks& chunks = rows_->chunks();
  const std::uint32_t bytes = a.element_bytes(), lanes = chunks.lanes(a.row_bytes());
  for (std::uint32_t c = 0; c < chunks.of(a.row_bytes()); ++c)
    b_.CreateAlignedStore(b_.CreateTrunc(a.values[element * chunks.of(a.row_bytes()) + c],
                                         llvm::FixedVectorType::get(b_.getIntNTy(8 * bytes), lanes)),
                          b_.CreateConstGEP1_64(b_.getInt8Ty(), stored_values_, std::uint64_t{c} * lanes * bytes),
                          llvm::Align(std::min(64u, lanes * bytes)));
}

// The lanes' order matters where they store to the same place: a function stores one after the other.
void Emitter::store_lanes(const Access& a, const LaneAddresses& at) {
  for (unsigned e = 0; e < a.vector(); ++e) {
    pass_lanes(a, at, e);
    call("store_lanes_of_" + std::to_string(a.element_bytes()), {stored_places_, stored_values_, a.acting});
  }
}

// An atomic operation on integers, whose function leaves the old values where it found the new ones.
void Emitter::atomic(std::uint32_t op, const Computed& computed) {
  const OpFacts& f = region_.facts(op);
  Access a = access(op);
  llvm::BasicBlock* const handled = llvm::BasicBlock::Create(b_.getContext(), "handled", body_);
  llvm::BasicBlock* const on = block();
  a.slow = handled;
  const bool shared = a.site.space == isa::Space::shared;
  Value* locked = b_.getFalse();
  if (!shared) {
    llvm::BasicBlock* const untold = block();
    b_.CreateCondBr(call("tells_reductions", {warp_}), handled, untold);
    b_.SetInsertPoint(untold);
    locked = b_.CreateNot(call("works_alone", {warp_}));
  }
  const LaneAddresses at = reach_lanes(a);
  if (program_.watched) tell_lanes(a, at);
  const bool returns = !f.defs.empty() && region_.live_before(op + 1).test(region_.row(f.defs[0].offset));
  pass_lanes(a, at, 0);
  llvm::Type* const pointer = b_.getPtrTy();
  const llvm::FunctionCallee function = module_.getOrInsertFunction(
      f.meaning.atomic,
      llvm::FunctionType::get(b_.getVoidTy(), {pointer, pointer, b_.getInt32Ty(), b_.getInt1Ty(), b_.getInt1Ty()},
                              false));
  auto* const called = b_.CreateCall(function, {stored_places_, stored_values_, a.acting, locked, b_.getInt1(returns)});
  for (const unsigned truth : {3u, 4u}) called->addParamAttr(truth, llvm::Attribute::ZExt);
  if (returns) {
    const Chunks& chunks = rows_->chunks();
    const std::uint32_t bytes = a.row_bytes();
    llvm::SmallVector<Value*, 8> values;
    for (std::uint32_t c = 0; c < chunks.of(bytes); ++c)
      values.push_back(b_.CreateAlignedLoad(
          chunks.type(b_.getContext(), bytes),
          b_.CreateConstGEP1_64(b_.getInt8Ty(), stored_values_, std::uint64_t{c} * chunks.lanes(bytes) * bytes),
          llvm::Align(16)));
    define(op, computed, values);
  }
  b_.CreateBr(on);
  b_.SetInsertPoint(handled);
  by_handler(op, computed);
  b_.CreateBr(on);
  b_.SetInsertPoint(on);
}

} // namespace warplens::exec::compile
