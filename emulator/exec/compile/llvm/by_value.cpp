// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/compile/llvm/by_value.hpp"

#include "emulator/exec/compile/llvm/masks.hpp"
#include "emulator/exec/compile/row_function.hpp"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <cstddef>

namespace warplens::exec::compile {

using llvm::Value;

std::uint32_t Chunks::of(std::uint32_t bytes) const {
  return bytes == 0 ? 1 : std::max(1u, kWarpSize * bytes / vector_bytes_);
}
std::uint32_t Chunks::lanes(std::uint32_t bytes) const { return kWarpSize / of(bytes); }
llvm::Type* Chunks::type(llvm::LLVMContext& context, std::uint32_t bytes) const {
  if (bytes == 0) return llvm::Type::getInt32Ty(context);
  return llvm::FixedVectorType::get(llvm::Type::getIntNTy(context, 8 * bytes), lanes(bytes));
}

namespace {

enum class Form : std::uint8_t { all, first, load, store };

// Makes one function. Its rows are in a local variable, one after the other.
class Maker {
public:
  Maker(Target& target, const RowsOfFunction& rows, Form form)
      : target_(target), rows_(rows), form_(form), module_(std::make_unique<llvm::Module>("by value", context())),
        b_(context()) {
    module_->setTargetTriple(target.machine.getTargetTriple().str());
    module_->setDataLayout(target.machine.createDataLayout());
  }

  void make(const std::string& function, const std::string& name) {
    llvm::Function* const raw = target_.bitcode.declare(*module_, function);
    llvm::SmallVector<llvm::Type*, 16> results, arguments;
    if (is_access()) results.push_back(b_.getInt1Ty());
    for (const std::uint32_t bytes : rows_.destinations) add_types(results, bytes);
    for (const std::uint32_t bytes : rows_.sources) add_types(arguments, bytes);
    const std::size_t rows = arguments.size();
    if (is_access()) arguments.append({b_.getInt64Ty(), b_.getPtrTy(), b_.getPtrTy(), b_.getPtrTy()});
    auto* const result = llvm::StructType::get(context(), results);
    auto* const made = llvm::Function::Create(llvm::FunctionType::get(result, arguments, false),
                                              llvm::GlobalValue::ExternalLinkage, name, *module_);
    b_.SetInsertPoint(llvm::BasicBlock::Create(context(), "", made));
    const std::size_t count = rows_.sources.size() + rows_.destinations.size();
    file_ = b_.CreateAlloca(llvm::ArrayType::get(b_.getInt8Ty(), kRowBytes * count));
    llvm::cast<llvm::AllocaInst>(file_)->setAlignment(llvm::Align(64));
    std::size_t next = 0;
    for (std::size_t i = 0; i < rows_.sources.size(); ++i)
      for (std::uint32_t c = 0; c < pieces(rows_.sources[i]); ++c)
        b_.CreateAlignedStore(made->getArg(static_cast<unsigned>(next++)), place(i, rows_.sources[i], c),
                              llvm::Align(4));
    Value* imm = b_.getInt64(0);
    if (is_access()) imm = made->getArg(static_cast<unsigned>(rows));
    llvm::SmallVector<Value*, 5> passed;
    passed.push_back(op(imm));
    passed.push_back(file_);
    if (is_access())
      for (unsigned i = 1; i <= 3; ++i) passed.push_back(made->getArg(static_cast<unsigned>(rows) + i));
    Value* const done = b_.CreateCall(raw, passed);
    Value* all = llvm::PoisonValue::get(result);
    unsigned field = 0;
    if (is_access()) all = b_.CreateInsertValue(all, done, field++);
    for (std::size_t i = 0; i < rows_.destinations.size(); ++i)
      for (std::uint32_t c = 0; c < pieces(rows_.destinations[i]); ++c) {
        Value* const from = place(rows_.sources.size() + i, rows_.destinations[i], c);
        all =
            b_.CreateInsertValue(all, b_.CreateAlignedLoad(type(rows_.destinations[i]), from, llvm::Align(4)), field++);
      }
    b_.CreateRet(all);
    finish(made, name);
  }

private:
  static constexpr std::uint32_t kRowBytes = 16 * kWarpSize;

  llvm::LLVMContext& context() const { return target_.bitcode.context(); }
  [[nodiscard]] bool is_access() const { return form_ == Form::load || form_ == Form::store; }
  [[nodiscard]] std::uint32_t pieces(std::uint32_t bytes) const {
    return form_ == Form::first ? 1 : target_.chunks.of(bytes);
  }
  llvm::Type* type(std::uint32_t bytes) {
    if (form_ == Form::first) return bytes == 0 ? b_.getInt32Ty() : b_.getIntNTy(8 * bytes);
    return target_.chunks.type(context(), bytes);
  }
  void add_types(llvm::SmallVectorImpl<llvm::Type*>& types, std::uint32_t bytes) {
    types.append(pieces(bytes), type(bytes));
  }
  Value* place(std::size_t row, std::uint32_t bytes, std::uint32_t piece) {
    const std::uint64_t at = row * kRowBytes + std::uint64_t{piece} * target_.chunks.lanes(bytes) * bytes;
    return b_.CreateConstGEP1_64(b_.getInt8Ty(), file_, at);
  }

  // An Op whose rows are those of the variable, in the order in which its kind of function looks for them.
  Value* op(Value* imm) {
    Op o{};
    const auto at = [](std::size_t row) { return static_cast<std::uint32_t>(row * kRowBytes); };
    const std::size_t sources = rows_.sources.size();
    const auto destination = [&](std::size_t i) { return at(sources + i); };
    if (form_ == Form::load) {
      std::uint32_t* const places[] = {&o.dst[0], &o.dst[1], &o.src[1], &o.src[2]};
      o.src[0] = at(0);
      for (std::size_t i = 0; i < rows_.destinations.size(); ++i) *places[i] = destination(i);
    } else {
      std::uint32_t* const places[] = {&o.src[0], &o.src[1], &o.src[2], &o.src[3],
                                       form_ == Form::store ? &o.dst[0] : &o.extra};
      for (std::size_t i = 0; i < sources; ++i) *places[i] = at(i);
      for (std::size_t i = 0; i < rows_.destinations.size(); ++i) o.dst[i] = destination(i);
    }
    auto* const made = b_.CreateAlloca(llvm::ArrayType::get(b_.getInt64Ty(), sizeof(Op) / 8));
    const auto word = [&](std::size_t offset) { return b_.CreateConstGEP1_64(b_.getInt8Ty(), made, offset); };
    for (const std::size_t i : {0, 1}) b_.CreateStore(b_.getInt32(o.dst[i]), word(offsetof(Op, dst) + 4 * i));
    for (const std::size_t i : {0, 1, 2, 3}) b_.CreateStore(b_.getInt32(o.src[i]), word(offsetof(Op, src) + 4 * i));
    b_.CreateStore(b_.getInt32(o.extra), word(offsetof(Op, extra)));
    b_.CreateStore(imm, word(offsetof(Op, imm)));
    return made;
  }

  void finish(llvm::Function* made, const std::string& name) {
    llvm::cantFail(target_.bitcode.define(*module_));
    mark_inlined(
        *module_, [&](const llvm::Function& f) { return &f == made; }, target_.level);
    run_passes(*module_, target_.machine, [&](llvm::Function& f, llvm::function_ref<void(const char*)> run) {
      run("sroa<modify-cfg>,early-cse<memssa>,instcombine<no-verify-fixpoint>");
      if (&f == made) use_compare_masks(f);
      run("instcombine<no-verify-fixpoint>,simplifycfg,sroa<modify-cfg>,early-cse<memssa>,instcombine<no-verify-"
          "fixpoint>,"
          "adce");
    });
    target_.bitcode.keep(std::move(module_), name);
  }

  Target& target_;
  const RowsOfFunction& rows_;
  Form form_;
  std::unique_ptr<llvm::Module> module_;
  llvm::IRBuilder<> b_;
  Value* file_ = nullptr;
};

std::string by_value(Target& target, const std::string& function, const RowsOfFunction& rows, Form form) {
  std::string name = function + (form == Form::first ? ".first" : ".all");
  if (!target.bitcode.has(name)) Maker(target, rows, form).make(function, name);
  return name;
}

} // namespace

std::string all_by_value(Target& target, const std::string& function, const RowsOfFunction& rows) {
  return by_value(target, function, rows, Form::all);
}
std::string first_by_value(Target& target, const std::string& function, const RowsOfFunction& rows) {
  return by_value(target, function, rows, Form::first);
}
std::string access_by_value(Target& target, const std::string& function, const RowsOfFunction& rows, bool loads) {
  return by_value(target, function, rows, loads ? Form::load : Form::store);
}

} // namespace warplens::exec::compile
