// SPDX-License-Identifier: Apache-2.0
// A CUDA program with a static runtime: copies to the device and back, and prints which runtime served it, and whether
// it has its environment and its name.
#include "tests/runtime/static_runtime/stand_in.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>

constexpr int kMajor = 75; // cudaDevAttrComputeCapabilityMajor

int main() {
  char text[16] = "nothing";
  void* memory = nullptr;
  int version = 0, major = 0;
  const bool served = cudaRuntimeGetVersion(&version) == 0 && cudaMalloc(&memory, sizeof text) == 0 &&
                      cudaMemcpy(memory, "hello", 6, 1) == 0 && cudaMemcpy(text, memory, 6, 2) == 0 &&
                      cudaFree(memory) == 0 && cudaDeviceGetAttribute(&major, kMajor, 0) == 0;
  const char* const variable = std::getenv("OWN_VARIABLE");
  std::printf("%s by runtime %d: %s, %d, device of %d, variable %s, %s\n", served ? "served" : "refused",
              version / 1000, text, cudaHelperOfTheProgram(), major, variable != nullptr ? variable : "lost",
              program_invocation_short_name);
  return served ? 0 : 1;
}
