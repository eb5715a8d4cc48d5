// SPDX-License-Identifier: Apache-2.0
// A program that compiles with NVRTC and requests the machine code.
#include "tests/runtime/static_runtime/nvrtc_stand_in.hpp"

#include <cstdio>
#include <string>

int main() {
  std::size_t bytes = 0;
  if (nvrtcGetCUBINSize(nullptr, &bytes) != 0) return 1;
  std::string code(bytes, '?');
  if (nvrtcGetCUBIN(nullptr, code.data()) != 0) return 1;
  std::printf("got %s of %zu bytes\n", code.c_str(), bytes);
}
