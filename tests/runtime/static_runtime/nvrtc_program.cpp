// SPDX-License-Identifier: Apache-2.0
// A program that compiles with NVRTC and requests the machine code. With LOADS_NVRTC, it is not linked with NVRTC, but
// loads the file that its argument names.
#include "tests/runtime/static_runtime/nvrtc_stand_in.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <string>

int main([[maybe_unused]] int count, [[maybe_unused]] char** arguments) {
#ifdef LOADS_NVRTC
  void* const nvrtc = dlopen(arguments[1], RTLD_NOW);
  const auto get_size = reinterpret_cast<decltype(&nvrtcGetCUBINSize)>(dlsym(nvrtc, "nvrtcGetCUBINSize"));
  const auto get_code = reinterpret_cast<decltype(&nvrtcGetCUBIN)>(dlsym(nvrtc, "nvrtcGetCUBIN"));
#else
  const auto get_size = nvrtcGetCUBINSize;
  const auto get_code = nvrtcGetCUBIN;
#endif
  std::size_t bytes = 0;
  if (get_size(nullptr, &bytes) != 0) return 1;
  std::string code(bytes, '?');
  if (get_code(nullptr, code.data()) != 0) return 1;
  std::printf("got %s of %zu bytes\n", code.c_str(), bytes);
}
