// SPDX-License-Identifier: Apache-2.0
// The factors of a warp group's product, as tiles for arithmetic. Included only by files that are compiled once per
// level.
//
//   rows 8 i to 8 i + 7 of A (columns of B)  ->  tile[(i * k + j) * 8 …]: what they have at k = j
//
// In shared memory, a descriptor (manual 9.7.15.5.1, "matrix descriptor format") says where each unit of 16 bytes is.
// Swizzling permutes units by bits 7 to 9 of their address, less the base offset.
#pragma once

#include "emulator/exec/block/cta.hpp"
#include "emulator/exec/matrix/matrix_tiles.hpp"
#include "emulator/exec/state/group_site.hpp"

namespace warplens::exec::WARPLENS_LEVEL {

constexpr int kBlock = 8; ///< rows or columns
constexpr int kUnit = 16; ///< bytes
constexpr int kRowsOfWarp = 16;
constexpr int kMostColumns = 256, kMostGroupDepth = 64;

// As many lanes as the processor adds at once.
#if defined(__AVX512F__)
constexpr int kWide = 16;
#else
constexpr int kWide = 8;
#endif
using Floats = float __attribute__((vector_size(4 * kWide)));

// Four columns of B, once for each row of the lanes. (A shuffle would go through memory; without a mask, GCC 12 warns.)
inline Floats four_columns(const float* b) {
#if defined(__AVX512F__)
  return reinterpret_cast<Floats>(_mm512_maskz_broadcast_f32x4(0xffff, _mm_loadu_ps(b)));
#elif defined(__AVX__)
  return reinterpret_cast<Floats>(_mm256_broadcast_ps(reinterpret_cast<const __m128*>(b)));
#else
  return Floats{b[0], b[1], b[2], b[3], b[0], b[1], b[2], b[3]};
#endif
}

class SharedFactor {
public:
  SharedFactor(std::uint64_t descriptor, bool transposed, const Cta& cta)
      : shared_(cta.shared), bytes_(cta.shared_bytes), transposed_(transposed) {
    const auto field = [&](int bit) { return (descriptor >> bit & 0x3fff) << 4; };
    start_ = field(0), leading_ = field(16), stride_ = field(32);
    base_offset_ = (descriptor >> 49 & 7) * kUnit;
    const std::uint64_t mode = descriptor >> 62;
    span_ = mode == 0 ? 0 : 256u >> mode;
  }

  /// 16 bytes; nullptr: they are not in the block's shared memory. Not transposed: of a row, from byte 16 `along` on.
  /// Transposed: of k = `along`, from `row` on, a multiple of 8.
  [[nodiscard]] const std::byte* unit(unsigned row, unsigned along) const {
    const unsigned i = (transposed_ ? along : row) % kBlock;
    const std::uint64_t at =
        moved(first_of_eight(row - (transposed_ ? 0 : i), transposed_ ? along / kBlock : along) + i * pitch());
    return at <= bytes_ && bytes_ - at >= kUnit ? shared_ + at : nullptr;
  }
  /// Those of eight rows from `row` on, or of k from 8 `along` on if transposed. Returns false if some are not in the
  /// block's shared memory. `narrow`: they are read next 16 bytes at a time; a wider load would wait for narrow stores.
  bool read_eight(unsigned row, unsigned along, bool narrow, std::byte* to) const {
    if (bytes_ < kUnit) return false;
    const std::uint64_t first = first_of_eight(row, along), last = bytes_ - kUnit;
    bool inside = true;
    const auto next = [&](unsigned i) {
      const std::uint64_t at = moved(first + i * pitch());
      inside = inside && at <= last;
      return load<Four>(shared_ + std::min(at, last));
    };
    const auto two = [&](unsigned i) __attribute__((always_inline)) {
      return __builtin_shufflevector(next(i), next(i + 1), 0, 1, 2, 3, 4, 5, 6, 7);
    };
    if (narrow)
      for (unsigned i = 0; i < kBlock; ++i) store(to + i * kUnit, next(i));
    else
      for (unsigned i = 0; i < kBlock; i += 4)
        store(to + i * kUnit,
              __builtin_shufflevector(two(i), two(i + 2), 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    return inside;
  }
  [[nodiscard]] bool transposed() const { return transposed_; }

private:
  // Where the first of eight consecutive units is, before swizzling; the others follow at the pitch.
  [[nodiscard]] std::uint64_t first_of_eight(unsigned row, unsigned along) const {
    if (!transposed_) return start_ + row / kBlock * stride_ + along * (span_ == 0 ? leading_ : kUnit);
    if (span_ == 0) return start_ + row / kBlock * stride_ + along * leading_;
    return start_ + row % (span_ / 2) * 2 + row / (span_ / 2) * leading_ + along * stride_;
  }
  [[nodiscard]] std::uint64_t pitch() const { return span_ == 0 ? kUnit : span_; }
  [[nodiscard]] std::uint64_t moved(std::uint64_t at) const {
    return span_ == 0 ? at : at ^ (((at >> 3) - base_offset_) & (span_ - kUnit));
  }

  const std::byte* shared_;
  std::uint64_t bytes_, start_, leading_, stride_, base_offset_, span_;
  bool transposed_;
};

// 16 bytes of eight rows, widened, to the place of the first of their elements.
inline void put_units(MatrixElement element, const void* units, float* to) {
  alignas(64) float values[8 * kWarpSize];
  widen_register(element, units, values);
  const int in_row = 128 / bits(element);
  for (int c = 0; c < in_row; c += 4) columns_of(values + c, in_row, to + c * kBlock, kBlock);
}

/// `rows` rows from `first` on, of `k` elements each. Returns false if some are not in shared memory.
inline bool read_shared(const SharedFactor& factor, MatrixElement element, int first, int rows, int k, float* tile) {
  alignas(64) std::byte units[kBlock * kUnit];
  const int along = factor.transposed() ? k / kBlock : k * bits(element) / 128, elements = k / along;
  for (int row = 0; row < rows; row += kBlock)
    for (int u = 0; u < along; ++u) {
      const bool narrow = element == MatrixElement::f16; // widen_halves()
      if (!factor.read_eight(static_cast<unsigned>(first + row), static_cast<unsigned>(u), narrow, units)) return false;
      float* const to = tile + (row * k + u * elements * kBlock);
      if (factor.transposed())
        widen_register(element, units, to);
      else
        put_units(element, units, to);
    }
  return true;
}

/// A of one warp in registers: units of rows 0 to 7, of rows 8 to 15, then the next units.
inline void read_registers(const GroupSite& s, int k, Warp* warp, float* tile) {
  const int elements = 128 / bits(s.a);
  for (int r = 0; r < 4; ++r)
    put_units(s.a, row<std::byte>(warp, s.a_rows[static_cast<std::size_t>(r)]),
              tile + (r % 2 * k + r / 2 * elements) * kBlock);
}

/// Spreads what a sparse A of one warp has (k / 2 columns) over k columns. `present`: a mask of rows for each.
inline void spread(const GroupSite& s, Warp* warp, const float* kept, float* tile, Word32* present) {
  std::memset(tile, 0, sizeof *tile * static_cast<std::size_t>(kRowsOfWarp * s.k));
  std::memset(present, 0, sizeof *present * static_cast<std::size_t>(s.k));
  const Word32* const metadata = row<Word32>(warp, s.metadata);
  const bool pairs = bits(s.a) == 32; // of two elements one, else of four two
  const int in_group = pairs ? 2 : 4, in_kept = in_group / 2;
  const SparseGroup* group = s.groups.data();
  for (int i = 0; i < kRowsOfWarp; ++i)
    for (int first = 0; first < s.k; first += in_group, ++group) {
      const Word32 which = metadata[group->lane] >> group->shift;
      const float* const from = kept + (i / kBlock * (s.k / 2) + first / 2) * kBlock + i % kBlock;
      for (int e = 0; e < in_kept; ++e) {
        const int to = first + static_cast<int>(pairs ? (which & 3) / 2 : which >> 2 * e & 3);
        tile[(i / kBlock * s.k + to) * kBlock + i % kBlock] = from[e * kBlock];
        present[to] |= 1u << i;
      }
    }
}

} // namespace warplens::exec::WARPLENS_LEVEL
