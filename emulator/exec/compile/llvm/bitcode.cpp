// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/compile/llvm/bitcode.hpp"

#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

// WARPLENS_FOR_EACH_BITCODE: BITCODE(v4, memory) BITCODE(v4, integer) …, the tables of a level in the table's order
// after its memory.
#define BITCODE(level, part) extern "C" const char warplens_##level##_##part[], warplens_##level##_##part##_end[];
WARPLENS_FOR_EACH_BITCODE
#undef BITCODE

namespace warplens::exec::compile {

namespace {

struct Part {
  std::string_view level, name;
  llvm::StringRef bytes;
};

std::vector<Part> parts_of(std::string_view level) {
  std::vector<Part> parts;
  const auto add = [&](std::string_view of, std::string_view name, const char* begin, const char* end) {
    if (level.ends_with(of)) parts.push_back({of, name, {begin, static_cast<std::size_t>(end - begin)}});
  };
#define BITCODE(level, part) add(#level, #part, warplens_##level##_##part, warplens_##level##_##part##_end);
  WARPLENS_FOR_EACH_BITCODE
#undef BITCODE
  return parts;
}

const llvm::Constant* field(const llvm::Constant* structure, unsigned i) { return structure->getAggregateElement(i); }
std::uint64_t number(const llvm::Constant* c) { return llvm::cast<llvm::ConstantInt>(c)->getZExtValue(); }

} // namespace

std::optional<Bitcode> Bitcode::open(llvm::LLVMContext& context, std::string_view level) {
  Bitcode bitcode;
  for (const Part& part : parts_of(level)) {
    auto module = llvm::getLazyBitcodeModule(
        llvm::MemoryBufferRef(part.bytes, llvm::StringRef(part.name.data(), part.name.size())), context);
    if (!module) {
      llvm::consumeError(module.takeError());
      return std::nullopt;
    }
    if (const llvm::GlobalVariable* const table = (*module)->getNamedGlobal("rows_" + std::string(part.name))) {
      const llvm::Constant* const lines = table->getInitializer();
      const std::uint64_t count = llvm::cast<llvm::ArrayType>(lines->getType())->getNumElements();
      for (unsigned i = 0; i < count; ++i) {
        const llvm::Constant* const line = field(lines, i);
        bitcode.lines_.push_back({llvm::dyn_cast<llvm::GlobalVariable>(field(line, 0)->stripPointerCasts())});
      }
    }
    bitcode.modules_.push_back(std::move(*module));
  }
  if (bitcode.modules_.empty()) return std::nullopt;
  return bitcode;
}

RowFunctionInfo Bitcode::row_function(std::uint32_t entry, std::uint32_t variant) const {
  RowFunctionInfo info;
  if (entry >= lines_.size() || lines_[entry].variants == nullptr) return info;
  // std::array: a structure with an array.
  const llvm::Constant* list = lines_[entry].variants->getInitializer();
  while (llvm::isa<llvm::StructType>(list->getType()) &&
         llvm::cast<llvm::StructType>(list->getType())->getNumElements() == 1)
    list = field(list, 0);
  const llvm::Constant* const f = field(list, variant);
  if (f == nullptr) return info;
  const auto name = [&](unsigned i) {
    const auto* const function = llvm::dyn_cast<llvm::Function>(field(f, i)->stripPointerCasts());
    return function == nullptr ? std::string() : function->getName().str();
  };
  info.all = name(0);
  info.first = name(1);
  const std::uint64_t destinations = number(field(f, 2)), sources = number(field(f, 3));
  for (unsigned i = 0; i < destinations + sources; ++i)
    (i < destinations ? info.destinations : info.sources)
        .push_back(static_cast<unsigned>(number(field(field(f, 4), i))));
  return info;
}

std::size_t Bitcode::length(const std::string& name) {
  llvm::Function* const f = find(name);
  if (f == nullptr) return ~std::size_t{0};
  if (llvm::Error error = f->materialize()) {
    llvm::consumeError(std::move(error));
    return ~std::size_t{0};
  }
  return f->getInstructionCount();
}

std::size_t Bitcode::operations(const std::string& name) {
  if (length(name) == ~std::size_t{0}) return ~std::size_t{0};
  std::size_t count = 0;
  for (const llvm::Instruction& i : llvm::instructions(*find(name))) {
    const auto* const select = llvm::dyn_cast<llvm::SelectInst>(&i);
    const llvm::Value* const value = select != nullptr ? select->getCondition() : &i;
    const auto* const compare = llvm::dyn_cast<llvm::FCmpInst>(value);
    const bool of_nans = compare != nullptr && (compare->getPredicate() == llvm::CmpInst::FCMP_ORD ||
                                                compare->getPredicate() == llvm::CmpInst::FCMP_UNO);
    const bool moves = llvm::isa<llvm::AllocaInst, llvm::LoadInst, llvm::StoreInst, llvm::GetElementPtrInst,
                                 llvm::InsertValueInst, llvm::ExtractValueInst, llvm::BitCastInst>(i);
    if (!of_nans && !moves && !i.isTerminator()) ++count;
  }
  return count;
}

llvm::Function* Bitcode::find(llvm::StringRef name) {
  if (const auto made = made_.find(name); made != made_.end()) return made->second->getFunction(name);
  for (const auto& m : modules_)
    if (llvm::Function* const f = m->getFunction(name); f != nullptr && (!f->isDeclaration() || f->isMaterializable()))
      return f;
  return nullptr;
}

void Bitcode::keep(std::unique_ptr<llvm::Module> module, llvm::StringRef function) {
  made_[function] = std::move(module);
}

llvm::Function* Bitcode::declare(llvm::Module& module, llvm::StringRef name) {
  if (llvm::Function* const known = module.getFunction(name)) return known;
  llvm::Function* const f = find(name);
  if (f == nullptr) return nullptr;
  auto* const made = llvm::Function::Create(f->getFunctionType(), llvm::GlobalValue::ExternalLinkage, name, module);
  declared_.emplace_back(made, f);
  return made;
}

namespace {

// Copies functions, and the functions and variables that they use. LLVM's linker would take a module apart, which would
// have to be read again for the next kernel.
class Copier final : public llvm::ValueMaterializer {
public:
  explicit Copier(llvm::Module& to) : to_(to) {}

  void copy(llvm::Function* to, llvm::Function* from) {
    values_[from] = to;
    waiting_.emplace_back(to, from);
  }

  llvm::Error finish() {
    while (!waiting_.empty()) {
      const auto [to, from] = waiting_.back();
      waiting_.pop_back();
      if (llvm::Error error = from->materialize()) return error;
      if (from->isDeclaration()) continue;
      auto argument = to->arg_begin();
      for (llvm::Argument& a : from->args()) values_[&a] = &*argument++;
      llvm::SmallVector<llvm::ReturnInst*, 4> returns;
      llvm::CloneFunctionInto(to, from, values_, llvm::CloneFunctionChangeType::DifferentModule, returns, "", nullptr,
                              nullptr, this);
      to->setLinkage(llvm::GlobalValue::InternalLinkage);
      to->setComdat(nullptr);
    }
    return llvm::Error::success();
  }

  llvm::Value* materialize(llvm::Value* value) override {
    if (auto* const f = llvm::dyn_cast<llvm::Function>(value)) {
      if (f->getParent() == &to_) return f;
      const bool defined = !f->isDeclaration() || f->isMaterializable();
      if (!defined)
        if (llvm::Function* const known = to_.getFunction(f->getName())) return known;
      auto* const made =
          llvm::Function::Create(f->getFunctionType(), llvm::GlobalValue::ExternalLinkage, f->getName(), to_);
      made->copyAttributesFrom(f);
      if (defined) copy(made, f);
      return made;
    }
    auto* const g = llvm::dyn_cast<llvm::GlobalVariable>(value);
    if (g == nullptr || g->getParent() == &to_) return nullptr;
    auto* const made = new llvm::GlobalVariable(to_, g->getValueType(), g->isConstant(),
                                                g->hasInitializer() ? llvm::GlobalValue::InternalLinkage
                                                                    : llvm::GlobalValue::ExternalLinkage,
                                                nullptr, g->getName());
    made->copyAttributesFrom(g);
    made->setComdat(nullptr);
    values_[g] = made;
    if (g->hasInitializer())
      made->setInitializer(llvm::MapValue(g->getInitializer(), values_, llvm::RF_None, nullptr, this));
    return made;
  }

private:
  llvm::Module& to_;
  llvm::ValueToValueMapTy values_;
  std::vector<std::pair<llvm::Function*, llvm::Function*>> waiting_;
};

} // namespace

llvm::Error Bitcode::define(llvm::Module& module) {
  Copier copier(module);
  std::erase_if(declared_, [&](const auto& pair) {
    const auto& [to, from] = pair;
    if (to->getParent() != &module) return false; // of another module, which is not finished
    copier.copy(to, from);
    return true;
  });
  return copier.finish();
}

} // namespace warplens::exec::compile
