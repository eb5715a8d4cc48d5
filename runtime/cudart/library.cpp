// SPDX-License-Identifier: Apache-2.0
// Libraries that the program loads explicitly (since CUDA 12.8).
#include "runtime/cudart/call.hpp"

using namespace warplens::cudart;

CUDART cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code, CUjit_option* jit_options,
                                       void** jit_values, unsigned jit_count, CUlibraryOption* options, void** values,
                                       unsigned count) {
  return call(
      [&] { return cuLibraryLoadData(library, code, jit_options, jit_values, jit_count, options, values, count); });
}
CUDART cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t* library, const char* path, CUjit_option* jit_options,
                                           void** jit_values, unsigned jit_count, CUlibraryOption* options,
                                           void** values, unsigned count) {
  return call(
      [&] { return cuLibraryLoadFromFile(library, path, jit_options, jit_values, jit_count, options, values, count); });
}
CUDART cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
  return call([&] { return cuLibraryUnload(library); });
}
CUDART cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library, const char* name) {
  return call([&] { return cuLibraryGetKernel(kernel, library, name); });
}
CUDART cudaError_t cudaLibraryGetKernelCount(unsigned* count, cudaLibrary_t library) {
  return call([&] { return cuLibraryGetKernelCount(count, library); });
}
CUDART cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t* kernels, unsigned count, cudaLibrary_t library) {
  return call([&] { return cuLibraryEnumerateKernels(kernels, count, library); });
}
CUDART cudaError_t cudaLibraryGetGlobal(void** pointer, size_t* size, cudaLibrary_t library, const char* name) {
  return call([&] { return cuLibraryGetGlobal(reinterpret_cast<CUdeviceptr*>(pointer), size, library, name); });
}
CUDART cudaError_t cudaLibraryGetManaged(void** pointer, size_t* size, cudaLibrary_t library, const char* name) {
  return call([&] { return cuLibraryGetManaged(reinterpret_cast<CUdeviceptr*>(pointer), size, library, name); });
}
CUDART cudaError_t cudaLibraryGetUnifiedFunction(void** function, cudaLibrary_t library, const char* symbol) {
  return call([&] { return cuLibraryGetUnifiedFunction(function, library, symbol); });
}
