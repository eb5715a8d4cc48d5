// SPDX-License-Identifier: Apache-2.0
// Compiles CUDA source with nvcc or, for kernels alone, with clang++, if one of them is installed. Results are kept:
// see compile_cache.hpp.
//
//   Expected<std::string> ptx = compile_to_ptx("saxpy.cu", {9, 0});
#pragma once

#include "api/launch/launch.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace warplens::tools {

/// Searches PATH and the folders where CUDA is usually installed: CUDA_HOME, CUDA_PATH, /usr/local/cuda.
std::optional<std::filesystem::path> find_cuda_tool(const std::string& name);

/// PTX with line information for the newest architecture that the compiler supports and that is not newer than the
/// device; for older devices, the oldest that the compiler supports. Errors: no compiler; its messages.
Expected<std::string> compile_to_ptx(const std::filesystem::path& source, model::ComputeCapability device);

/// Compiles a whole program with embedded PTX and the shared runtime. Returns an open file, which is already deleted.
/// Errors: no nvcc; its messages.
Expected<int> compile_program(const std::filesystem::path& source, model::ComputeCapability device);

} // namespace warplens::tools
