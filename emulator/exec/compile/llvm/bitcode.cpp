// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/compile/llvm/bitcode.hpp"

#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/Constants.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/MemoryBuffer.h>

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
  if (const auto* function = llvm::dyn_cast<llvm::Function>(field(f, 0)->stripPointerCasts()))
    info.name = function->getName().str();
  const std::uint64_t destinations = number(field(f, 1)), sources = number(field(f, 2));
  for (unsigned i = 0; i < destinations + sources; ++i)
    (i < destinations ? info.destinations : info.sources)
        .push_back(static_cast<unsigned>(number(field(field(f, 3), i))));
  return info;
}

std::size_t Bitcode::length(const std::string& name) {
  for (const auto& m : modules_)
    if (llvm::Function* const f = m->getFunction(name); f != nullptr) {
      if (llvm::Error error = f->materialize()) {
        llvm::consumeError(std::move(error));
        continue;
      }
      if (!f->isDeclaration()) return f->getInstructionCount();
    }
  return ~std::size_t{0};
}

llvm::Function* Bitcode::declare(llvm::Module& module, llvm::StringRef name) {
  if (llvm::Function* const known = module.getFunction(name)) return known;
  for (const auto& m : modules_) {
    const llvm::Function* const f = m->getFunction(name);
    if (f == nullptr || (f->isDeclaration() && !f->isMaterializable())) continue;
    needed_.insert(m.get());
    return llvm::Function::Create(f->getFunctionType(), llvm::GlobalValue::ExternalLinkage, name, module);
  }
  return nullptr;
}

void Bitcode::link(llvm::Module& module) {
  for (auto& m : modules_) {
    if (!needed_.contains(m.get())) continue; // linking looks at all of a module
    module.setDataLayout(m->getDataLayout());
    llvm::Linker::linkModules(module, std::move(m), llvm::Linker::LinkOnlyNeeded);
  }
  modules_.clear();
}

} // namespace warplens::exec::compile
