// SPDX-License-Identifier: Apache-2.0
#include "emulator/ir/device_library.hpp"

#include <algorithm>

namespace warplens::ir {

namespace {

const std::vector<LibraryFunction>& system_calls() {
  static const std::vector<LibraryFunction> list{
      {Library::vprintf, "vprintf", {8, 8}, {4}},
      {Library::malloc, "malloc", {8}, {8}},
      {Library::free, "free", {8}, {}},
      {Library::assertfail, "__assertfail", {8, 8, 4, 8, 8}, {}},
      {Library::graph_set_conditional, "cudaGraphSetConditional", {8, 4}, {}},
  };
  return list;
}

/// A dim3 has 12 bytes.
const std::vector<LibraryFunction>& device_runtime() {
  static const std::vector<LibraryFunction> list{
      {Library::get_parameter_buffer, "GetParameterBuffer", {8, 8}, {8}},
      {Library::get_parameter_buffer_v2, "GetParameterBufferV2", {8, 12, 12, 4}, {8}},
      {Library::launch_device, "LaunchDevice", {8, 8, 12, 12, 4, 8}, {4}},
      {Library::launch_device_v2, "LaunchDeviceV2", {8, 8}, {4}},
      {Library::stream_create, "StreamCreateWithFlags", {8, 4}, {4}},
      {Library::stream_destroy, "StreamDestroy", {8}, {4}},
      {Library::stream_wait_event, "StreamWaitEvent", {8, 8, 4}, {4}},
      {Library::event_create, "EventCreateWithFlags", {8, 4}, {4}},
      {Library::event_record, "EventRecord", {8, 8}, {4}},
      {Library::event_destroy, "EventDestroy", {8}, {4}},
      {Library::get_last_error, "GetLastError", {}, {4}},
      {Library::peek_at_last_error, "PeekAtLastError", {}, {4}},
      {Library::get_error_name, "GetErrorName", {4}, {8}},
      {Library::get_error_string, "GetErrorString", {4}, {8}},
      {Library::get_device, "GetDevice", {8}, {4}},
      {Library::get_device_count, "GetDeviceCount", {8}, {4}},
      {Library::runtime_get_version, "RuntimeGetVersion", {8}, {4}},
      {Library::cuda_malloc, "Malloc", {8, 8}, {4}},
      {Library::cuda_free, "Free", {8}, {4}},
      {Library::memcpy_async, "MemcpyAsync", {8, 8, 8, 4, 8}, {4}},
      {Library::memset_async, "MemsetAsync", {8, 4, 8, 8}, {4}},
  };
  return list;
}

const LibraryFunction* find(const std::vector<LibraryFunction>& list, std::string_view name) {
  const auto found = std::find_if(list.begin(), list.end(), [&](const LibraryFunction& f) { return f.name == name; });
  return found == list.end() ? nullptr : &*found;
}

constexpr std::string_view kPrefixes[] = {"__cudaCDP2", "cuda"};

} // namespace

bool is_of_device_runtime(std::string_view name) {
  return std::any_of(std::begin(kPrefixes), std::end(kPrefixes), [&](auto prefix) { return name.starts_with(prefix); });
}

const LibraryFunction* find_library_function(std::string_view name) {
  if (const LibraryFunction* const function = find(system_calls(), name)) return function;
  for (const std::string_view prefix : kPrefixes) {
    if (!name.starts_with(prefix)) continue;
    std::string_view rest = name.substr(prefix.size());
    if (constexpr std::string_view kPerThread = "_ptsz"; rest.ends_with(kPerThread))
      rest.remove_suffix(kPerThread.size());
    return find(device_runtime(), rest);
  }
  return nullptr;
}

} // namespace warplens::ir
