// SPDX-License-Identifier: Apache-2.0
// Copies and fills. Compiled twice: see default_stream.hpp.
#include "runtime/driver/api/default_stream.hpp"
#include "runtime/driver/machine/copy.hpp"

#include <bit>

using namespace warplens::runtime;

namespace {

std::uint64_t address_of(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

/// Blocking copies, in the default stream.
CUresult now(std::uint64_t to, Side to_side, std::uint64_t from, Side from_side, std::uint64_t bytes,
             const char* function) {
  return serve(
      [&](Context& context) {
        return transfer_now(*default_stream(context), linear_transfer(to, to_side, from, from_side, bytes));
      },
      function);
}

CUresult async(std::uint64_t to, Side to_side, std::uint64_t from, Side from_side, std::uint64_t bytes, CUstream handle,
               const char* function) {
  return serve_for(
      handle,
      [&](Context& context) {
        transfer_async(*find_stream(context, handle), linear_transfer(to, to_side, from, from_side, bytes));
      },
      function);
}

/// The contexts are where CUDA_MEMCPY3D has reserved fields.
CUDA_MEMCPY3D without_contexts(const CUDA_MEMCPY3D_PEER& p) { return std::bit_cast<CUDA_MEMCPY3D>(p); }

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

CUresult boxes_now(const CUDA_MEMCPY3D& parameters, const char* function) {
  return serve([&](Context& context) { return transfer_now(*default_stream(context), transfer_of(parameters)); },
               function);
}

CUresult boxes_async(const CUDA_MEMCPY3D& parameters, CUstream handle, const char* function) {
  return serve_for(
      handle, [&](Context& context) { transfer_async(*find_stream(context, handle), transfer_of(parameters)); },
      function);
}

/// Fills do not block.
void fill(Stream& stream, std::uint64_t to, std::size_t pitch, std::uint32_t value, std::uint32_t element,
          std::size_t width, std::size_t rows) {
  if (width == 0 || rows == 0) return;
  require(to != 0 && to % element == 0 && (rows == 1 || (pitch >= width * element && pitch % element == 0)));
  const Fill what{{to, pitch, 0}, value, element, width, rows};
  require_covered("destination", what.to, width * element, rows, 1);
  if (stream.idle() && !stream.capture()) return stream.run(what);
  stream.submit(what);
}

CUresult fill_now(std::uint64_t to, std::size_t pitch, std::uint32_t value, std::uint32_t element, std::size_t width,
                  std::size_t rows, const char* function) {
  return serve([&](Context& context) { fill(*default_stream(context), to, pitch, value, element, width, rows); },
               function);
}

CUresult fill_async(std::uint64_t to, std::size_t pitch, std::uint32_t value, std::uint32_t element, std::size_t width,
                    std::size_t rows, CUstream handle, const char* function) {
  return serve_for(
      handle, [&](Context& context) { fill(*find_stream(context, handle), to, pitch, value, element, width, rows); },
      function);
}

} // namespace

extern "C" {

CUresult PTDS(cuMemcpy)(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return now(to, Side::unified, from, Side::unified, bytes, "cuMemcpy");
}

CUresult PTDS(cuMemcpyHtoD_v2)(CUdeviceptr to, const void* from, size_t bytes) {
  return now(to, Side::device, address_of(from), Side::host, bytes, "cuMemcpyHtoD");
}

CUresult PTDS(cuMemcpyDtoH_v2)(void* to, CUdeviceptr from, size_t bytes) {
  return now(address_of(to), Side::host, from, Side::device, bytes, "cuMemcpyDtoH");
}

CUresult PTDS(cuMemcpyDtoD_v2)(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return now(to, Side::device, from, Side::device, bytes, "cuMemcpyDtoD");
}

// All contexts are on one device.
CUresult PTDS(cuMemcpyPeer)(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, size_t bytes) {
  return now(to, Side::device, from, Side::device, bytes, "cuMemcpyPeer");
}

CUresult PTSZ(cuMemcpyAsync)(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return async(to, Side::unified, from, Side::unified, bytes, stream, "cuMemcpyAsync");
}

CUresult PTSZ(cuMemcpyHtoDAsync_v2)(CUdeviceptr to, const void* from, size_t bytes, CUstream stream) {
  return async(to, Side::device, address_of(from), Side::host, bytes, stream, "cuMemcpyHtoDAsync");
}

CUresult PTSZ(cuMemcpyDtoHAsync_v2)(void* to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return async(address_of(to), Side::host, from, Side::device, bytes, stream, "cuMemcpyDtoHAsync");
}

CUresult PTSZ(cuMemcpyDtoDAsync_v2)(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return async(to, Side::device, from, Side::device, bytes, stream, "cuMemcpyDtoDAsync");
}

CUresult PTSZ(cuMemcpyPeerAsync)(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, size_t bytes,
                                 CUstream stream) {
  return async(to, Side::device, from, Side::device, bytes, stream, "cuMemcpyPeerAsync");
}

CUresult PTDS(cuMemcpy2D_v2)(const CUDA_MEMCPY2D* p) {
  return p == nullptr ? CUDA_ERROR_INVALID_VALUE : boxes_now(widened(*p), "cuMemcpy2D");
}

CUresult PTDS(cuMemcpy2DUnaligned_v2)(const CUDA_MEMCPY2D* p) {
  return p == nullptr ? CUDA_ERROR_INVALID_VALUE : boxes_now(widened(*p), "cuMemcpy2DUnaligned");
}

CUresult PTSZ(cuMemcpy2DAsync_v2)(const CUDA_MEMCPY2D* p, CUstream stream) {
  return p == nullptr ? CUDA_ERROR_INVALID_VALUE : boxes_async(widened(*p), stream, "cuMemcpy2DAsync");
}

CUresult PTDS(cuMemcpy3D_v2)(const CUDA_MEMCPY3D* p) {
  return p == nullptr ? CUDA_ERROR_INVALID_VALUE : boxes_now(*p, "cuMemcpy3D");
}

CUresult PTSZ(cuMemcpy3DAsync_v2)(const CUDA_MEMCPY3D* p, CUstream stream) {
  return p == nullptr ? CUDA_ERROR_INVALID_VALUE : boxes_async(*p, stream, "cuMemcpy3DAsync");
}

CUresult PTDS(cuMemcpy3DPeer)(const CUDA_MEMCPY3D_PEER* p) {
  return p == nullptr ? CUDA_ERROR_INVALID_VALUE : boxes_now(without_contexts(*p), "cuMemcpy3DPeer");
}

CUresult PTSZ(cuMemcpy3DPeerAsync)(const CUDA_MEMCPY3D_PEER* p, CUstream stream) {
  return p == nullptr ? CUDA_ERROR_INVALID_VALUE : boxes_async(without_contexts(*p), stream, "cuMemcpy3DPeerAsync");
}

CUresult PTDS(cuMemcpyDtoA_v2)(CUarray to, size_t offset, CUdeviceptr from, size_t bytes) {
  CUDA_MEMCPY3D c = to_array(to, offset, bytes);
  c.srcMemoryType = CU_MEMORYTYPE_DEVICE, c.srcDevice = from;
  return boxes_now(c, "cuMemcpyDtoA");
}

CUresult PTDS(cuMemcpyAtoD_v2)(CUdeviceptr to, CUarray from, size_t offset, size_t bytes) {
  CUDA_MEMCPY3D c = from_array(from, offset, bytes);
  c.dstMemoryType = CU_MEMORYTYPE_DEVICE, c.dstDevice = to;
  return boxes_now(c, "cuMemcpyAtoD");
}

CUresult PTDS(cuMemcpyHtoA_v2)(CUarray to, size_t offset, const void* from, size_t bytes) {
  CUDA_MEMCPY3D c = to_array(to, offset, bytes);
  c.srcMemoryType = CU_MEMORYTYPE_HOST, c.srcHost = from;
  return boxes_now(c, "cuMemcpyHtoA");
}

CUresult PTDS(cuMemcpyAtoH_v2)(void* to, CUarray from, size_t offset, size_t bytes) {
  CUDA_MEMCPY3D c = from_array(from, offset, bytes);
  c.dstMemoryType = CU_MEMORYTYPE_HOST, c.dstHost = to;
  return boxes_now(c, "cuMemcpyAtoH");
}

CUresult PTDS(cuMemcpyAtoA_v2)(CUarray to, size_t to_offset, CUarray from, size_t from_offset, size_t bytes) {
  CUDA_MEMCPY3D c = from_array(from, from_offset, bytes);
  c.dstMemoryType = CU_MEMORYTYPE_ARRAY, c.dstArray = to, c.dstXInBytes = to_offset;
  return boxes_now(c, "cuMemcpyAtoA");
}

CUresult PTSZ(cuMemcpyHtoAAsync_v2)(CUarray to, size_t offset, const void* from, size_t bytes, CUstream stream) {
  CUDA_MEMCPY3D c = to_array(to, offset, bytes);
  c.srcMemoryType = CU_MEMORYTYPE_HOST, c.srcHost = from;
  return boxes_async(c, stream, "cuMemcpyHtoAAsync");
}

CUresult PTSZ(cuMemcpyAtoHAsync_v2)(void* to, CUarray from, size_t offset, size_t bytes, CUstream stream) {
  CUDA_MEMCPY3D c = from_array(from, offset, bytes);
  c.dstMemoryType = CU_MEMORYTYPE_HOST, c.dstHost = to;
  return boxes_async(c, stream, "cuMemcpyAtoHAsync");
}

CUresult PTDS(cuMemsetD8_v2)(CUdeviceptr to, unsigned char value, size_t count) {
  return fill_now(to, count, value, 1, count, 1, "cuMemsetD8");
}

CUresult PTDS(cuMemsetD16_v2)(CUdeviceptr to, unsigned short value, size_t count) {
  return fill_now(to, 2 * count, value, 2, count, 1, "cuMemsetD16");
}

CUresult PTDS(cuMemsetD32_v2)(CUdeviceptr to, unsigned int value, size_t count) {
  return fill_now(to, 4 * count, value, 4, count, 1, "cuMemsetD32");
}

CUresult PTDS(cuMemsetD2D8_v2)(CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t rows) {
  return fill_now(to, pitch, value, 1, width, rows, "cuMemsetD2D8");
}

CUresult PTDS(cuMemsetD2D16_v2)(CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t rows) {
  return fill_now(to, pitch, value, 2, width, rows, "cuMemsetD2D16");
}

CUresult PTDS(cuMemsetD2D32_v2)(CUdeviceptr to, size_t pitch, unsigned int value, size_t width, size_t rows) {
  return fill_now(to, pitch, value, 4, width, rows, "cuMemsetD2D32");
}

CUresult PTSZ(cuMemsetD8Async)(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
  return fill_async(to, count, value, 1, count, 1, stream, "cuMemsetD8Async");
}

CUresult PTSZ(cuMemsetD16Async)(CUdeviceptr to, unsigned short value, size_t count, CUstream stream) {
  return fill_async(to, 2 * count, value, 2, count, 1, stream, "cuMemsetD16Async");
}

CUresult PTSZ(cuMemsetD32Async)(CUdeviceptr to, unsigned int value, size_t count, CUstream stream) {
  return fill_async(to, 4 * count, value, 4, count, 1, stream, "cuMemsetD32Async");
}

CUresult PTSZ(cuMemsetD2D8Async)(CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t rows,
                                 CUstream stream) {
  return fill_async(to, pitch, value, 1, width, rows, stream, "cuMemsetD2D8Async");
}

CUresult PTSZ(cuMemsetD2D16Async)(CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t rows,
                                  CUstream stream) {
  return fill_async(to, pitch, value, 2, width, rows, stream, "cuMemsetD2D16Async");
}

CUresult PTSZ(cuMemsetD2D32Async)(CUdeviceptr to, size_t pitch, unsigned int value, size_t width, size_t rows,
                                  CUstream stream) {
  return fill_async(to, pitch, value, 4, width, rows, stream, "cuMemsetD2D32Async");
}

} // extern "C"
