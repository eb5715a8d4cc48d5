// SPDX-License-Identifier: Apache-2.0
// What a multiplication of matrices computes, by its spelling.
//
//   matrix_work("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")  ->  {2048, "f16"}
#pragma once

#include <cstdint>
#include <string_view>

namespace warplens::isa {

struct MatrixWork {
  std::uint64_t multiply_adds = 0; ///< of a warp; 0: no multiplication of matrices
  std::string_view type;           ///< of A
};
/// A sparse multiplication counts the elements that are kept; a warp of a warp group counts its own rows.
MatrixWork matrix_work(std::string_view spelling);

} // namespace warplens::isa
