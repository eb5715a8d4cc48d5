// SPDX-License-Identifier: Apache-2.0
// A stand-in for NVIDIA's static runtime: functions of the same names that always fail, as NVIDIA's do without NVIDIA's
// driver. A program that is linked with it works only if they are replaced. STAND_IN_FOR is the version of CUDA.
#include "tests/runtime/static_runtime/stand_in.hpp"

#include <dlfcn.h>

namespace {

constexpr int kInsufficientDriver = 35, kUnknown = 999;
constexpr unsigned char kInterface[16] = {0x6b, 0xd5, 0xfb, 0x6c, 0x5b, 0xf4, 0xe7, 0x4a,
                                          0x89, 0x87, 0xd9, 0x39, 0x12, 0xfd, 0x9d, 0xf9};

/// Like NVIDIA's runtime, loads the driver when it is first called and requests a table that only NVIDIA's driver has.
int refused() {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver == nullptr) return kInsufficientDriver;
  void* const versioned = dlvsym(driver, "cuInit", "CUDA"); // no driver has versions
  const auto init = reinterpret_cast<int (*)(unsigned)>(versioned != nullptr ? versioned : dlsym(driver, "cuInit"));
  const auto tables = reinterpret_cast<int (*)(const void**, const void*)>(dlsym(driver, "cuGetExportTable"));
  if (init == nullptr || tables == nullptr) return kInsufficientDriver;
  const void* table = nullptr;
  if (const int error = init(0); error != 0) return error;
  const int error = tables(&table, kInterface);
  return error != 0 ? error : kUnknown;
}

} // namespace

extern "C" {

int cudaMalloc(void**, size_t) { return refused(); }
int cudaFree(void*) { return refused(); }
int cudaMemcpy(void*, const void*, size_t, int) { return refused(); }
int cudaRuntimeGetVersion(int*) { return refused(); }
int cudaDeviceGetAttribute(int*, int, int) { return refused(); }
void** __cudaRegisterFatBinary(void*) { return nullptr; }
const char* cudaGetErrorName(int) { return "cudaErrorSoftwareValidityNotEstablished"; }

// These functions identify the version.
#if STAND_IN_FOR == 12
int cudaGetDeviceProperties_v2(void*, int) { return refused(); }
#endif
#if STAND_IN_FOR <= 11
int cudaBindTexture(size_t*, const void*, const void*, const void*, size_t) { return refused(); }
#endif
#if STAND_IN_FOR == 11
int cudaGetFuncBySymbol(void**, const void*) { return refused(); }
#endif

int cudaHelperOfTheProgram() { return 42; }
}
