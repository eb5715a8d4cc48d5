// SPDX-License-Identifier: Apache-2.0
// Declares the functions of driver_functions.def. Those for the per-thread default stream have the same parameters.
#pragma once

#include "runtime/abi/driver_graphs.hpp"

// Exported, whatever the visibility of the other code is.
#pragma GCC visibility push(default)
extern "C" {
#define FUNCTION(symbol, version, ...) CUresult symbol(__VA_ARGS__);
#define PER_THREAD(symbol, version, suffix, per_thread_version, ...)                                                   \
  CUresult symbol(__VA_ARGS__);                                                                                        \
  CUresult symbol##suffix(__VA_ARGS__);
#include "runtime/abi/driver_functions.def"
#undef FUNCTION
#undef PER_THREAD
} // extern "C"
#pragma GCC visibility pop
