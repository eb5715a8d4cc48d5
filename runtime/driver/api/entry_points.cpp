// SPDX-License-Identifier: Apache-2.0
// The table of all exported functions: cuGetProcAddress(), and the result of functions that are not implemented.
//
// A function of functions.def that is defined in another file replaces the weak one here.
#include <cstring>

// The prototypes and types do not matter here, and other declarations must not contradict the weak definitions.
namespace warplens::runtime {
int unsupported_entry_point(const char* name);
}

extern "C" {
#define FUNCTION(symbol, name, version)                                                                                \
  __attribute__((weak, visibility("default"))) int symbol() {                                                          \
    return warplens::runtime::unsupported_entry_point(#symbol);                                                        \
  }
#define PER_THREAD(symbol, name, version) FUNCTION(symbol, name, version)
#include "runtime/driver/api/functions.def"
#undef FUNCTION
#undef PER_THREAD
}

namespace warplens::runtime {

namespace {

struct EntryPoint {
  const char* name;
  int version;
  bool per_thread;
  int (*function)();
};

constexpr EntryPoint kEntryPoints[] = {
#define FUNCTION(symbol, name, version) {#name, version, false, symbol},
#define PER_THREAD(symbol, name, version) {#name, version, true, symbol},
#include "runtime/driver/api/functions.def"
#undef FUNCTION
#undef PER_THREAD
};

} // namespace

/// The newest function of that name that is not newer than `version`; null if there is none. `too_new` is set if all
/// are newer.
void* find_entry_point(const char* name, int version, bool per_thread, bool& too_new) {
  const EntryPoint* best = nullptr;
  too_new = false;
  for (const EntryPoint& e : kEntryPoints) {
    if (std::strcmp(e.name, name) != 0 || (e.per_thread && !per_thread)) continue;
    if (e.version > version) {
      too_new = true;
    } else if (best == nullptr || e.version > best->version || (e.version == best->version && e.per_thread)) {
      best = &e;
    }
  }
  return best == nullptr ? nullptr : reinterpret_cast<void*>(best->function);
}

} // namespace warplens::runtime
