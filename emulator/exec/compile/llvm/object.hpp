// SPDX-License-Identifier: Apache-2.0
// Machine code of a module in which the functions of an emitter (emitter.hpp) call those of the bitcode.
#pragma once

#include <llvm/IR/Module.h>

#include <string>
#include <string_view>

namespace warplens::exec::compile {

/// An object file; empty: see `problem`. The optimised module is also written to the file `dump` if that is not empty.
std::string object_of(llvm::Module& module, std::string_view level, const std::string& dump, std::string& problem);

} // namespace warplens::exec::compile
