// SPDX-License-Identifier: Apache-2.0
// What a compiler must know of a loop to vectorise it: no iteration depends on another.
//
//   WARPLENS_INDEPENDENT
//   for (int i = 0; i < kWarpSize; ++i) d[i] = value(i);
#pragma once

#if defined(__clang__)
#define WARPLENS_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define WARPLENS_INDEPENDENT _Pragma("GCC ivdep")
#else
#define WARPLENS_INDEPENDENT
#endif
