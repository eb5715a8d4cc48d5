// SPDX-License-Identifier: Apache-2.0
// Loads program.cpp as a library, as Python loads a module, and runs it; then unloads it, and does so once more.
//
//   loads_plugin FILE             runs its main()
//   loads_plugin FILE FUNCTION    calls a function of CUDA's runtime with the address of an int, and prints its result
#include <dlfcn.h>

#include <cstdio>

int main(int, char** arguments) {
  const char* const function = arguments[2];
  for (int i = 0; i < 2; ++i) {
    void* const plugin = dlopen(arguments[1], RTLD_NOW);
    void* const found = plugin != nullptr ? dlsym(plugin, function != nullptr ? function : "main") : nullptr;
    if (found == nullptr) {
      std::printf("%s\n", dlerror());
      return 2;
    }
    std::printf("loaded\n");
    std::fflush(stdout);
    if (function != nullptr) {
      int value = 0;
      std::printf("%d\n", reinterpret_cast<int (*)(int*)>(found)(&value));
    } else if (const int status = reinterpret_cast<int (*)()>(found)(); status != 0) {
      return status;
    }
    dlclose(plugin);
  }
}
