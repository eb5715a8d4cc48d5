// SPDX-License-Identifier: Apache-2.0
// Copies between memory and one-dimensional arrays; boxes are in copy_api.cpp. Compiled twice: see default_stream.hpp.
#include "runtime/driver/api/default_stream.hpp"
#include "runtime/driver/machine/copy.hpp"

using namespace warplens::runtime;

namespace {

CUDA_MEMCPY3D from_array(CUarray array, std::size_t offset, std::size_t bytes) {
  CUDA_MEMCPY3D c{};
  c.srcMemoryType = CU_MEMORYTYPE_ARRAY, c.srcArray = array, c.srcXInBytes = offset;
  c.WidthInBytes = bytes, c.Height = 1, c.Depth = 1;
  return c;
}

CUDA_MEMCPY3D to_array(CUarray array, std::size_t offset, std::size_t bytes) {
  CUDA_MEMCPY3D c{};
  c.dstMemoryType = CU_MEMORYTYPE_ARRAY, c.dstArray = array, c.dstXInBytes = offset;
  c.WidthInBytes = bytes, c.Height = 1, c.Depth = 1;
  return c;
}

CUresult now(const CUDA_MEMCPY3D& parameters, const char* function) {
  return serve([&](Context& context) { return transfer_now(*default_stream(context), transfer_of(parameters)); },
               function);
}

CUresult async(const CUDA_MEMCPY3D& parameters, CUstream handle, const char* function) {
  return serve_for(
      handle, [&](Context& context) { transfer_async(*find_stream(context, handle), transfer_of(parameters)); },
      function);
}

} // namespace

extern "C" {

CUresult PTDS(cuMemcpyDtoA_v2)(CUarray to, size_t offset, CUdeviceptr from, size_t bytes) {
  CUDA_MEMCPY3D c = to_array(to, offset, bytes);
  c.srcMemoryType = CU_MEMORYTYPE_DEVICE, c.srcDevice = from;
  return now(c, "cuMemcpyDtoA");
}

CUresult PTDS(cuMemcpyAtoD_v2)(CUdeviceptr to, CUarray from, size_t offset, size_t bytes) {
  CUDA_MEMCPY3D c = from_array(from, offset, bytes);
  c.dstMemoryType = CU_MEMORYTYPE_DEVICE, c.dstDevice = to;
  return now(c, "cuMemcpyAtoD");
}

CUresult PTDS(cuMemcpyHtoA_v2)(CUarray to, size_t offset, const void* from, size_t bytes) {
  CUDA_MEMCPY3D c = to_array(to, offset, bytes);
  c.srcMemoryType = CU_MEMORYTYPE_HOST, c.srcHost = from;
  return now(c, "cuMemcpyHtoA");
}

CUresult PTDS(cuMemcpyAtoH_v2)(void* to, CUarray from, size_t offset, size_t bytes) {
  CUDA_MEMCPY3D c = from_array(from, offset, bytes);
  c.dstMemoryType = CU_MEMORYTYPE_HOST, c.dstHost = to;
  return now(c, "cuMemcpyAtoH");
}

CUresult PTDS(cuMemcpyAtoA_v2)(CUarray to, size_t to_offset, CUarray from, size_t from_offset, size_t bytes) {
  CUDA_MEMCPY3D c = from_array(from, from_offset, bytes);
  c.dstMemoryType = CU_MEMORYTYPE_ARRAY, c.dstArray = to, c.dstXInBytes = to_offset;
  return now(c, "cuMemcpyAtoA");
}

CUresult PTSZ(cuMemcpyHtoAAsync_v2)(CUarray to, size_t offset, const void* from, size_t bytes, CUstream stream) {
  CUDA_MEMCPY3D c = to_array(to, offset, bytes);
  c.srcMemoryType = CU_MEMORYTYPE_HOST, c.srcHost = from;
  return async(c, stream, "cuMemcpyHtoAAsync");
}

CUresult PTSZ(cuMemcpyAtoHAsync_v2)(void* to, CUarray from, size_t offset, size_t bytes, CUstream stream) {
  CUDA_MEMCPY3D c = from_array(from, offset, bytes);
  c.dstMemoryType = CU_MEMORYTYPE_HOST, c.dstHost = to;
  return async(c, stream, "cuMemcpyAtoHAsync");
}

} // extern "C"
