// SPDX-License-Identifier: Apache-2.0
// __device__, __constant__ and __managed__ variables, by the host address that represents them.
#include "runtime/cudart/order.hpp"
#include "runtime/cudart/registration.hpp"

namespace warplens::cudart {
namespace {

cudaError_t copy_to(const void* symbol, const void* from, std::size_t size, std::size_t offset, cudaMemcpyKind kind,
                    Order order) {
  if (kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost) return cudaErrorInvalidMemcpyDirection;
  void* to = nullptr;
  TRY(find_part(symbol, offset, size, &to));
  return copy_bytes(to, from, size, kind, order);
}

cudaError_t copy_from(void* to, const void* symbol, std::size_t size, std::size_t offset, cudaMemcpyKind kind,
                      Order order) {
  if (kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost) return cudaErrorInvalidMemcpyDirection;
  void* from = nullptr;
  TRY(find_part(symbol, offset, size, &from));
  return copy_bytes(to, from, size, kind, order);
}

} // namespace
} // namespace warplens::cudart

using namespace warplens::cudart;

CUDART cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, size_t size, size_t offset,
                                      cudaMemcpyKind kind) {
  return call([&] { return copy_to(symbol, from, size, offset, kind, Order::now()); });
}
CUDART cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, size_t size, size_t offset,
                                           cudaMemcpyKind kind, cudaStream_t stream) {
  return call([&] { return copy_to(symbol, from, size, offset, kind, Order::in(stream)); });
}
CUDART cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, size_t size, size_t offset, cudaMemcpyKind kind) {
  return call([&] { return copy_from(to, symbol, size, offset, kind, Order::now()); });
}
CUDART cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, size_t size, size_t offset,
                                             cudaMemcpyKind kind, cudaStream_t stream) {
  return call([&] { return copy_from(to, symbol, size, offset, kind, Order::in(stream)); });
}

CUDART cudaError_t cudaGetSymbolAddress(void** pointer, const void* symbol) {
  return call([&] { return find_part(symbol, 0, 0, pointer); });
}
CUDART cudaError_t cudaGetSymbolSize(size_t* size, const void* symbol) {
  return call([&] {
    CUdeviceptr pointer = 0;
    return find_variable(symbol, &pointer, size);
  });
}
