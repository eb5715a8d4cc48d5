// SPDX-License-Identifier: Apache-2.0
// Copies to, from and between CUDA arrays. Offsets and widths are in bytes here.
#include "runtime/cudart/convert.hpp"
#include "runtime/cudart/order.hpp"

#include <algorithm>

namespace warplens::cudart {
namespace {

/// A position in an array: bytes from the start of a row, and the row.
struct Place {
  cudaArray_t array;
  std::size_t x, y;
};

void set_source_array(CUDA_MEMCPY3D* copy, Place place) {
  copy->srcMemoryType = CU_MEMORYTYPE_ARRAY;
  copy->srcArray = place.array;
  copy->srcXInBytes = place.x;
  copy->srcY = place.y;
}
void set_destination_array(CUDA_MEMCPY3D* copy, Place place) {
  copy->dstMemoryType = CU_MEMORYTYPE_ARRAY;
  copy->dstArray = place.array;
  copy->dstXInBytes = place.x;
  copy->dstY = place.y;
}

cudaError_t check_rows(cudaMemcpyKind kind, std::size_t pitch, std::size_t width, std::size_t height) {
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
  return width > pitch && height > 1 ? cudaErrorInvalidPitchValue : cudaSuccess;
}

cudaError_t copy_rows_to(Order order, cudaArray_t to, std::size_t x, std::size_t y, const void* from, std::size_t pitch,
                         std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  TRY(check_rows(kind, pitch, width, height));
  CUDA_MEMCPY3D copy = rectangle(width, height);
  set_source(&copy, kind, from, pitch, height);
  set_destination_array(&copy, {to, x, y});
  return copy_box(order, copy);
}

cudaError_t copy_rows_from(Order order, void* to, std::size_t pitch, cudaArray_t from, std::size_t x, std::size_t y,
                           std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  TRY(check_rows(kind, pitch, width, height));
  CUDA_MEMCPY3D copy = rectangle(width, height);
  set_source_array(&copy, {from, x, y});
  set_destination(&copy, kind, to, pitch, height);
  return copy_box(order, copy);
}

cudaError_t copy_rows_between(Order order, cudaArray_t to, std::size_t to_x, std::size_t to_y, cudaArray_t from,
                              std::size_t from_x, std::size_t from_y, std::size_t width, std::size_t height,
                              cudaMemcpyKind) {
  CUDA_MEMCPY3D copy = rectangle(width, height);
  set_source_array(&copy, {from, from_x, from_y});
  set_destination_array(&copy, {to, to_x, to_y});
  return copy_box(order, copy);
}

cudaError_t row_size(cudaArray_t array, std::size_t* size) {
  CUDA_ARRAY3D_DESCRIPTOR descriptor{};
  TRY(cuArray3DGetDescriptor_v2(&descriptor, array));
  *size = descriptor.Width * element_size(descriptor.Format, descriptor.NumChannels);
  return *size ? cudaSuccess : cudaErrorInvalidValue;
}

/// The old one-dimensional copies continue into the next row: `size` bytes from `start` are a partial row, whole rows,
/// and another partial row. Calls `rectangle(place, offset, width, height)` for each, at most three times.
template <class Rectangle> cudaError_t for_each_rectangle(Place start, std::size_t size, Rectangle&& rectangle) {
  std::size_t row = 0;
  TRY(row_size(start.array, &row));
  if (start.x >= row && size != 0) return cudaErrorInvalidValue;
  for (std::size_t done = 0; done < size;) {
    const std::size_t left = size - done;
    const bool whole = start.x == 0 && left >= row;
    const std::size_t width = std::min(row - start.x, left), height = whole ? left / row : 1;
    TRY(rectangle(start, done, width, height));
    done += width * height;
    start = {start.array, 0, start.y + height};
  }
  return cudaSuccess;
}

cudaError_t copy_run_to(Order order, cudaArray_t to, std::size_t x, std::size_t y, const void* from, std::size_t size,
                        cudaMemcpyKind kind) {
  return for_each_rectangle({to, x, y}, size,
                            [&](Place place, std::size_t offset, std::size_t width, std::size_t height) {
                              return copy_rows_to(order, to, place.x, place.y, static_cast<const char*>(from) + offset,
                                                  width, width, height, kind);
                            });
}

cudaError_t copy_run_from(Order order, void* to, cudaArray_t from, std::size_t x, std::size_t y, std::size_t size,
                          cudaMemcpyKind kind) {
  return for_each_rectangle({from, x, y}, size,
                            [&](Place place, std::size_t offset, std::size_t width, std::size_t height) {
                              return copy_rows_from(order, static_cast<char*>(to) + offset, width, from, place.x,
                                                    place.y, width, height, kind);
                            });
}

/// Between arrays with equal rows, a run consists of rectangles on both sides; other arrays would need staging.
cudaError_t copy_run_between(Order order, cudaArray_t to, std::size_t to_x, std::size_t to_y, cudaArray_t from,
                             std::size_t from_x, std::size_t from_y, std::size_t size, cudaMemcpyKind kind) {
  std::size_t to_row = 0, from_row = 0;
  TRY(row_size(to, &to_row));
  TRY(row_size(from, &from_row));
  if (to_row != from_row || to_x != from_x) return not_supported("cudaMemcpyArrayToArray with different row layouts");
  return for_each_rectangle({to, to_x, to_y}, size,
                            [&](Place place, std::size_t, std::size_t width, std::size_t height) {
                              return copy_rows_between(order, to, place.x, place.y, from, place.x,
                                                       place.y - to_y + from_y, width, height, kind);
                            });
}

} // namespace
} // namespace warplens::cudart

ORDERED(cudaMemcpy2DToArray, copy_rows_to)
ORDERED(cudaMemcpy2DFromArray, copy_rows_from)
ORDERED(cudaMemcpyToArray, copy_run_to)
ORDERED(cudaMemcpyFromArray, copy_run_from)
EXPORT(cudaMemcpy2DArrayToArray, Ordered<copy_rows_between>::now)
EXPORT(cudaMemcpyArrayToArray, Ordered<copy_run_between>::now)
PER_THREAD(cudaMemcpy2DArrayToArray, _ptds)
PER_THREAD(cudaMemcpyArrayToArray, _ptds)
