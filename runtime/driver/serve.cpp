#include "runtime/driver/serve.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <new>
#include <set>

namespace warplens::runtime {

void tell(const std::string& text) {
  static std::mutex& mutex = *new std::mutex; // never destroyed: threads may speak while the process ends
  static std::set<std::string>& told = *new std::set<std::string>;
  const std::lock_guard lock(mutex);
  if (told.insert(text).second) std::fprintf(stderr, "warplens: %s\n", text.c_str());
}

CUresult unsupported(const char* what) {
  tell(fmt::format("{} is not supported", what));
  return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult translate(const char* function, const Failure& failure) {
  if (!failure.text.empty()) tell(fmt::format("{}: {}", function, failure.text));
  return failure.code;
}

CUresult translate(const char* function, const std::exception& exception) {
  if (dynamic_cast<const std::bad_alloc*>(&exception) != nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  tell(fmt::format("{}: internal error: {}", function, exception.what()));
  return CUDA_ERROR_UNKNOWN;
}

} // namespace warplens::runtime
