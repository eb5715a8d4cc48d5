// SPDX-License-Identifier: Apache-2.0
// Accesses of code that has many: a function for all that have the same form. It takes what differs between them, and
// returns what it loaded. What it cannot do, it leaves to the handler of the op, whose rows it finds in the Op.
#include "emulator/exec/compile/llvm/access.hpp"

#include <llvm/Support/SaveAndRestore.h>

#include <cstddef>

namespace warplens::exec::compile {

using llvm::BasicBlock;
using llvm::Value;

// A part with more of them takes too long to compile if each has all of its code.
bool Emitter::has_many_accesses() const {
  constexpr std::uint32_t kMany = 40;
  std::uint32_t count = 0;
  for (std::uint32_t i = 0; i < region_.size(); ++i) {
    const OpMeaning::Kind kind = region_.facts(i).meaning.kind;
    const bool accesses = kind == OpMeaning::Kind::load || kind == OpMeaning::Kind::store;
    count += accesses && part_.reachable(i) && !part_.elsewhere(i) ? 1 : 0;
  }
  return count > kMany;
}

bool Emitter::is_counted(const Access& a, Ways ways) const {
  return program_.watched && (ways.warp || ways.one) && a.address.is_sequence() && a.site.observed_bytes != 0;
}

void Emitter::call_access(Access& a, bool loads, Ways ways, const Computed& computed) {
  llvm::SmallVector<Value*, 16> arguments = {warp_, a.real, b_.getInt32(a.op), a.site_index, a.acting};
  if (program_.watched) arguments.push_back(tallies_);
  if (is_counted(a, ways)) arguments.push_back(a.tally = b_.getInt32(place_of(a)));
  for (Value* const start : a.start)
    if (start != nullptr) arguments.push_back(start);
  arguments.append(a.addresses);
  arguments.append(a.values);
  Value* const result = b_.CreateCall(access_function(a, loads, ways, computed, arguments), arguments);
  BasicBlock* const on = block();
  b_.CreateCondBr(b_.CreateExtractValue(result, 0), on, stopped());
  b_.SetInsertPoint(on);
  if (!loads) return;
  llvm::SmallVector<Value*, 8> values;
  const unsigned fields = llvm::cast<llvm::StructType>(result->getType())->getNumElements();
  for (unsigned i = 1; i < fields; ++i) values.push_back(b_.CreateExtractValue(result, i));
  define(a.op, computed, values);
}

namespace {

// All that the code of a function depends on besides its arguments.
std::string name_of(const Op& op, const MemorySite& site, const MemoryHandlerKey& key, Shape address, bool guarded) {
  std::string name = std::to_string(isa::bytes(key.type)) + (isa::is_signed(key.type) ? "s" : "u") +
                     std::to_string(key.register_bytes) + "x" + std::to_string(key.vector);
  name += "_" + std::to_string(static_cast<int>(site.space)) + (site.address32 ? "_32" : "_64");
  name += !address.is_sequence() ? "_any" : (address.whole ? "_" : "_halves_") + std::to_string(address.stride);
  name += "_" + std::to_string(site.observed_bytes) + "_" + std::to_string(site.observed_offset);
  if (guarded) name += op.guard_flip != 0 ? "_unless" : "_if";
  return name;
}

} // namespace

llvm::Function* Emitter::access_function(const Access& a, bool loads, Ways ways, const Computed& computed,
                                         llvm::ArrayRef<Value*> arguments) {
  std::string name = (loads ? "some_load_" : "some_store_") +
                     name_of(program_.ops[a.op], a.site, a.key, a.address, region_.facts(a.op).guarded);
  for (const bool way : {ways.warp, ways.any_lanes, ways.one, ways.masked, ways.apart}) name += way ? "+" : "-";
  if (llvm::Function* const known = module_.getFunction(name)) return known;
  llvm::SmallVector<llvm::Type*, 16> types;
  for (const Value* const argument : arguments) types.push_back(argument->getType());
  llvm::SmallVector<llvm::Type*, 9> fields = {b_.getInt1Ty()};
  if (loads && computed.kept.is_sequence())
    fields.append(a.vector() * (computed.kept.whole ? 1 : 2), b_.getIntNTy(8 * a.row_bytes()));
  else if (loads)
    fields.append(a.vector() * rows_->chunks().of(a.row_bytes()), rows_->chunks().type(b_.getContext(), a.row_bytes()));
  llvm::StructType* const result = llvm::StructType::get(b_.getContext(), fields);
  auto* const made = llvm::Function::Create(llvm::FunctionType::get(result, types, false),
                                            llvm::GlobalValue::InternalLinkage, name, module_);
  made->addFnAttr(llvm::Attribute::NoInline);

  const llvm::IRBuilderBase::InsertPointGuard here(b_);
  const llvm::SaveAndRestore<llvm::Function*> body(body_, made);
  const llvm::SaveAndRestore<Value*> warp(warp_, made->getArg(0)), places(stored_places_, nullptr),
      values(stored_values_, nullptr), addresses(told_addresses_, nullptr), facts(access_facts_, nullptr),
      tallies(tallies_), originals(originals_);
  BasicBlock* const entry = block();
  BasicBlock* const rest = block();
  BasicBlock* const stops = block();
  BasicBlock* const done = block();
  b_.SetInsertPoint(entry);
  Access own{a.op, a.site, a.key, a.address};
  auto argument = made->arg_begin() + 1;
  own.real = argument++;
  Value* const op = argument++;
  own.site_index = argument++;
  own.acting = argument++;
  if (program_.watched) tallies_ = argument++;
  if (is_counted(a, ways)) own.tally = argument++;
  for (const int half : {0, 1})
    if (a.start[half] != nullptr) own.start[half] = argument++;
  for (std::size_t i = 0; i < a.addresses.size(); ++i) own.addresses.push_back(argument++);
  for (std::size_t i = 0; i < a.values.size(); ++i) own.values.push_back(argument++);
  for (llvm::Type* const type : llvm::ArrayRef(fields).drop_front()) own.results.push_back(b_.CreateAlloca(type));
  own.imm = b_.CreateAlignedLoad(b_.getInt64Ty(), b_.CreateConstGEP1_64(b_.getInt8Ty(), own.real, offsetof(Op, imm)),
                                 llvm::Align(8));
  access_in(ways, own, loads, rest, done, computed);
  b_.SetInsertPoint(rest);
  handle(own, loads, computed, op, stops);
  b_.CreateBr(done);
  b_.SetInsertPoint(stops);
  b_.CreateRet(llvm::ConstantAggregateZero::get(result));
  b_.SetInsertPoint(done);
  Value* all = b_.CreateInsertValue(llvm::PoisonValue::get(result), b_.getTrue(), 0);
  for (unsigned i = 0; i < own.results.size(); ++i)
    all = b_.CreateInsertValue(all, b_.CreateLoad(fields[1 + i], own.results[i]), 1 + i);
  b_.CreateRet(all);
  return made;
}

// A row in memory: the Op has its place at `field`.
Value* Emitter::row_of(const Access& a, std::size_t field) {
  Value* const offset =
      b_.CreateAlignedLoad(b_.getInt32Ty(), b_.CreateConstGEP1_64(b_.getInt8Ty(), a.real, field), llvm::Align(4));
  return b_.CreateGEP(b_.getInt8Ty(), warp_, b_.CreateZExt(offset, b_.getInt64Ty()));
}

// By the op's handler, on its rows in memory. Goes to `stops` if that ends the turn of the warp.
void Emitter::handle(const Access& a, bool loads, const Computed& computed, Value* op, BasicBlock* stops) {
  const auto destination = [](int i) { return offsetof(Op, dst) + i * sizeof(std::uint32_t); };
  const auto source = [](int i) { return offsetof(Op, src) + i * sizeof(std::uint32_t); };
  RowValues rows(program_, region_, rows_->chunks(), b_, warp_, b_.GetInsertBlock());
  rows.enter(b_.CreateAlignedLoad(b_.getInt32Ty(), rows.home(offsetof(Warp, active)), llvm::Align(4)));
  const Chunks& chunks = rows.chunks();
  llvm::SmallVector<Value*, 4> addresses = a.addresses;
  if (a.address.is_sequence()) {
    Value* first[2]{};
    for (const int half : {0, 1})
      if (a.start[half] != nullptr)
        first[half] = b_.CreateSub(a.start[half], b_.CreateTrunc(a.imm, a.start[half]->getType()));
    for (std::uint32_t c = 0; c < chunks.of(a.address_bytes()); ++c)
      addresses.push_back(rows.spread(a.address, a.address_bytes(), c, first[0], first[1]));
  }
  rows.take_home(row_of(a, source(0)), a.address_bytes(), addresses);
  const std::size_t stored[] = {source(1), source(2), source(3), destination(0)};
  const std::uint32_t count = chunks.of(a.row_bytes());
  for (std::size_t e = 0; e * count < a.values.size(); ++e)
    rows.take_home(row_of(a, stored[e]), a.row_bytes(), llvm::ArrayRef(a.values).slice(e * count, count));
  if (region_.facts(a.op).guarded) {
    Value* const flip = b_.getInt32(program_.ops[a.op].guard_flip);
    rows.take_home(row_of(a, offsetof(Op, guard)), 0, b_.CreateXor(a.acting, flip));
  }
  originals_ = call("originals_of", {warp_});
  BasicBlock* const on = block();
  b_.CreateCondBr(b_.CreateIsNull(call_original(op, a.real)), stops, on);
  b_.SetInsertPoint(on);
  if (!loads) return;
  const std::size_t loaded[] = {destination(0), destination(1), source(1), source(2)};
  llvm::SmallVector<Value*, 8> values;
  for (unsigned e = 0; e < a.vector(); ++e) rows.fetch(row_of(a, loaded[e]), a.row_bytes(), computed.kept, values);
  deliver(a, computed, values, false);
}

} // namespace warplens::exec::compile
