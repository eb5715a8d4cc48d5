// SPDX-License-Identifier: Apache-2.0
// Loads program.cpp as a library, as Python loads a module, and runs it; then unloads it, and does so once more.
#include <dlfcn.h>

#include <cstdio>

int main(int, char** arguments) {
  for (int i = 0; i < 2; ++i) {
    void* const plugin = dlopen(arguments[1], RTLD_NOW);
    const auto run = plugin != nullptr ? reinterpret_cast<int (*)()>(dlsym(plugin, "main")) : nullptr;
    if (run == nullptr) {
      std::printf("%s\n", dlerror());
      return 2;
    }
    std::printf("loaded\n");
    std::fflush(stdout);
    if (const int status = run(); status != 0) return status;
    dlclose(plugin);
  }
}
