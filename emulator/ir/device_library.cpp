// SPDX-License-Identifier: Apache-2.0
#include "emulator/ir/device_library.hpp"

#include <algorithm>

namespace warplens::ir {

namespace {

const std::vector<LibraryFunction>& system_calls() {
  static const std::vector<LibraryFunction> list{
#define SYSTEM_CALL(id, ...) {Library::id, __VA_ARGS__},
#include "emulator/ir/device_library.def"
  };
  return list;
}

const std::vector<LibraryFunction>& device_runtime() {
  static const std::vector<LibraryFunction> list{
#define DEVICE_RUNTIME(id, ...) {Library::id, __VA_ARGS__},
#include "emulator/ir/device_library.def"
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
