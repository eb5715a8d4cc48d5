// SPDX-License-Identifier: Apache-2.0
#include "runtime/driver/machine/jit_log.hpp"

#include <algorithm>
#include <cstring>

namespace warplens::runtime {

JitLog::JitLog(unsigned count, const CUjit_option* options, void** values) {
  require(count == 0 || (options != nullptr && values != nullptr));
  for (unsigned i = 0; i < count; ++i) {
    switch (options[i]) {
    case CU_JIT_INFO_LOG_BUFFER: info_.text = static_cast<char*>(values[i]); break;
    case CU_JIT_ERROR_LOG_BUFFER: error_.text = static_cast<char*>(values[i]); break;
    case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
      info_.size = reinterpret_cast<std::uintptr_t>(values[i]) & 0xffffffffu; // an unsigned int
      info_.filled = &values[i];
      break;
    case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
      error_.size = reinterpret_cast<std::uintptr_t>(values[i]) & 0xffffffffu;
      error_.filled = &values[i];
      break;
    case CU_JIT_MAX_REGISTERS:
      max_registers_ = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(values[i]));
      require(max_registers_ != 0);
      break;
    default: break;
    }
  }
}

void JitLog::Buffer::write(const std::string& what) const {
  std::size_t bytes = 0;
  if (text != nullptr && size > 0) {
    bytes = std::min(what.size(), size - 1);
    std::memcpy(text, what.data(), bytes);
    text[bytes] = '\0';
  }
  if (filled != nullptr) *filled = reinterpret_cast<void*>(bytes);
}

bool JitLog::finish(const std::string& error) const {
  info_.write({});
  error_.write(error);
  return error_.text != nullptr && error_.size > 1;
}

} // namespace warplens::runtime
