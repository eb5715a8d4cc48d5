// SPDX-License-Identifier: Apache-2.0
// Fills: cudaMemset in one, two and three dimensions.
#include "runtime/cudart/order.hpp"

namespace warplens::cudart {
namespace {

cudaError_t fill(void* pointer, int value, std::size_t size, Order order) {
  if (size == 0) return cudaSuccess;
  const auto byte = static_cast<unsigned char>(value);
  return order.run([&] { return cuMemsetD8_v2(address(pointer), byte, size); },
                   [&](CUstream stream) { return cuMemsetD8Async(address(pointer), byte, size, stream); });
}

cudaError_t fill_rows(void* pointer, std::size_t pitch, int value, std::size_t width, std::size_t height, Order order) {
  if (width == 0 || height == 0) return cudaSuccess;
  if (width > pitch && height > 1) return cudaErrorInvalidPitchValue;
  const auto byte = static_cast<unsigned char>(value);
  return order.run(
      [&] { return cuMemsetD2D8_v2(address(pointer), pitch, byte, width, height); },
      [&](CUstream stream) { return cuMemsetD2D8Async(address(pointer), pitch, byte, width, height, stream); });
}

cudaError_t fill_box(cudaPitchedPtr pitched, int value, cudaExtent extent, Order order) {
  // Slices without rows between them are one run of rows.
  if (extent.height == pitched.ysize)
    return fill_rows(pitched.ptr, pitched.pitch, value, extent.width, extent.height * extent.depth, order);
  for (std::size_t slice = 0; slice < extent.depth; ++slice) {
    char* start = static_cast<char*>(pitched.ptr) + slice * pitched.pitch * pitched.ysize;
    TRY(fill_rows(start, pitched.pitch, value, extent.width, extent.height, order));
  }
  return cudaSuccess;
}

} // namespace
} // namespace warplens::cudart

using namespace warplens::cudart;

CUDART cudaError_t cudaMemset(void* pointer, int value, size_t size) {
  return call([&] { return fill(pointer, value, size, Order::now()); });
}
CUDART cudaError_t cudaMemsetAsync(void* pointer, int value, size_t size, cudaStream_t stream) {
  return call([&] { return fill(pointer, value, size, Order::in(stream)); });
}
CUDART cudaError_t cudaMemset2D(void* pointer, size_t pitch, int value, size_t width, size_t height) {
  return call([&] { return fill_rows(pointer, pitch, value, width, height, Order::now()); });
}
CUDART cudaError_t cudaMemset2DAsync(void* pointer, size_t pitch, int value, size_t width, size_t height,
                                     cudaStream_t stream) {
  return call([&] { return fill_rows(pointer, pitch, value, width, height, Order::in(stream)); });
}
CUDART cudaError_t cudaMemset3D(cudaPitchedPtr pitched, int value, cudaExtent extent) {
  return call([&] { return fill_box(pitched, value, extent, Order::now()); });
}
CUDART cudaError_t cudaMemset3DAsync(cudaPitchedPtr pitched, int value, cudaExtent extent, cudaStream_t stream) {
  return call([&] { return fill_box(pitched, value, extent, Order::in(stream)); });
}
