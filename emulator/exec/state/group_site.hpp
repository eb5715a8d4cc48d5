// SPDX-License-Identifier: Apache-2.0
// A multiplication by a warp group (wgmma.mma_async): D = A B + D, with 64 rows, of which each of four warps has 16.
//
//   wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {…}, %rd1, %rd2, %p1, 1, 1, 0, 0;
//   ->  GroupSite{n: 64, k: 16, a: f16, b: f16, d: f32, …}
#pragma once

#include "emulator/exec/state/matrix_site.hpp"

namespace warplens::exec {

struct MatrixProduct {
  int n = 0, k = 0; ///< of a sparse product, k counts the rows of B; of bits, words
  MatrixElement a{}, b{}, d{};
  bool sparse = false;   ///< A has k / 2 columns
  bool saturate = false; ///< .satfinite
  bool a_transposed = false, b_transposed = false;
  bool negate_a = false, negate_b = false;
};

struct GroupSite : MatrixProduct {
  bool a_in_registers = false;
  std::array<std::uint32_t, 4> a_rows{};            ///< of A in registers
  std::uint32_t a_descriptor = 0, b_descriptor = 0; ///< rows of u64
  std::vector<std::uint32_t> d_rows;
  std::uint32_t accumulate = 0;    ///< a predicate: D is added
  std::uint32_t metadata = 0;      ///< of sparse: a row
  std::vector<SparseGroup> groups; ///< of sparse: of the 16 rows of a warp, row after row
};

} // namespace warplens::exec
