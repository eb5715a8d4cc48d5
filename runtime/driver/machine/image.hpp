// From what a program hands over as code to the PTX in it.
#pragma once

#include "api/launch/launch.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace warplens::runtime {

/// PTX text, ended by a zero byte; a fat binary, or the wrapper that nvcc puts around one; a linked_image(). Throws
/// Failure: CUDA_ERROR_INVALID_IMAGE, CUDA_ERROR_NO_BINARY_FOR_GPU where there is machine code only.
std::vector<api::Source> ptx_of(const void* image, const model::Device& device);
/// The same of bytes whose number is known, as a file's: PTX text, a fat binary, or a linked_image().
std::vector<api::Source> ptx_of(std::string_view bytes, const model::Device& device);

/// A file that holds code. Throws Failure: CUDA_ERROR_INVALID_VALUE without a path, CUDA_ERROR_FILE_NOT_FOUND.
std::string read_code(const char* path);

/// Several sources as one image, which cuLinkComplete() gives out.
std::string linked_image(const std::vector<api::Source>& sources);

} // namespace warplens::runtime
