// SPDX-License-Identifier: Apache-2.0
// The program's buffers for the messages of the compiler (cuModuleLoadDataEx, cuLink*).
//
//   JitLog log(count, options, values);   log.collect([&] { *module = load(context, image); });
//
// The register limit is also stored; the other options are for machine code, which is not produced here.
#pragma once

#include "runtime/driver/machine/serve.hpp"

namespace warplens::runtime {

class JitLog {
public:
  JitLog() = default;
  /// `options` and `values` as in CUDA. Throws Failure CUDA_ERROR_INVALID_VALUE if they are null but the count is not
  /// zero, or if the register limit is zero.
  JitLog(unsigned count, const CUjit_option* options, void** values);

  /// CU_JIT_MAX_REGISTERS; 0: no limit.
  [[nodiscard]] unsigned max_registers() const { return max_registers_; }

  /// Calls the function. The text of a Failure goes to the program's buffer if there is one, else to the user.
  template <class Body> void collect(Body&& body) const {
    try {
      body();
      finish({});
    } catch (Failure& failure) {
      if (finish(failure.text)) failure.text.clear();
      throw;
    }
  }

private:
  struct Buffer {
    char* text = nullptr;
    std::size_t size = 0;
    void** filled = nullptr; ///< where to store the number of bytes written
    void write(const std::string& what) const;
  };
  /// Writes both buffers. False if there is no error buffer.
  bool finish(const std::string& error) const;
  Buffer info_, error_;
  unsigned max_registers_ = 0;
};

} // namespace warplens::runtime
