// SPDX-License-Identifier: Apache-2.0
// Allocation: device, pitched, host, registered, managed; attributes of pointers.
#include "runtime/cudart/call.hpp"
#include "runtime/cudart/version.hpp"

using namespace warplens::cudart;

namespace {
/// Runs `allocate(&address)` and returns the address to the program. A size of zero allocates nothing and is no error.
template <class Allocate> cudaError_t allocate_device(void** pointer, std::size_t size, Allocate&& allocate) {
  return call([&]() -> cudaError_t {
    if (!pointer) return cudaErrorInvalidValue;
    CUdeviceptr allocated = 0;
    if (size != 0) TRY(allocate(&allocated));
    *pointer = reinterpret_cast<void*>(allocated);
    return cudaSuccess;
  });
}

/// Element size in bytes for the alignment of rows: the widest access of a thread.
constexpr unsigned kWidestAccess = 16;
} // namespace

CUDART cudaError_t cudaMalloc(void** pointer, size_t size) {
  return allocate_device(pointer, size, [&](CUdeviceptr* allocated) { return cuMemAlloc_v2(allocated, size); });
}
CUDART cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  return allocate_device(pointer, width * height, [&](CUdeviceptr* allocated) {
    return cuMemAllocPitch_v2(allocated, pitch, width, height, kWidestAccess);
  });
}
CUDART cudaError_t cudaMalloc3D(cudaPitchedPtr* pitched, cudaExtent extent) {
  if (!pitched) return record(cudaErrorInvalidValue);
  *pitched = {nullptr, 0, extent.width, extent.height};
  return cudaMallocPitch(&pitched->ptr, &pitched->pitch, extent.width, extent.height * extent.depth);
}
CUDART cudaError_t cudaMallocManaged(void** pointer, size_t size, unsigned flags) {
  if (size == 0) return record(cudaErrorInvalidValue);
  return allocate_device(pointer, size,
                         [&](CUdeviceptr* allocated) { return cuMemAllocManaged(allocated, size, flags); });
}
CUDART cudaError_t cudaMallocAsync(void** pointer, size_t size, cudaStream_t stream) {
  return allocate_device(pointer, size,
                         [&](CUdeviceptr* allocated) { return cuMemAllocAsync(allocated, size, stream); });
}
CUDART cudaError_t cudaMallocFromPoolAsync(void** pointer, size_t size, cudaMemPool_t pool, cudaStream_t stream) {
  return allocate_device(
      pointer, size, [&](CUdeviceptr* allocated) { return cuMemAllocFromPoolAsync(allocated, size, pool, stream); });
}

CUDART cudaError_t cudaFree(void* pointer) {
  return call([&] { return pointer ? cuMemFree_v2(address(pointer)) : CUDA_SUCCESS; });
}
CUDART cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  return call([&] { return cuMemFreeAsync(address(pointer), stream); });
}

CUDART cudaError_t cudaHostAlloc(void** pointer, size_t size, unsigned flags) {
  return call([&]() -> cudaError_t {
    if (!pointer) return cudaErrorInvalidValue;
    *pointer = nullptr;
    return size ? to_error(cuMemHostAlloc(pointer, size, flags)) : cudaSuccess;
  });
}
CUDART cudaError_t cudaMallocHost(void** pointer, size_t size) { return cudaHostAlloc(pointer, size, 0); }
CUDART cudaError_t cudaFreeHost(void* pointer) {
  return call([&] { return pointer ? cuMemFreeHost(pointer) : CUDA_SUCCESS; });
}
CUDART cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned flags) {
  return call([&]() -> cudaError_t {
    if (!device) return cudaErrorInvalidValue;
    CUdeviceptr pointer = 0;
    TRY(cuMemHostGetDevicePointer_v2(&pointer, host, flags));
    *device = reinterpret_cast<void*>(pointer);
    return cudaSuccess;
  });
}

/// A pointer that is unknown to CUDA is no error (since 11.0): it is unregistered host memory.
CUDART cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  return call([&]() -> cudaError_t {
    if (!attributes) return cudaErrorInvalidValue;
    cudaPointerAttributes all{cudaMemoryTypeUnregistered, -2, nullptr, const_cast<void*>(pointer), {}};
    unsigned type = 0, managed = 0;
    if (cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address(pointer)) == CUDA_SUCCESS && type != 0) {
      TRY(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address(pointer)));
      TRY(cuPointerGetAttribute(&all.device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address(pointer)));
      all.type = managed                      ? cudaMemoryTypeManaged
                 : type == CU_MEMORYTYPE_HOST ? cudaMemoryTypeHost
                                              : cudaMemoryTypeDevice;
      // Memory that only one side can access has no pointer for the other.
      if (cuPointerGetAttribute(&all.devicePointer, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, address(pointer)) !=
          CUDA_SUCCESS)
        all.devicePointer = nullptr;
      if (cuPointerGetAttribute(&all.hostPointer, CU_POINTER_ATTRIBUTE_HOST_POINTER, address(pointer)) != CUDA_SUCCESS)
        all.hostPointer = nullptr;
    }
    write_prefix(attributes, all, version.pointer_attributes);
    return cudaSuccess;
  });
}

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
