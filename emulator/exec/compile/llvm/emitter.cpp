// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/compile/llvm/emitter.hpp"

#include "emulator/exec/block/control.hpp"
#include "emulator/exec/compile/llvm/object.hpp"

#include <llvm/Analysis/VectorUtils.h>

#include <algorithm>
#include <cstddef>

namespace warplens::exec::compile {

using Kind = OpMeaning::Kind;
using How = Computed::How;
using llvm::BasicBlock;
using llvm::Value;

Emitter::Emitter(const Program& program, const Region& region, const Shapes& shapes, const Part& part, Target& target,
                 llvm::Module& module, CompileOutcome& outcome, unsigned warps)
    : program_(program), region_(region), shapes_(shapes), part_(part), has_many_accesses_(has_many_accesses()),
      target_(target), module_(module), outcome_(outcome), b_(module.getContext()), sides_(warps) {}

llvm::Function* Emitter::run() {
  llvm::Type* const pointer = b_.getPtrTy();
  llvm::SmallVector<llvm::Type*, 4> arguments(1 + sides_.size(), pointer);
  arguments.push_back(b_.getInt32Ty());
  auto* const type = llvm::FunctionType::get(pointer, arguments, false);
  body_ = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, in_memory() ? "body_in_memory" : "body",
                                 module_);
  body_->addFnAttr(llvm::Attribute::NoInline);
  base_ = body_->getArg(0);
  for (unsigned i = 0; i < sides_.size(); ++i) sides_[i].warp = body_->getArg(1 + i);
  entry_ = body_->getArg(static_cast<unsigned>(1 + sides_.size()));
  enter();
  bool open = false;
  for (std::uint32_t i = 0; i < region_.size(); ++i) {
    if (!part_.reachable(i)) continue;
    if (part_.leads(i)) {
      if (open) {
        if (in_memory()) end_block(i);
        arrive_and_meet(i);
        std::erase_if(masked_, [&](const MaskedSide& side) { return side.meeting == i; });
        b_.CreateBr(blocks_[i]);
      }
      b_.SetInsertPoint(blocks_[i]);
      for_each_side([&](Side& side) { side.rows->shapes = shapes_.at(i); });
      lead_in_side(i);
      lead_in_loop(i);
      if (in_memory()) begin_block();
    }
    if (in_memory()) fetch_for_block(i);
    emit(i);
    open = b_.GetInsertBlock()->getTerminator() == nullptr;
    for_each_side([&](Side& side) { shapes_.step(i, side.rows->shapes); });
    if (!in_memory()) continue;
    for (const RowUse& def : region_.facts(i).defs) {
      here_.set(region_.row(def.offset));
      changed_.set(region_.row(def.offset));
    }
  }
  if (in_memory()) finish_slots();
  body_->addFnAttr(kLengthAttribute, std::to_string(body_->getInstructionCount()));
  make_heads();
  return body_;
}

Value* Emitter::real(std::uint32_t op) { return b_.CreateConstGEP1_64(b_.getInt8Ty(), base_, op * sizeof(Op)); }

// The lanes whose guard is true, among those that are active.
Value* Emitter::guard(std::uint32_t op) {
  const Op& o = program_.ops[op];
  if (!region_.facts(op).guarded) return b_.getInt32(~0u);
  return b_.CreateXor(rows_->chunk(o.guard, 0), b_.getInt32(o.guard_flip));
}

llvm::CallInst* Emitter::call(llvm::StringRef name, llvm::ArrayRef<Value*> arguments) {
  return b_.CreateCall(target_.bitcode.declare(module_, name), arguments);
}

// The function's code is not repeated here.
llvm::CallInst* Emitter::call_far(llvm::StringRef name, llvm::ArrayRef<Value*> arguments) {
  llvm::CallInst* const made = call(name, arguments);
  made->addFnAttr(llvm::Attribute::NoInline);
  return made;
}

// Runs an op's own handler.
Value* Emitter::call_original(Value* op, Value* at) {
  auto* const type = llvm::FunctionType::get(b_.getPtrTy(), {b_.getPtrTy(), b_.getPtrTy()}, false);
  Value* const place = b_.CreateGEP(b_.getPtrTy(), originals_, b_.CreateZExt(op, b_.getInt64Ty()));
  return b_.CreateCall(type, b_.CreateAlignedLoad(b_.getPtrTy(), place, llvm::Align(8)), {at, warp_});
}

// ---- Ops

void Emitter::emit(std::uint32_t op) {
  const OpFacts& f = region_.facts(op);
  if (in_memory() && region_.goes(op)) end_block(op);
  if (f.leaves || part_.elsewhere(op)) {
    b_.CreateBr(leave(op));
    return;
  }
  switch (f.meaning.kind) {
  case Kind::jump: return jump(op);
  case Kind::branch: return branch(op);
  case Kind::rejoin: return rejoin(op);
  case Kind::count_block: return count_block(program_.ops[op].extra);
  default: break;
  }
  const Computed computed = shapes_.computed(op, sides_.front().rows->shapes);
  // Where a warp leaves, the other one has not run the op either.
  for_each_side([&](Side&) { stays_in_range(op, computed); });
  for_each_side([&](Side&) { emit_for_warp(op, computed); });
}

void Emitter::emit_for_warp(std::uint32_t op, const Computed& computed) {
  const Op& o = program_.ops[op];
  const OpFacts& f = region_.facts(op);
  switch (f.meaning.kind) {
  case Kind::lane: return lane(op, computed);
  case Kind::load: return memory(op, true, computed);
  case Kind::store: return memory(op, false, computed);
  case Kind::atomic: return f.by_handler ? by_handler(op, computed) : atomic(op, computed);
  case Kind::parameter: return parameter(op, computed);
  case Kind::predicate_and:
  case Kind::predicate_or:
  case Kind::predicate_xor: return predicate(op, computed);
  case Kind::copy: return copy(op, computed);
  case Kind::pack:
  case Kind::unpack: return move_element(op, computed);
  case Kind::special: return special(op);
  case Kind::warp_barrier: acting_group(op, true); return;
  case Kind::across: return across(op, computed);
  case Kind::count_guarded:
    call("count_guarded_of", {warp_, b_.getInt32(o.extra), b_.CreateAnd(guard(op), rows_->active())});
    return;
  default: return;
  }
}

// Rows that only the lanes with a true guard write keep the values of the others.
void Emitter::define(std::uint32_t op, const Computed& computed, llvm::ArrayRef<Value*> values) {
  const OpFacts& f = region_.facts(op);
  const Chunks& chunks = rows_->chunks();
  std::size_t next = 0;
  Value* const mask = f.guarded ? guard(op) : nullptr;
  for (const RowUse& def : f.defs) {
    if (computed.kept.is_sequence()) {
      for (unsigned half = 0; half < (computed.shape.whole ? 1u : 2u); ++half) {
        Value* fresh = values[next++];
        if (mask != nullptr)
          fresh = b_.CreateSelect(b_.CreateTrunc(mask, b_.getInt1Ty()), fresh, rows_->first(def.offset, half));
        rows_->set_first(def.offset, half, fresh);
      }
      continue;
    }
    const bool sequence = computed.shape.is_sequence();
    Value* const first = values[next];
    Value* const second = sequence && !computed.shape.whole ? values[next + 1] : nullptr;
    llvm::SmallVector<Value*, 8> results;
    for (std::uint32_t c = 0; c < chunks.of(def.bytes); ++c) {
      Value* const fresh = sequence ? rows_->spread(computed.shape, def.bytes, c, first, second) : values[next + c];
      if (mask == nullptr) {
        results.push_back(fresh);
        continue;
      }
      Value* const old = rows_->chunk(def.offset, c);
      results.push_back(def.bytes == 0 ? b_.CreateOr(b_.CreateAnd(old, b_.CreateNot(mask)), b_.CreateAnd(fresh, mask))
                                       : b_.CreateSelect(rows_->lanes_of(mask, def.bytes, c), fresh, old));
    }
    for (std::uint32_t c = 0; c < results.size(); ++c) rows_->set_chunk(def.offset, c, results[c]);
    next += sequence ? (computed.shape.whole ? 1 : 2) : chunks.of(def.bytes);
  }
}

void Emitter::lane(std::uint32_t op, const Computed& computed) {
  const OpFacts& f = region_.facts(op);
  if (computed.how == How::lanes)
    return f.by_handler ? by_handler(op, computed) : define(op, computed, lane_chunks(op));
  llvm::SmallVector<Value*, 8> values = lane_firsts(op, 0);
  if (!computed.shape.whole) {
    const llvm::SmallVector<Value*, 8> second = lane_firsts(op, 1);
    for (std::size_t i = 0; i < second.size(); ++i)
      values.insert(values.begin() + static_cast<long>(2 * i + 1), second[i]);
  }
  define(op, computed, values);
}

llvm::SmallVector<Value*, 8> Emitter::lane_firsts(std::uint32_t op, unsigned half) {
  const OpFacts& f = region_.facts(op);
  const RowFunctionInfo info = target_.bitcode.row_function(f.meaning.entry, f.meaning.variant);
  RowsOfFunction rows;
  llvm::SmallVector<Value*, 8> arguments, results;
  for (std::uint32_t i = 0; i < f.sources; ++i) {
    rows.sources.push_back(f.uses[i].bytes);
    Value* const value = rows_->first(f.uses[i].offset, half);
    arguments.push_back(f.uses[i].bytes == 0 ? b_.CreateZExt(value, b_.getInt32Ty()) : value);
  }
  for (const RowUse& def : f.defs) rows.destinations.push_back(def.bytes);
  Value* const result = call(first_by_value(target_, info.first, rows), arguments);
  for (unsigned i = 0; i < f.defs.size(); ++i) {
    Value* const value = b_.CreateExtractValue(result, i);
    results.push_back(f.defs[i].bytes == 0 ? b_.CreateTrunc(value, b_.getInt1Ty()) : value);
  }
  return results;
}

llvm::SmallVector<Value*, 8> Emitter::lane_chunks(std::uint32_t op) {
  const OpFacts& f = region_.facts(op);
  const RowFunctionInfo info = target_.bitcode.row_function(f.meaning.entry, f.meaning.variant);
  RowsOfFunction rows;
  llvm::SmallVector<Value*, 8> arguments, results;
  for (std::uint32_t i = 0; i < f.sources; ++i) {
    const auto [offset, bytes] = f.uses[i];
    rows.sources.push_back(bytes);
    for (std::uint32_t c = 0; c < rows_->chunks().of(bytes); ++c) arguments.push_back(rows_->chunk(offset, c));
  }
  for (const RowUse& def : f.defs) rows.destinations.push_back(def.bytes);
  Value* const result = call(all_by_value(target_, info.all, rows), arguments);
  const unsigned count = llvm::cast<llvm::StructType>(result->getType())->getNumElements();
  for (unsigned i = 0; i < count; ++i) results.push_back(b_.CreateExtractValue(result, i));
  return results;
}

// A sequence of narrow numbers that leaves their range is none of wider numbers: then the interpreter goes on.
void Emitter::stays_in_range(std::uint32_t op, const Computed& computed) {
  if (computed.widened < 0) return;
  const RowUse& source = region_.facts(op).uses[static_cast<std::size_t>(computed.widened)];
  const Shape shape = rows_->shape(source.offset);
  if (shape.stride == 0) return;
  const bool sign = region_.facts(op).meaning.sign_extends;
  llvm::Type* const wide = b_.getIntNTy(64);
  Value* stays = b_.getTrue();
  for (unsigned half = 0; half < (shape.whole ? 1u : 2u); ++half) {
    Value* const first = rows_->first(source.offset, half);
    const std::int64_t way = shape.stride * (shape.whole ? kWarpSize - 1 : kWarpSize / 2 - 1);
    Value* const last = b_.CreateAdd(b_.CreateIntCast(first, wide, sign),
                                     llvm::ConstantInt::get(wide, static_cast<std::uint64_t>(way), true));
    Value* const narrow = b_.CreateIntCast(b_.CreateTrunc(last, first->getType()), wide, sign);
    stays = b_.CreateAnd(stays, b_.CreateICmpEQ(last, narrow));
  }
  BasicBlock* const on = block();
  b_.CreateCondBr(stays, on, leave(op));
  b_.SetInsertPoint(on);
}

void Emitter::parameter(std::uint32_t op, const Computed& computed) {
  const MemoryHandlerKey& key = region_.facts(op).meaning.memory;
  // The same for all warps of a launch.
  Value* const at = b_.CreateConstGEP1_64(b_.getInt8Ty(), call("parameter_of", {sides_.front().warp}),
                                          static_cast<std::uint64_t>(program_.ops[op].imm));
  Value* const value =
      b_.CreateAlignedLoad(b_.getIntNTy(8 * static_cast<unsigned>(isa::bytes(key.type))), at, llvm::Align(1));
  define(
      op, computed,
      b_.CreateIntCast(value, b_.getIntNTy(8 * static_cast<unsigned>(key.register_bytes)), isa::is_signed(key.type)));
}

void Emitter::predicate(std::uint32_t op, const Computed& computed) {
  const Op& o = program_.ops[op];
  const Kind kind = region_.facts(op).meaning.kind;
  const auto combined = [&](Value* x, Value* y) {
    return kind == Kind::predicate_and  ? b_.CreateAnd(x, y)
           : kind == Kind::predicate_or ? b_.CreateOr(x, y)
                                        : b_.CreateXor(x, y);
  };
  if (computed.how == How::scalars) {
    define(op, computed,
           combined(b_.CreateXor(rows_->first(o.src[0], 0), b_.getInt1((o.extra & 1) != 0)),
                    b_.CreateXor(rows_->first(o.src[1], 0), b_.getInt1((o.imm & 1) != 0))));
    return;
  }
  Value* const x = b_.CreateXor(rows_->chunk(o.src[0], 0), b_.getInt32(o.extra));
  Value* const y = b_.CreateXor(rows_->chunk(o.src[1], 0), b_.getInt32(static_cast<std::uint32_t>(o.imm)));
  define(op, computed, combined(x, y));
}

void Emitter::copy(std::uint32_t op, const Computed& computed) {
  const auto [offset, bytes] = region_.facts(op).uses[0];
  llvm::SmallVector<Value*, 8> values;
  if (computed.how == How::scalars)
    for (unsigned half = 0; half < (computed.shape.whole ? 1u : 2u); ++half)
      values.push_back(rows_->first(offset, half));
  else
    for (std::uint32_t c = 0; c < rows_->chunks().of(bytes); ++c) values.push_back(rows_->chunk(offset, c));
  define(op, computed, values);
}

// One element of a vector move: into the whole, or out of it.
void Emitter::move_element(std::uint32_t op, const Computed& computed) {
  const Op& o = program_.ops[op];
  const OpMeaning& m = region_.facts(op).meaning;
  const auto shift = static_cast<std::uint64_t>(o.imm);
  const llvm::APInt mask = llvm::APInt::getBitsSet(8 * m.whole_bytes, static_cast<unsigned>(shift),
                                                   static_cast<unsigned>(shift) + 8 * m.part_bytes);
  const auto moved = [&](Value* part, Value* whole, llvm::Type* parts, llvm::Type* wholes) {
    if (m.kind == Kind::unpack) return b_.CreateTrunc(b_.CreateLShr(whole, shift), parts);
    Value* const kept = b_.CreateAnd(whole, llvm::ConstantInt::get(wholes, ~mask));
    return b_.CreateOr(kept, b_.CreateShl(b_.CreateZExt(part, wholes), shift));
  };
  const std::uint32_t part = o.src[0], whole = m.kind == Kind::unpack ? o.src[0] : o.dst[0];
  if (computed.how == How::scalars) {
    define(op, computed,
           moved(rows_->first(part, 0), rows_->first(whole, 0), b_.getIntNTy(8 * m.part_bytes),
                 b_.getIntNTy(8 * m.whole_bytes)));
    return;
  }
  // As whole rows: parts have fewer chunks than wholes.
  const auto row = [&](std::uint32_t offset, std::uint32_t bytes) {
    llvm::SmallVector<Value*, 8> chunks;
    for (std::uint32_t c = 0; c < rows_->chunks().of(bytes); ++c) chunks.push_back(rows_->chunk(offset, c));
    return llvm::concatenateVectors(b_, chunks);
  };
  const auto lanes = [&](std::uint32_t bytes) {
    return llvm::FixedVectorType::get(b_.getIntNTy(8 * bytes), kWarpSize);
  };
  Value* const result = moved(m.kind == Kind::unpack ? nullptr : row(part, m.part_bytes), row(whole, m.whole_bytes),
                              lanes(m.part_bytes), lanes(m.whole_bytes));
  const std::uint32_t bytes = m.kind == Kind::unpack ? m.part_bytes : m.whole_bytes;
  llvm::SmallVector<Value*, 8> values;
  for (std::uint32_t c = 0; c < rows_->chunks().of(bytes); ++c) {
    llvm::SmallVector<int, 32> order;
    for (std::uint32_t i = 0; i < rows_->chunks().lanes(bytes); ++i)
      order.push_back(static_cast<int>(c * rows_->chunks().lanes(bytes) + i));
    values.push_back(b_.CreateShuffleVector(result, order));
  }
  define(op, computed, values);
}

// The handler runs on the rows in memory.
void Emitter::by_handler(std::uint32_t op, const Computed& computed) {
  const OpFacts& f = region_.facts(op);
  for (const RowUse& use : f.uses) {
    const std::uint32_t row = region_.row(use.offset);
    const bool is_home = in_memory() && !changed_.test(row) && !rows_->shapes[row].is_sequence();
    if (region_.rows()[row].constant < 0 && !shapes_.is_fixed(row) && !is_home) rows_->take_home(row);
  }
  Value* const next = call_original(b_.getInt32(op), real(op));
  BasicBlock* const on = block();
  b_.CreateCondBr(b_.CreateIsNull(next), stopped(), on);
  b_.SetInsertPoint(on);
  const RowShapes before = rows_->shapes;
  for (const RowUse& def : f.defs) {
    const std::uint32_t row = region_.row(def.offset);
    rows_->shapes[row] = computed.kept;
    rows_->fetch(row);
  }
  rows_->shapes = before;
}

// ---- Control

// What is left of the turn after the instructions up to a branch. If that is nothing, the interpreter runs the branch.
Value* Emitter::left_after(std::uint32_t op) {
  return b_.CreateSub(b_.CreateLoad(b_.getInt64Ty(), budget_),
                      b_.getInt64(static_cast<std::uint64_t>(program_.ops[op].imm)));
}

// Continues at a branch's target.
void Emitter::take(std::uint32_t op) {
  const Op& o = program_.ops[op];
  count_branch(o.extra, rows_->active());
  if (program_.watched && o.src[1] != kNotCounted) count_block(o.src[1]);
  const RowShapes shapes = rows_->shapes;
  const RowValues::Lanes lanes = rows_->lanes();
  arrive_and_meet(region_.target(op));
  b_.CreateBr(blocks_[region_.target(op)]);
  if (masked_.empty()) return;
  rows_->shapes = shapes;
  rows_->set_lanes(lanes);
}

// Goes on if something is left.
void Emitter::spend(std::uint32_t op) {
  BasicBlock* const on = block();
  Value* const left = left_after(op);
  b_.CreateCondBr(b_.CreateICmpSGT(left, b_.getInt64(0)), on, leave(op));
  b_.SetInsertPoint(on);
  b_.CreateStore(left, budget_);
}

void Emitter::jump(std::uint32_t op) {
  spend(op);
  count_any_branch(program_.ops[op].extra, rows_->active());
  take(op);
  end_piece(op);
  if (leaves_loop(op)) end_loop();
}

// All lanes of a warp go the same way, and both warps of a pair; or one side runs under a mask.
void Emitter::branch(std::uint32_t op) {
  const Op& o = program_.ops[op];
  const bool masks = !is_pair() && part_.masked_until(region_, op) != 0 && !rows_->shape(o.guard).is_uniform();
  if (masks) return branch_under_mask(op);
  if (leaves_loop(op)) return branch_in_loop(op);
  BasicBlock* const together = block();
  BasicBlock* const all = block();
  BasicBlock* const none = block();
  Value* const left = left_after(op);
  Value* goes_on = b_.CreateICmpSGT(left, b_.getInt64(0));
  Value* by_all = nullptr;
  for_each_side([&](Side&) {
    Value* own = nullptr;
    if (region_.facts(op).guarded && rows_->shape(o.guard).is_uniform()) {
      own = b_.CreateXor(rows_->first(o.guard, 0), b_.getInt1((o.guard_flip & 1) != 0));
    } else {
      Value* const taken = b_.CreateAnd(guard(op), rows_->active());
      own = b_.CreateICmpEQ(taken, rows_->active());
      goes_on = b_.CreateAnd(b_.CreateOr(own, b_.CreateICmpEQ(taken, b_.getInt32(0))), goes_on);
    }
    if (by_all != nullptr) goes_on = b_.CreateAnd(b_.CreateICmpEQ(own, by_all), goes_on);
    by_all = own;
  });
  b_.CreateCondBr(goes_on, together, leave(op));
  b_.SetInsertPoint(together);
  b_.CreateStore(left, budget_);
  count_any_branch(o.extra, b_.CreateSelect(by_all, rows_->active(), b_.getInt32(0)));
  b_.CreateCondBr(by_all, all, none);
  b_.SetInsertPoint(none);
  count_branch(o.extra, b_.getInt32(0));
  arrive(op + 1);
  b_.CreateBr(blocks_[op + 1]);
  b_.SetInsertPoint(all);
  take(op);
}

// The path may end here: then others of the warp run.
void Emitter::rejoin(std::uint32_t op) {
  BasicBlock* const on = block();
  Value* ends = b_.getFalse();
  for_each_side([&](Side&) { ends = b_.CreateOr(b_.CreateICmpEQ(call("rejoin_of", {warp_}), real(op)), ends); });
  b_.CreateCondBr(ends, leave(op), on);
  b_.SetInsertPoint(on);
}

} // namespace warplens::exec::compile
