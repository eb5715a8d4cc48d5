// SPDX-License-Identifier: Apache-2.0
// The bitcode of a level: the functors and memory accesses as functions over rows (exec/compile/row_function.hpp).
#pragma once

#include <llvm/ADT/StringMap.h>
#include <llvm/IR/Module.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warplens::exec::compile {

/// What a RowFunction says, with the names of its functions.
struct RowFunctionInfo {
  std::string all, first; ///< empty: it must run as a handler
  std::vector<unsigned> destinations, sources;
};

class Bitcode {
public:
  /// Of the level; nothing if it has none.
  static std::optional<Bitcode> open(llvm::LLVMContext& context, std::string_view level);

  /// By line of the instruction table and variant.
  [[nodiscard]] RowFunctionInfo row_function(std::uint32_t entry, std::uint32_t variant) const;
  /// The number of instructions of a function.
  [[nodiscard]] std::size_t length(const std::string& name);
  /// The number of those that compute something but canonical NaNs, which mostly need no instruction (nans.hpp).
  [[nodiscard]] std::size_t operations(const std::string& name);
  /// The declaration in `module` of a function of the bitcode; nullptr if it has none.
  llvm::Function* declare(llvm::Module& module, llvm::StringRef name);
  /// Adds the definitions of everything that was declared in it.
  llvm::Error define(llvm::Module& module);
  [[nodiscard]] bool has(llvm::StringRef name) { return find(name) != nullptr; }
  [[nodiscard]] llvm::LLVMContext& context() const { return modules_.front()->getContext(); }
  /// Keeps a module that a function was made in (by_value.hpp), by the function's name.
  void keep(std::unique_ptr<llvm::Module> module, llvm::StringRef function);
  /// The module that functions were declared in will not be used.
  void forget() { declared_.clear(); }

private:
  struct Line {
    const llvm::GlobalVariable* variants = nullptr;
  };
  llvm::Function* find(llvm::StringRef name);

  std::vector<std::unique_ptr<llvm::Module>> modules_;
  llvm::StringMap<std::unique_ptr<llvm::Module>> made_;
  std::vector<std::pair<llvm::Function*, llvm::Function*>> declared_; ///< with the function of the bitcode
  std::vector<Line> lines_;                                           ///< by line of the instruction table
};

} // namespace warplens::exec::compile
