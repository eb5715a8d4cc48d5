// SPDX-License-Identifier: Apache-2.0
// The code of a large part. Between blocks of code, its rows are in their homes, where the interpreter has them, and
// the first values of sequences in slots on the stack: no value lives from one block to the next, so that the time to
// select registers grows with the number of blocks and not with its square. Inside of a block, rows are in variables.
#include "emulator/exec/compile/llvm/emitter.hpp"

#include "emulator/exec/lanes/row_tables.hpp"

#include <cstddef>

namespace warplens::exec::compile {

using llvm::BasicBlock;
using llvm::Value;

Value* Emitter::call_support(llvm::StringRef name, llvm::Type* result, llvm::ArrayRef<Value*> arguments) {
  llvm::SmallVector<llvm::Type*, 4> types;
  for (Value* const argument : arguments) types.push_back(argument->getType());
  return b_.CreateCall(module_.getOrInsertFunction(name, llvm::FunctionType::get(result, types, false)), arguments);
}

Value* Emitter::slot(std::uint32_t row, unsigned half) {
  const unsigned index = slot_of_.try_emplace(row, static_cast<unsigned>(2 * slot_of_.size())).first->second;
  return b_.CreateConstGEP1_64(b_.getInt8Ty(), slots_, std::uint64_t{index + half} * sizeof(SequenceSlot));
}

void Emitter::finish_slots() {
  slots_->setOperand(0, b_.getInt32(static_cast<std::uint32_t>(2 * std::max<std::size_t>(slot_of_.size(), 1))));
}

// A SequenceTable.
llvm::Constant* Emitter::sequences(const llvm::BitVector& rows, const RowShapes& shapes, Fetch fetch) {
  llvm::SmallVector<llvm::Constant*, 16> list;
  for (const unsigned row : rows.set_bits()) {
    const RowInfo& info = region_.rows()[row];
    const Shape& shape = shapes[row];
    if (info.constant >= 0 || !shape.is_sequence()) continue;
    (void)slot(row, 0);
    llvm::Constant* const fields[] = {b_.getInt32(info.offset),
                                      b_.getInt32(info.bytes),
                                      b_.getInt32(slot_of_.at(row)),
                                      b_.getInt16(shape.whole ? 1 : 0),
                                      b_.getInt16(fetch.head && shapes_.is_given(row, *fetch.head) ? 1 : 0),
                                      b_.getInt64(static_cast<std::uint64_t>(shape.stride))};
    list.push_back(llvm::ConstantStruct::getAnon(fields));
  }
  if (list.empty()) return nullptr;
  const auto global = [&](llvm::Constant* value) {
    auto* const made =
        new llvm::GlobalVariable(module_, value->getType(), true, llvm::GlobalValue::PrivateLinkage, value);
    made->setAlignment(llvm::Align(8));
    return made;
  };
  auto* const type = llvm::ArrayType::get(list.front()->getType(), list.size());
  llvm::Constant* const table[] = {global(llvm::ConstantArray::get(type, list)), b_.getInt64(list.size()),
                                   b_.getInt64(fetch.needs_all ? 1 : 0)};
  return global(llvm::ConstantStruct::getAnon(table));
}
static_assert(sizeof(SequenceRow) == 24 && offsetof(SequenceRow, whole) == 12 && offsetof(SequenceRow, stride) == 16);

// A warp enters at any head: the rows that are sequences there are found and checked.
void Emitter::enter_in_memory(BasicBlock* interpret) {
  {
    const llvm::IRBuilderBase::InsertPointGuard here(b_);
    b_.SetInsertPoint(&body_->getEntryBlock(), body_->getEntryBlock().begin());
    slots_ = b_.CreateAlloca(llvm::ArrayType::get(b_.getInt64Ty(), 2), b_.getInt32(1));
    slots_->setAlignment(llvm::Align(alignof(SequenceSlot)));
  }
  BasicBlock* const nowhere = block();
  llvm::SwitchInst* const choice = b_.CreateSwitch(entry_, nowhere, static_cast<unsigned>(part_.heads().size()));
  b_.SetInsertPoint(nowhere);
  b_.CreateUnreachable();
  for (std::uint32_t h = 0; h < part_.heads().size(); ++h) {
    const std::uint32_t head = part_.heads()[h];
    BasicBlock* const fetching = block();
    choice->addCase(b_.getInt32(h), fetching);
    b_.SetInsertPoint(fetching);
    llvm::BitVector rows(static_cast<unsigned>(region_.rows().size()));
    for (const unsigned row : region_.live_before(head).set_bits())
      if (part_.touches(row)) rows.set(row);
    const bool may_be_kept = head != 0 && keeps_rows(head - 1);
    llvm::Constant* const table = sequences(rows, shapes_.at(head), {head, may_be_kept});
    if (table == nullptr) {
      b_.CreateBr(blocks_[head]);
      continue;
    }
    Value* right = b_.CreateTrunc(call_support("warplens_fetch_sequences", b_.getInt8Ty(), {warp_, table, slots_}),
                                  b_.getInt1Ty());
    if (may_be_kept) right = b_.CreateOr(right, b_.CreateICmpEQ(sides_.front().kept, real(head)));
    b_.CreateCondBr(right, blocks_[head], interpret);
  }
}

void Emitter::fetch_from_memory(std::uint32_t row) {
  const RowInfo& info = region_.rows()[row];
  if (info.constant >= 0 || here_.test(row)) return;
  here_.set(row);
  const Shape shape = rows_->shapes[row];
  if (!shape.is_sequence()) return rows_->fetch(row);
  for (unsigned half = 0; half < (shape.whole ? 1u : 2u); ++half) {
    llvm::Type* const type = b_.getIntNTy(info.bytes == 0 ? 8 : 8 * info.bytes);
    Value* const value = b_.CreateAlignedLoad(type, slot(row, half), llvm::Align(16));
    rows_->set_first(info.offset, half, info.bytes == 0 ? b_.CreateTrunc(value, b_.getInt1Ty()) : value);
  }
}

void Emitter::keep_in_memory(std::uint32_t row) {
  const RowInfo& info = region_.rows()[row];
  const Shape shape = rows_->shapes[row];
  if (info.constant >= 0) return;
  if (!shape.is_sequence()) return rows_->take_home(row);
  for (unsigned half = 0; half < (shape.whole ? 1u : 2u); ++half) {
    Value* const value = rows_->first(info.offset, half);
    b_.CreateAlignedStore(info.bytes == 0 ? b_.CreateZExt(value, b_.getInt8Ty()) : value, slot(row, half),
                          llvm::Align(16));
  }
}

void Emitter::begin_block() {
  here_ = llvm::BitVector(static_cast<unsigned>(region_.rows().size()));
  changed_ = here_;
  fetched_ = false;
}

// Before an op of a block: the rows that the block reads before it writes them. Not earlier than needed, because the
// calls that count would not keep them in registers.
void Emitter::fetch_for_block(std::uint32_t op) {
  using Kind = OpMeaning::Kind;
  const Kind kind = region_.facts(op).meaning.kind;
  if (fetched_ || kind == Kind::rejoin || kind == Kind::count_block) return;
  fetched_ = true;
  llvm::BitVector written(static_cast<unsigned>(region_.rows().size()));
  for (std::uint32_t i = op; i < region_.size() && (i == op || !part_.leads(i)); ++i) {
    const OpFacts& f = region_.facts(i);
    if (f.leaves || part_.elsewhere(i)) break;
    for (const RowUse& use : f.uses)
      if (const std::uint32_t row = region_.row(use.offset); !written.test(row)) fetch_from_memory(row);
    for (const RowUse& def : f.defs) written.set(region_.row(def.offset));
    if (region_.goes(i)) break;
  }
}

// Before `op`, code goes on in another block.
void Emitter::end_block(std::uint32_t op) {
  for (const unsigned row : changed_.set_bits())
    if (region_.live_before(op).test(row)) keep_in_memory(row);
  changed_.reset();
}

// Before the warp leaves. The variables are newer than memory in the middle of a block only.
void Emitter::save_in_memory(std::uint32_t op) {
  llvm::BitVector live = region_.live_before(op);
  for (const MaskedSide& side : masked_) live |= live_for_others(side);
  for (const unsigned row : changed_.set_bits())
    if (live.test(row)) keep_in_memory(row);
  live &= part_.dirty_before(op);
  // What a side may have written, for its lanes; then what holds for all of the lanes around it.
  for (auto side = masked_.rbegin(); side != masked_.rend(); ++side) {
    llvm::BitVector own = live;
    own &= side->at_home;
    store_sequences(own);
    live.reset(own);
    rows_->set_lanes(side->before);
    set_active();
  }
  store_sequences(live);
}

void Emitter::store_sequences(const llvm::BitVector& rows) {
  if (llvm::Constant* const table = sequences(rows, rows_->shapes, {}))
    call_support("warplens_store_sequences", b_.getVoidTy(), {warp_, table, slots_});
}

// A side begins. A row that it writes may be a sequence on both ways, but not where these meet, or where the other side
// begins then: there it is at home, where the side writes its lanes.
llvm::BitVector Emitter::begin_side_in_memory(const MaskedSide& side) {
  const RowShapes before = rows_->shapes;
  llvm::BitVector at_home(static_cast<unsigned>(region_.rows().size()));
  for (const unsigned row : live_for_others(side).set_bits()) {
    const bool stays =
        shapes_.at(side.meeting)[row].is_sequence() && (side.second == 0 || shapes_.at(side.second)[row].is_sequence());
    if (!part_.touches(row) || region_.rows()[row].constant >= 0 || stays) continue;
    at_home.set(row);
    if (!before[row].is_sequence()) continue;
    const llvm::BitVector known = here_;
    fetch_from_memory(row);
    here_ = known;
    rows_->convert(row, Shape::varying());
    rows_->shapes[row] = Shape::varying();
    rows_->take_home(row);
    rows_->shapes[row] = before[row];
  }
  return at_home;
}

void Emitter::arrive_in_memory(std::uint32_t leader) {
  const RowShapes& wanted = shapes_.at(leader);
  const RowShapes before = rows_->shapes;
  for (const unsigned row : region_.live_before(leader).set_bits()) {
    const Shape shape = rows_->shapes[row];
    if (!part_.touches(row) || shape == wanted[row] || !shape.is_sequence() || region_.rows()[row].constant >= 0)
      continue;
    const llvm::BitVector known = here_;
    fetch_from_memory(row);
    here_ = known; // only on this way
    rows_->convert(row, wanted[row]);
    rows_->shapes[row] = wanted[row];
    keep_in_memory(row);
  }
  rows_->shapes = before;
}

} // namespace warplens::exec::compile
