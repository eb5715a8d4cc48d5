// SPDX-License-Identifier: Apache-2.0
// Copies between pointers: one, two and three dimensions, peers. Copies of arrays are in array_copy.cpp.
#include "runtime/cudart/convert.hpp"
#include "runtime/cudart/order.hpp"

namespace warplens::cudart {

cudaError_t copy_bytes(Order order, void* to, const void* from, std::size_t size, cudaMemcpyKind kind) {
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
  if (size == 0) return cudaSuccess;
  switch (kind) {
  case cudaMemcpyHostToDevice: return order.run(cuMemcpyHtoD_v2, cuMemcpyHtoDAsync_v2, address(to), from, size);
  case cudaMemcpyDeviceToHost: return order.run(cuMemcpyDtoH_v2, cuMemcpyDtoHAsync_v2, to, address(from), size);
  case cudaMemcpyDeviceToDevice:
    return order.run(cuMemcpyDtoD_v2, cuMemcpyDtoDAsync_v2, address(to), address(from), size);
  default: return order.run(cuMemcpy, cuMemcpyAsync, address(to), address(from), size);
  }
}

cudaError_t copy_box(Order order, const CUDA_MEMCPY3D& copy) {
  if (copy.WidthInBytes == 0 || copy.Height == 0 || copy.Depth == 0) return cudaSuccess;
  return order.run(cuMemcpy3D_v2, cuMemcpy3DAsync_v2, &copy);
}

namespace {

cudaError_t copy_rows(Order order, void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                      std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
  if (width > to_pitch || width > from_pitch) return cudaErrorInvalidPitchValue;
  CUDA_MEMCPY3D copy = rectangle(width, height);
  set_source(&copy, kind, from, from_pitch, height);
  set_destination(&copy, kind, to, to_pitch, height);
  return copy_box(order, copy);
}

cudaError_t copy_volume(Order order, const cudaMemcpy3DParms* parameters) {
  if (!parameters) return cudaErrorInvalidValue;
  CUDA_MEMCPY3D copy{};
  TRY(driver_copy(*parameters, &copy));
  return copy_box(order, copy);
}

/// There is one device: a copy between peers is a copy within it.
cudaError_t copy_bytes_of_peers(Order order, void* to, int to_device, const void* from, int from_device,
                                std::size_t size) {
  TRY(check_device(to_device));
  TRY(check_device(from_device));
  return copy_bytes(order, to, from, size, cudaMemcpyDeviceToDevice);
}
cudaError_t copy_volume_of_peers(Order order, const cudaMemcpy3DPeerParms* p) {
  if (!p) return cudaErrorInvalidValue;
  const cudaMemcpy3DParms parameters{p->srcArray, p->srcPos, p->srcPtr, p->dstArray,
                                     p->dstPos,   p->dstPtr, p->extent, cudaMemcpyDefault};
  return copy_volume(order, &parameters);
}

} // namespace
} // namespace warplens::cudart

ORDERED(cudaMemcpy, copy_bytes)
ORDERED(cudaMemcpy2D, copy_rows)
ORDERED(cudaMemcpy3D, copy_volume)
ORDERED(cudaMemcpy3DPeer, copy_volume_of_peers)
EXPORT(cudaMemcpyPeer, Ordered<copy_bytes_of_peers>::now)
EXPORT(cudaMemcpyPeerAsync, Ordered<copy_bytes_of_peers>::in_stream)
