// SPDX-License-Identifier: Apache-2.0
// The table of all exported functions: cuGetProcAddress(), and the result of functions that are not implemented.
//
// A function that is defined in another file replaces the weak one here.
#include <string_view>

// The prototypes and types do not matter here, and other declarations must not contradict the weak definitions.
namespace warplens::runtime {
int unsupported_entry_point(const char* name);
}

extern "C" {
#define FUNCTION(symbol, ...)                                                                                          \
  __attribute__((weak, visibility("default"))) int symbol() {                                                          \
    return warplens::runtime::unsupported_entry_point(#symbol);                                                        \
  }
#define PER_THREAD(symbol, version, suffix, ...) FUNCTION(symbol) FUNCTION(symbol##suffix)
#include "runtime/abi/driver_functions.def"
#include "runtime/driver/api/unsupported_functions.def"
#undef FUNCTION
#undef PER_THREAD
}

namespace warplens::runtime {

namespace {

struct EntryPoint {
  std::string_view symbol;
  int version;
  int (*function)();
};

constexpr EntryPoint kEntryPoints[] = {
#define FUNCTION(symbol, version, ...) {#symbol, version, symbol},
#define PER_THREAD(symbol, version, suffix, per_thread_version, ...)                                                   \
  {#symbol, version, symbol}, {#symbol #suffix, per_thread_version, symbol##suffix},
#include "runtime/abi/driver_functions.def"
#include "runtime/driver/api/unsupported_functions.def"
#undef FUNCTION
#undef PER_THREAD
};

/// cuMemcpy3D_v2_ptds is a version of cuMemcpy3D.
constexpr std::string_view name_of(std::string_view symbol) { return symbol.substr(0, symbol.find('_')); }

constexpr bool is_per_thread(std::string_view symbol) { return symbol.ends_with("_ptds") || symbol.ends_with("_ptsz"); }

} // namespace

/// The newest function of that name that is not newer than `version`; null if there is none. `too_new` is set if all
/// are newer.
void* find_entry_point(const char* name, int version, bool per_thread, bool& too_new) {
  const EntryPoint* best = nullptr;
  too_new = false;
  for (const EntryPoint& e : kEntryPoints) {
    const bool variant = is_per_thread(e.symbol);
    if (name_of(e.symbol) != name || (variant && !per_thread)) continue;
    if (e.version > version) {
      too_new = true;
    } else if (best == nullptr || e.version > best->version || (e.version == best->version && variant)) {
      best = &e;
    }
  }
  return best == nullptr ? nullptr : reinterpret_cast<void*>(best->function);
}

} // namespace warplens::runtime
