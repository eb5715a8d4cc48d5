// SPDX-License-Identifier: Apache-2.0
#include "api/session/freed_memory.hpp"

#include <cstdlib> // defines __GLIBC__

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace warplens::api {

void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_TRIM_THRESHOLD, 64 << 20);
  mallopt(M_MMAP_THRESHOLD, 32 << 20); // the largest that the C library takes
#endif
}

} // namespace warplens::api
