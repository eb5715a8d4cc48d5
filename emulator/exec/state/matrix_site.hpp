// Matrices that are spread over the registers of a warp, and the instructions that multiply or move them, as decoded.
//
//   mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {…}, {…}, {…}, {…};
//   ->  MatrixSite{m: 16, n: 8, k: 16, a: {f16, 16 x 16 in 4 registers}, …}
//
// Where a fragment has its elements is said bit by bit: each bit of the lane, of the register and of the place within
// the register adds so many rows and columns. All fragments of the manual (9.7.14) are of this kind, and so are those
// of wmma, which it leaves open: they are an H200's (tests/data/hardware/fragments.jsonl).
#pragma once

#include "emulator/isa/table.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace warplens::exec {

struct MemorySite;

/// What an element is: in a register, and to the arithmetic.
enum class MatrixElement : std::uint8_t {
  f16,
  bf16,
  tf32,
  f32,
  f64,
  e4m3,
  e5m2,
  e3m2,
  e2m3,
  e2m1,
  s8,
  u8,
  s4,
  u4,
  b1,
  s32
};
int bits(MatrixElement);

struct Step {
  std::int8_t rows = 0, columns = 0;
};

/// One matrix: `rows` x `columns` elements.
struct Fragment {
  MatrixElement element{};
  int rows = 0, columns = 0;
  int registers = 1;
  int lane_elements = 1; ///< in a register of a lane, from the low bits up
  std::array<Step, 5> lane{}, place{};
  std::array<Step, 3> reg{};
  std::array<std::uint32_t, 8> row{}; ///< of the warp's register file, by register
  struct Corner {
    std::uint8_t row, column;
  };
  std::array<Corner, 8> corner{}; ///< of each register: where its first element is

  /// Where an element is: row * columns + column.
  [[nodiscard]] std::uint16_t position(int reg, int lane, int place) const;
  /// The other way round: of each element of the matrix, by row * columns + column, where it is:
  /// (register * 32 + lane) * lane_elements + place.
  [[nodiscard]] std::vector<std::uint16_t> places() const;
  [[nodiscard]] int size() const { return rows * columns; }
  void find_corners();
};

/// The fragments of mma, mma.sp and wmma.mma; of a sparse A the half that is there.
Fragment factor_a(MatrixElement element, int m, int k);
Fragment factor_b(MatrixElement element, int k, int n, bool wide);
Fragment accumulator(MatrixElement element, int m, int n);
/// Rows for columns.
Fragment transposed(Fragment fragment);

/// Where four bits of metadata lie that say which elements of a row of a sparse A are there.
struct SparseGroup {
  std::uint8_t lane, shift;
};

/// A multiplication: D = A B + C. B is kept as its transpose, whose fragments have rows as those of A. What has more
/// columns than rows (m8n32k16) is the transpose of all: D' = B' A' + C'.
struct MatrixSite {
  int m = 0, n = 0, k = 0;
  Fragment a, b, c, d;
  bool saturate = false;           ///< .satfinite
  bool conjunction = false;        ///< .and.popc
  std::vector<std::uint8_t> order; ///< of the products of an element: `block` after `block` of them
  int block = 0;                   ///< products that are summed at once
  bool sparse = false;             ///< A has k / 2 columns
  std::vector<SparseGroup> groups; ///< of sparse: row after row
  std::uint32_t metadata = 0;      ///< of sparse: a row
  /// m8n8k4 of halves: four products below each other in all matrices, of fused multiply-adds, one after the other.
  bool chained = false;
  std::vector<std::uint16_t> a_places, b_places, c_places, d_places; ///< of chained, where B is as it is
};

/// The groups of a sparse A of `rows` rows, multiplied with k rows of B.
std::vector<SparseGroup> sparse_groups(MatrixElement element, int rows, int k, int selector);

/// wmma.load and wmma.store: `lines` of the matrix lie in memory, each `line_bytes` long, `stride` elements apart.
struct FragmentTransfer {
  Fragment fragment;
  bool columns_are_lines = false; ///< .col
  int lines = 0, line_bytes = 0;
  std::uint32_t stride = 0;    ///< row of u32: elements from line to line
  std::uint32_t addresses = 0; ///< a row of its own, for the address of each lane's piece
  /// What a warp accesses, one after the other: each lane a piece of so many bytes.
  struct Access {
    std::array<std::uint8_t, 32> line{}, byte{};
    std::uint32_t lanes = 0; ///< mask
  };
  std::vector<Access> accesses;
  std::uint8_t piece = 0; ///< bytes
  /// Of each register, lane and so many bytes within the register: where in the matrix they are, its lines put
  /// together.
  std::vector<std::uint16_t> places;
  std::uint8_t place_bytes = 0;
};

} // namespace warplens::exec
