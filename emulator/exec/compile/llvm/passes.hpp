// SPDX-License-Identifier: Apache-2.0
// How LLVM's passes run over a module, and for which processor.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>
#include <string>
#include <string_view>

namespace warplens::exec::compile {

/// Of a level, "x86-64-v4"; nullptr: see `problem`.
std::unique_ptr<llvm::TargetMachine> target_machine(std::string_view level, std::string& problem);

/// Runs pipelines of passes of functions over those functions of a module that are defined, one after the other.
void run_passes(llvm::Module& module, llvm::TargetMachine& machine,
                llvm::function_ref<void(llvm::Function&, llvm::function_ref<void(const char* pipeline)>)> each);
/// Functions of the bitcode in it will be inlined; `ours` will not.
void mark_inlined(llvm::Module& module, llvm::function_ref<bool(const llvm::Function&)> ours, std::string_view level);

} // namespace warplens::exec::compile
