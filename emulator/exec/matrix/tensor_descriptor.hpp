// SPDX-License-Identifier: Apache-2.0
// The descriptor of a matrix in shared memory for tcgen05 (9.7.16.4.1): where each unit of 16 bytes is.
//
//   TensorDescriptor d(bits);  if (d.fault() != nullptr) …;  d.unit(3, 0)   // offset of the first 16 bytes of row 3
//
// Swizzling permutes units by bits 7 to 9 of their offset, less the base offset.
#pragma once

#include <cstdint>

namespace warplens::exec {

class TensorDescriptor {
public:
  explicit TensorDescriptor(std::uint64_t bits);
  /// Why the descriptor is invalid; nullptr: it is valid.
  [[nodiscard]] const char* fault() const { return fault_; }
  /// K-major: the offset in shared memory of unit `along` of a row.
  [[nodiscard]] std::uint64_t unit(std::uint32_t row, std::uint32_t along) const;

private:
  [[nodiscard]] std::uint64_t swizzled(std::uint64_t at) const;

  std::uint64_t start_, leading_, stride_, base_offset_;
  std::uint32_t mode_;
  const char* fault_ = nullptr;
};

} // namespace warplens::exec
