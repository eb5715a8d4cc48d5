// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/compile/llvm/row_values.hpp"

#include <cstddef>

namespace warplens::exec::compile {

using llvm::BasicBlock;
using llvm::Value;

namespace {
constexpr std::uint32_t kHalfWarp = kWarpSize / 2;
constexpr std::uint32_t kFirsts = 64; // variables from here on have the first values
constexpr unsigned kOfWarp = 2;
} // namespace

RowValues::RowValues(const Program& program, const Region& region, Chunks chunks, llvm::IRBuilder<>& builder,
                     Value* warp, BasicBlock* entry)
    : program_(program), region_(region), chunks_(chunks), b_(builder), warp_(warp), entry_(entry) {}

const ConstantRow* RowValues::constant(std::uint32_t row) const {
  const std::int64_t c = info(row).constant;
  return c < 0 ? nullptr : &program_.constants[static_cast<std::size_t>(c)];
}

llvm::Type* RowValues::lane_type(std::uint32_t bytes) {
  return bytes == 0 ? b_.getInt1Ty() : static_cast<llvm::Type*>(b_.getIntNTy(8 * bytes));
}

llvm::AllocaInst* RowValues::variable(std::uint32_t row, std::uint32_t part, llvm::Type* type) {
  llvm::AllocaInst*& variable = variables_[{row, part}];
  if (variable == nullptr) {
    const llvm::IRBuilderBase::InsertPointGuard here(b_);
    b_.SetInsertPoint(entry_, entry_->begin());
    variable = b_.CreateAlloca(type);
  }
  return variable;
}

Value* RowValues::chunk(std::uint32_t offset, std::uint32_t chunk) {
  const std::uint32_t row = region_.row(offset), bytes = info(row).bytes;
  llvm::Type* const type = chunks_.type(b_.getContext(), bytes);
  if (const ConstantRow* const c = constant(row))
    return bytes == 0 ? static_cast<Value*>(b_.getInt32(static_cast<std::uint32_t>(c->value)))
                      : llvm::ConstantInt::get(type, llvm::APInt(8 * bytes, c->value));
  const Shape shape = shapes[row];
  if (!shape.is_sequence()) return b_.CreateLoad(type, variable(row, chunk, type));
  Value* const begin = first(offset, 0);
  return spread(shape, bytes, chunk, begin, shape.whole ? nullptr : first(offset, 1));
}

void RowValues::set_chunk(std::uint32_t offset, std::uint32_t chunk, Value* value) {
  b_.CreateStore(value, variable(region_.row(offset), chunk, value->getType()));
}

Value* RowValues::first(std::uint32_t offset, unsigned half) {
  const std::uint32_t row = region_.row(offset), bytes = info(row).bytes;
  llvm::Type* const type = lane_type(bytes);
  if (const ConstantRow* const c = constant(row))
    return llvm::ConstantInt::get(type, bytes == 0 ? llvm::APInt(1, c->value & 1) : llvm::APInt(8 * bytes, c->value));
  const Shape shape = shapes[row];
  if (!shape.whole) return b_.CreateLoad(type, variable(row, kFirsts + half, type));
  Value* const begin = b_.CreateLoad(type, variable(row, kFirsts, type));
  if (half == 0 || shape.stride == 0) return begin;
  const std::int64_t between = std::int64_t{kHalfWarp} * shape.stride;
  return b_.CreateAdd(begin, llvm::ConstantInt::get(type, static_cast<std::uint64_t>(between), true));
}

void RowValues::set_first(std::uint32_t offset, unsigned half, Value* value) {
  b_.CreateStore(value, variable(region_.row(offset), kFirsts + half, value->getType()));
}

Value* RowValues::spread(Shape shape, std::uint32_t bytes, std::uint32_t chunk, Value* begin, Value* second) {
  if (bytes == 0) return b_.CreateSExt(begin, b_.getInt32Ty());
  const std::uint32_t lanes = chunks_.lanes(bytes), lane = chunk * lanes;
  const auto steps = [&](std::uint32_t start, std::uint32_t count) {
    llvm::SmallVector<llvm::Constant*, 32> values;
    for (std::uint32_t i = 0; i < count; ++i)
      values.push_back(llvm::ConstantInt::get(
          lane_type(bytes), static_cast<std::uint64_t>(shape.stride * static_cast<std::int64_t>(start + i)), true));
    return llvm::ConstantVector::get(values);
  };
  const auto run = [&](Value* from, std::uint32_t start, std::uint32_t count) {
    Value* const same = b_.CreateVectorSplat(count, from);
    return shape.stride == 0 ? same : b_.CreateAdd(same, steps(start, count));
  };
  if (shape.whole) return run(begin, lane, lanes);
  if (lanes <= kHalfWarp) return run(lane < kHalfWarp ? begin : second, lane % kHalfWarp, lanes);
  llvm::SmallVector<int, 32> order;
  for (int i = 0; i < kWarpSize; ++i) order.push_back(i);
  return b_.CreateShuffleVector(run(begin, 0, kHalfWarp), run(second, 0, kHalfWarp), order);
}

void RowValues::convert(std::uint32_t row, Shape wanted) {
  const Shape shape = shapes[row];
  if (shape == wanted || !shape.is_sequence() || constant(row) != nullptr) return;
  const std::uint32_t offset = info(row).offset;
  if (wanted.is_sequence()) return set_first(offset, 1, first(offset, 1));
  for (std::uint32_t c = 0; c < chunks_.of(info(row).bytes); ++c) set_chunk(offset, c, chunk(offset, c));
}

// Not as a part of a vector of 32 truth values: LLVM 19 replaces the or of two such vectors by that of their masks and
// the other way around, for ever, where only parts of one are used.
Value* RowValues::lanes_of(Value* mask, std::uint32_t bytes, std::uint32_t chunk) {
  const std::uint32_t count = chunks_.lanes(bytes);
  Value* const bits = b_.CreateTrunc(b_.CreateLShr(mask, chunk * count), b_.getIntNTy(count));
  return b_.CreateBitCast(bits, llvm::FixedVectorType::get(b_.getInt1Ty(), count));
}

void RowValues::enter(Value* active) {
  lanes_ = {active, {}, {}};
  const auto first_of = [&](Value* mask, unsigned none) {
    Value* const lane = b_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, mask, b_.getInt1(false));
    return b_.CreateZExt(b_.CreateSelect(b_.CreateICmpEQ(mask, b_.getInt32(0)), b_.getInt32(none), lane),
                         b_.getInt64Ty());
  };
  lanes_.first[0] = first_of(b_.CreateAnd(active, b_.getInt32(0xffff)), 0);
  lanes_.first[1] = first_of(b_.CreateAnd(active, b_.getInt32(0xffff0000)), kHalfWarp);
  lanes_.first[kOfWarp] = first_of(active, 0);
}

// Made once, where the lanes become active.
Value* RowValues::active_lanes(std::uint32_t bytes, std::uint32_t chunk) {
  Value*& lanes = lanes_.of_chunk[{chunks_.of(bytes), chunk}];
  if (lanes == nullptr) {
    const llvm::IRBuilderBase::InsertPointGuard here(b_);
    b_.SetInsertPoint(llvm::cast<llvm::Instruction>(lanes_.active)->getNextNode());
    lanes = lanes_of(lanes_.active, bytes, chunk);
  }
  return lanes;
}

Value* RowValues::home(std::uint32_t offset) { return b_.CreateConstGEP1_64(b_.getInt8Ty(), warp_, offset); }

Value* RowValues::chunk_at(Value* place, std::uint32_t bytes, std::uint32_t chunk) {
  return b_.CreateConstGEP1_64(b_.getInt8Ty(), place, std::uint64_t{chunk} * chunks_.lanes(bytes) * bytes);
}
Value* RowValues::home_chunk(std::uint32_t offset, std::uint32_t bytes, std::uint32_t chunk) {
  return home(offset + chunk * chunks_.lanes(bytes) * bytes);
}

void RowValues::take_home(std::uint32_t row) {
  const auto [offset, bytes, index] = info(row);
  llvm::SmallVector<Value*, 8> values;
  for (std::uint32_t c = 0; c < chunks_.of(bytes); ++c) values.push_back(chunk(offset, c));
  take_home(home(offset), bytes, values);
}

void RowValues::take_home(Value* place, std::uint32_t bytes, llvm::ArrayRef<Value*> values) {
  if (bytes == 0) {
    Value* const old = b_.CreateAlignedLoad(b_.getInt32Ty(), place, llvm::Align(4));
    Value* const changed = b_.CreateAnd(b_.CreateXor(old, values[0]), lanes_.active);
    b_.CreateAlignedStore(b_.CreateXor(old, changed), place, llvm::Align(4));
    return;
  }
  for (std::uint32_t c = 0; c < values.size(); ++c) {
    Value* const lanes = active_lanes(bytes, c);
    Value* const to = chunk_at(place, bytes, c);
    // Not a masked store: processors make a load wait until it has reached the cache.
    Value* const old = b_.CreateAlignedLoad(values[c]->getType(), to, llvm::Align(16));
    b_.CreateAlignedStore(b_.CreateSelect(lanes, values[c], old), to, llvm::Align(16));
  }
}

void RowValues::fetch(std::uint32_t row) {
  const auto [offset, bytes, index] = info(row);
  if (index >= 0) return;
  llvm::SmallVector<Value*, 8> values;
  fetch(home(offset), bytes, shapes[row], values);
  for (std::uint32_t i = 0; i < values.size(); ++i)
    if (shapes[row].is_sequence())
      set_first(offset, i, values[i]);
    else
      set_chunk(offset, i, values[i]);
}

void RowValues::fetch(Value* place, std::uint32_t bytes, Shape shape, llvm::SmallVectorImpl<Value*>& values) {
  if (!shape.is_sequence()) {
    llvm::Type* const type = chunks_.type(b_.getContext(), bytes);
    for (std::uint32_t c = 0; c < chunks_.of(bytes); ++c)
      values.push_back(b_.CreateAlignedLoad(type, chunk_at(place, bytes, c), llvm::Align(bytes == 0 ? 4 : 16)));
    return;
  }
  if (bytes == 0) {
    Value* const mask = b_.CreateAlignedLoad(b_.getInt32Ty(), place, llvm::Align(4));
    values.push_back(b_.CreateICmpNE(b_.CreateAnd(mask, lanes_.active), b_.getInt32(0)));
    return;
  }
  for (unsigned half = 0; half < (shape.whole ? 1u : 2u); ++half) {
    Value* const lane = lanes_.first[shape.whole ? kOfWarp : half];
    Value* const at = b_.CreateGEP(b_.getInt8Ty(), place, b_.CreateMul(lane, b_.getInt64(bytes)));
    llvm::Type* const type = lane_type(bytes);
    Value* value = b_.CreateAlignedLoad(type, at, llvm::Align(bytes));
    if (shape.stride != 0) {
      Value* const lanes = b_.CreateZExtOrTrunc(b_.CreateSub(lane, b_.getInt64(half * kHalfWarp)), type);
      value = b_.CreateSub(
          value, b_.CreateMul(lanes, llvm::ConstantInt::get(type, static_cast<std::uint64_t>(shape.stride), true)));
    }
    values.push_back(value);
  }
}

Value* RowValues::differing(std::uint32_t row) {
  const auto [offset, bytes, index] = info(row);
  if (bytes == 0) {
    Value* const mask = b_.CreateAlignedLoad(b_.getInt32Ty(), home(offset), llvm::Align(4));
    return b_.CreateAnd(b_.CreateXor(mask, chunk(offset, 0)), lanes_.active);
  }
  Value* all = b_.getInt32(0);
  for (std::uint32_t c = 0; c < chunks_.of(bytes); ++c) {
    Value* const expected = chunk(offset, c);
    Value* const there = b_.CreateAlignedLoad(expected->getType(), home_chunk(offset, bytes, c), llvm::Align(16));
    const std::uint32_t lanes = chunks_.lanes(bytes);
    Value* const bits = b_.CreateBitCast(b_.CreateICmpNE(there, expected), b_.getIntNTy(lanes));
    all = b_.CreateOr(all, b_.CreateShl(b_.CreateZExt(bits, b_.getInt32Ty()), c * lanes));
  }
  return b_.CreateAnd(all, lanes_.active);
}

} // namespace warplens::exec::compile
