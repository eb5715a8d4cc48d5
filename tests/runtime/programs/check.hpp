// SPDX-License-Identifier: Apache-2.0
// For programs that use the driver API: the program ends at the first call that fails.
//
//   CHECK(cuInit(0));
#pragma once

#include "runtime/abi/driver.hpp"

#include <cstdio>
#include <cstdlib>

inline void check(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  std::printf("%s: %d\n", what, static_cast<int>(result));
  std::exit(1);
}
#define CHECK(call) check(call, #call)
