// libwarplens_static.so: runs programs with which nvcc has linked NVIDIA's static runtime, its default.
//
// NVIDIA's runtime accepts no driver but NVIDIA's, which proves itself to it. So the program does not come to run it:
// `warplens exec` has this library loaded before the program starts, and where the symbol table of the program, or of a
// library that it is linked with, says that the functions of the runtime are in it, the first bytes of each become a
// jump to the function of the same name of our libcudart. All of them, registration included, are replaced before the
// first is called; from there on the program is one with the shared runtime. NVIDIA's libcudart, where a program's run
// path leads to it, is taken over in the same way. All other programs are left alone.
//
// This is done before anything else in the process is initialised, the C library included, so nothing may be loaded
// yet: dlopen() would have the C library initialised there and then, without arguments and environment. Our libcudart
// is loaded when the first of the functions is called (lazy.cpp).
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

/// Which runtime it is: the structures that its functions take differ. nullptr: older than 11.
const char* library_for(const std::vector<Symbols::Function>& functions) {
  if (contains(functions, "cudaGetDeviceProperties_v2")) return "libcudart.so.12"; // 13 has no suffix any more
  if (!contains(functions, "cudaBindTexture")) return "libcudart.so.13";           // texture references ended with 11
  return contains(functions, "cudaGetFuncBySymbol") ? "libcudart.so.11.0" : nullptr;
}

/// Of this library, with a slash at its end.
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
  if (!symbols.mentions("__cudaRegisterFatBinary")) return; // quickly: most programs have nothing to do with CUDA
  const std::vector<Symbols::Function> functions = symbols.begin_with("cuda", "__cuda");
  if (!contains(functions, "__cudaRegisterFatBinary")) return; // it is another's, which is called
  const char* const name = library_for(functions);
  if (name == nullptr) return complain(object, "of a version before 11, which cannot be replaced");
  auto& runtime = *new Runtime{directory() + name}; // never destroyed: the functions lead here
  const Symbols ours(runtime.path.c_str());
  const std::vector<Symbols::Function> served = ours.begin_with("cuda", "__cuda");
  if (served.empty()) return complain(object, "but its replacement, " + runtime.path + ", cannot be read");

  struct Change {
    std::uint64_t address;
    Jump code;
  };
  std::vector<Change> changes;
  for (const Symbols::Function& f : functions) {
    // The program's own functions may have such names too: ours has none to match.
    if (!contains(served, f.name)) continue;
    if (f.room < sizeof(Jump)) return complain(object, std::string(f.name) + " of which is too short to be replaced");
    changes.push_back({object.base + f.address, jump_to(runtime.entry(f.name))});
  }
  for (const Change& change : changes)
    if (!overwrite(change.address, change.code))
      return complain(object, "which this system does not allow to be replaced");
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
