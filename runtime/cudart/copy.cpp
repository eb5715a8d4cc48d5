// SPDX-License-Identifier: Apache-2.0
// Copies between pointers: one, two and three dimensions, peers. Copies of arrays are in array_copy.cpp.
#include "runtime/cudart/convert.hpp"
#include "runtime/cudart/order.hpp"

namespace warplens::cudart {

cudaError_t copy_bytes(void* to, const void* from, std::size_t size, cudaMemcpyKind kind, Order order) {
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
  if (size == 0) return cudaSuccess;
  switch (kind) {
  case cudaMemcpyHostToDevice:
    return order.run([&] { return cuMemcpyHtoD_v2(address(to), from, size); },
                     [&](CUstream stream) { return cuMemcpyHtoDAsync_v2(address(to), from, size, stream); });
  case cudaMemcpyDeviceToHost:
    return order.run([&] { return cuMemcpyDtoH_v2(to, address(from), size); },
                     [&](CUstream stream) { return cuMemcpyDtoHAsync_v2(to, address(from), size, stream); });
  case cudaMemcpyDeviceToDevice:
    return order.run([&] { return cuMemcpyDtoD_v2(address(to), address(from), size); },
                     [&](CUstream stream) { return cuMemcpyDtoDAsync_v2(address(to), address(from), size, stream); });
  default:
    return order.run([&] { return cuMemcpy(address(to), address(from), size); },
                     [&](CUstream stream) { return cuMemcpyAsync(address(to), address(from), size, stream); });
  }
}

cudaError_t copy_box(const CUDA_MEMCPY3D& copy, Order order) {
  if (copy.WidthInBytes == 0 || copy.Height == 0 || copy.Depth == 0) return cudaSuccess;
  return order.run([&] { return cuMemcpy3D_v2(&copy); },
                   [&](CUstream stream) { return cuMemcpy3DAsync_v2(&copy, stream); });
}

namespace {

cudaError_t copy_rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                      std::size_t height, cudaMemcpyKind kind, Order order) {
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
  if (width > to_pitch || width > from_pitch) return cudaErrorInvalidPitchValue;
  CUDA_MEMCPY3D copy{};
  set_source(&copy, kind, from, from_pitch, height);
  set_destination(&copy, kind, to, to_pitch, height);
  copy.WidthInBytes = width;
  copy.Height = height;
  copy.Depth = 1;
  return copy_box(copy, order);
}

cudaError_t copy_box(const cudaMemcpy3DParms* parameters, Order order) {
  if (!parameters) return cudaErrorInvalidValue;
  CUDA_MEMCPY3D copy{};
  TRY(driver_copy(*parameters, &copy));
  return copy_box(copy, order);
}

/// There is one device: a copy between peers is a copy within it.
cudaError_t copy_peers(const cudaMemcpy3DPeerParms* p, Order order) {
  if (!p) return cudaErrorInvalidValue;
  const cudaMemcpy3DParms parameters{p->srcArray, p->srcPos, p->srcPtr, p->dstArray,
                                     p->dstPos,   p->dstPtr, p->extent, cudaMemcpyDefault};
  return copy_box(&parameters, order);
}
cudaError_t check_devices(int first, int second) {
  int count = 0;
  TRY(cuDeviceGetCount(&count));
  const auto exists = [&](int device) { return device >= 0 && device < count; };
  return exists(first) && exists(second) ? cudaSuccess : cudaErrorInvalidDevice;
}

} // namespace
} // namespace warplens::cudart

using namespace warplens::cudart;

CUDART cudaError_t cudaMemcpy(void* to, const void* from, size_t size, cudaMemcpyKind kind) {
  return call([&] { return copy_bytes(to, from, size, kind, Order::now()); });
}
CUDART cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t size, cudaMemcpyKind kind, cudaStream_t stream) {
  return call([&] { return copy_bytes(to, from, size, kind, Order::in(stream)); });
}

CUDART cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                                size_t height, cudaMemcpyKind kind) {
  return call([&] { return copy_rows(to, to_pitch, from, from_pitch, width, height, kind, Order::now()); });
}
CUDART cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                                     size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return call([&] { return copy_rows(to, to_pitch, from, from_pitch, width, height, kind, Order::in(stream)); });
}

CUDART cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* parameters) {
  return call([&] { return copy_box(parameters, Order::now()); });
}
CUDART cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* parameters, cudaStream_t stream) {
  return call([&] { return copy_box(parameters, Order::in(stream)); });
}

CUDART cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, size_t size) {
  return call([&]() -> cudaError_t {
    TRY(check_devices(to_device, from_device));
    return copy_bytes(to, from, size, cudaMemcpyDeviceToDevice, Order::now());
  });
}
CUDART cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, size_t size,
                                       cudaStream_t stream) {
  return call([&]() -> cudaError_t {
    TRY(check_devices(to_device, from_device));
    return copy_bytes(to, from, size, cudaMemcpyDeviceToDevice, Order::in(stream));
  });
}
CUDART cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* parameters) {
  return call([&] { return copy_peers(parameters, Order::now()); });
}
CUDART cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* parameters, cudaStream_t stream) {
  return call([&] { return copy_peers(parameters, Order::in(stream)); });
}
