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
  vprintf,
  malloc,
  free,
  assertfail,
  graph_set_conditional,
  // The device runtime.
  get_parameter_buffer,
  get_parameter_buffer_v2,
  launch_device,
  launch_device_v2,
  stream_create,
  stream_destroy,
  stream_wait_event,
  event_create,
  event_record,
  event_destroy,
  get_last_error,
  peek_at_last_error,
  get_error_name,
  get_error_string,
  get_device,
  get_device_count,
  runtime_get_version,
  cuda_malloc,
  cuda_free,
  memcpy_async,
  memset_async
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
