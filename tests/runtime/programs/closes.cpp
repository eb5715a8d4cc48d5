// SPDX-License-Identifier: Apache-2.0
// Opens a drop-in library, calls a function, closes the library and exits, like programs that probe for CUDA.
//
//   closes build/lib/cuda/libcuda.so.1 cuInit
#include <cstdio>
#include <dlfcn.h>

int main(int count, char** arguments) {
  if (count != 3) return 2;
  void* const library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::puts(dlerror());
    return 2;
  }
  // cuInit(0) or cudaFree(nullptr): both start threads that need the library's code until the process ends.
  const auto ask = reinterpret_cast<int (*)(void*)>(dlsym(library, arguments[2]));
  if (ask == nullptr) return 2;
  std::printf("answer %d, ", ask(nullptr));
  std::printf("closed %d\n", dlclose(library));
}
