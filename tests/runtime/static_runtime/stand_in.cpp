// SPDX-License-Identifier: Apache-2.0
// A stand-in for NVIDIA's static runtime: functions of the same names that always fail, as NVIDIA's do without NVIDIA's
// driver. A program that is linked with it works only if they are replaced. STAND_IN_FOR is the version of CUDA.
#include "tests/runtime/static_runtime/stand_in.hpp"

extern "C" {

constexpr int kRefused = 999;

int cudaMalloc(void**, size_t) { return kRefused; }
int cudaFree(void*) { return kRefused; }
int cudaMemcpy(void*, const void*, size_t, int) { return kRefused; }
int cudaRuntimeGetVersion(int*) { return kRefused; }
int cudaDeviceGetAttribute(int*, int, int) { return kRefused; }
void** __cudaRegisterFatBinary(void*) { return nullptr; }

// These functions identify the version.
#if STAND_IN_FOR == 12
int cudaGetDeviceProperties_v2(void*, int) { return kRefused; }
#endif
#if STAND_IN_FOR <= 11
int cudaBindTexture(size_t*, const void*, const void*, const void*, size_t) { return kRefused; }
#endif
#if STAND_IN_FOR == 11
int cudaGetFuncBySymbol(void**, const void*) { return kRefused; }
#endif

int cudaHelperOfTheProgram() { return 42; }
}
