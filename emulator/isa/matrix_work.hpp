// SPDX-License-Identifier: Apache-2.0
// What a multiplication of matrices computes, by its spelling.
//
//   matrix_work("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")  ->  {2048, "f16", false}
#pragma once

#include <cstdint>
#include <string_view>

namespace warplens::isa {

struct MatrixWork {
  std::uint64_t multiply_adds = 0; ///< of a warp; 0: no multiplication of matrices
  std::string_view type;           ///< of A
  bool half_sums = false;          ///< D is of half precision
};
/// The rate of devices that a type of A is under, as [peak_operations] calls it without "matrix_": "half", "fp8".
/// Empty: none.
std::string_view matrix_rate(std::string_view type, bool half_sums);
/// A sparse multiplication counts the elements that are kept; a warp of a warp group counts its own rows.
MatrixWork matrix_work(std::string_view spelling);

} // namespace warplens::isa
