// SPDX-License-Identifier: Apache-2.0
// tcgen05.mma (9.7.16.10): what tensor_products.cpp and tensor_scaled.cpp of a level share.
#pragma once

#include "emulator/exec/matrix/group_products.hpp"
#include "emulator/exec/matrix/tensor_tiles.hpp"

namespace warplens::exec::WARPLENS_LEVEL {

const Op* multiply_tensors(const Op*, Warp*);

/// A multiplication that a lane issues.
struct Issuer {
  const Op* op;
  Warp* warp;
  int lane;
};
/// B. False: the kernel has stopped.
bool read_tensor_b(const Issuer& by, const TensorIssue& t, float* tile);
/// 16 rows of A of a block from `first` on, as the lanes of a part of the columns of D have them. Not sparse: `present`
/// is left as it is.
bool read_tensor_a(const Issuer& by, const TensorIssue& t, int block, int part, int first, float* tile,
                   Word32* present);

/// With .block_scale.
bool multiply_scaled_tensors(const Issuer& by, const TensorIssue& t);

/// 16 rows of a part of D.
class TensorRows {
public:
  TensorRows(const TensorIssue& t, int block, int part, int first) {
    TensorMemory& memory = *t.blocks[block]->tensor_memory;
    for (int i = 0; i < kRowsOfWarp; ++i) {
      const std::uint32_t lane = t.d.lane + t.layout.lane(part, first + i);
      words_[i] = memory.lane(lane) + t.d.column;
      written_[i] = t.writes(block, lane);
    }
  }
  [[nodiscard]] Word32 word(int i, int column) const { return words_[i][column]; }
  [[nodiscard]] Eight eight(int i, int column) const { return load<Eight>(words_[i] + column); }
  void set(int i, int column, Word32 word) const {
    if (written_[i]) words_[i][column] = word;
  }
  void set_eight(int i, int column, Eight words) const {
    if (written_[i]) store(words_[i] + column, words);
  }

private:
  Word32* words_[kRowsOfWarp];
  bool written_[kRowsOfWarp];
};

/// Accumulators of the rows, eight columns at a time, for add_products().
template <bool halves> struct InTensorMemory {
  TensorRows rows;
  bool accumulate;
  int first; ///< block of columns
  float factor;

  void read(int block, Sums& c) const {
    for (int odd = 0; odd < 2; ++odd)
      for (int half = 0; half < 2; ++half) c.at[odd][half] = c.room[odd] + half * kWarpSize;
    if (!accumulate) return void(std::memset(c.room, 0, sizeof c.room));
    for (int i = 0; i < kRowsOfWarp; ++i) {
      const EightFloats d = numbers(rows.eight(i, (block - first) * kBlock)) * factor;
      store(c.room[0] + 4 * i, __builtin_shufflevector(d, d, 0, 2, 4, 6));
      store(c.room[1] + 4 * i, __builtin_shufflevector(d, d, 1, 3, 5, 7));
    }
  }
  void write(int block, const float (*d)[kLanes]) const {
    using FourFloats = float __attribute__((vector_size(16)));
    for (int i = 0; i < kRowsOfWarp; ++i) {
      const auto even = load<FourFloats>(d[0] + 4 * i), odd = load<FourFloats>(d[1] + 4 * i);
      rows.set_eight(i, (block - first) * kBlock, words(__builtin_shufflevector(even, odd, 0, 4, 1, 5, 2, 6, 3, 7)));
    }
  }

private:
  using EightHalves = std::array<std::uint16_t, kBlock>;
  static EightHalves lower_halves(Eight words) {
    EightHalves lower;
#if defined(__AVX2__)
    const auto all = reinterpret_cast<__m256i>(words & 0xffffu);
    store(lower.data(), _mm_packus_epi32(_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1)));
#else
    for (int i = 0; i < kBlock; ++i) lower[static_cast<std::size_t>(i)] = static_cast<std::uint16_t>(words[i]);
#endif
    return lower;
  }
  // A half is in the lower half of its word.
  static EightFloats numbers(Eight words) {
    if constexpr (!halves) return reinterpret_cast<EightFloats>(words);
    alignas(32) float values[kBlock];
    widen_halves(lower_halves(words).data(), kBlock, values);
    return load<EightFloats>(values);
  }
  static Eight words(EightFloats d) {
    if constexpr (!halves) return reinterpret_cast<Eight>(d);
    alignas(32) float values[kBlock];
    std::uint16_t rounded[kBlock];
    store(values, d);
    narrow_to_halves(values, kBlock, rounded);
#if defined(__AVX2__)
    const auto all = reinterpret_cast<Eight>(_mm256_cvtepu16_epi32(load<__m128i>(rounded)));
#else
    Eight all{};
    for (int i = 0; i < kBlock; ++i) all[i] = rounded[i];
#endif
    return (all & 0x7fffu) == 0 ? Eight{} : all;
  }
};

} // namespace warplens::exec::WARPLENS_LEVEL
