// Opens a stand-in, asks it for something, closes it and ends, as programs that look for CUDA at run time do.
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
  // cuInit(0) or cudaFree(nullptr): both start what must be there when the process ends.
  const auto ask = reinterpret_cast<int (*)(void*)>(dlsym(library, arguments[2]));
  if (ask == nullptr) return 2;
  std::printf("answer %d, ", ask(nullptr));
  std::printf("closed %d\n", dlclose(library));
}
