// SPDX-License-Identifier: Apache-2.0
// The instruction descriptor of tcgen05.mma (9.7.16.4.2): shape and types of a product; and the descriptor of columns
// of B that are taken as 0 (9.7.16.4.3).
//
//   TensorProduct p;  const std::string why = read_instruction(site, 0x8100490, p);   // "": p.m == 128, p.n == 64, …
#pragma once

#include "emulator/exec/state/group_site.hpp"
#include "emulator/exec/state/tensor_product.hpp"

#include <string>

namespace warplens::exec {

constexpr int kLongDepth = 96; ///< K of elements of 4 bits with bit 31, on sm_103a

struct TensorProduct : MatrixProduct {
  int m = 0;
  int selector = 0;                  ///< of the metadata of a sparse A
  int scales = 0;                    ///< of a row of A, or of a column of B
  int a_scale = 0, b_scale = 0;      ///< the byte of a word that has the first scale
  bool scales_with_fraction = false; ///< .ue4m3, otherwise .ue8m0
  int most_shift = 0;                ///< of columns of B, with .ws

  /// The columns of a row of A in tensor memory.
  [[nodiscard]] std::uint32_t columns_of_a() const {
    constexpr int kBitsOfColumn = 32;
    return static_cast<std::uint32_t>((sparse ? k / 2 : k) * bits(a) / kBitsOfColumn);
  }
};

/// Why the descriptor is invalid for an instruction; empty: it is valid.
std::string read_instruction(const TensorProductSite& site, std::uint32_t bits, TensorProduct& product);

/// D in the tensor memory of a block (9.7.16.10.5): its columns are in `parts` next to each other, each with all rows.
struct TensorLayout {
  int rows = 128;         ///< of a block
  int parts = 1;          ///< of the columns, each in other lanes
  bool half_used = false; ///< of 32 lanes, 16 have a row
  /// The lane of a row of a part, from that of the address on.
  [[nodiscard]] std::uint32_t lane(int part, int row) const {
    const int lane = half_used ? row / 16 * 32 + row % 16 : part * rows + row;
    return static_cast<std::uint32_t>(lane);
  }
};
TensorLayout layout_of(const TensorProductSite& site, const TensorProduct& product);

/// The scales of rows of A or columns of B in tensor memory: of 32 of them, a word each is in a column. Where a row has
/// more scales than its word has bytes, they go on in the word `apart` columns further.
struct ScaleColumns {
  int first; ///< byte
  int apart, columns;

  static ScaleColumns of_a(const TensorProduct& p, const TensorLayout& layout) {
    return {p, p.a_scale, layout.rows, layout.rows, 1};
  }
  static ScaleColumns of_b(const TensorProduct& p, const TensorLayout& layout) {
    return {p, p.b_scale, p.n / layout.parts, p.n, layout.parts};
  }

private:
  // 9.7.16.10.7.2: words follow those of all rows, of whole 128.
  ScaleColumns(const TensorProduct& p, int first_byte, int rows, int all, int parts) : first(first_byte) {
    constexpr int kRows = 128, kRowsOfColumn = 32, kBytes = 4;
    apart = (all + kRows - 1) / kRows * (kRows / kRowsOfColumn) / parts;
    columns = (first + p.scales - 1) / kBytes * apart + (rows + kRowsOfColumn - 1) / kRowsOfColumn;
  }
};

class ColumnMask {
public:
  explicit ColumnMask(std::uint64_t bits) : bits_(bits) {}
  /// Why it is invalid; empty: it is valid.
  [[nodiscard]] std::string fault(const TensorProduct& product) const;
  [[nodiscard]] int shift() const { return static_cast<int>(bits_ >> 56 & 0x3f); }
  /// Whether column `n` of B is taken as 0.
  [[nodiscard]] bool is_zero(const TensorProduct& product, int n) const;

private:
  std::uint64_t bits_;
};

} // namespace warplens::exec
