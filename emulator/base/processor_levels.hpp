// SPDX-License-Identifier: Apache-2.0
// Whether this processor runs code of a level, for which a file is compiled once per level: WARPLENS_RUNS_v3.
// On x86-64, call __builtin_cpu_init() before.
#pragma once

#define WARPLENS_RUNS_v2 true
#if defined(__clang__) && __clang_major__ < 19 // does not know levels; these features imply the others
#define WARPLENS_RUNS_v3                                                                                               \
  (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma"))
#define WARPLENS_RUNS_v4                                                                                               \
  (WARPLENS_RUNS_v3 && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&                     \
   __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
#else
#define WARPLENS_RUNS_v3 __builtin_cpu_supports("x86-64-v3")
#define WARPLENS_RUNS_v4 __builtin_cpu_supports("x86-64-v4")
#endif
#define WARPLENS_RUNS_portable true
