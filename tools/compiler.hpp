// CUDA source: compiled by nvcc, or for kernels alone by clang++, where one of them is installed.
//
//   Expected<std::string> ptx = compile_to_ptx("saxpy.cu", {9, 0});
#pragma once

#include "api/launch/launch.hpp"

#include <filesystem>
#include <string>

namespace warplens::tools {

/// PTX with line information for the newest architecture that the compiler knows and the device is not older than;
/// for older devices the oldest that the compiler knows. Errors: no compiler; its messages.
Expected<std::string> compile_to_ptx(const std::filesystem::path& source, model::ComputeCapability device);

/// Compiles a whole program, its PTX inside, with the shared runtime. An open file, which has no name any more.
/// Errors: no nvcc; its messages.
Expected<int> compile_program(const std::filesystem::path& source, model::ComputeCapability device);

} // namespace warplens::tools
