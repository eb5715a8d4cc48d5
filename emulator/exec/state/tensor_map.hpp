// SPDX-License-Identifier: Apache-2.0
// Tensor maps: the 128 bytes that cuTensorMapEncodeTiled and its relatives write, and that copies by tensor map read.
// Their layout is that of CUDA's driver (tests/data/hardware/tensor_maps.jsonl).
//
//   TensorMap map = TensorMap::decoded(words);  map.sizes[0]  // elements in the innermost dimension
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace warplens::exec {

struct TensorMap {
  static constexpr int kMostDimensions = 5;
  static constexpr std::size_t kBytes = 128;
  static constexpr std::int64_t kUnit = 16, kRow = 128; ///< bytes of a swizzle: the least that moves, and a row
  using Words = std::array<std::uint64_t, kBytes / 8>;

  /// As CUtensorMapDataType.
  enum class Type : std::uint8_t {
    u8,
    u16,
    u32,
    s32,
    u64,
    s64,
    f16,
    f32,
    f64,
    bf16,
    f32_ftz,
    tf32,
    tf32_ftz,
    b4x16,
    b4x16_p64,
    b6x16_p32
  };
  static constexpr int kTypes = 16, kTypesOf90 = 13; ///< all, and those that devices before sm_100 have
  static constexpr std::uint32_t kPaddedBox = 128;   ///< elements of a row of a box, if they are padded

  Type type{};
  int rank = 1;
  bool pixels = false; ///< im2col
  std::uint64_t address = 0;
  std::array<std::uint64_t, 5> sizes{1, 1, 1, 1, 1}; ///< in elements
  std::array<std::uint64_t, 4> strides{};            ///< in bytes; of the second dimension first
  std::array<std::uint32_t, 5> steps{1, 1, 1, 1, 1}; ///< element strides
  std::array<std::uint32_t, 5> box{1, 1, 1, 1, 1};   ///< of pixels only the first: channels
  std::array<int, 3> lower{}, upper{};               ///< of pixels: the corners of the bounding box
  std::uint32_t pixel_count = 1;
  int interleave = 0, swizzle = 0, promotion = 0; ///< as CUDA's enumerations: 0 none, then 16 and 32; 32, 64, 128 bytes
  /// What a swizzle of 128 bytes moves: 0: 16 bytes; since sm_100 also 1: 32 bytes, 2: 32 bytes, and the halves of 16
  /// change places in every other row, 3: 64 bytes.
  int atom = 0;
  bool fill_nan = false;

  /// Where an offset in shared memory is after swizzling: of 16 bytes, in their order before a change of halves. The
  /// number of a row of 128 bytes, modulo the parts of a row that move, is combined with that of the part.
  [[nodiscard]] std::int64_t swizzled(std::int64_t at) const { return at ^ (at / kRow * moved() & moving()); }
  /// The bytes that move together, and a mask of the bits of an offset that change: none without a swizzle.
  [[nodiscard]] std::int64_t moved() const { return atom == 0 ? kUnit : atom == 3 ? 4 * kUnit : 2 * kUnit; }
  [[nodiscard]] std::int64_t moving() const { return swizzle == 0 ? 0 : (kUnit << swizzle) - moved(); }
  /// Whether the halves of the 16 bytes at this offset change places.
  [[nodiscard]] bool halves_change(std::int64_t at) const { return atom == 2 && at / kRow % 2 != 0; }
  [[nodiscard]] int element_bits() const;
  [[nodiscard]] bool has_narrow_elements() const { return type >= Type::b4x16; }
  /// Whether shared memory has 16 bytes for each 16 elements, which are packed in global memory (5.5.1.1).
  [[nodiscard]] bool is_padded() const { return type >= Type::b4x16_p64; }
  /// Bytes in global memory of 16 bytes in shared memory.
  [[nodiscard]] std::int64_t packed_unit() const { return is_padded() ? 2 * element_bits() : kUnit; }
  /// Bits of a number of a corner.
  [[nodiscard]] int corner_bits() const { return rank <= 3 ? 16 : rank == 4 ? 8 : 5; }
  /// Bytes of all elements of a box, as the map counts them.
  [[nodiscard]] std::uint64_t box_bytes() const;
  [[nodiscard]] Words encoded() const;
  static TensorMap decoded(const Words& words);
  /// Whether a driver can have made these words.
  static bool is_valid(const Words& words) { return decoded(words).made(words); }
  /// The same, if the map was decoded from them.
  [[nodiscard]] bool made(const Words& words) const;
};

/// Fields of tensormap.replace.
enum class TensorField : std::uint8_t {
  global_address,
  rank,
  box_dim,
  global_dim,
  global_stride,
  element_stride,
  elemtype,
  interleave_layout,
  swizzle_mode,
  swizzle_atomicity,
  fill_mode
};
/// Returns false if the map cannot have such a value; `index`: of the fields of each dimension.
bool replace(TensorMap::Words& words, TensorField field, unsigned index, std::uint64_t value);

} // namespace warplens::exec
