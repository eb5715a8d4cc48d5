// SPDX-License-Identifier: Apache-2.0
// libwarplens_static.so: runs programs that nvcc linked with NVIDIA's static runtime, its default.
//
// NVIDIA's runtime accepts only NVIDIA's driver, which authenticates itself. The program must therefore not run that
// runtime. `warplens exec` loads this library before the program starts. If the symbol table of the program, or of a
// library that it is linked with, contains the functions of the runtime, the first bytes of each become a jump to the
// function of the same name in our libcudart. All functions, registration included, are replaced before the first call;
// from then on the program behaves as if linked with the shared runtime. NVIDIA's libcudart, if a program's run path
// leads to it, is replaced in the same way. All other programs remain unchanged.
//
// This happens before anything else in the process is initialized, the C library included, so nothing can be loaded
// yet: dlopen() would initialize the C library without arguments and environment. Our libcudart is loaded on the first
// call of one of the functions (lazy.cpp).
#include "runtime/static_runtime/lazy.hpp"
#include "runtime/static_runtime/symbols.hpp"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>

namespace warplens::runtime {

namespace {

/// An executable or library of the process.
struct Loaded {
  std::string path;
  std::uint64_t base;
};

void complain(const Loaded& object, const std::string& why) {
  std::fprintf(stderr, "warplens: %s contains NVIDIA's CUDA runtime, %s; link the program with `nvcc -cudart shared`\n",
               object.path == "/proc/self/exe" ? "the program" : object.path.c_str(), why.c_str());
}

bool contains(const std::vector<Symbols::Function>& functions, std::string_view name) {
  for (const Symbols::Function& f : functions)
    if (f.name == name) return true;
  return false;
}

/// The version of the runtime: its functions take different structures. nullptr: older than 11.
const char* library_for(const std::vector<Symbols::Function>& functions) {
  if (contains(functions, "cudaGetDeviceProperties_v2")) return "libcudart.so.12"; // 13 dropped the suffix
  if (!contains(functions, "cudaBindTexture")) return "libcudart.so.13";           // texture references ended with 11
  return contains(functions, "cudaGetFuncBySymbol") ? "libcudart.so.11.0" : nullptr;
}

/// The folder of this library, with a slash at the end.
std::string directory() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&contains), &info) == 0 || info.dli_fname == nullptr) return {};
  const std::string_view self = info.dli_fname;
  return std::string(self.substr(0, self.rfind('/') + 1));
}

bool overwrite(std::uint64_t address, const Jump& code) {
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::uint64_t begin = address / page * page, size = address + code.size() - begin;
  void* const pages = reinterpret_cast<void*>(begin);
  if (mprotect(pages, size, PROT_READ | PROT_WRITE) != 0) return false;
  std::memcpy(reinterpret_cast<void*>(address), code.data(), code.size());
  __builtin___clear_cache(reinterpret_cast<char*>(address), reinterpret_cast<char*>(address + code.size()));
  return mprotect(pages, size, PROT_READ | PROT_EXEC) == 0;
}

void substitute(const Loaded& object) {
  const Symbols symbols(object.path.c_str());
  if (!symbols.mentions("__cudaRegisterFatBinary")) return; // fast path: most programs do not use CUDA
  const std::vector<Symbols::Function> functions = symbols.begin_with("cuda", "__cuda");
  if (!contains(functions, "__cudaRegisterFatBinary")) return; // only calls another library's function
  const char* const name = library_for(functions);
  if (name == nullptr) return complain(object, "whose version is older than 11 and cannot be replaced");
  auto& runtime = *new Runtime{directory() + name}; // never destroyed: the functions jump through it
  const Symbols ours(runtime.path.c_str());
  const std::vector<Symbols::Function> served = ours.begin_with("cuda", "__cuda");
  if (served.empty()) return complain(object, "but its replacement, " + runtime.path + ", cannot be read");

  struct Change {
    std::uint64_t address;
    Jump code;
  };
  std::vector<Change> changes;
  for (const Symbols::Function& f : functions) {
    // The program's own functions can have such names too; our library has no counterpart of them.
    if (!contains(served, f.name)) continue;
    if (f.room < sizeof(Jump)) return complain(object, std::string(f.name) + " of which is too short to be replaced");
    changes.push_back({object.base + f.address, jump_to(runtime.entry(f.name))});
  }
  for (const Change& change : changes)
    if (!overwrite(change.address, change.code))
      return complain(object, "which this system does not allow Warplens to replace");
}

__attribute__((constructor)) void start() {
  std::vector<Loaded> objects;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        auto& list = *static_cast<std::vector<Loaded>*>(data);
        const bool program = list.empty();
        if (program || (info->dlpi_name != nullptr && info->dlpi_name[0] == '/'))
          list.push_back({program ? "/proc/self/exe" : info->dlpi_name, info->dlpi_addr});
        return 0;
      },
      &objects);
  const std::string ours = directory();
  for (const Loaded& object : objects)
    if (ours.empty() || !object.path.starts_with(ours)) substitute(object);
}

} // namespace

} // namespace warplens::runtime
