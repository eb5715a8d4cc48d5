// SPDX-License-Identifier: Apache-2.0
// Matrices of a warp as dense tiles for arithmetic: fragments are read into them and written from them. Included only
// by files that are compiled once per level.
//
//   A of m16n8k16 in 4 registers per lane  ->  a[k * 16 + i]: a column of all rows is a vector
//   B, as its transpose                    ->  b[k * 8 + j]
//   C and D                                ->  c[j * 16 + i]
//
// In every fragment, a register has eight rows, each in four lanes: 16 bytes with consecutive elements of the row. Only
// the accumulators' words are further apart, by two columns.
#pragma once

#include "emulator/exec/state/matrix_site.hpp"
#include "emulator/exec/state/warp.hpp"
#include "emulator/isa/semantics/convert_packed.hpp"

#include <cstring>
#if defined(__F16C__)
#include <immintrin.h>
#endif

namespace warplens::exec::WARPLENS_LEVEL {

using Word32 = std::uint32_t;

constexpr int kMostFactor = 2048; ///< elements: 16 x 128 of 4 bits; 32 x 16 of 16
constexpr int kMostSum = 256;
constexpr int kMostDepth = 128; ///< products of an element

// ---- vectors in memory, at any address. (Copied by memcpy they would go through memory in halves.)

template <class Vector> struct InMemory { using Type [[gnu::aligned(1), gnu::may_alias]] = Vector; };
template <class Vector> Vector load(const void* from) {
  return *static_cast<const typename InMemory<Vector>::Type*>(from);
}
template <class Vector> void store(void* to, Vector v) { *static_cast<typename InMemory<Vector>::Type*>(to) = v; }

// ---- eight rows of four words, and four columns of eight

using Eight = Word32 __attribute__((vector_size(32)));
using EightFloats = float __attribute__((vector_size(32)));
using Four = Word32 __attribute__((vector_size(16)));

// Of the upper and of the lower half, which are 4 x 4: the transpose.
struct FourColumns {
  Eight a, b, c, d;
  [[nodiscard]] FourColumns transposed() const {
    const Eight e = __builtin_shufflevector(a, b, 0, 8, 1, 9, 4, 12, 5, 13);
    const Eight f = __builtin_shufflevector(c, d, 0, 8, 1, 9, 4, 12, 5, 13);
    const Eight g = __builtin_shufflevector(a, b, 2, 10, 3, 11, 6, 14, 7, 15);
    const Eight h = __builtin_shufflevector(c, d, 2, 10, 3, 11, 6, 14, 7, 15);
    return {__builtin_shufflevector(e, f, 0, 1, 8, 9, 4, 5, 12, 13),
            __builtin_shufflevector(e, f, 2, 3, 10, 11, 6, 7, 14, 15),
            __builtin_shufflevector(g, h, 0, 1, 8, 9, 4, 5, 12, 13),
            __builtin_shufflevector(g, h, 2, 3, 10, 11, 6, 7, 14, 15)};
  }
};
// The columns of eight rows that are `stride` words apart.
inline FourColumns four_columns_of(const void* rows, int stride) {
  const auto* const from = static_cast<const Word32*>(rows);
  const auto two = [&](int i) {
    return __builtin_shufflevector(load<Four>(from + i * stride), load<Four>(from + (i + 4) * stride), 0, 1, 2, 3, 4, 5,
                                   6, 7);
  };
  return FourColumns{two(0), two(1), two(2), two(3)}.transposed();
}
// The same, as columns that are `pitch` words apart, and back.
inline void columns_of(const void* rows, int stride, void* columns, int pitch) {
  auto* const to = static_cast<Word32*>(columns);
  const FourColumns v = four_columns_of(rows, stride);
  store(to, v.a);
  store(to + pitch, v.b);
  store(to + 2 * pitch, v.c);
  store(to + 3 * pitch, v.d);
}
inline void rows_of(const void* columns, int pitch, void* rows, int stride) {
  const auto* const from = static_cast<const Word32*>(columns);
  auto* const to = static_cast<Word32*>(rows);
  const auto column = [&](int i) { return load<Eight>(from + i * pitch); };
  const FourColumns v = FourColumns{column(0), column(1), column(2), column(3)}.transposed();
  const auto put = [&](int i, Eight two) {
    store(to + i * stride, __builtin_shufflevector(two, two, 0, 1, 2, 3));
    store(to + (i + 4) * stride, __builtin_shufflevector(two, two, 4, 5, 6, 7));
  };
  put(0, v.a);
  put(1, v.b);
  put(2, v.c);
  put(3, v.d);
}

// ---- elements in single precision, which represents all of them exactly

inline void widen_halves(const std::uint16_t* halves, int count, float* values) {
#if defined(__F16C__)
  for (int i = 0; i < count; i += 8)
    _mm256_storeu_ps(values + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(halves + i))));
#else
  for (int i = 0; i < count; ++i) values[i] = isa::WARPLENS_LEVEL::widened_value<isa::Type::f16>(halves[i]);
#endif
}
// To the nearest.
inline void narrow_to_halves(const float* values, int count, std::uint16_t* halves) {
#if defined(__F16C__)
  for (int i = 0; i < count; i += 8)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(halves + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(values + i), _MM_FROUND_TO_NEAREST_INT));
#else
  using isa::WARPLENS_LEVEL::narrowed;
  using isa::WARPLENS_LEVEL::Rounding;
  for (int i = 0; i < count; ++i)
    halves[i] = static_cast<std::uint16_t>(narrowed<isa::Type::f16, Rounding::nearest>(values[i]));
#endif
}

#if defined(__AVX512F__)
// Of 32 words, each element of 4 bits: e2m1, from a table.
inline void widen_fours(const void* words, float* values) {
  const __m512 numbers = _mm512_setr_ps(0.0f, 0.5f, 1.0f, 1.5f, 2.0f, 3.0f, 4.0f, 6.0f, -0.0f, -0.5f, -1.0f, -1.5f,
                                        -2.0f, -3.0f, -4.0f, -6.0f);
  const __m512i places = _mm512_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28, 0, 4, 8, 12, 16, 20, 24, 28),
                which = _mm512_setr_epi32(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1);
  for (int i = 0; i < kWarpSize; i += 2) {
    const auto two = _mm512_zextsi128_si512(_mm_loadl_epi64(
        reinterpret_cast<const __m128i*>(static_cast<const std::uint8_t*>(words) + i * sizeof(Word32))));
    const __m512i elements =
        _mm512_maskz_srlv_epi32(0xffff, _mm512_maskz_permutexvar_epi32(0xffff, which, two), places);
    _mm512_storeu_ps(values + i * 8,
                     _mm512_maskz_permutexvar_ps(0xffff, elements, numbers)); // of an index, the low 4 bits count
  }
}
// Of 128 bytes. As the upper bits of a single, the number is scaled by 2^-120.
inline void widen_e4m3(const std::uint8_t* bytes, float* values) {
  const __m512i magnitude = _mm512_set1_epi32(0x7f << 20), sign = _mm512_set1_epi32(-0x7fffffff - 1);
  const __m512 scale = _mm512_set1_ps(0x1p120f);
  for (int i = 0; i < 4 * kWarpSize; i += 16) {
    const auto x = _mm512_maskz_cvtepu8_epi32(0xffff, _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + i)));
    const __m512i number = _mm512_and_si512(_mm512_maskz_slli_epi32(0xffff, x, 20), magnitude);
    const __m512i widened =
        _mm512_mask_mov_epi32(_mm512_castps_si512(_mm512_mul_ps(_mm512_castsi512_ps(number), scale)),
                              _mm512_cmpeq_epi32_mask(number, magnitude), _mm512_set1_epi32(0x7fffe000));
    _mm512_storeu_si512(values + i,
                        _mm512_or_si512(widened, _mm512_and_si512(_mm512_maskz_slli_epi32(0xffff, x, 24), sign)));
  }
}
#endif

// What 32 lanes have in a register, in its order.
inline void widen_register(MatrixElement element, const void* words, float* values) {
  const auto* const bytes = static_cast<const std::uint8_t*>(words);
  const auto* const signed_bytes = static_cast<const std::int8_t*>(words);
  const auto* const singles = static_cast<const Word32*>(words);
  const auto* const pairs = static_cast<const std::uint16_t*>(words);
  constexpr int kBytes = 4 * kWarpSize;
  std::uint16_t halves[kBytes];
  switch (element) {
  case MatrixElement::f16: return widen_halves(pairs, kBytes / 2, values);
  case MatrixElement::bf16:
    for (int i = 0; i < kBytes / 2; ++i) values[i] = std::bit_cast<float>(Word32{pairs[i]} << 16);
    return;
  case MatrixElement::tf32:
    for (int i = 0; i < kWarpSize; ++i) values[i] = std::bit_cast<float>(singles[i] & 0xffffe000u);
    return;
  case MatrixElement::e4m3: // as a half, the number is scaled by 2^-8
#if defined(__AVX512F__)
    return widen_e4m3(bytes, values);
#endif
    for (int i = 0; i < kBytes; ++i)
      halves[i] = static_cast<std::uint16_t>((bytes[i] & 0x80) << 8 |
                                             ((bytes[i] & 0x7f) == 0x7f ? 0x7fff : (bytes[i] & 0x7f) << 7));
    widen_halves(halves, kBytes, values);
    for (int i = 0; i < kBytes; ++i) values[i] *= 0x1p8f;
    return;
  case MatrixElement::e5m2:
    for (int i = 0; i < kBytes; ++i) halves[i] = static_cast<std::uint16_t>(bytes[i] << 8);
    return widen_halves(halves, kBytes, values);
  case MatrixElement::e3m2: // as halves, these are scaled by 2^-12 and 2^-14
    for (int i = 0; i < kBytes; ++i)
      halves[i] = static_cast<std::uint16_t>((bytes[i] & 0x20) << 10 | (bytes[i] & 0x1f) << 8);
    widen_halves(halves, kBytes, values);
    for (int i = 0; i < kBytes; ++i) values[i] *= 0x1p12f;
    return;
  case MatrixElement::e2m3:
  case MatrixElement::e2m1: { // whose fraction has zeros at its end
    const int fraction = element == MatrixElement::e2m3 ? 0x1f : 0x1c;
    for (int i = 0; i < kBytes; ++i)
      halves[i] = static_cast<std::uint16_t>((bytes[i] & 0x20) << 10 | (bytes[i] & fraction) << 7);
    widen_halves(halves, kBytes, values);
    for (int i = 0; i < kBytes; ++i) values[i] *= 0x1p14f;
    return;
  }
  case MatrixElement::packed_e2m1:
#if defined(__AVX512F__)
    return widen_fours(words, values);
#endif
    for (int part = 0; part < 2; ++part) {
      alignas(64) float numbers[kBytes];
      for (int i = 0; i < kBytes; ++i) {
        const int four = bytes[i] >> 4 * part;
        halves[i] = static_cast<std::uint16_t>((four & 8) << 12 | (four & 7) << 9);
      }
      widen_halves(halves, kBytes, numbers);
      for (int i = 0; i < kBytes; ++i) values[2 * i + part] = numbers[i] * 0x1p14f;
    }
    return;
  case MatrixElement::s8:
    for (int i = 0; i < kBytes; ++i) values[i] = static_cast<float>(signed_bytes[i]);
    return;
  case MatrixElement::u8:
    for (int i = 0; i < kBytes; ++i) values[i] = static_cast<float>(bytes[i]);
    return;
  case MatrixElement::s4:
    for (int i = 0; i < kBytes; ++i) {
      values[2 * i] = static_cast<float>(static_cast<std::int8_t>(bytes[i] << 4) >> 4);
      values[2 * i + 1] = static_cast<float>(signed_bytes[i] >> 4);
    }
    return;
  case MatrixElement::u4:
    for (int i = 0; i < kBytes; ++i) {
      values[2 * i] = static_cast<float>(bytes[i] & 15);
      values[2 * i + 1] = static_cast<float>(bytes[i] >> 4);
    }
    return;
  default: std::memcpy(values, words, kBytes);
  }
}

// ---- factors

// The rows of a fragment, one after the other, each of f.columns elements.
inline void read_rows(const Fragment& f, Warp* warp, float* rows) {
  alignas(64) float values[8 * kWarpSize];
  const int in_row = 4 * f.lane_elements; // of a register
  for (int r = 0; r < f.registers; ++r) {
    widen_register(f.element, row<std::byte>(warp, f.row[static_cast<std::size_t>(r)]), values);
    const Fragment::Corner at = f.corner[static_cast<std::size_t>(r)];
    float* to = rows + at.row * f.columns + at.column;
    const float* from = values;
    for (int g = 0; g < 8; ++g, to += f.columns, from += in_row)
      for (int i = 0; i < in_row; i += 4) std::memcpy(to + i, from + i, 4 * sizeof *to);
  }
}
// Its columns, one after the other, each of f.rows elements.
inline void read_columns(const Fragment& f, Warp* warp, float* columns) {
  alignas(64) float values[8 * kWarpSize];
  const int in_row = 4 * f.lane_elements;
  for (int r = 0; r < f.registers; ++r) {
    widen_register(f.element, row<std::byte>(warp, f.row[static_cast<std::size_t>(r)]), values);
    const Fragment::Corner at = f.corner[static_cast<std::size_t>(r)];
    for (int c = 0; c < in_row; c += 4)
      columns_of(values + c, in_row, columns + (at.column + c) * f.rows + at.row, f.rows);
  }
}

// The columns of a sparse A, with 0 for elements that are not stored. `present`: a mask of rows for each column.
inline void read_sparse(const MatrixSite& s, Warp* warp, float* columns, Word32* present) {
  alignas(64) float compressed[kMostFactor / 2];
  read_rows(s.a, warp, compressed);
  std::memset(columns, 0, static_cast<std::size_t>(s.k * s.m) * sizeof *columns);
  std::memset(present, 0, static_cast<std::size_t>(s.k) * sizeof *present);
  const Word32* const metadata = row<Word32>(warp, s.metadata);
  const int width = bits(s.a.element), in_group = width == 32 ? 2 : width == 4 ? 8 : 4;
  const SparseGroup* group = s.groups.data();
  const float* next = compressed;
  for (int i = 0; i < s.m; ++i)
    for (int first = 0; first < s.k; first += in_group, ++group) {
      const Word32 which = metadata[group->lane] >> group->shift;
      const auto put = [&](Word32 k) {
        columns[(first + static_cast<int>(k)) * s.m + i] = *next++;
        present[first + static_cast<int>(k)] |= 1u << i;
      };
      if (width == 32) {
        put((which & 3) / 2);
        continue;
      }
      for (int two = 0; two < 4; two += 2) {
        const Word32 k = which >> two & 3;
        if (width == 4) {
          put(2 * k);
          put(2 * k + 1);
        } else {
          put(k);
        }
      }
    }
}

// ---- accumulators: c[j * rows + i]

/// Bits of 32, or halves as single precision.
inline void read_sums(const Fragment& f, Warp* warp, void* sums) {
  auto* const words = static_cast<Word32*>(sums);
  if (f.element == MatrixElement::f16) return read_columns(f, warp, static_cast<float*>(sums));
  for (int r = 0; r < f.registers; ++r) {
    const Fragment::Corner at = f.corner[static_cast<std::size_t>(r)];
    columns_of(row<Word32>(warp, f.row[static_cast<std::size_t>(r)]), 4, words + at.column * f.rows + at.row,
               2 * f.rows);
  }
}
inline void write_sums(const Fragment& f, Warp* warp, const void* sums) {
  const auto* const words = static_cast<const Word32*>(sums);
  for (int r = 0; r < f.registers; ++r) {
    const Fragment::Corner at = f.corner[static_cast<std::size_t>(r)];
    const Word32* const from = words + at.column * f.rows + at.row;
    auto* const to = row<std::uint16_t>(warp, f.row[static_cast<std::size_t>(r)]);
    if (f.element == MatrixElement::f16) {
      alignas(64) float values[2 * kWarpSize];
      for (int c = 0; c < 8; c += 4) rows_of(from + c * f.rows, f.rows, values + c, 8);
      narrow_to_halves(values, 2 * kWarpSize, to);
    } else {
      rows_of(from, 2 * f.rows, to, 4);
    }
  }
}

} // namespace warplens::exec::WARPLENS_LEVEL
