// SPDX-License-Identifier: Apache-2.0
// Matrices in the registers of a warp, and the decoded instructions that multiply or move them.
//
//   mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {…}, {…}, {…}, {…};
//   ->  MatrixSite{m: 16, n: 8, k: 16, a: {f16, 16 x 16 in 4 registers}, …}
//
// The layout of a fragment is described bit by bit: each bit of the lane, of the register and of the place within the
// register adds a number of rows and columns. All fragments in the manual (9.7.14) have this form. The manual does not
// specify wmma's; here they are those of an H200 (tests/data/hardware/fragments.jsonl) and have this form, too.
#pragma once

#include "emulator/exec/state/matrix_element.hpp"
#include "emulator/isa/table.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace warplens::exec {

struct MemorySite;

struct Step {
  std::int8_t rows = 0, columns = 0;
};

/// One matrix: `rows` x `columns` elements.
struct Fragment {
  MatrixElement element{};
  int rows = 0, columns = 0;
  int registers = 1;
  int lane_elements = 1; ///< elements per register of a lane, from the low bits up
  std::array<Step, 5> lane{}, place{};
  std::array<Step, 3> reg{};
  std::array<std::uint32_t, 8> row{}; ///< rows of the warp's register file, by register
  struct Corner {
    std::uint8_t row, column;
  };
  std::array<Corner, 8> corner{}; ///< position of the first element of each register

  /// The position of an element: row * columns + column.
  [[nodiscard]] std::uint16_t position(int reg, int lane, int place) const;
  [[nodiscard]] int size() const { return rows * columns; }
  void find_corners();
};

/// The fragments of mma, mma.sp and wmma.mma; of a sparse A, the stored half.
Fragment factor_a(MatrixElement element, int m, int k);
Fragment factor_b(MatrixElement element, int k, int n, bool wide);
Fragment accumulator(MatrixElement element, int m, int n);
/// Swaps rows and columns.
Fragment transposed(Fragment fragment);

/// The place of four bits of metadata, which select the stored elements in a row of a sparse A.
struct SparseGroup {
  std::uint8_t lane, shift;
};

/// The scales of one factor: bytes of a register, each for some of the elements of a row of A or a column of B.
struct MatrixScales {
  std::uint32_t data = 0;           ///< row of b32
  std::uint32_t byte = 0, lane = 0; ///< rows of u16: which byte has the first scale, and which lanes (9.7.14.3)
};

/// A multiplication: D = A B + C. B is kept as its transpose, whose fragments have rows like those of A. A product with
/// more columns than rows (m8n32k16) is transposed as a whole: D' = B' A' + C'.
struct MatrixSite {
  int m = 0, n = 0, k = 0;
  Fragment a, b, c, d;
  bool saturate = false;           ///< .satfinite
  bool conjunction = false;        ///< .and.popc
  std::vector<std::uint8_t> order; ///< order of the products of an element: `block` after `block`
  std::vector<std::uint8_t> place; ///< where in this order each product is
  bool late = false;               ///< C is added to the sum of the products
  int scales = 0;                  ///< number of scales of a row: each for k / scales elements
  bool with_fraction = false;      ///< of scales: ue4m3, not ue8m0
  MatrixScales a_scales, b_scales;
  int block = 0;                   ///< number of products that are summed at once
  bool sparse = false;             ///< A has k / 2 columns
  std::vector<SparseGroup> groups; ///< of sparse: row after row
  std::uint32_t metadata = 0;      ///< of sparse: a row
  /// m8n8k4 of halves: all matrices hold four products below each other; fused multiply-adds run one after the other.
  bool chained = false;
};

/// The groups of a sparse A of `rows` rows, multiplied with k rows of B.
std::vector<SparseGroup> sparse_groups(MatrixElement element, int rows, int k, int selector);

/// wmma.load and wmma.store: the matrix has `lines` in memory, each `line_bytes` long, `stride` elements apart.
struct FragmentTransfer {
  Fragment fragment;
  bool columns_are_lines = false; ///< .col
  int lines = 0, line_bytes = 0;
  std::uint32_t stride = 0;    ///< row of u32: elements from line to line
  std::uint32_t addresses = 0; ///< row for the address of each lane's piece
  /// One of the accesses of the warp: each lane accesses one piece.
  struct Access {
    std::array<std::uint8_t, 32> line{}, byte{};
    std::uint32_t lanes = 0; ///< mask
  };
  std::vector<Access> accesses;
  std::uint8_t piece = 0; ///< size of a piece in bytes
  /// Of each register, lane and so many bytes within the register: where in the matrix they are, its lines put
  /// together.
  std::vector<std::uint16_t> places;
  std::uint8_t place_bytes = 0;
};

} // namespace warplens::exec
