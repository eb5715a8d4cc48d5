// SPDX-License-Identifier: Apache-2.0
// __device__, __constant__ and __managed__ variables, by the host address that represents them.
#include "runtime/cudart/order.hpp"
#include "runtime/cudart/registration.hpp"

namespace warplens::cudart {
namespace {

cudaError_t copy_to(Order order, const void* symbol, const void* from, std::size_t size, std::size_t offset,
                    cudaMemcpyKind kind) {
  if (kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost) return cudaErrorInvalidMemcpyDirection;
  void* to = nullptr;
  TRY(find_part(symbol, offset, size, &to));
  return copy_bytes(order, to, from, size, kind);
}

cudaError_t copy_from(Order order, void* to, const void* symbol, std::size_t size, std::size_t offset,
                      cudaMemcpyKind kind) {
  if (kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost) return cudaErrorInvalidMemcpyDirection;
  void* from = nullptr;
  TRY(find_part(symbol, offset, size, &from));
  return copy_bytes(order, to, from, size, kind);
}

} // namespace
} // namespace warplens::cudart

using namespace warplens::cudart;

ORDERED(cudaMemcpyToSymbol, copy_to)
ORDERED(cudaMemcpyFromSymbol, copy_from)

CUDART cudaError_t cudaGetSymbolAddress(void** pointer, const void* symbol) {
  return call([&] { return find_part(symbol, 0, 0, pointer); });
}
CUDART cudaError_t cudaGetSymbolSize(size_t* size, const void* symbol) {
  return call([&] {
    CUdeviceptr pointer = 0;
    return find_variable(symbol, &pointer, size);
  });
}

// Variables of libraries that the program loads explicitly (since CUDA 12.8).
CUDART cudaError_t cudaLibraryGetGlobal(void** pointer, size_t* size, cudaLibrary_t library, const char* name) {
  return call([&] { return cuLibraryGetGlobal(reinterpret_cast<CUdeviceptr*>(pointer), size, library, name); });
}
CUDART cudaError_t cudaLibraryGetManaged(void** pointer, size_t* size, cudaLibrary_t library, const char* name) {
  return call([&] { return cuLibraryGetManaged(reinterpret_cast<CUdeviceptr*>(pointer), size, library, name); });
}
