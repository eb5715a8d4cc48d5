// SPDX-License-Identifier: Apache-2.0
// A CUDA program with a static runtime: copies to the device and back, and prints which runtime served it, or the first
// error, and whether it has its environment and its name. As a library, it is the plug-in of loads_plugin.cpp.
#include "tests/runtime/static_runtime/stand_in.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>

constexpr int kMajor = 75; // cudaDevAttrComputeCapabilityMajor

namespace {

int runtime_version() {
  int version = 0;
  cudaRuntimeGetVersion(&version);
  return version;
}

const int version_at_initialization = runtime_version(); // kernels are registered at that time

} // namespace

__attribute__((visibility("default"))) int main() {
  char text[16] = "nothing";
  void* memory = nullptr;
  int version = 0, major = 0;
  int error = cudaRuntimeGetVersion(&version);
  if (error == 0 && version_at_initialization != version) error = -1;
  if (error == 0) error = cudaMalloc(&memory, sizeof text);
  if (error == 0) error = cudaMemcpy(memory, "hello", 6, 1);
  if (error == 0) error = cudaMemcpy(text, memory, 6, 2);
  if (error == 0) error = cudaFree(memory);
  if (error == 0) error = cudaDeviceGetAttribute(&major, kMajor, 0);
  const char* const variable = std::getenv("OWN_VARIABLE");
  std::printf("%s by runtime %d: %s, %d, device of %d, variable %s, %s\n", error == 0 ? "served" : "refused",
              version / 1000, text, cudaHelperOfTheProgram(), major, variable != nullptr ? variable : "lost",
              program_invocation_short_name);
  if (error != 0) std::printf("error %d\n", error);
  return error != 0 ? 1 : 0;
}
