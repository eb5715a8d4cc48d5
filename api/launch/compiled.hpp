// SPDX-License-Identifier: Apache-2.0
// Whether this process compiles kernels, and what it compiled.
#pragma once

#include <string>
#include <string_view>

namespace warplens::api {

/// "off", "auto" or "always"; false: another word.
bool set_compile_mode(std::string_view word);

/// The file of the library that compiles kernels; empty: there is none.
std::string compiler_library();

/// What was compiled of each kernel, and what was not and why: lines of text.
std::string explain_compiled();

} // namespace warplens::api
