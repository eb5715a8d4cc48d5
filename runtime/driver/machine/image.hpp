// SPDX-License-Identifier: Apache-2.0
// Extracts the PTX from the code that a program passes.
#pragma once

#include "api/launch/launch.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace warplens::runtime {

/// What a program passes as code.
struct Code {
  std::vector<api::Source> sources;
  unsigned max_registers = 0; ///< CU_JIT_MAX_REGISTERS of the linking; 0: no limit
};

/// Zero-terminated PTX text; a fat binary, or nvcc's wrapper of one; a linked_image(). Throws Failure:
/// CUDA_ERROR_INVALID_IMAGE, CUDA_ERROR_NO_BINARY_FOR_GPU if there is only machine code.
Code ptx_of(const void* image, const model::Device& device);
/// The same for bytes of known size, as from a file: PTX text, a fat binary, or a linked_image().
Code ptx_of(std::string_view bytes, const model::Device& device);

/// The contents of a code file. Throws Failure: CUDA_ERROR_INVALID_VALUE without a path, CUDA_ERROR_FILE_NOT_FOUND.
std::string read_code(const char* path);

/// Code as one image, which cuLinkComplete() returns.
std::string linked_image(const Code& code);

} // namespace warplens::runtime
