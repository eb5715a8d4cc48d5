// The buffers into which a program wants to be told what a compiler has to say (cuModuleLoadDataEx, cuLink*).
//
//   JitLog log(count, options, values);   log.collect([&] { *module = load(context, image); });
//
// The limit of registers is kept, too; the other options are about machine code, and none is made here.
#pragma once

#include "runtime/driver/machine/serve.hpp"

namespace warplens::runtime {

class JitLog {
public:
  JitLog() = default;
  /// `options` and `values` as CUDA takes them. Throws Failure CUDA_ERROR_INVALID_VALUE: null where there are some, or
  /// a limit of no registers.
  JitLog(unsigned count, const CUjit_option* options, void** values);

  /// CU_JIT_MAX_REGISTERS; 0: not limited.
  [[nodiscard]] unsigned max_registers() const { return max_registers_; }

  /// Does it. Of a Failure, the text goes to the program where it has a buffer for it, else to the user.
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
    void** filled = nullptr; ///< where the number of bytes that were filled is to be stored
    void write(const std::string& what) const;
  };
  /// Writes both buffers. False: there is none for errors.
  bool finish(const std::string& error) const;
  Buffer info_, error_;
  unsigned max_registers_ = 0;
};

} // namespace warplens::runtime
