// SPDX-License-Identifier: Apache-2.0
// CUDA arrays, plain and mipmapped.
#include "runtime/cudart/call.hpp"
#include "runtime/cudart/convert.hpp"

namespace warplens::cudart {
namespace {

cudaError_t describe(const cudaChannelFormatDesc* description, cudaExtent extent, unsigned flags,
                     CUDA_ARRAY3D_DESCRIPTOR* descriptor) {
  if (!description) return cudaErrorInvalidValue;
  *descriptor = {};
  TRY(driver_format(*description, &descriptor->Format, &descriptor->NumChannels));
  descriptor->Width = extent.width;
  descriptor->Height = extent.height;
  descriptor->Depth = extent.depth;
  descriptor->Flags = flags; // both APIs use the same bits
  return cudaSuccess;
}

} // namespace
} // namespace warplens::cudart

using namespace warplens::cudart;

CUDART cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}

CUDART cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* description, cudaExtent extent,
                                     unsigned flags) {
  return call([&]() -> cudaError_t {
    CUDA_ARRAY3D_DESCRIPTOR descriptor{};
    TRY(describe(description, extent, flags, &descriptor));
    return to_error(cuArray3DCreate_v2(array, &descriptor));
  });
}
CUDART cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* description, size_t width,
                                   size_t height, unsigned flags) {
  return cudaMalloc3DArray(array, description, {width, height, 0}, flags);
}
CUDART cudaError_t cudaFreeArray(cudaArray_t array) {
  return call([&] { return array ? cuArrayDestroy(array) : CUDA_SUCCESS; });
}

CUDART cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t* array, const cudaChannelFormatDesc* description,
                                            cudaExtent extent, unsigned levels, unsigned flags) {
  return call([&]() -> cudaError_t {
    CUDA_ARRAY3D_DESCRIPTOR descriptor{};
    TRY(describe(description, extent, flags, &descriptor));
    return to_error(cuMipmappedArrayCreate(array, &descriptor, levels));
  });
}
CUDART cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t array) {
  return call([&] { return array ? cuMipmappedArrayDestroy(array) : CUDA_SUCCESS; });
}

CUDART cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* description, cudaExtent* extent, unsigned* flags,
                                    cudaArray_t array) {
  return call([&]() -> cudaError_t {
    CUDA_ARRAY3D_DESCRIPTOR descriptor{};
    TRY(cuArray3DGetDescriptor_v2(&descriptor, array));
    if (extent) *extent = {descriptor.Width, descriptor.Height, descriptor.Depth};
    if (flags) *flags = descriptor.Flags;
    return description ? runtime_format(descriptor.Format, descriptor.NumChannels, description) : cudaSuccess;
  });
}
CUDART cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* description, cudaArray_t array) {
  return cudaArrayGetInfo(description, nullptr, nullptr, array);
}
