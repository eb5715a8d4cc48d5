// SPDX-License-Identifier: Apache-2.0
// Loads and stores of compiled code. Where it is known that the addresses are a sequence, the checks are of two
// numbers, and the data are vectors in memory. What is not possible here, the handler does.
#include "emulator/exec/compile/llvm/access.hpp"

#include "emulator/exec/compile/row_function.hpp"

#include <llvm/Analysis/VectorUtils.h>

#include <cstddef>

namespace warplens::exec::compile {

using How = Computed::How;
using llvm::BasicBlock;
using llvm::Value;

namespace {

// Whether a sequence with this stride is accessed by vectors.
bool is_possible(const Shape& address, std::uint32_t bytes, std::uint32_t element, bool loads, bool gathers) {
  const std::int64_t width = bytes;
  if (address.stride == width) return true;
  if (address.stride % width != 0) return false;
  if (address.stride == 0) return loads;
  return gathers && bytes == element && element >= 4 && element <= 8;
}

} // namespace

// What the op accesses, as far as the rows tell.
Emitter::Access Emitter::access(std::uint32_t op) {
  const Op& o = program_.ops[op];
  const OpFacts& f = region_.facts(op);
  Access a{op, *o.site, f.meaning.memory, rows_->shape(o.src[0])};
  a.real = real(op);
  a.site_index = b_.getInt32(a.site.index);
  a.imm = b_.getInt64(static_cast<std::uint64_t>(o.imm));
  a.acting = b_.CreateAnd(rows_->active(), guard(op));
  for (unsigned half = 0; a.address.is_sequence() && half < (a.address.whole ? 1u : 2u); ++half) {
    Value* const first = rows_->first(o.src[0], half);
    a.start[half] =
        b_.CreateAdd(first, llvm::ConstantInt::get(first->getType(), static_cast<std::uint64_t>(o.imm), true));
  }
  for (std::uint32_t c = 0; !a.address.is_sequence() && c < rows_->chunks().of(a.address_bytes()); ++c)
    a.addresses.push_back(rows_->chunk(o.src[0], c));
  if (f.meaning.kind == OpMeaning::Kind::load) return a;
  for (unsigned e = 0; e < a.vector(); ++e)
    for (std::uint32_t c = 0; c < rows_->chunks().of(a.row_bytes()); ++c)
      a.values.push_back(rows_->chunk(f.uses[1 + e].offset, c));
  return a;
}

Emitter::Ways Emitter::ways_of(const Access& a, bool loads, const Computed& computed) const {
  const bool gathers = rows_->chunks().vector_bytes() == 64, together = is_quick(a.site.space);
  Ways ways;
  ways.warp = together &&
              (!a.address.is_sequence() || is_possible(a.address, a.lane_bytes(), a.element_bytes(), loads, gathers));
  ways.one = together && stores_to_one(a, loads);
  ways.masked = together && takes_masks(a);
  ways.apart = takes_lanes_apart(a, loads, computed);
  // One place is read once, for any lanes. Where warps may wait for others, the handler leaves what was read in the row
  // at home, which shows the watched interpreter whether the warp repeats itself (Repetition).
  const bool waits = program_.watched && !program_.takes_turns;
  ways.any_lanes = ways.warp && loads && a.address.is_uniform() && !region_.facts(a.op).guarded && !waits;
  return a.site.lane_bytes == a.lane_bytes() ? ways : Ways{};
}

void Emitter::memory(std::uint32_t op, bool loads, const Computed& computed) {
  Access a = access(op);
  Ways ways = ways_of(a, loads, computed);
  if (!ways.warp && !ways.one && !ways.apart) return by_handler(op, computed);
  if (in_memory()) return call_access(a, loads, ways, computed);
  // With rows in registers, a call takes far longer than vectors under a mask.
  const bool calls = ways.warp && ways.apart && a.address.is_sequence() && has_many_accesses_;
  if (calls) ways.apart = false;
  BasicBlock* const on = block();
  BasicBlock* const rest = BasicBlock::Create(b_.getContext(), "rest", body_);
  access_in(ways, a, loads, rest, on, computed);
  b_.SetInsertPoint(rest);
  if (calls)
    call_access(a, loads, Ways{.apart = true}, computed);
  else
    by_handler(op, computed);
  b_.CreateBr(on);
  b_.SetInsertPoint(on);
}

// Goes on at `rest` where none of these ways is possible.
void Emitter::access_in(Ways ways, Access& a, bool loads, BasicBlock* rest, BasicBlock* done,
                        const Computed& computed) {
  BasicBlock* const apart = ways.apart ? BasicBlock::Create(b_.getContext(), "apart", body_) : rest;
  BasicBlock* const some = ways.masked ? BasicBlock::Create(b_.getContext(), "some", body_) : apart;
  a.slow = apart;
  a.all_act = ways.warp && !ways.any_lanes;
  if (ways.warp) {
    BasicBlock* const trying = block();
    b_.CreateCondBr(ways.any_lanes ? b_.getTrue() : b_.CreateICmpEQ(a.acting, b_.getInt32(kFullMask)), trying, some);
    b_.SetInsertPoint(trying);
    access_warp(a, loads, computed);
    b_.CreateBr(done);
  } else if (ways.one) {
    store_to_one(a, done);
    b_.CreateBr(done);
  } else {
    b_.CreateBr(apart);
  }
  a.all_act = false;
  if (ways.masked) {
    b_.SetInsertPoint(some);
    a.some_rest = true;
    access_masked(a, loads, computed);
    b_.CreateBr(done);
  }
  if (ways.apart) {
    b_.SetInsertPoint(apart);
    a.slow = rest;
    access_lanes(a, loads, computed);
    b_.CreateBr(done);
  }
}

// All lanes act, or any of those that load from one place.
void Emitter::access_warp(Access& a, bool loads, const Computed& computed) {
  if (!a.address.is_sequence()) return access_rows(a, loads, computed);
  reach(a);
  if (loads)
    load_sequence(a, computed);
  else
    store_sequence(a);
  b_.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent, llvm::SyncScope::SingleThread);
}

// Addresses of which nothing is known: a function of the bitcode looks at all of them.
void Emitter::access_rows(Access& a, bool loads, const Computed& computed) {
  const Chunks& chunks = rows_->chunks();
  RowsOfFunction rows;
  rows.sources.push_back(a.address_bytes());
  rows.sources.append(loads ? 0 : a.vector(), a.row_bytes());
  rows.destinations.append(loads ? a.vector() : 0, a.row_bytes());
  llvm::SmallVector<Value*, 24> arguments(a.addresses.begin(), a.addresses.end());
  arguments.append(a.values.begin(), a.values.end());
  // AccessFacts
  llvm::StructType* const type =
      llvm::StructType::get(b_.getInt32Ty(), b_.getInt8Ty(), b_.getInt8Ty(), b_.getInt16Ty());
  make_variable(access_facts_, type, llvm::Align(4));
  Value* facts = llvm::ConstantStruct::get(type, {b_.getInt32(0), b_.getInt8(static_cast<std::uint8_t>(a.site.space)),
                                                  b_.getInt8(program_.watched ? 1 : 0), b_.getInt16(0)});
  b_.CreateStore(b_.CreateInsertValue(facts, a.site_index, 0), access_facts_);
  arguments.append({a.imm, warp_, a.real, access_facts_});
  const bool sign = loads && isa::is_signed(a.key.type) && a.row_bytes() > a.element_bytes();
  const std::string name = std::string(loads ? "load_" : "store_") + (sign ? "s" : "u") +
                           std::to_string(a.element_bytes()) + "_" + std::to_string(a.row_bytes()) + "_" +
                           std::to_string(a.vector()) + (a.site.address32 ? "_32" : "_64");
  if (!target_.bitcode.has(name)) {
    b_.CreateBr(a.slow);
    b_.SetInsertPoint(block()); // not reached
    return;
  }
  Value* const result = call(access_by_value(target_, name, rows, loads), arguments);
  BasicBlock* const done = block();
  b_.CreateCondBr(b_.CreateExtractValue(result, 0), done, a.slow);
  b_.SetInsertPoint(done);
  llvm::SmallVector<Value*, 8> loaded;
  for (unsigned i = 0; loads && i < a.vector() * chunks.of(a.row_bytes()); ++i)
    loaded.push_back(b_.CreateExtractValue(result, 1 + i));
  if (loads) deliver(a, computed, loaded, true);
}
static_assert(sizeof(AccessFacts) == 8 && offsetof(AccessFacts, space) == 4 && offsetof(AccessFacts, watched) == 5);

// Checks alignment and bounds, as resolve() does, tells of the access, and finds the host addresses.
void Emitter::reach(Access& a) {
  llvm::Type* const word = b_.getInt64Ty();
  const std::int64_t stride = a.address.stride;
  const auto number = [&](std::int64_t n) { return b_.getInt64(static_cast<std::uint64_t>(n)); };
  Value* const begins = b_.CreateZExt(a.start[0], word);
  Value* const address[] = {begins, a.address.whole ? b_.CreateAdd(begins, number(stride * kHalfWarp))
                                                    : b_.CreateZExt(a.start[1], word)};
  // The lowest address, and the end of the last lane's bytes.
  const std::int64_t way = stride * (a.address.whole ? kWarpSize - 1 : kHalfWarp - 1);
  Value *low = address[0], *high = address[0];
  if (!a.address.whole) {
    low = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, address[0], address[1]);
    high = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umax, address[0], address[1]);
  }
  if (way < 0) low = b_.CreateAdd(low, number(way));
  high = b_.CreateAdd(high, number(std::max<std::int64_t>(way, 0) + a.lane_bytes()));
  Value *begin = nullptr, *end = nullptr, *origin = nullptr;
  if (a.site.space == isa::Space::shared) {
    begin = b_.getInt64(0);
    end = call("shared_bytes_of", {warp_});
    origin = call("shared_of", {warp_});
  } else {
    Value* const region = call("region_of", {warp_, a.site_index});
    begin = b_.CreateAlignedLoad(word, region, llvm::Align(8));
    end = b_.CreateAlignedLoad(word, b_.CreateConstGEP1_64(b_.getInt8Ty(), region, 8), llvm::Align(8));
    origin = llvm::ConstantPointerNull::get(b_.getPtrTy());
  }
  Value* inside = b_.CreateAnd(b_.CreateICmpUGE(low, begin), b_.CreateICmpULE(high, end));
  inside = b_.CreateAnd(inside, b_.CreateICmpULT(low, high));
  if (a.lane_bytes() > 1) {
    Value* const bits = a.address.whole ? address[0] : b_.CreateOr(address[0], address[1]);
    inside = b_.CreateAnd(inside, b_.CreateIsNull(b_.CreateAnd(bits, number(a.lane_bytes() - 1))));
  }
  BasicBlock* const reached = block();
  rarely(b_.CreateNot(inside), a.slow, reached);
  b_.SetInsertPoint(reached);
  if (program_.watched) tell_reached(a, address[0], b_.CreateSub(address[1], address[0]));
  b_.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent, llvm::SyncScope::SingleThread);
  for (const unsigned half : {0u, 1u})
    a.first[half] = a.site.space == isa::Space::shared ? b_.CreateGEP(b_.getInt8Ty(), origin, address[half])
                                                       : b_.CreateIntToPtr(address[half], b_.getPtrTy());
}

namespace {

// Lanes of one of several values, in turn: the order of elements in memory.
llvm::SmallVector<int, 64> interleaved(unsigned lanes, unsigned elements) {
  llvm::SmallVector<int, 64> order;
  for (unsigned lane = 0; lane < lanes; ++lane)
    for (unsigned e = 0; e < elements; ++e) order.push_back(static_cast<int>(e * lanes + lane));
  return order;
}

// Lanes with a distance; between them is nothing.
llvm::SmallVector<int, 64> apart(unsigned lanes, unsigned distance) {
  llvm::SmallVector<int, 64> order(lanes * distance, llvm::PoisonMaskElem);
  for (unsigned lane = 0; lane < lanes; ++lane) order[lane * distance] = static_cast<int>(lane);
  return order;
}

} // namespace

// The first of each `distance` elements.
llvm::Constant* Emitter::one_of(std::uint32_t lanes, unsigned distance) {
  llvm::SmallVector<llvm::Constant*, 64> truths(lanes * distance, b_.getFalse());
  for (std::uint32_t lane = 0; lane < lanes; ++lane) truths[lane * distance] = b_.getTrue();
  return llvm::ConstantVector::get(truths);
}

// Host address of a lane.
Value* Emitter::place(const Access& a, std::uint32_t lane) {
  const auto offset = static_cast<std::int64_t>(lane % kHalfWarp) * a.address.stride;
  return b_.CreateConstGEP1_64(b_.getInt8Ty(), a.first[lane / kHalfWarp], static_cast<std::uint64_t>(offset));
}

// Addresses of the lanes of a gather or scatter.
Value* Emitter::places(const Access& a, std::uint32_t lane, std::uint32_t count) {
  llvm::SmallVector<llvm::Constant*, 16> offsets;
  for (std::uint32_t i = 0; i < count; ++i)
    offsets.push_back(b_.getInt64(static_cast<std::uint64_t>(static_cast<std::int64_t>(i) * a.address.stride)));
  return b_.CreateGEP(b_.getInt8Ty(), place(a, lane), llvm::ConstantVector::get(offsets));
}

// What the lanes of a chunk load: each half from its own sequence, if it has one.
Value* Emitter::load_chunk(const Access& a, std::uint32_t chunk,
                           llvm::function_ref<Value*(std::uint32_t first, std::uint32_t count)> loaded) {
  const std::uint32_t lanes = rows_->chunks().lanes(a.row_bytes());
  if (lanes <= kHalfWarp || a.address.whole) return loaded(chunk * lanes, lanes);
  Value* const both[] = {loaded(0, kHalfWarp), loaded(kHalfWarp, kHalfWarp)};
  return llvm::concatenateVectors(b_, both);
}

void Emitter::store_chunk(const Access& a, std::uint32_t chunk, Value* values,
                          llvm::function_ref<void(Value* some, std::uint32_t first, std::uint32_t count)> stored) {
  const std::uint32_t lanes = rows_->chunks().lanes(a.row_bytes());
  if (lanes <= kHalfWarp || a.address.whole) return stored(values, chunk * lanes, lanes);
  for (const std::uint32_t first : {0u, kHalfWarp})
    stored(b_.CreateShuffleVector(values, from(first * a.vector(), kHalfWarp * a.vector())), first, kHalfWarp);
}

void Emitter::load_sequence(const Access& a, const Computed& computed) {
  const Chunks& chunks = rows_->chunks();
  const std::uint32_t lanes = chunks.lanes(a.row_bytes()), count = chunks.of(a.row_bytes());
  llvm::Type* const element = b_.getIntNTy(8 * a.element_bytes());
  llvm::Type* const lane = b_.getIntNTy(8 * a.row_bytes());
  const bool sign = isa::is_signed(a.key.type);
  const llvm::Align align(a.lane_bytes());
  llvm::SmallVector<Value*, 8> values;
  if (a.address.stride == 0) {
    for (unsigned e = 0; e < a.vector(); ++e) {
      Value* value[2]{};
      for (unsigned half = 0; half < (a.address.whole ? 1u : 2u); ++half) {
        Value* const at = b_.CreateConstGEP1_64(b_.getInt8Ty(), a.first[half], std::uint64_t{e} * a.element_bytes());
        value[half] = b_.CreateIntCast(b_.CreateAlignedLoad(element, at, llvm::Align(a.element_bytes())), lane, sign);
        if (computed.kept.is_sequence()) values.push_back(value[half]);
      }
      for (std::uint32_t c = 0; !computed.kept.is_sequence() && c < count; ++c)
        values.push_back(rows_->spread(a.address, a.row_bytes(), c, value[0], value[1]));
    }
    return deliver(a, computed, values, true);
  }
  values.resize(a.vector() * count);
  for (std::uint32_t c = 0; c < count; ++c) {
    const auto loaded = [&](std::uint32_t first, std::uint32_t number) -> Value* {
      if (const unsigned near = a.near(); near != 0 && !a.is_contiguous()) {
        auto* const all = llvm::FixedVectorType::get(element, number * near);
        return b_.CreateShuffleVector(b_.CreateMaskedLoad(all, place(a, first), align, one_of(number, near)),
                                      every(number, near, 0));
      }
      if (!a.is_contiguous())
        return b_.CreateMaskedGather(llvm::FixedVectorType::get(element, number), places(a, first, number), align);
      return b_.CreateAlignedLoad(llvm::FixedVectorType::get(element, number * a.vector()), place(a, first), align);
    };
    Value* const there = load_chunk(a, c, loaded);
    for (unsigned e = 0; e < a.vector(); ++e) {
      Value* const own = a.vector() == 1 ? there : b_.CreateShuffleVector(there, every(lanes, a.vector(), e));
      values[e * count + c] = b_.CreateIntCast(own, llvm::FixedVectorType::get(lane, lanes), sign);
    }
  }
  deliver(a, computed, values, true);
}

// What a load has loaded, as define() takes it. `all`: the lanes that a guard keeps out have loaded it, too.
void Emitter::deliver(const Access& a, const Computed& computed, llvm::ArrayRef<Value*> values, bool all) {
  for (std::size_t i = 0; i < a.results.size(); ++i) b_.CreateStore(values[i], a.results[i]);
  if (!a.results.empty()) return;
  if (!all || computed.kept.is_sequence()) return define(a.op, computed, values);
  const std::uint32_t count = rows_->chunks().of(a.row_bytes());
  for (std::uint32_t i = 0; i < values.size(); ++i)
    rows_->set_chunk(region_.facts(a.op).defs[i / count].offset, i % count, values[i]);
}

// What the lanes of a chunk store, in the order in which it lies in memory if they store one after the other.
Value* Emitter::elements_of(const Access& a, std::uint32_t chunk) {
  const std::uint32_t lanes = rows_->chunks().lanes(a.row_bytes());
  llvm::Type* const narrow = llvm::FixedVectorType::get(b_.getIntNTy(8 * a.element_bytes()), lanes);
  llvm::SmallVector<Value*, 4> elements;
  for (unsigned e = 0; e < a.vector(); ++e)
    elements.push_back(b_.CreateTrunc(a.values[e * rows_->chunks().of(a.row_bytes()) + chunk], narrow));
  if (a.vector() == 1) return elements[0];
  return b_.CreateShuffleVector(llvm::concatenateVectors(b_, elements), interleaved(lanes, a.vector()));
}

void Emitter::store_sequence(Access& a) {
  const llvm::Align align(a.lane_bytes());
  for (std::uint32_t c = 0; c < rows_->chunks().of(a.row_bytes()); ++c) {
    Value* const values = elements_of(a, c);
    const auto stored = [&](Value* value, std::uint32_t first, std::uint32_t count) {
      if (a.is_contiguous())
        b_.CreateAlignedStore(value, place(a, first), align);
      else if (const unsigned near = a.near(); near != 0)
        b_.CreateMaskedStore(b_.CreateShuffleVector(value, apart(count, near)), place(a, first), align,
                             one_of(count, near));
      else
        b_.CreateMaskedScatter(value, places(a, first, count), align);
    };
    store_chunk(a, c, values, stored);
  }
}

} // namespace warplens::exec::compile
