// SPDX-License-Identifier: Apache-2.0
// Where libraries lie that this code opens when it needs them.
//
//   dlopen((own_folder() / "libwarplens_compiler.so").c_str(), RTLD_NOW | RTLD_LOCAL);
#pragma once

#include <filesystem>

namespace warplens {

/// The folder of the file that contains this code: the program, or a shared library. Empty: it is unknown.
std::filesystem::path own_folder();

} // namespace warplens
