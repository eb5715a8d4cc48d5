// The options of cuModuleLoadDataEx, cuLinkCreate and the like: names and values side by side. What tunes a compiler
// means nothing here; the buffers for its messages are filled.
#pragma once

#include "runtime/driver/serve.hpp"

#include <cstring>

namespace warplens::runtime {

struct JitOptions {
  unsigned count = 0;
  CUjit_option* names = nullptr;
  void** values = nullptr;

  /// Null: it is not among them.
  [[nodiscard]] void** find(CUjit_option name) const {
    for (unsigned i = 0; i < count; ++i)
      if (names[i] == name) return &values[i];
    return nullptr;
  }

  /// Puts a message where the program asked for errors, and how long it is where it said how much there is room for.
  void report_error(const std::string& text) const {
    void** const buffer = find(CU_JIT_ERROR_LOG_BUFFER);
    void** const size = find(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
    if (buffer == nullptr || size == nullptr || *buffer == nullptr) return;
    const auto room = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(*size));
    if (room == 0) return;
    const std::size_t copied = text.copy(static_cast<char*>(*buffer), room - 1);
    static_cast<char*>(*buffer)[copied] = '\0';
    *size = reinterpret_cast<void*>(std::uintptr_t{copied});
  }
};

/// Does what `body` does; its Failure goes to the buffer for errors, too.
template <class Body> auto with_error_log(const JitOptions& options, Body&& body) {
  try {
    return body();
  } catch (const Failure& failure) {
    options.report_error(failure.text);
    throw;
  }
}

} // namespace warplens::runtime
