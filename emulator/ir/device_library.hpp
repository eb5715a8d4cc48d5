// SPDX-License-Identifier: Apache-2.0
// Functions that the device provides without a definition in the module: the system calls (PTX interoperability guide,
// "System calls") and the device runtime, with which kernels launch kernels (CUDA C++ Programming Guide, "CUDA Dynamic
// Parallelism"; signatures as in cuda_device_runtime_api.h).
//
//   find_library_function("__cudaCDP2LaunchDeviceV2")->library  ->  Library::launch_device_v2
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace warplens::ir {

enum class Library : std::uint8_t {
  none,
#define SYSTEM_CALL(id, ...) id,
#define DEVICE_RUNTIME(id, ...) id,
#include "emulator/ir/device_library.def"
};

struct LibraryFunction {
  Library library{};
  std::string_view name;
  std::vector<std::uint64_t> params, results; ///< sizes in bytes; 8 stands for an address
};

/// Null if there is no such function. The functions of the device runtime have names such as `cudaLaunchDevice` or, in
/// code from nvcc 12 and later, `__cudaCDP2LaunchDevice`; the suffix `_ptsz` selects a default stream per thread.
const LibraryFunction* find_library_function(std::string_view name);
inline Library library_named(std::string_view name) {
  const LibraryFunction* const function = find_library_function(name);
  return function == nullptr ? Library::none : function->library;
}
/// Decides by the name only, also for functions that are not listed above.
bool is_of_device_runtime(std::string_view name);

} // namespace warplens::ir
