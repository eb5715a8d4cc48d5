// A CUDA program with a static runtime: copies to the device and back, and says which runtime it got.
#include "tests/runtime/static_runtime/stand_in.hpp"

#include <cstdio>

int main() {
  char text[16] = "nothing";
  void* memory = nullptr;
  int version = 0;
  const bool served = cudaRuntimeGetVersion(&version) == 0 && cudaMalloc(&memory, sizeof text) == 0 &&
                      cudaMemcpy(memory, "hello", 6, 1) == 0 && cudaMemcpy(text, memory, 6, 2) == 0 &&
                      cudaFree(memory) == 0;
  std::printf("%s by runtime %d: %s, %d\n", served ? "served" : "refused", version / 1000, text,
              cudaHelperOfTheProgram());
  return served ? 0 : 1;
}
