// SPDX-License-Identifier: Apache-2.0
// libwarplens_static.so: runs programs that nvcc linked with NVIDIA's static runtime, its default.
//
// NVIDIA's runtime accepts only NVIDIA's driver, which authenticates itself. The program must therefore not run that
// runtime. `warplens exec` loads this library before the program starts. If the symbol table of the program, or of a
// library that it is linked with, contains the functions of the runtime, the first bytes of each become a jump to the
// function of the same name in our libcudart. All functions, registration included, are replaced before the first call;
// from then on the program behaves as if linked with the shared runtime. NVIDIA's libcudart, if a program's run path
// leads to it, is replaced in the same way, and so are libraries that the program loads later (audit.cpp). NVRTC
// returns PTX where a program asks for machine code. All other programs remain unchanged.
//
// This happens before anything else in the process is initialized, the C library included, so nothing can be loaded
// yet: dlopen() would initialize the C library without arguments and environment. Our libcudart is loaded on the first
// call of one of the functions (lazy.cpp).
#include "runtime/static_runtime/late.hpp"
#include "runtime/static_runtime/lazy.hpp"
#include "runtime/static_runtime/symbols.hpp"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
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
  std::fprintf(stderr, "warplens: %s contains NVIDIA's CUDA runtime, %s\n",
               object.path == "/proc/self/exe" ? "the program" : object.path.c_str(), why.c_str());
}

const Symbols::Function* find(const std::vector<Symbols::Function>& functions, std::string_view name) {
  for (const Symbols::Function& f : functions)
    if (f.name == name) return &f;
  return nullptr;
}

/// The version of the runtime: its functions take different structures. nullptr: older than 11.
const char* library_for(const std::vector<Symbols::Function>& functions) {
  const auto has = [&](const char* name) { return find(functions, name) != nullptr; };
  if (has("cudaGetDeviceProperties_v2")) return "libcudart.so.12"; // 13 dropped the suffix
  if (!has("cudaBindTexture")) return "libcudart.so.13";           // texture references ended with 11
  return has("cudaGetFuncBySymbol") ? "libcudart.so.11.0" : nullptr;
}

/// The folder of this library, with a slash at the end.
std::string directory() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&find), &info) == 0 || info.dli_fname == nullptr) return {};
  const std::string_view self = info.dli_fname;
  return std::string(self.substr(0, self.rfind('/') + 1));
}

bool is_same_file(const std::string& one, const std::string& other) {
  struct stat a = {}, b = {};
  return stat(one.c_str(), &a) == 0 && stat(other.c_str(), &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/// What the first bytes of a function become.
struct Change {
  std::uint64_t address;
  Jump code;
};

bool overwrite(const Change& change) {
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::uint64_t begin = change.address / page * page, size = change.address + change.code.size() - begin;
  void* const pages = reinterpret_cast<void*>(begin);
  if (mprotect(pages, size, PROT_READ | PROT_WRITE) != 0) return false;
  auto* const code = reinterpret_cast<char*>(change.address);
  std::memcpy(code, change.code.data(), change.code.size());
  __builtin___clear_cache(code, code + change.code.size());
  return mprotect(pages, size, PROT_READ | PROT_EXEC) == 0;
}

void substitute_runtime(const Loaded& object, const Symbols& symbols) {
  if (!symbols.mentions("__cudaRegisterFatBinary")) return; // fast path: most programs do not use CUDA
  const std::vector<Symbols::Function> functions = symbols.begin_with("cuda", "__cuda");
  if (find(functions, "__cudaRegisterFatBinary") == nullptr) return; // only calls another library's function
  constexpr const char* kAdvice = "; link it with `nvcc -cudart shared`";
  const auto give_up = [&](const std::string& why) { complain(object, why + kAdvice); };
  const char* const name = library_for(functions);
  if (name == nullptr) return give_up("whose version is older than 11 and cannot be replaced");
  if (is_same_file(object.path, directory() + name)) return; // ours, by another path
  auto& runtime = *new Runtime{directory() + name};          // never destroyed: the functions jump through it
  const Symbols ours(runtime.path.c_str());
  const std::vector<Symbols::Function> served = ours.begin_with("cuda", "__cuda");
  if (served.empty()) return give_up("but its replacement, " + runtime.path + ", cannot be read");

  std::vector<Change> changes;
  for (const Symbols::Function& f : functions) {
    // The program's own functions can have such names too; our library has no counterpart of them.
    if (find(served, f.name) == nullptr) continue;
    if (f.room < sizeof(Jump)) return give_up(std::string(f.name) + " of which is too short to be replaced");
    changes.push_back({object.base + f.address, jump_to(runtime.entry(f.name))});
  }
  for (const Change& change : changes)
    if (!overwrite(change)) return give_up("which this system does not allow Warplens to replace");
}

/// Programs that compile CUDA source at run time ask NVRTC for machine code, because they find a GPU. NVRTC produces
/// PTX on the way, and our driver loads either: the functions that return machine code become jumps to those for PTX.
void substitute_nvrtc(const Loaded& object, const Symbols& symbols) {
  if (!symbols.mentions("nvrtcGetCUBIN")) return;
  const std::vector<Symbols::Function> functions = symbols.begin_with("nvrtcGetCUBIN", "nvrtcGetPTX");
  const auto redirect = [&](const char* from, const char* to) {
    const Symbols::Function *const code = find(functions, from), *const text = find(functions, to);
    if (code == nullptr || text == nullptr || code->room < sizeof(Jump)) return;
    const auto* const target = reinterpret_cast<const void*>(object.base + text->address);
    overwrite({object.base + code->address, jump_to(*new Entry{target, nullptr, {}})}); // used as long as the process
  };
  redirect("nvrtcGetCUBIN", "nvrtcGetPTX");
  redirect("nvrtcGetCUBINSize", "nvrtcGetPTXSize");
}

void substitute(const Loaded& object) {
  const Symbols symbols(object.path.c_str());
  substitute_runtime(object, symbols);
  substitute_nvrtc(object, symbols);
}

/// A stripped runtime says what is wrong when it is first called, often far from where a program loads it. Python's
/// modules are mostly stripped; a package has several, of which one is named.
void warn_of_stripped(const Loaded& object) {
  static bool is_told = false; // the dynamic linker holds its lock
  const Symbols symbols(object.path.c_str());
  // The runtime looks for the driver with dlvsym(), which is rare, and has the names of its errors.
  if (is_told || !symbols.mentions("dlvsym") || symbols.mentions("__cudaRegisterFatBinary") ||
      !symbols.has_constant("cudaErrorSoftwareValidityNotEstablished"))
    return;
  is_told = true;
  complain(object,
           "without the symbols by which Warplens replaces it: CUDA functions that this file calls return errors");
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

extern "C" void warplens_replace_late(const char* path, std::uint64_t base) {
  using namespace warplens::runtime;
  const std::string ours = directory();
  if (ours.empty() || std::string_view(path).starts_with(ours)) return;
  const Loaded object{path, base};
  substitute(object);
  warn_of_stripped(object);
}
