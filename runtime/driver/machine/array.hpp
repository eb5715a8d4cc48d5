// CUDA arrays: texels in device memory behind a handle, for textures, surfaces and copies.
//
//   auto array = Array::create(context, {64, 32, 0, CU_AD_FORMAT_FLOAT, 1, 0}, 1);   // one level of 64 by 32 floats
//   array->rows()  ->  where its bytes lie, for copies;   array->image()  ->  the same for textures
//
// Texels lie row after row, as emulator/exec/state/texture.hpp says; real devices tile them. A mipmapped array is an
// array of several levels; a level of it is an array too, which lives as long as the memory of the whole.
#pragma once

#include "api/session/texture.hpp"
#include "runtime/driver/machine/operation.hpp"
#include "runtime/driver/machine/registry.hpp"

namespace warplens::runtime {

class Array {
public:
  /// Throws Failure: CUDA_ERROR_INVALID_VALUE for what no array can be, CUDA_ERROR_NOT_SUPPORTED, _OUT_OF_MEMORY.
  static std::shared_ptr<Array> create(Context& context, const CUDA_ARRAY3D_DESCRIPTOR& descriptor, unsigned levels);
  /// One level of it, as an array. The same each time that it is asked for.
  std::shared_ptr<Array> level(unsigned level);
  /// Gives the memory back. False: it is gone already, with its context.
  bool destroy();

  /// As it was asked for; of a level, with the level's extents.
  [[nodiscard]] const CUDA_ARRAY3D_DESCRIPTOR& descriptor() const { return descriptor_; }
  [[nodiscard]] const exec::Image& image() const { return image_; }
  [[nodiscard]] bool is_level() const { return is_level_; }
  [[nodiscard]] Context& context() const { return *context_; }

  /// Where the bytes of the first level lie, and how many there are: what a copy may touch.
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
  std::uint64_t memory_id_ = 0; ///< of the Allocation
  std::vector<std::shared_ptr<Array>> levels_;
  friend std::shared_ptr<Array> live(std::shared_ptr<Array> array);
};

/// The array behind a handle. Throws Failure CUDA_ERROR_INVALID_HANDLE; CUDA_ERROR_CONTEXT_IS_DESTROYED.
std::shared_ptr<Array> find_array(CUarray handle);
std::shared_ptr<Array> find_array(CUmipmappedArray handle);

/// When their context is destroyed.
void bury_arrays_of(const Context& context);

/// The bytes of an array that a copy names, `x` and `width` in bytes. Throws Failure: CUDA_ERROR_INVALID_HANDLE, or
/// CUDA_ERROR_INVALID_VALUE where the box reaches beyond the array.
Box box_in(CUarray array, std::uint64_t x, std::uint64_t y, std::uint64_t z, std::uint64_t width, std::uint64_t rows,
           std::uint64_t slices);

/// Type, normalisation and channels of a format; `channels` is what the descriptor says beside it. Throws Failure:
/// CUDA_ERROR_INVALID_VALUE for no format, CUDA_ERROR_NOT_SUPPORTED for compressed ones and those of several planes.
void set_format(exec::Image& image, CUarray_format format, unsigned channels);

} // namespace warplens::runtime
