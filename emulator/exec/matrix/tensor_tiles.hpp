// SPDX-License-Identifier: Apache-2.0
// The factors of a multiplication with tensor memory, as the tiles of group_tiles.hpp. Included only by files that are
// compiled once per level.
#pragma once

#include "emulator/exec/matrix/group_tiles.hpp"
#include "emulator/exec/matrix/tensor_issue.hpp"

namespace warplens::exec::WARPLENS_LEVEL {

constexpr int kMostTensorDepth = 128;

/// A factor in the shared memory of a block.
class TensorFactor {
public:
  TensorFactor(const TensorDescriptor& descriptor, bool transposed, MatrixElement element, const Cta& cta)
      : descriptor_(descriptor), transposed_(transposed), element_(element), shared_(cta.shared),
        bytes_(cta.shared_bytes) {}

  /// Rows from `first` on, each of k elements. Returns false if some are not in shared memory.
  bool read(int first, int rows, int k, float* tile) const {
    return transposed_ ? read_transposed(first, rows, k, tile) : read_rows(first, rows, k, tile);
  }

private:
  bool fetch(std::uint64_t at, std::byte* to) const {
    if (at > bytes_ || bytes_ - at < kUnit) return false;
    std::memcpy(to, shared_ + at, kUnit);
    return true;
  }

  // Numbers of 6 and 4 bits are packed, 16 in a unit (9.7.16.10.4.4).
  bool read_rows(int first, int rows, int k, float* tile) const {
    alignas(64) std::byte units[kBlock * kUnit];
    const int narrow = element_ == MatrixElement::e2m1                                      ? 4
                       : element_ == MatrixElement::e2m3 || element_ == MatrixElement::e3m2 ? 6
                                                                                            : 0;
    const int in_unit = 128 / bits(element_);
    for (int row = 0; row < rows; row += kBlock)
      for (int u = 0; u < k / in_unit; ++u) {
        for (int i = 0; i < kBlock; ++i) {
          std::byte* const to = units + i * kUnit;
          const auto of_row = static_cast<std::uint32_t>(first + row + i);
          if (!fetch(descriptor_.unit(of_row, static_cast<std::uint32_t>(u)), to)) return false;
          if (narrow != 0) unpack_numbers(static_cast<unsigned>(narrow), to);
        }
        put_units(element_, units, tile + row * k + u * in_unit * kBlock);
      }
    return true;
  }

  // A unit has rows of one k. `first` and `rows` are multiples of as many.
  bool read_transposed(int first, int rows, int k, float* tile) const {
    alignas(64) std::byte units[kBlock * kUnit];
    alignas(64) float values[8 * kWarpSize];
    const int in_unit = 128 / bits(element_);
    for (int row = 0; row < rows; row += in_unit)
      for (int j = 0; j < k; j += kBlock) {
        for (int i = 0; i < kBlock; ++i) {
          const auto byte = static_cast<std::uint32_t>((first + row) * bits(element_) / 8);
          if (!fetch(descriptor_.unit_of_transposed(byte, static_cast<std::uint32_t>(j + i)), units + i * kUnit))
            return false;
        }
        widen_register(element_, units, values);
        for (int i = 0; i < kBlock; ++i)
          for (int r = 0; r < in_unit; ++r)
            tile[((row + r) / kBlock * k + j + i) * kBlock + (row + r) % kBlock] = values[i * in_unit + r];
      }
    return true;
  }

  const TensorDescriptor& descriptor_;
  bool transposed_;
  MatrixElement element_;
  const std::byte* shared_;
  std::uint64_t bytes_;
};

/// 16 rows in tensor memory: `words_of(i)` has the words of row i.
template <class WordsOf> void read_tensor_rows(MatrixElement element, int k, WordsOf words_of, float* tile) {
  alignas(64) std::byte units[kBlock * kUnit];
  const int in_unit = 128 / bits(element);
  for (int row = 0; row < kRowsOfWarp; row += kBlock)
    for (int u = 0; u < k / in_unit; ++u) {
      for (int i = 0; i < kBlock; ++i)
        std::memcpy(units + i * kUnit, words_of(row + i) + u * kUnit / static_cast<int>(sizeof(Word32)), kUnit);
      put_units(element, units, tile + row * k + u * in_unit * kBlock);
    }
}

/// Spreads what a sparse A has (k / 2 columns of 16 rows) over k columns. `metadata(i, g)`: the four bits of group g of
/// row i. `present`: a mask of rows for each column.
template <class Metadata>
void spread_rows(MatrixElement element, int k, Metadata metadata, const float* kept, float* tile, Word32* present) {
  std::memset(tile, 0, sizeof *tile * static_cast<std::size_t>(kRowsOfWarp * k));
  std::memset(present, 0, sizeof *present * static_cast<std::size_t>(k));
  const int width = bits(element), in_group = width == 32 ? 2 : width == 4 ? 8 : 4, in_kept = in_group / 2;
  for (int i = 0; i < kRowsOfWarp; ++i)
    for (int g = 0; g < k / in_group; ++g) {
      const Word32 which = metadata(i, g);
      const float* const from = kept + (i / kBlock * (k / 2) + g * in_kept) * kBlock + i % kBlock;
      for (int e = 0; e < in_kept; ++e) {
        const Word32 place = width == 32  ? (which & 3) / 2
                             : width == 4 ? (which >> (e & 2) & 3) * 2 + static_cast<Word32>(e & 1)
                                          : which >> 2 * e & 3;
        const int to = g * in_group + static_cast<int>(place);
        tile[(i / kBlock * k + to) * kBlock + i % kBlock] = from[e * kBlock];
        present[to] |= 1u << i;
      }
    }
}

} // namespace warplens::exec::WARPLENS_LEVEL
