// SPDX-License-Identifier: Apache-2.0
// CUDA arrays: texels in device memory behind a handle, for textures, surfaces and copies.
//
//   auto array = Array::create(context, {64, 32, 0, CU_AD_FORMAT_FLOAT, 1, 0}, 1);   // one level of 64 by 32 floats
//   array->rows()  ->  the location of its bytes, for copies;   array->image()  ->  the same for textures
//
// Texels are stored row by row, as emulator/exec/state/texture.hpp describes; real devices tile them. A mipmapped array
// has several levels; a level is also an array, which lives as long as the memory of the whole.
#pragma once

#include "api/session/texture.hpp"
#include "runtime/driver/machine/operation.hpp"
#include "runtime/driver/machine/registry.hpp"

namespace warplens::runtime {

class Array {
public:
  /// Throws Failure: CUDA_ERROR_INVALID_VALUE for an impossible descriptor, CUDA_ERROR_NOT_SUPPORTED, _OUT_OF_MEMORY.
  static std::shared_ptr<Array> create(Context& context, const CUDA_ARRAY3D_DESCRIPTOR& descriptor, unsigned levels);
  /// One level, as an array. Returns the same object each time.
  std::shared_ptr<Array> level(unsigned level);
  /// Releases the memory. False: it is already gone, with its context.
  bool destroy();

  /// As requested by the program; for a level, with the level's extents.
  [[nodiscard]] const CUDA_ARRAY3D_DESCRIPTOR& descriptor() const { return descriptor_; }
  [[nodiscard]] const exec::Image& image() const { return image_; }
  [[nodiscard]] bool is_level() const { return is_level_; }
  [[nodiscard]] Context& context() const { return *context_; }

  /// The location and number of the bytes of the first level: the range that a copy can access.
  struct Rows {
    Box box;
    std::uint64_t element; ///< bytes of a texel
    std::uint64_t width;   ///< bytes of a row
    std::uint64_t rows, slices;
  };
  [[nodiscard]] Rows rows() const;

private:
  Context* context_ = nullptr;
  CUDA_ARRAY3D_DESCRIPTOR descriptor_{};
  exec::Image image_;
  bool is_level_ = false;
  std::uint64_t memory_id_ = 0; ///< id of the Allocation
  std::vector<std::shared_ptr<Array>> levels_;
  friend std::shared_ptr<Array> live(std::shared_ptr<Array> array);
};

/// The array behind a handle. Throws Failure CUDA_ERROR_INVALID_HANDLE; CUDA_ERROR_CONTEXT_IS_DESTROYED.
std::shared_ptr<Array> find_array(CUarray handle);
std::shared_ptr<Array> find_array(CUmipmappedArray handle);

/// For the destruction of their context.
void bury_arrays_of(const Context& context);

/// The bytes of an array that a copy accesses, `x` and `width` in bytes. Throws Failure: CUDA_ERROR_INVALID_HANDLE, or
/// CUDA_ERROR_INVALID_VALUE if the box exceeds the array.
Box box_in(CUarray array, std::uint64_t x, std::uint64_t y, std::uint64_t z, std::uint64_t width, std::uint64_t rows,
           std::uint64_t slices);

/// Type, normalization and channels of a format; `channels` comes from the descriptor. Throws Failure:
/// CUDA_ERROR_INVALID_VALUE for an unknown format, CUDA_ERROR_NOT_SUPPORTED for compressed and planar formats.
void set_format(exec::Image& image, CUarray_format format, unsigned channels);

} // namespace warplens::runtime
