// SPDX-License-Identifier: Apache-2.0
#include "runtime/cudart/convert.hpp"

#include "runtime/cudart/call.hpp"

namespace warplens::cudart {
namespace {

/// Bits, kind, and the driver's name for a component of that kind.
struct Format {
  cudaChannelFormatKind kind;
  int bits;
  CUarray_format format;
};
constexpr Format kFormats[] = {
    {cudaChannelFormatKindUnsigned, 8, CU_AD_FORMAT_UNSIGNED_INT8},
    {cudaChannelFormatKindUnsigned, 16, CU_AD_FORMAT_UNSIGNED_INT16},
    {cudaChannelFormatKindUnsigned, 32, CU_AD_FORMAT_UNSIGNED_INT32},
    {cudaChannelFormatKindSigned, 8, CU_AD_FORMAT_SIGNED_INT8},
    {cudaChannelFormatKindSigned, 16, CU_AD_FORMAT_SIGNED_INT16},
    {cudaChannelFormatKindSigned, 32, CU_AD_FORMAT_SIGNED_INT32},
    {cudaChannelFormatKindFloat, 16, CU_AD_FORMAT_HALF},
    {cudaChannelFormatKindFloat, 32, CU_AD_FORMAT_FLOAT},
};

cudaError_t array_element_size(CUarray array, std::size_t* size) {
  CUDA_ARRAY3D_DESCRIPTOR descriptor{};
  TRY(cuArray3DGetDescriptor_v2(&descriptor, array));
  *size = element_size(descriptor.Format, descriptor.NumChannels);
  return cudaSuccess;
}

CUmemorytype memory_type(cudaMemcpyKind kind, bool host) {
  if (kind == cudaMemcpyDefault) return CU_MEMORYTYPE_UNIFIED;
  return host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
}

} // namespace

CUlaunchConfig driver_config(const cudaLaunchConfig_t& launch) {
  CUlaunchConfig config{};
  config.gridDimX = launch.gridDim.x;
  config.gridDimY = launch.gridDim.y;
  config.gridDimZ = launch.gridDim.z;
  config.blockDimX = launch.blockDim.x;
  config.blockDimY = launch.blockDim.y;
  config.blockDimZ = launch.blockDim.z;
  config.sharedMemBytes = static_cast<unsigned>(launch.dynamicSmemBytes);
  config.hStream = launch.stream ? launch.stream : default_stream();
  config.attrs = launch.attrs;
  config.numAttrs = launch.numAttrs;
  return config;
}

CUDA_MEMCPY3D rectangle(std::size_t width, std::size_t height) {
  CUDA_MEMCPY3D copy{};
  copy.WidthInBytes = width;
  copy.Height = height;
  copy.Depth = 1;
  return copy;
}

void set_source(CUDA_MEMCPY3D* copy, cudaMemcpyKind kind, const void* pointer, std::size_t pitch, std::size_t height) {
  copy->srcMemoryType = memory_type(kind, kind == cudaMemcpyHostToHost || kind == cudaMemcpyHostToDevice);
  copy->srcHost = pointer;
  copy->srcDevice = address(pointer);
  copy->srcPitch = pitch;
  copy->srcHeight = height;
}
void set_destination(CUDA_MEMCPY3D* copy, cudaMemcpyKind kind, void* pointer, std::size_t pitch, std::size_t height) {
  copy->dstMemoryType = memory_type(kind, kind == cudaMemcpyHostToHost || kind == cudaMemcpyDeviceToHost);
  copy->dstHost = pointer;
  copy->dstDevice = address(pointer);
  copy->dstPitch = pitch;
  copy->dstHeight = height;
}

cudaError_t driver_copy(const cudaMemcpy3DParms& parameters, CUDA_MEMCPY3D* copy) {
  const cudaMemcpy3DParms& p = parameters;
  if (p.kind < cudaMemcpyHostToHost || p.kind > cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
  if ((p.srcArray != nullptr) == (p.srcPtr.ptr != nullptr)) return cudaErrorInvalidValue;
  if ((p.dstArray != nullptr) == (p.dstPtr.ptr != nullptr)) return cudaErrorInvalidValue;
  std::size_t source_element = 1, destination_element = 1;
  if (p.srcArray) TRY(array_element_size(p.srcArray, &source_element));
  if (p.dstArray) TRY(array_element_size(p.dstArray, &destination_element));
  if (p.srcArray && p.dstArray && source_element != destination_element) return cudaErrorInvalidValue;

  *copy = {};
  if (p.srcArray) {
    copy->srcMemoryType = CU_MEMORYTYPE_ARRAY;
    copy->srcArray = p.srcArray;
  } else {
    set_source(copy, p.kind, p.srcPtr.ptr, p.srcPtr.pitch, p.srcPtr.ysize);
  }
  if (p.dstArray) {
    copy->dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy->dstArray = p.dstArray;
  } else {
    set_destination(copy, p.kind, p.dstPtr.ptr, p.dstPtr.pitch, p.dstPtr.ysize);
  }
  copy->srcXInBytes = p.srcPos.x * source_element;
  copy->srcY = p.srcPos.y;
  copy->srcZ = p.srcPos.z;
  copy->dstXInBytes = p.dstPos.x * destination_element;
  copy->dstY = p.dstPos.y;
  copy->dstZ = p.dstPos.z;
  copy->WidthInBytes = p.extent.width * (p.srcArray ? source_element : destination_element);
  copy->Height = p.extent.height;
  copy->Depth = p.extent.depth;
  return cudaSuccess;
}

cudaError_t runtime_copy(const CUDA_MEMCPY3D& copy, cudaMemcpy3DParms* parameters) {
  cudaMemcpy3DParms& p = *parameters;
  p = {};
  std::size_t source_element = 1, destination_element = 1;
  if (copy.srcMemoryType == CU_MEMORYTYPE_ARRAY) {
    p.srcArray = copy.srcArray;
    TRY(array_element_size(p.srcArray, &source_element));
  } else {
    void* pointer = copy.srcMemoryType == CU_MEMORYTYPE_HOST ? const_cast<void*>(copy.srcHost)
                                                             : reinterpret_cast<void*>(copy.srcDevice);
    p.srcPtr = {pointer, copy.srcPitch, copy.srcPitch, copy.srcHeight};
  }
  if (copy.dstMemoryType == CU_MEMORYTYPE_ARRAY) {
    p.dstArray = copy.dstArray;
    TRY(array_element_size(p.dstArray, &destination_element));
  } else {
    void* pointer = copy.dstMemoryType == CU_MEMORYTYPE_HOST ? copy.dstHost : reinterpret_cast<void*>(copy.dstDevice);
    p.dstPtr = {pointer, copy.dstPitch, copy.dstPitch, copy.dstHeight};
  }
  p.srcPos = {copy.srcXInBytes / source_element, copy.srcY, copy.srcZ};
  p.dstPos = {copy.dstXInBytes / destination_element, copy.dstY, copy.dstZ};
  p.extent = {copy.WidthInBytes / (p.srcArray ? source_element : destination_element), copy.Height, copy.Depth};
  const bool unified = copy.srcMemoryType == CU_MEMORYTYPE_UNIFIED || copy.dstMemoryType == CU_MEMORYTYPE_UNIFIED;
  const int from_device = copy.srcMemoryType != CU_MEMORYTYPE_HOST,
            to_device = copy.dstMemoryType != CU_MEMORYTYPE_HOST;
  p.kind = unified ? cudaMemcpyDefault : static_cast<cudaMemcpyKind>(2 * from_device + to_device);
  return cudaSuccess;
}

cudaError_t driver_format(const cudaChannelFormatDesc& description, CUarray_format* format, unsigned* channels) {
  const int bits[] = {description.x, description.y, description.z, description.w};
  unsigned count = 0;
  while (count < 4 && bits[count] != 0) ++count;
  for (unsigned i = 0; i < 4; ++i)
    if (bits[i] != (i < count ? bits[0] : 0)) return cudaErrorInvalidChannelDescriptor;
  if (count == 0 || count == 3) return cudaErrorInvalidChannelDescriptor;
  *channels = count;
  // Both sides number the normalized kinds alike: 8 and 16 bits with 1, 2 and 4 components, unsigned, signed.
  const int normalized = description.f - cudaChannelFormatKindUnsignedNormalized8X1;
  if (normalized >= 0 && normalized < 12) {
    *format = static_cast<CUarray_format>(CU_AD_FORMAT_UNORM_INT8X1 + normalized);
    return cudaSuccess;
  }
  for (const Format& known : kFormats)
    if (known.kind == description.f && known.bits == bits[0]) {
      *format = known.format;
      return cudaSuccess;
    }
  return cudaErrorInvalidChannelDescriptor;
}

cudaError_t runtime_format(CUarray_format format, unsigned channels, cudaChannelFormatDesc* description) {
  const int bits = channels ? static_cast<int>(8 * element_size(format, channels) / channels) : 0;
  const auto component = [&](unsigned index) { return index < channels ? bits : 0; };
  *description = {component(0), component(1), component(2), component(3), cudaChannelFormatKindNone};
  const int normalized = static_cast<int>(format) - CU_AD_FORMAT_UNORM_INT8X1;
  if (normalized >= 0 && normalized < 12) {
    description->f = static_cast<cudaChannelFormatKind>(cudaChannelFormatKindUnsignedNormalized8X1 + normalized);
    return cudaSuccess;
  }
  for (const Format& known : kFormats)
    if (known.format == format) {
      description->f = known.kind;
      return cudaSuccess;
    }
  return cudaErrorInvalidChannelDescriptor;
}

std::size_t element_size(CUarray_format format, unsigned channels) {
  const int normalized = static_cast<int>(format) - CU_AD_FORMAT_UNORM_INT8X1;
  if (normalized >= 0 && normalized < 12) return std::size_t{channels} * (normalized % 6 < 3 ? 1u : 2u);
  for (const Format& known : kFormats)
    if (known.format == format) return channels * static_cast<std::size_t>(known.bits / 8);
  return 0;
}

} // namespace warplens::cudart
