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

cudaError_t copy_rows_to(Place to, const void* from, std::size_t pitch, std::size_t width, std::size_t height,
                         cudaMemcpyKind kind, Order order) {
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
  if (width > pitch && height > 1) return cudaErrorInvalidPitchValue;
  CUDA_MEMCPY3D copy{};
  set_source(&copy, kind, from, pitch, height);
  set_destination_array(&copy, to);
  copy.WidthInBytes = width;
  copy.Height = height;
  copy.Depth = 1;
  return copy_box(copy, order);
}

cudaError_t copy_rows_from(void* to, std::size_t pitch, Place from, std::size_t width, std::size_t height,
                           cudaMemcpyKind kind, Order order) {
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
  if (width > pitch && height > 1) return cudaErrorInvalidPitchValue;
  CUDA_MEMCPY3D copy{};
  set_source_array(&copy, from);
  set_destination(&copy, kind, to, pitch, height);
  copy.WidthInBytes = width;
  copy.Height = height;
  copy.Depth = 1;
  return copy_box(copy, order);
}

cudaError_t copy_rows_between(Place to, Place from, std::size_t width, std::size_t height, Order order) {
  CUDA_MEMCPY3D copy{};
  set_source_array(&copy, from);
  set_destination_array(&copy, to);
  copy.WidthInBytes = width;
  copy.Height = height;
  copy.Depth = 1;
  return copy_box(copy, order);
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

cudaError_t copy_run_to(Place to, const void* from, std::size_t size, cudaMemcpyKind kind, Order order) {
  return for_each_rectangle(to, size, [&](Place place, std::size_t offset, std::size_t width, std::size_t height) {
    return copy_rows_to(place, static_cast<const char*>(from) + offset, width, width, height, kind, order);
  });
}
cudaError_t copy_run_from(void* to, Place from, std::size_t size, cudaMemcpyKind kind, Order order) {
  return for_each_rectangle(from, size, [&](Place place, std::size_t offset, std::size_t width, std::size_t height) {
    return copy_rows_from(static_cast<char*>(to) + offset, width, place, width, height, kind, order);
  });
}

} // namespace
} // namespace warplens::cudart

using namespace warplens::cudart;

CUDART cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t pitch, size_t width,
                                       size_t height, cudaMemcpyKind kind) {
  return call([&] { return copy_rows_to({to, x, y}, from, pitch, width, height, kind, Order::now()); });
}
CUDART cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void* from, size_t pitch,
                                            size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return call([&] { return copy_rows_to({to, x, y}, from, pitch, width, height, kind, Order::in(stream)); });
}
CUDART cudaError_t cudaMemcpy2DFromArray(void* to, size_t pitch, cudaArray_t from, size_t x, size_t y, size_t width,
                                         size_t height, cudaMemcpyKind kind) {
  return call([&] { return copy_rows_from(to, pitch, {from, x, y}, width, height, kind, Order::now()); });
}
CUDART cudaError_t cudaMemcpy2DFromArrayAsync(void* to, size_t pitch, cudaArray_t from, size_t x, size_t y,
                                              size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return call([&] { return copy_rows_from(to, pitch, {from, x, y}, width, height, kind, Order::in(stream)); });
}
CUDART cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_t from, size_t from_x,
                                            size_t from_y, size_t width, size_t height, cudaMemcpyKind) {
  return call([&] { return copy_rows_between({to, to_x, to_y}, {from, from_x, from_y}, width, height, Order::now()); });
}

CUDART cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t size,
                                     cudaMemcpyKind kind) {
  return call([&] { return copy_run_to({to, x, y}, from, size, kind, Order::now()); });
}
CUDART cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, size_t x, size_t y, const void* from, size_t size,
                                          cudaMemcpyKind kind, cudaStream_t stream) {
  return call([&] { return copy_run_to({to, x, y}, from, size, kind, Order::in(stream)); });
}
CUDART cudaError_t cudaMemcpyFromArray(void* to, cudaArray_t from, size_t x, size_t y, size_t size,
                                       cudaMemcpyKind kind) {
  return call([&] { return copy_run_from(to, {from, x, y}, size, kind, Order::now()); });
}
CUDART cudaError_t cudaMemcpyFromArrayAsync(void* to, cudaArray_t from, size_t x, size_t y, size_t size,
                                            cudaMemcpyKind kind, cudaStream_t stream) {
  return call([&] { return copy_run_from(to, {from, x, y}, size, kind, Order::in(stream)); });
}
/// Between arrays with equal rows, a run consists of rectangles on both sides; other arrays would need staging.
CUDART cudaError_t cudaMemcpyArrayToArray(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_t from, size_t from_x,
                                          size_t from_y, size_t size, cudaMemcpyKind) {
  return call([&]() -> cudaError_t {
    std::size_t to_row = 0, from_row = 0;
    TRY(row_size(to, &to_row));
    TRY(row_size(from, &from_row));
    if (to_row != from_row || to_x != from_x) return not_supported("cudaMemcpyArrayToArray with different row layouts");
    return for_each_rectangle(
        {to, to_x, to_y}, size, [&](Place place, std::size_t, std::size_t width, std::size_t height) {
          return copy_rows_between(place, {from, place.x, place.y - to_y + from_y}, width, height, Order::now());
        });
  });
}
