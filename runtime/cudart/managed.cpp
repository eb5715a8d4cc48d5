// SPDX-License-Identifier: Apache-2.0
// Advice and prefetching for managed memory, and memory pools.
#include "runtime/cudart/call.hpp"
#include "runtime/cudart/version.hpp"

using namespace warplens::cudart;

namespace warplens::cudart {

cudaError_t memory_advise(const void* pointer, std::size_t size, cudaMemoryAdvise advice, cudaMemLocation location) {
  return call([&] { return cuMemAdvise_v2(address(pointer), size, advice, location); });
}
cudaError_t memory_prefetch(const void* pointer, std::size_t size, cudaMemLocation location, unsigned flags,
                            cudaStream_t stream) {
  return call([&] { return cuMemPrefetchAsync_v2(address(pointer), size, location, flags, stream); });
}

} // namespace warplens::cudart

CUDART cudaError_t cudaMemRangeGetAttribute(void* data, size_t data_size, cudaMemRangeAttribute attribute,
                                            const void* pointer, size_t size) {
  return call([&] { return cuMemRangeGetAttribute(data, data_size, attribute, address(pointer), size); });
}
CUDART cudaError_t cudaMemRangeGetAttributes(void** data, size_t* data_sizes, cudaMemRangeAttribute* attributes,
                                             size_t count, const void* pointer, size_t size) {
  return call([&] { return cuMemRangeGetAttributes(data, data_sizes, attributes, count, address(pointer), size); });
}
CUDART cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* pointer, size_t size, unsigned flags) {
  return call([&] { return cuStreamAttachMemAsync(stream, address(pointer), size, flags); });
}

CUDART cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  return call([&] { return cuMemPoolCreate(pool, properties); });
}
CUDART cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  return call([&] { return cuMemPoolDestroy(pool); });
}
CUDART cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes_to_keep) {
  return call([&] { return cuMemPoolTrimTo(pool, bytes_to_keep); });
}
CUDART cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return call([&] { return cuMemPoolSetAttribute(pool, attribute, value); });
}
CUDART cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return call([&] { return cuMemPoolGetAttribute(pool, attribute, value); });
}
CUDART cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* accesses, size_t count) {
  return call([&] { return cuMemPoolSetAccess(pool, accesses, count); });
}
CUDART cudaError_t cudaMemPoolGetAccess(CUmemAccess_flags* flags, cudaMemPool_t pool, cudaMemLocation* location) {
  return call([&] { return cuMemPoolGetAccess(flags, pool, location); });
}
CUDART cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  return call([&] { return cuDeviceGetDefaultMemPool(pool, device); });
}
CUDART cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  return call([&] { return cuDeviceGetMemPool(pool, device); });
}
CUDART cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  return call([&] { return cuDeviceSetMemPool(device, pool); });
}
