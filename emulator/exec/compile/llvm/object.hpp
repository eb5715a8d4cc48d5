// SPDX-License-Identifier: Apache-2.0
// Machine code of a module in which the functions of an emitter (emitter.hpp) call those of the bitcode.
#pragma once

#include <string>
#include <string_view>

namespace warplens::exec::compile {

/// Marks a body with the number of its instructions, by which bodies are divided among threads.
inline constexpr const char* kLengthAttribute = "warplens-length";

/// An archive of object files; empty: see `problem`. `module` is bitcode or IR. The optimised module is also written to
/// the file `dump` if that is not empty.
std::string code_of(std::string_view module, std::string_view level, const std::string& dump, std::string& problem);

} // namespace warplens::exec::compile
