// SPDX-License-Identifier: Apache-2.0
// What compiled code of watched programs counts, or tells. Calls are rare: they take long, and the rows that are in
// vector registers go to memory for them.
#include "emulator/exec/compile/llvm/access.hpp"

#include <llvm/IR/MDBuilder.h>

#include <bit>
#include <cstddef>

namespace warplens::exec::compile {

using llvm::BasicBlock;
using llvm::Value;

namespace {
constexpr std::uint32_t kWordBytes = 8;
constexpr std::uint32_t kLineWords = 8; // of the processor's cache
} // namespace

// The condition rarely holds: what `then` needs does not slow down the other way.
void Emitter::rarely(Value* condition, BasicBlock* then, BasicBlock* otherwise) {
  b_.CreateCondBr(condition, then, otherwise, llvm::MDBuilder(b_.getContext()).createUnlikelyBranchWeights());
}

// The same while the warp is in this code, and of both warps of a pair.
void Emitter::find_counters() {
  tallies_ = call("tallies_of", {sides_.front().warp});
  block_counters_ = call("blocks_of", {sides_.front().warp});
}

void Emitter::add_to(Value* place, Value* number) {
  b_.CreateAlignedStore(b_.CreateAdd(b_.CreateAlignedLoad(b_.getInt64Ty(), place, llvm::Align(8)), number), place,
                        llvm::Align(8));
}

// The place of a tally's first word; several parts may have code for an op.
std::uint32_t Emitter::place_of(Tally tally, std::uint32_t words) {
  for (const Tally& t : outcome_.tallies)
    if (t.of == tally.of && t.index == tally.index && t.halves == tally.halves && t.stride == tally.stride)
      return t.first;
  std::uint32_t& all = outcome_.tally_words;
  if (words > 1) all = (all + kLineWords - 1) / kLineWords * kLineWords;
  tally.first = all;
  all += words;
  outcome_.tallies.push_back(tally);
  return tally.first;
}

Value* Emitter::word(Value* place) {
  return b_.CreateGEP(b_.getInt64Ty(), tallies_, b_.CreateZExt(place, b_.getInt64Ty()));
}
Value* Emitter::word(std::uint32_t place) { return word(b_.getInt32(place)); }

namespace {
Tally tally_of(const MemorySite& site, Shape address, std::uint32_t lane_bytes) {
  return {Tally::Of::accesses, !address.whole, site.index, 0, lane_bytes, address.stride};
}
} // namespace

// The first word of what counts an access by all lanes.
std::uint32_t Emitter::place_of(const Access& a) {
  const Tally tally = tally_of(a.site, a.address, a.lane_bytes());
  return place_of(tally, static_cast<std::uint32_t>(kAlignmentPeriod) / tally.alignment + (tally.halves ? 1 : 0));
}

// An access to a sequence of addresses.
void Emitter::tell_reached(const Access& a, Value* base, Value* half) {
  if (a.all_act) return tell_sequence(a, base, half);
  const auto tell_some = [&] {
    call("tell_some_of", {warp_, a.real, a.acting, base, b_.getInt64(static_cast<std::uint64_t>(a.address.stride))});
  };
  if (a.some_rest) return tell_some();
  BasicBlock* const all = block();
  BasicBlock* const some = block();
  BasicBlock* const on = block();
  b_.CreateCondBr(b_.CreateICmpEQ(a.acting, b_.getInt32(kFullMask)), all, some);
  b_.SetInsertPoint(all);
  tell_sequence(a, base, half);
  b_.CreateBr(on);
  b_.SetInsertPoint(some);
  tell_some();
  b_.CreateBr(on);
  b_.SetInsertPoint(on);
}

// … of all lanes.
void Emitter::tell_sequence(const Access& a, Value* base, Value* half) {
  const bool global = a.site.space == isa::Space::global, seen = a.site.observed_bytes != 0;
  BasicBlock* const telling = block();
  BasicBlock* const on = block();
  const auto go_on_unless = [&](Value* condition) {
    BasicBlock* const next = block();
    rarely(condition, telling, next);
    b_.SetInsertPoint(next);
  };
  go_on_unless(b_.CreateIsNull(tallies_));
  Value* of = b_.getInt32(kNoTally);
  if (seen) {
    const Tally tally = tally_of(a.site, a.address, a.lane_bytes());
    Value* first = a.tally != nullptr ? a.tally : b_.getInt32(place_of(a));
    if (tally.halves) {
      of = first;
      go_on_unless(b_.CreateICmpNE(b_.CreateAlignedLoad(b_.getInt64Ty(), word(first), llvm::Align(8)), half));
      first = b_.CreateAdd(first, b_.getInt32(1));
    }
    if (global) {
      const auto offset = static_cast<std::uint64_t>(a.site.observed_offset);
      const auto bytes = static_cast<std::uint64_t>(a.address.stride * (kWarpSize - 1)) + a.site.observed_bytes;
      Value* const low = b_.CreateAdd(base, b_.getInt64(offset));
      Value* const extends =
          call("extends_touched", {warp_, a.site_index, low, b_.CreateAdd(low, b_.getInt64(bytes)),
                                   b_.getInt1(a.address.whole && TouchedSectors::is_dense(a.address.stride))});
      go_on_unless(b_.CreateNot(extends));
    }
    // An aligned address is `alignment` times the place of its counter.
    Value* const phase = b_.CreateAnd(base, b_.getInt64(kAlignmentPeriod - 1));
    Value* const offset = tally.alignment <= kWordBytes
                              ? b_.CreateMul(phase, b_.getInt64(kWordBytes / tally.alignment))
                              : b_.CreateLShr(phase, std::countr_zero(tally.alignment / kWordBytes));
    add_to(b_.CreateGEP(b_.getInt8Ty(), word(first), offset), b_.getInt64(1));
  }
  b_.CreateBr(on);
  b_.SetInsertPoint(telling);
  llvm::CallInst* const tells =
      call("tell_access_of", {warp_, a.real, b_.getInt8(static_cast<std::uint8_t>(a.site.space)), base,
                              b_.getInt64(static_cast<std::uint64_t>(a.address.stride)), half, of});
  if (in_memory()) tells->addFnAttr(llvm::Attribute::NoInline);
  b_.CreateBr(on);
  b_.SetInsertPoint(on);
}

// Counts the warp if a lane has special operands. No branch depends on whether one has: zeros among the numbers of a
// program would make the processor wait for it.
void Emitter::special(std::uint32_t op) {
  const OpFacts& f = region_.facts(op);
  const RowsOfFunction rows{.sources = {f.uses[0].bytes, f.uses[1].bytes}, .destinations = {0}};
  llvm::SmallVector<Value*, 16> arguments;
  for (const RowUse& use : {f.uses[0], f.uses[1]})
    for (std::uint32_t c = 0; c < rows_->chunks().of(use.bytes); ++c) arguments.push_back(rows_->chunk(use.offset, c));
  Value* const found = b_.CreateExtractValue(call(all_by_value(target_, f.meaning.special, rows), arguments), 0);
  Value* const lanes = b_.CreateAnd(b_.CreateAnd(found, guard(op)), rows_->active());
  const std::uint32_t instruction = program_.ops[op].instruction;
  BasicBlock* const untold = block();
  BasicBlock* const telling = block();
  BasicBlock* const counting = block();
  BasicBlock* const on = block();
  rarely(b_.CreateIsNull(tallies_), untold, counting);
  b_.SetInsertPoint(untold);
  b_.CreateCondBr(b_.CreateIsNull(lanes), on, telling);
  b_.SetInsertPoint(telling);
  call("tell_special_of", {warp_, b_.getInt32(instruction), lanes});
  b_.CreateBr(on);
  b_.SetInsertPoint(counting);
  add_to(word(place_of({Tally::Of::special_operands, false, instruction}, 1)),
         b_.CreateZExt(b_.CreateIsNotNull(lanes), b_.getInt64Ty()));
  b_.CreateBr(on);
  b_.SetInsertPoint(on);
}

// As count() in control.hpp.
void Emitter::count_block(std::uint32_t block) {
  if (in_memory()) {
    call_far("count_block_of", {warp_, b_.getInt32(block)});
    return;
  }
  Value* const counters =
      b_.CreateConstGEP1_64(b_.getInt8Ty(), block_counters_, std::uint64_t{block} * sizeof(BlockCounter));
  const auto field = [&](std::size_t offset) { return b_.CreateConstGEP1_64(b_.getInt8Ty(), counters, offset); };
  add_to(field(offsetof(BlockCounter, warps)), b_.getInt64(sides_.size()));
  Value* lanes = nullptr;
  for_each_side([&](Side&) {
    Value* const own = b_.CreateAlignedLoad(b_.getInt64Ty(), rows_->home(offsetof(Warp, lanes)), llvm::Align(8));
    lanes = lanes == nullptr ? own : b_.CreateAdd(lanes, own);
    add_to(rows_->home(offsetof(Warp, counted)), b_.getInt64(program_.blocks[block].count));
    Value* const visits = b_.CreateAlignedLoad(b_.getPtrTy(), rows_->home(offsetof(Warp, visits)), llvm::Align(8));
    add_to(b_.CreateConstGEP1_64(b_.getInt8Ty(), visits, std::uint64_t{block} * kWordBytes), b_.getInt64(1));
  });
  add_to(field(offsetof(BlockCounter, lanes)), lanes);
}

std::uint32_t Emitter::place_of_branch(std::uint32_t branch) {
  return place_of({Tally::Of::branches, false, branch}, 2);
}

// With rows in memory, once for all ways that lanes may go.
void Emitter::count_any_branch(std::uint32_t branch, Value* taken) {
  if (!program_.watched || !in_memory()) return;
  call_far("count_any_branch_of", {warp_, tallies_, b_.getInt32(place_of_branch(branch)), b_.getInt32(branch), taken});
}

// With rows in registers, where all lanes of the warp go the same way, and both warps of a pair.
void Emitter::count_branch(std::uint32_t branch, Value* taken) {
  if (!program_.watched || in_memory()) return;
  const bool by_none = llvm::isa<llvm::Constant>(taken);
  BasicBlock* const telling = block();
  BasicBlock* const counting = block();
  BasicBlock* const on = block();
  Value* const partial = b_.CreateICmpNE(rows_->active(), b_.getInt32(kFullMask));
  rarely(b_.CreateOr(b_.CreateIsNull(tallies_), partial), telling, counting);
  b_.SetInsertPoint(counting);
  const std::uint32_t of = place_of_branch(branch);
  add_to(word(of + (by_none ? 0 : 1)), b_.getInt64(sides_.size()));
  b_.CreateBr(on);
  b_.SetInsertPoint(telling);
  if (is_pair())
    call("count_branch_of_pair", {sides_[0].warp, sides_[1].warp, b_.getInt32(branch), taken});
  else
    call("count_branch_of", {warp_, b_.getInt32(branch), taken});
  b_.CreateBr(on);
  b_.SetInsertPoint(on);
}

} // namespace warplens::exec::compile
