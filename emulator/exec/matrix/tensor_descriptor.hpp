// SPDX-License-Identifier: Apache-2.0
// The descriptor of a matrix in shared memory for tcgen05 (9.7.16.4.1): where each unit of 16 bytes is.
//
//   TensorDescriptor d(bits);  if (d.fault() != nullptr) …;  d.unit(3, 0)   // offset of the first 16 bytes of row 3
//
// Rows of 48 bytes (K = 96) may begin near the end of a chunk of 128 bytes and go on in another one, whose address is
// then in place of the leading dimension (bit 52).
//
// Swizzling permutes units by bits 7 to 9 of their offset, less the base offset.
#pragma once

#include <cstddef>
#include <cstdint>

namespace warplens::exec {

class TensorDescriptor {
public:
  /// `continued`: rows may go on in another chunk.
  explicit TensorDescriptor(std::uint64_t bits, bool continued = false);
  /// Why the descriptor is invalid; nullptr: it is valid.
  [[nodiscard]] const char* fault() const { return fault_; }
  /// K-major: the offset in shared memory of unit `along` of a row.
  [[nodiscard]] std::uint64_t unit(std::uint32_t row, std::uint32_t along) const;
  /// M- or N-major: the offset of the unit that has a byte of the rows (a multiple of 16) of k.
  [[nodiscard]] std::uint64_t unit_of_transposed(std::uint32_t byte, std::uint32_t k) const;
  /// Swizzling of 128 bytes in chunks of 32.
  [[nodiscard]] bool by_32_bytes() const;

private:
  [[nodiscard]] std::uint64_t swizzled(std::uint64_t at) const;

  std::uint64_t start_, leading_, stride_, base_offset_;
  std::uint32_t mode_;
  bool continued_ = false;
  const char* fault_ = nullptr;
};

/// 16 numbers of 6 or 4 bits at the start of a unit become bytes (9.7.16.9.1): numbers of 4 bits are in the middle of
/// theirs.
void unpack_numbers(unsigned bits, std::byte* unit);

} // namespace warplens::exec
