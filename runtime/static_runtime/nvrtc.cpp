// SPDX-License-Identifier: Apache-2.0
// Programs that compile CUDA source at run time ask NVRTC for machine code, because they find a GPU. NVRTC produces PTX
// on the way. These functions return the PTX instead of the machine code; the driver loads either.
//
// The dynamic linker prefers these functions to NVRTC's functions of the same names. A program that looks up NVRTC's
// functions itself (dlsym) gets NVRTC's.
#include <dlfcn.h>

#include <cstddef>

namespace {

constexpr int kInternalError = 11; // NVRTC_ERROR_INTERNAL_ERROR

template <class Result> int ask(const char* function, void* program, Result result) {
  const auto get = reinterpret_cast<int (*)(void*, Result)>(dlsym(RTLD_NEXT, function));
  return get != nullptr ? get(program, result) : kInternalError;
}

} // namespace

extern "C" {

__attribute__((visibility("default"))) int nvrtcGetCUBINSize(void* program, std::size_t* bytes) {
  return ask("nvrtcGetPTXSize", program, bytes);
}

__attribute__((visibility("default"))) int nvrtcGetCUBIN(void* program, char* code) {
  return ask("nvrtcGetPTX", program, code);
}
}
