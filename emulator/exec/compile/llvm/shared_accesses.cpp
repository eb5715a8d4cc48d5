// SPDX-License-Identifier: Apache-2.0
// Accesses by some of the lanes in code with many accesses: what is rare there is a function that all accesses of the
// same form share. It takes the op, the first addresses and the lanes, and returns whether it could reach them.
#include "emulator/exec/compile/llvm/access.hpp"

#include <llvm/Support/SaveAndRestore.h>

namespace warplens::exec::compile {

using llvm::BasicBlock;
using llvm::Value;

// A part with more of them takes too long to compile if each has all of its code.
bool Emitter::has_many_accesses() const {
  constexpr std::uint32_t kMany = 40;
  if (in_memory()) return true;
  std::uint32_t count = 0;
  for (std::uint32_t i = 0; i < region_.size(); ++i) {
    const OpMeaning::Kind kind = region_.facts(i).meaning.kind;
    const bool accesses = kind == OpMeaning::Kind::load || kind == OpMeaning::Kind::store;
    count += accesses && part_.reachable(i) && !part_.elsewhere(i) ? 1 : 0;
  }
  return count > kMany;
}

void Emitter::call_access(const Access& a, bool loads, Forms forms, const Computed& computed) {
  llvm::SmallVector<Value*, 16> arguments = {warp_, a.real, a.site_index, a.acting};
  for (Value* const start : a.start)
    if (start != nullptr) arguments.push_back(start);
  arguments.append(a.values);
  Value* const result = b_.CreateCall(access_function(a, loads, forms), arguments);
  BasicBlock* const reached = block();
  b_.CreateCondBr(b_.CreateExtractValue(result, 0), reached, a.slow);
  b_.SetInsertPoint(reached);
  if (!loads) return;
  llvm::SmallVector<Value*, 8> values;
  const unsigned fields = llvm::cast<llvm::StructType>(result->getType())->getNumElements();
  for (unsigned i = 1; i < fields; ++i) values.push_back(b_.CreateExtractValue(result, i));
  define(a.op, computed, values);
}

llvm::Function* Emitter::access_function(const Access& a, bool loads, Forms forms) {
  const std::string name = (llvm::Twine("some_") + (loads ? "load_" : "store_") + std::to_string(a.element_bytes()) +
                            (loads && isa::is_signed(a.key.type) ? "s_" : "_") + std::to_string(a.row_bytes()) + "_" +
                            std::to_string(a.vector()) + "_" + std::to_string(static_cast<int>(a.site.space)) +
                            (a.site.address32 ? "_32_" : "_64_") + (a.address.whole ? "" : "halves_") +
                            std::to_string(a.address.stride) + (forms.masked ? "m" : "") + (forms.apart ? "a" : ""))
                               .str();
  if (llvm::Function* const known = module_.getFunction(name)) return known;
  llvm::SmallVector<llvm::Type*, 16> types = {warp_->getType(), a.real->getType(), a.site_index->getType(),
                                              a.acting->getType()};
  for (const Value* const start : a.start)
    if (start != nullptr) types.push_back(start->getType());
  for (const Value* const value : a.values) types.push_back(value->getType());
  llvm::SmallVector<llvm::Type*, 9> fields = {b_.getInt1Ty()};
  if (loads)
    fields.append(a.vector() * rows_->chunks().of(a.row_bytes()), rows_->chunks().type(b_.getContext(), a.row_bytes()));
  llvm::StructType* const result = llvm::StructType::get(b_.getContext(), fields);
  auto* const made = llvm::Function::Create(llvm::FunctionType::get(result, types, false),
                                            llvm::GlobalValue::InternalLinkage, name, module_);
  made->addFnAttr(llvm::Attribute::NoInline);

  const llvm::IRBuilderBase::InsertPointGuard here(b_);
  const llvm::SaveAndRestore<llvm::Function*> body(body_, made);
  const llvm::SaveAndRestore<Value*> warp(warp_, made->getArg(0)), places(stored_places_, nullptr),
      values(stored_values_, nullptr), addresses(told_addresses_, nullptr);
  BasicBlock* const entry = block();
  BasicBlock* const failed = block();
  BasicBlock* const done = block();
  const Ways ways{forms.masked ? block() : nullptr, forms.apart ? block() : nullptr};
  b_.SetInsertPoint(entry);
  Access own{a.op, a.site, a.key, a.address};
  unsigned next = 1;
  for (Value** const argument : {&own.real, &own.site_index, &own.acting}) *argument = made->getArg(next++);
  for (const int half : {0, 1})
    if (a.start[half] != nullptr) own.start[half] = made->getArg(next++);
  while (next < types.size()) own.values.push_back(made->getArg(next++));
  for (llvm::Type* const type : llvm::ArrayRef(fields).drop_front()) own.results.push_back(b_.CreateAlloca(type));
  BasicBlock* const apart = ways.apart != nullptr ? ways.apart : failed;
  b_.CreateCondBr(b_.CreateICmpEQ(own.acting, b_.getInt32(kFullMask)), apart,
                  ways.masked != nullptr ? ways.masked : apart);
  access_by_some(own, loads, ways, failed, done, {});
  b_.SetInsertPoint(failed);
  b_.CreateRet(llvm::ConstantAggregateZero::get(result));
  b_.SetInsertPoint(done);
  Value* all = b_.CreateInsertValue(llvm::PoisonValue::get(result), b_.getTrue(), 0);
  for (unsigned i = 0; i < own.results.size(); ++i)
    all = b_.CreateInsertValue(all, b_.CreateLoad(fields[1 + i], own.results[i]), 1 + i);
  b_.CreateRet(all);
  return made;
}

// What a load has loaded.
void Emitter::deliver(const Access& a, const Computed& computed, llvm::ArrayRef<Value*> values) {
  if (a.results.empty()) return define(a.op, computed, values);
  for (std::size_t i = 0; i < values.size(); ++i) b_.CreateStore(values[i], a.results[i]);
}

} // namespace warplens::exec::compile
