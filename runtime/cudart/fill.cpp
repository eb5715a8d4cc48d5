// SPDX-License-Identifier: Apache-2.0
// Fills: cudaMemset in one, two and three dimensions.
#include "runtime/cudart/order.hpp"

namespace warplens::cudart {
namespace {

cudaError_t fill(Order order, void* pointer, int value, std::size_t size) {
  if (size == 0) return cudaSuccess;
  return order.run(cuMemsetD8_v2, cuMemsetD8Async, address(pointer), static_cast<unsigned char>(value), size);
}

cudaError_t fill_rows(Order order, void* pointer, std::size_t pitch, int value, std::size_t width, std::size_t height) {
  if (width == 0 || height == 0) return cudaSuccess;
  if (width > pitch && height > 1) return cudaErrorInvalidPitchValue;
  return order.run(cuMemsetD2D8_v2, cuMemsetD2D8Async, address(pointer), pitch, static_cast<unsigned char>(value),
                   width, height);
}

cudaError_t fill_box(Order order, cudaPitchedPtr pitched, int value, cudaExtent extent) {
  // Slices without rows between them are one run of rows.
  if (extent.height == pitched.ysize)
    return fill_rows(order, pitched.ptr, pitched.pitch, value, extent.width, extent.height * extent.depth);
  for (std::size_t slice = 0; slice < extent.depth; ++slice) {
    char* start = static_cast<char*>(pitched.ptr) + slice * pitched.pitch * pitched.ysize;
    TRY(fill_rows(order, start, pitched.pitch, value, extent.width, extent.height));
  }
  return cudaSuccess;
}

} // namespace
} // namespace warplens::cudart

ORDERED(cudaMemset, fill)
ORDERED(cudaMemset2D, fill_rows)
ORDERED(cudaMemset3D, fill_box)
