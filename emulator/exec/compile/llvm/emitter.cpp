// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/compile/llvm/emitter.hpp"

#include "emulator/exec/block/control.hpp"
#include "emulator/exec/compile/row_function.hpp"

#include <algorithm>
#include <cstddef>

namespace warplens::exec::compile {

using Kind = OpMeaning::Kind;
using llvm::BasicBlock;
using llvm::Value;

namespace {
constexpr std::uint32_t kLanes = kWarpSize;
} // namespace

Emitter::Emitter(const Program& program, const Region& region, const Part& part, Bitcode& bitcode, llvm::Module& module,
                 unsigned vector_bytes)
    : program_(program), region_(region), part_(part), bitcode_(bitcode), module_(module), vector_bytes_(vector_bytes),
      b_(module.getContext()) {}

llvm::Function* Emitter::run() {
  llvm::Type* const pointer = b_.getPtrTy();
  auto* const type = llvm::FunctionType::get(pointer, {pointer, pointer, b_.getInt32Ty()}, false);
  body_ = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, "body", module_);
  body_->addFnAttr(llvm::Attribute::NoInline);
  base_ = body_->getArg(0);
  warp_ = body_->getArg(1);
  entry_ = body_->getArg(2);
  enter();
  BasicBlock* open = nullptr;
  for (std::uint32_t i = 0; i < region_.size(); ++i) {
    if (!part_.reachable(i)) continue;
    if (part_.leads(i)) {
      if (open != nullptr && open->getTerminator() == nullptr) {
        b_.SetInsertPoint(open);
        b_.CreateBr(blocks_[i]);
      }
      open = blocks_[i];
      b_.SetInsertPoint(open);
    }
    emit(i);
    open = b_.GetInsertBlock();
  }
  auto* const handler = llvm::FunctionType::get(pointer, {pointer, pointer}, false);
  for (std::uint32_t h = 0; h < part_.heads().size(); ++h) {
    llvm::Function* const head = llvm::Function::Create(handler, llvm::GlobalValue::ExternalLinkage,
                                                        "head_" + llvm::Twine(part_.heads()[h]), module_);
    b_.SetInsertPoint(BasicBlock::Create(b_.getContext(), "", head));
    Value* const first = b_.CreateConstGEP1_64(b_.getInt8Ty(), head->getArg(0),
                                               -static_cast<std::int64_t>(part_.heads()[h] * sizeof(Op)));
    auto* const result = b_.CreateCall(body_, {first, head->getArg(1), b_.getInt32(h)});
    result->setTailCall();
    b_.CreateRet(result);
  }
  return body_;
}

// ---- Rows

Value* Emitter::slot(std::uint32_t offset) { return b_.CreateConstGEP1_64(b_.getInt8Ty(), file_, offset); }
Value* Emitter::home(std::uint32_t offset) { return b_.CreateConstGEP1_64(b_.getInt8Ty(), warp_, offset); }
Value* Emitter::real(std::uint32_t op) { return b_.CreateConstGEP1_64(b_.getInt8Ty(), base_, op * sizeof(Op)); }

llvm::Type* Emitter::chunk_type(std::uint32_t bytes) {
  if (bytes == 0) return b_.getInt32Ty();
  return llvm::FixedVectorType::get(b_.getIntNTy(8 * bytes), kLanes / chunks(bytes));
}
std::uint32_t Emitter::chunks(std::uint32_t bytes) const {
  return bytes == 0 ? 1 : std::max(1u, kLanes * bytes / vector_bytes_);
}
Value* Emitter::chunk_of(Value* row, std::uint32_t bytes, std::uint32_t chunk) {
  return b_.CreateConstGEP1_64(b_.getInt8Ty(), row, std::uint64_t{chunk} * kLanes * bytes / chunks(bytes));
}
Value* Emitter::load_chunk(Value* row, std::uint32_t bytes, std::uint32_t chunk) {
  return b_.CreateAlignedLoad(chunk_type(bytes), chunk_of(row, bytes, chunk), llvm::Align(bytes == 0 ? 4 : 16));
}
void Emitter::store_chunk(Value* value, Value* row, std::uint32_t bytes, std::uint32_t chunk) {
  b_.CreateAlignedStore(value, chunk_of(row, bytes, chunk), llvm::Align(bytes == 0 ? 4 : 16));
}

// The truth values of a chunk's lanes.
Value* Emitter::lanes_of(Value* mask, std::uint32_t bytes, std::uint32_t chunk) {
  const std::uint32_t count = kLanes / chunks(bytes);
  Value* const all = b_.CreateBitCast(mask, llvm::FixedVectorType::get(b_.getInt1Ty(), kLanes));
  llvm::SmallVector<int, 32> lanes;
  for (std::uint32_t i = 0; i < count; ++i) lanes.push_back(static_cast<int>(chunk * count + i));
  return b_.CreateShuffleVector(all, lanes);
}

// Those of the active lanes, made once where the warp enters.
Value* Emitter::active_lanes_of(std::uint32_t bytes, std::uint32_t chunk) {
  Value*& lanes = active_lanes_[{chunks(bytes), chunk}];
  if (lanes == nullptr) {
    const llvm::IRBuilderBase::InsertPointGuard here(b_);
    b_.SetInsertPoint(llvm::cast<llvm::Instruction>(active_)->getNextNode());
    lanes = lanes_of(active_, bytes, chunk);
  }
  return lanes;
}

// The active lanes of a row go to memory.
void Emitter::take_home(std::uint32_t offset, std::uint32_t bytes) {
  if (bytes == 0) {
    Value* const old = load_chunk(home(offset), 0, 0);
    Value* const fresh = load_chunk(slot(offset), 0, 0);
    Value* const kept = b_.CreateAnd(old, b_.CreateNot(active_));
    return store_chunk(b_.CreateOr(kept, b_.CreateAnd(fresh, active_)), home(offset), 0, 0);
  }
  for (std::uint32_t c = 0; c < chunks(bytes); ++c) {
    Value* const fresh = load_chunk(slot(offset), bytes, c);
    Value* const lanes = active_lanes_of(bytes, c);
    if (vector_bytes_ == 64) { // only AVX-512 stores lanes of each width
      b_.CreateMaskedStore(fresh, chunk_of(home(offset), bytes, c), llvm::Align(16), lanes);
      continue;
    }
    Value* const old = load_chunk(home(offset), bytes, c);
    store_chunk(b_.CreateSelect(lanes, fresh, old), home(offset), bytes, c);
  }
}

void Emitter::fetch(std::uint32_t offset, std::uint32_t bytes) {
  for (std::uint32_t c = 0; c < chunks(bytes); ++c)
    store_chunk(load_chunk(home(offset), bytes, c), slot(offset), bytes, c);
}

// The lanes whose guard is true, among those that are active.
Value* Emitter::guard(std::uint32_t op) {
  const Op& o = program_.ops[op];
  if (!region_.facts(op).guarded) return b_.getInt32(~0u);
  return b_.CreateXor(load_chunk(slot(o.guard), 0, 0), b_.getInt32(o.guard_flip));
}

// What the op's rows are, as a constant: for functions that are inlined.
llvm::Constant* Emitter::constant_op(std::uint32_t op) {
  const Op& o = program_.ops[op];
  auto& context = b_.getContext();
  llvm::Constant* const null = llvm::ConstantPointerNull::get(b_.getPtrTy());
  llvm::Constant* const fields[] = {null,
                                    llvm::ConstantDataArray::get(context, llvm::ArrayRef<std::uint32_t>(o.dst)),
                                    llvm::ConstantDataArray::get(context, llvm::ArrayRef<std::uint32_t>(o.src)),
                                    b_.getInt32(o.guard),
                                    b_.getInt32(o.guard_flip),
                                    b_.getInt32(o.instruction),
                                    b_.getInt32(o.extra),
                                    b_.getInt64(static_cast<std::uint64_t>(o.imm)),
                                    null};
  llvm::Constant* const value = llvm::ConstantStruct::getAnon(fields);
  auto* const global =
      new llvm::GlobalVariable(module_, value->getType(), true, llvm::GlobalValue::PrivateLinkage, value);
  global->setAlignment(llvm::Align(8));
  return global;
}
static_assert(offsetof(Op, dst) == 8 && offsetof(Op, src) == 16 && offsetof(Op, guard) == 32 &&
              offsetof(Op, imm) == 48 && offsetof(Op, target) == 56);

Value* Emitter::call(const char* name, llvm::ArrayRef<Value*> arguments) {
  llvm::Function* const f = bitcode_.declare(module_, name);
  return b_.CreateCall(f, arguments);
}

// Runs an op's own handler.
Value* Emitter::call_original(Value* op, Value* at) {
  auto* const type = llvm::FunctionType::get(b_.getPtrTy(), {b_.getPtrTy(), b_.getPtrTy()}, false);
  Value* const place = b_.CreateGEP(b_.getPtrTy(), originals_, b_.CreateZExt(op, b_.getInt64Ty()));
  return b_.CreateCall(type, b_.CreateAlignedLoad(b_.getPtrTy(), place, llvm::Align(8)), {at, warp_});
}

// ---- Entries and exits

void Emitter::enter() {
  BasicBlock* const start = BasicBlock::Create(b_.getContext(), "enter", body_);
  b_.SetInsertPoint(start);
  auto* const file = b_.CreateAlloca(llvm::ArrayType::get(b_.getInt8Ty(), program_.warp_bytes), nullptr, "file");
  file->setAlignment(llvm::Align(64));
  file_ = file;
  active_ = b_.CreateAlignedLoad(b_.getInt32Ty(), home(offsetof(Warp, active)), llvm::Align(4));
  originals_ = call("originals_of", {warp_});
  for (const RowInfo& row : region_.rows()) {
    if (row.constant < 0 || !part_.touches(region_.row(row.offset))) continue;
    const ConstantRow& c = program_.constants[static_cast<std::size_t>(row.constant)];
    llvm::Type* const type = chunk_type(row.bytes);
    llvm::Constant* const value = row.bytes == 0
                                      ? llvm::cast<llvm::Constant>(b_.getInt32(static_cast<std::uint32_t>(c.value)))
                                      : llvm::ConstantInt::get(type, llvm::APInt(8 * row.bytes, c.value));
    for (std::uint32_t i = 0; i < chunks(row.bytes); ++i) store_chunk(value, slot(row.offset), row.bytes, i);
  }
  blocks_.assign(region_.size(), nullptr);
  for (std::uint32_t i = 0; i < region_.size(); ++i)
    if (part_.reachable(i) && part_.leads(i)) blocks_[i] = BasicBlock::Create(b_.getContext(), "", body_);
  BasicBlock* const nowhere = BasicBlock::Create(b_.getContext(), "", body_);
  Value* const interprets = call("must_interpret", {warp_, b_.getInt1(program_.watched)});
  BasicBlock* const each = BasicBlock::Create(b_.getContext(), "each", body_);
  BasicBlock* const inside = BasicBlock::Create(b_.getContext(), "inside", body_);
  b_.CreateCondBr(interprets, each, inside);
  b_.SetInsertPoint(each);
  auto* const heads_type = llvm::ArrayType::get(b_.getInt32Ty(), part_.heads().size());
  auto* const heads = new llvm::GlobalVariable(
      module_, heads_type, true, llvm::GlobalValue::PrivateLinkage,
      llvm::ConstantDataArray::get(b_.getContext(), llvm::ArrayRef<std::uint32_t>(part_.heads())));
  Value* const op =
      b_.CreateAlignedLoad(b_.getInt32Ty(), b_.CreateGEP(heads_type, heads, {b_.getInt32(0), entry_}), llvm::Align(4));
  Value* const at =
      b_.CreateGEP(b_.getInt8Ty(), base_, b_.CreateMul(b_.CreateZExt(op, b_.getInt64Ty()), b_.getInt64(sizeof(Op))));
  b_.CreateRet(call_original(op, at));
  b_.SetInsertPoint(nowhere);
  b_.CreateUnreachable();
  b_.SetInsertPoint(inside);
  llvm::SwitchInst* const choice = b_.CreateSwitch(entry_, nowhere, static_cast<unsigned>(part_.heads().size()));
  for (std::uint32_t h = 0; h < part_.heads().size(); ++h) {
    BasicBlock* const fetching = BasicBlock::Create(b_.getContext(), "", body_);
    choice->addCase(b_.getInt32(h), fetching);
    b_.SetInsertPoint(fetching);
    for (const unsigned r : region_.live_before(part_.heads()[h]).set_bits()) {
      const RowInfo& row = region_.rows()[r];
      if (row.constant < 0 && part_.touches(r)) fetch(row.offset, row.bytes);
    }
    b_.CreateBr(blocks_[part_.heads()[h]]);
  }
}

void Emitter::save_live(std::uint32_t op, const llvm::BitVector& dirty) {
  llvm::BitVector saved = region_.live_before(op);
  saved &= dirty;
  for (const unsigned r : saved.set_bits()) take_home(region_.rows()[r].offset, region_.rows()[r].bytes);
}

BasicBlock* Emitter::leave(std::uint32_t op) {
  BasicBlock*& block = leaving_[op];
  if (block != nullptr) return block;
  const llvm::IRBuilderBase::InsertPointGuard here(b_);
  block = BasicBlock::Create(b_.getContext(), "leave", body_);
  b_.SetInsertPoint(block);
  save_live(op, part_.dirty_before(op));
  // Where this code begins, the op would enter it again.
  if (part_.enters(op))
    b_.CreateRet(call_original(b_.getInt32(op), real(op)));
  else
    b_.CreateRet(real(op));
  return block;
}

// ---- Ops

void Emitter::emit(std::uint32_t op) {
  const OpFacts& f = region_.facts(op);
  if (f.leaves || part_.elsewhere(op)) {
    b_.CreateBr(leave(op));
    return;
  }
  if (f.by_handler) return by_handler(op);
  const Op& o = program_.ops[op];
  switch (f.meaning.kind) {
  case Kind::lane: return lane(op);
  case Kind::load: return memory(op, true);
  case Kind::store: return memory(op, false);
  case Kind::parameter: return parameter(op);
  case Kind::predicate_and:
  case Kind::predicate_or:
  case Kind::predicate_xor: return predicate(op);
  case Kind::copy: return copy(op);
  case Kind::pack:
  case Kind::unpack: return move_element(op);
  case Kind::count_block: call("count_block_of", {warp_, b_.getInt32(o.extra)}); return;
  case Kind::count_guarded:
    call("count_guarded_of", {warp_, b_.getInt32(o.extra), b_.CreateAnd(guard(op), active_)});
    return;
  case Kind::jump: return jump(op);
  case Kind::branch: return branch(op);
  case Kind::rejoin: return rejoin(op);
  default: return;
  }
}

// Rows that only the lanes with a true guard write keep the values of the others.
void Emitter::guarded_write(std::uint32_t op, llvm::function_ref<void()> write) {
  const OpFacts& f = region_.facts(op);
  if (!f.guarded) return write();
  Value* const mask = guard(op);
  std::vector<Value*> before;
  for (const RowUse& def : f.defs)
    for (std::uint32_t c = 0; c < chunks(def.bytes); ++c) before.push_back(load_chunk(slot(def.offset), def.bytes, c));
  write();
  std::size_t next = 0;
  for (const RowUse& def : f.defs)
    for (std::uint32_t c = 0; c < chunks(def.bytes); ++c) {
      Value* const old = before[next++];
      Value* const fresh = load_chunk(slot(def.offset), def.bytes, c);
      Value* const result = def.bytes == 0
                                ? b_.CreateOr(b_.CreateAnd(old, b_.CreateNot(mask)), b_.CreateAnd(fresh, mask))
                                : b_.CreateSelect(lanes_of(mask, def.bytes, c), fresh, old);
      store_chunk(result, slot(def.offset), def.bytes, c);
    }
}

void Emitter::lane(std::uint32_t op) {
  const OpMeaning& m = region_.facts(op).meaning;
  const std::string name = bitcode_.row_function(m.entry, m.variant).name;
  guarded_write(op, [&] { call(name.c_str(), {constant_op(op), file_}); });
}

void Emitter::parameter(std::uint32_t op) {
  const Op& o = program_.ops[op];
  const MemoryHandlerKey& key = region_.facts(op).meaning.memory;
  const auto bytes = static_cast<std::uint32_t>(key.register_bytes);
  Value* const at = b_.CreateConstGEP1_64(b_.getInt8Ty(), call("parameter_of", {warp_}), o.imm);
  Value* value =
      b_.CreateAlignedLoad(b_.getIntNTy(8 * static_cast<unsigned>(isa::bytes(key.type))), at, llvm::Align(1));
  value = b_.CreateIntCast(value, b_.getIntNTy(8 * bytes), isa::is_signed(key.type));
  guarded_write(op, [&] {
    Value* const all = b_.CreateVectorSplat(kLanes / chunks(bytes), value);
    for (std::uint32_t c = 0; c < chunks(bytes); ++c) store_chunk(all, slot(o.dst[0]), bytes, c);
  });
}

void Emitter::predicate(std::uint32_t op) {
  const Op& o = program_.ops[op];
  Value* const x = b_.CreateXor(load_chunk(slot(o.src[0]), 0, 0), b_.getInt32(o.extra));
  Value* const y = b_.CreateXor(load_chunk(slot(o.src[1]), 0, 0), b_.getInt32(static_cast<std::uint32_t>(o.imm)));
  const Kind kind = region_.facts(op).meaning.kind;
  guarded_write(op, [&] {
    Value* const result = kind == Kind::predicate_and  ? b_.CreateAnd(x, y)
                          : kind == Kind::predicate_or ? b_.CreateOr(x, y)
                                                       : b_.CreateXor(x, y);
    store_chunk(result, slot(o.dst[0]), 0, 0);
  });
}

void Emitter::copy(std::uint32_t op) {
  const Op& o = program_.ops[op];
  const auto bytes = static_cast<std::uint32_t>(o.imm) / kLanes;
  for (std::uint32_t c = 0; c < chunks(bytes); ++c)
    store_chunk(load_chunk(slot(o.src[0]), bytes, c), slot(o.dst[0]), bytes, c);
}

// One element of a vector move: into the whole, or out of it.
void Emitter::move_element(std::uint32_t op) {
  const Op& o = program_.ops[op];
  const OpMeaning& m = region_.facts(op).meaning;
  const std::uint32_t count = kLanes / chunks(m.whole_bytes);
  auto* const wholes = llvm::FixedVectorType::get(b_.getIntNTy(8 * m.whole_bytes), count);
  auto* const parts = llvm::FixedVectorType::get(b_.getIntNTy(8 * m.part_bytes), count);
  const auto shift = static_cast<std::uint64_t>(o.imm);
  const auto mask = llvm::APInt::getBitsSet(8 * m.whole_bytes, static_cast<unsigned>(shift),
                                            static_cast<unsigned>(shift) + 8 * m.part_bytes);
  const auto at = [&](std::uint32_t row, std::uint32_t bytes, std::uint32_t chunk) {
    return b_.CreateConstGEP1_64(b_.getInt8Ty(), slot(row), std::uint64_t{chunk} * count * bytes);
  };
  guarded_write(op, [&] {
    for (std::uint32_t c = 0; c < chunks(m.whole_bytes); ++c) {
      if (m.kind == Kind::unpack) {
        Value* const whole = b_.CreateAlignedLoad(wholes, at(o.src[0], m.whole_bytes, c), llvm::Align(4));
        b_.CreateAlignedStore(b_.CreateTrunc(b_.CreateLShr(whole, shift), parts), at(o.dst[0], m.part_bytes, c),
                              llvm::Align(1));
        continue;
      }
      Value* const part = b_.CreateAlignedLoad(parts, at(o.src[0], m.part_bytes, c), llvm::Align(1));
      Value* const old = b_.CreateAlignedLoad(wholes, at(o.dst[0], m.whole_bytes, c), llvm::Align(4));
      Value* const kept = b_.CreateAnd(old, llvm::ConstantInt::get(wholes, ~mask));
      b_.CreateAlignedStore(b_.CreateOr(kept, b_.CreateShl(b_.CreateZExt(part, wholes), shift)),
                            at(o.dst[0], m.whole_bytes, c), llvm::Align(4));
    }
  });
}

// The handler runs on the rows in memory.
void Emitter::by_handler(std::uint32_t op) {
  const OpFacts& f = region_.facts(op);
  for (const RowUse& use : f.uses)
    if (region_.rows()[region_.row(use.offset)].constant < 0) take_home(use.offset, use.bytes);
  if (f.guarded)
    for (const RowUse& def : f.defs) take_home(def.offset, def.bytes);
  Value* const next = call_original(b_.getInt32(op), real(op));
  BasicBlock* const stopped = BasicBlock::Create(b_.getContext(), "stopped", body_);
  BasicBlock* const on = BasicBlock::Create(b_.getContext(), "", body_);
  b_.CreateCondBr(b_.CreateIsNull(next), stopped, on);
  b_.SetInsertPoint(stopped);
  b_.CreateRet(next);
  b_.SetInsertPoint(on);
  for (const RowUse& def : f.defs) fetch(def.offset, def.bytes);
}

void Emitter::memory(std::uint32_t op, bool loads) {
  const OpFacts& f = region_.facts(op);
  const Op& o = program_.ops[op];
  const MemorySite& site = *o.site;
  const MemoryHandlerKey& key = f.meaning.memory;
  const int bytes = isa::bytes(key.type);
  const bool sign = loads && isa::is_signed(key.type) && key.register_bytes > bytes;
  const std::string name = std::string(loads ? "load_" : "store_") + (sign ? "s" : "u") + std::to_string(bytes) + "_" +
                           std::to_string(key.register_bytes) + "_" + std::to_string(key.vector) +
                           (site.address32 ? "_32" : "_64");
  const bool known =
      site.space == isa::Space::global || site.space == isa::Space::shared || site.space == isa::Space::constant;
  llvm::Function* const quick = known ? bitcode_.declare(module_, name) : nullptr;
  if (quick == nullptr) return by_handler(op);
  BasicBlock* const trying = BasicBlock::Create(b_.getContext(), "", body_);
  BasicBlock* const slow = BasicBlock::Create(b_.getContext(), "slow", body_);
  BasicBlock* const on = BasicBlock::Create(b_.getContext(), "", body_);
  b_.CreateCondBr(b_.CreateICmpEQ(b_.CreateAnd(active_, guard(op)), b_.getInt32(~0u)), trying, slow);
  b_.SetInsertPoint(trying);
  // As AccessFacts.
  llvm::Constant* const facts[] = {b_.getInt32(site.index), b_.getInt8(static_cast<std::uint8_t>(site.space)),
                                   b_.getInt8(program_.watched ? 1 : 0), b_.getInt16(0)};
  llvm::Constant* const value = llvm::ConstantStruct::getAnon(facts);
  auto* const global =
      new llvm::GlobalVariable(module_, value->getType(), true, llvm::GlobalValue::PrivateLinkage, value);
  global->setAlignment(llvm::Align(4));
  Value* const done = b_.CreateCall(quick, {constant_op(op), file_, warp_, real(op), global});
  b_.CreateCondBr(done, on, slow);
  b_.SetInsertPoint(slow);
  by_handler(op);
  b_.CreateBr(on);
  b_.SetInsertPoint(on);
}
static_assert(sizeof(AccessFacts) == 8 && offsetof(AccessFacts, space) == 4 && offsetof(AccessFacts, watched) == 5);

// ---- Control

// What is left of the turn after the instructions up to a branch. If that is nothing, the interpreter runs the branch.
Value* Emitter::left_after(std::uint32_t op) {
  Value* const budget = b_.CreateAlignedLoad(b_.getInt64Ty(), home(offsetof(Warp, budget)), llvm::Align(8));
  return b_.CreateSub(budget, b_.getInt64(static_cast<std::uint64_t>(program_.ops[op].imm)));
}

// Continues at a branch's target.
void Emitter::take(std::uint32_t op) {
  const Op& o = program_.ops[op];
  if (program_.watched) {
    call("count_branch_of", {warp_, b_.getInt32(o.extra), active_});
    if (o.src[1] != kNotCounted) call("count_block_of", {warp_, b_.getInt32(o.src[1])});
  }
  b_.CreateBr(blocks_[region_.target(op)]);
}

void Emitter::jump(std::uint32_t op) {
  BasicBlock* const on = BasicBlock::Create(b_.getContext(), "", body_);
  Value* const left = left_after(op);
  b_.CreateCondBr(b_.CreateICmpSGT(left, b_.getInt64(0)), on, leave(op));
  b_.SetInsertPoint(on);
  b_.CreateAlignedStore(left, home(offsetof(Warp, budget)), llvm::Align(8));
  take(op);
}

void Emitter::branch(std::uint32_t op) {
  const Op& o = program_.ops[op];
  Value* const taken = b_.CreateAnd(guard(op), active_);
  BasicBlock* const together = BasicBlock::Create(b_.getContext(), "", body_);
  BasicBlock* const all = BasicBlock::Create(b_.getContext(), "", body_);
  BasicBlock* const none = BasicBlock::Create(b_.getContext(), "", body_);
  Value* const left = left_after(op);
  Value* const by_all = b_.CreateICmpEQ(taken, active_);
  Value* const agree = b_.CreateOr(by_all, b_.CreateICmpEQ(taken, b_.getInt32(0)));
  b_.CreateCondBr(b_.CreateAnd(agree, b_.CreateICmpSGT(left, b_.getInt64(0))), together, leave(op));
  b_.SetInsertPoint(together);
  b_.CreateAlignedStore(left, home(offsetof(Warp, budget)), llvm::Align(8));
  b_.CreateCondBr(by_all, all, none);
  b_.SetInsertPoint(none);
  if (program_.watched) call("count_branch_of", {warp_, b_.getInt32(o.extra), taken});
  b_.CreateBr(blocks_[op + 1]);
  b_.SetInsertPoint(all);
  take(op);
}

// The path may end here: then others of the warp run.
void Emitter::rejoin(std::uint32_t op) {
  BasicBlock* const on = BasicBlock::Create(b_.getContext(), "", body_);
  b_.CreateCondBr(b_.CreateICmpEQ(call("rejoin_of", {warp_}), real(op)), leave(op), on);
  b_.SetInsertPoint(on);
}

} // namespace warplens::exec::compile
