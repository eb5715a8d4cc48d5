// SPDX-License-Identifier: Apache-2.0
// libwarplens_audit.so: tells libwarplens_static.so of libraries that the program loads later (`dlopen`): plug-ins, and
// modules of Python, which contain the runtime as programs do.
//
// Their constructors register their kernels before dlopen() returns, so their functions must be replaced between the
// mapping of a library and its constructors. The dynamic linker calls only audit libraries (`man rtld-audit`) at that
// time; `warplens exec` names this one in LD_AUDIT. An audit library lives in a namespace of its own, with its own C
// library: it keeps no memory of the program, and calls one function of the program's namespace.
#include "runtime/static_runtime/late.hpp"

#include <link.h>

#include <cstring>
#include <vector>

namespace {

// The dynamic linker holds its lock when it calls us.
link_map* replacer = nullptr;                       // libwarplens_static.so
decltype(&warplens_replace_late) replace = nullptr; // before the program starts, that library needs no call
std::vector<const link_map*> added;                 // mapped, but not initialized

bool is_replacer(const char* path) {
  const char* const slash = std::strrchr(path, '/');
  return std::strcmp(slash != nullptr ? slash + 1 : path, "libwarplens_static.so") == 0;
}

/// A function that the library exports. dlsym() does not know libraries of another namespace that start with a program.
void* find_function(const link_map& library, const char* name) {
  const ElfW(Sym)* symbols = nullptr;
  const char* names = nullptr;
  const ElfW(Word)* hash = nullptr; // buckets, chains: as many chains as symbols
  for (const ElfW(Dyn)* entry = library.l_ld; entry->d_tag != DT_NULL; ++entry) {
    const auto* const address = reinterpret_cast<const void*>(entry->d_un.d_ptr);
    if (entry->d_tag == DT_SYMTAB) symbols = static_cast<const ElfW(Sym)*>(address);
    if (entry->d_tag == DT_STRTAB) names = static_cast<const char*>(address);
    if (entry->d_tag == DT_HASH) hash = static_cast<const ElfW(Word)*>(address);
  }
  if (symbols == nullptr || names == nullptr || hash == nullptr) return nullptr;
  for (const ElfW(Sym)* s = symbols; s != symbols + hash[1]; ++s)
    if (s->st_shndx != SHN_UNDEF && std::strcmp(names + s->st_name, name) == 0)
      return reinterpret_cast<void*>(library.l_addr + s->st_value);
  return nullptr;
}

} // namespace

extern "C" {

__attribute__((visibility("default"))) unsigned la_version(unsigned version) {
  return version < LAV_CURRENT ? version : LAV_CURRENT;
}

__attribute__((visibility("default"))) unsigned la_objopen(link_map* object, Lmid_t space, std::uintptr_t*) {
  if (space == LM_ID_BASE && is_replacer(object->l_name)) replacer = object;
  if (replace != nullptr) added.push_back(object);
  return 0; // calls between libraries do not interest us
}

/// Called when libwarplens_static.so has replaced the functions of the libraries that are loaded with the program.
__attribute__((visibility("default"))) void la_preinit(std::uintptr_t*) {
  if (replacer != nullptr)
    replace = reinterpret_cast<decltype(replace)>(find_function(*replacer, "warplens_replace_late"));
}

__attribute__((visibility("default"))) void la_activity(std::uintptr_t*, unsigned what) {
  if (what != LA_ACT_CONSISTENT) return;
  for (const link_map* object : added) replace(object->l_name, object->l_addr);
  added.clear();
}
}
