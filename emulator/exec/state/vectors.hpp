// SPDX-License-Identifier: Apache-2.0
// Vectors as wide as the processor level's registers. Compiled per level.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace warplens::exec {
namespace WARPLENS_LEVEL {

#if defined(__AVX512F__)
constexpr std::size_t kVectorBytes = 64;
#elif defined(__AVX2__)
constexpr std::size_t kVectorBytes = 32;
#else
constexpr std::size_t kVectorBytes = 16;
#endif
template <class T, int count> using Vector [[gnu::vector_size(count * sizeof(T))]] = T;

/// Whether any bit of a whole register is set.
template <class V> inline bool any_bit(V value) {
  static_assert(sizeof(V) == kVectorBytes);
#if defined(__AVX512F__)
  const auto bits = reinterpret_cast<__m512i>(value);
  return _mm512_test_epi64_mask(bits, bits) != 0;
#else
  const auto words = reinterpret_cast<Vector<std::uint64_t, kVectorBytes / 8>>(value);
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < kVectorBytes / 8; ++i) bits |= words[i];
  return bits != 0;
#endif
}

/// Whether any lane of a row is NaN.
inline bool any_nan(const float* row) {
#if defined(__AVX512F__)
  const __m512 first = _mm512_loadu_ps(row), second = _mm512_loadu_ps(row + 16);
  return _mm512_cmp_ps_mask(first, second, _CMP_UNORD_Q) != 0;
#else
  using Part = Vector<float, kVectorBytes / sizeof(float)>;
  using Truths = Vector<std::int32_t, kVectorBytes / sizeof(float)>;
  Part parts[32 * sizeof(float) / kVectorBytes];
  __builtin_memcpy(parts, row, sizeof parts);
  Truths nans{};
  for (const Part& part : parts) nans |= part != part;
  return any_bit(nans);
#endif
}

/// Copies those of 32 elements whose bits are set in the mask.
template <class T> inline void copy_some(T* to, const T* from, std::uint32_t mask) {
#if defined(__AVX512F__) && defined(__AVX512BW__)
  const auto copy = [&]<int i>(std::integral_constant<int, i>) {
    constexpr int kCount = 64 / sizeof(T);
    if constexpr (i * kCount < 32) {
      const __m512i values = _mm512_loadu_si512(from + i * kCount);
      const std::uint32_t lanes = mask >> i * kCount % 32;
      if constexpr (sizeof(T) == 2)
        _mm512_mask_storeu_epi16(to, lanes, values);
      else if constexpr (sizeof(T) == 4)
        _mm512_mask_storeu_epi32(to + i * kCount, static_cast<__mmask16>(lanes), values);
      else
        _mm512_mask_storeu_epi64(to + i * kCount, static_cast<__mmask8>(lanes), values);
    }
  };
  if constexpr (sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8) {
    copy(std::integral_constant<int, 0>{});
    copy(std::integral_constant<int, 1>{});
    copy(std::integral_constant<int, 2>{});
    copy(std::integral_constant<int, 3>{});
    return;
  }
#endif
  for (int i = 0; i < 32; ++i) to[i] = (mask >> i & 1) != 0 ? from[i] : to[i];
}

/// The highest bits of 32 words, as a mask.
inline std::uint32_t sign_bits(const std::uint32_t* words) {
#if defined(__AVX512F__) && defined(__AVX512DQ__)
  const auto bits = [words](int i) { return std::uint32_t{_mm512_movepi32_mask(_mm512_loadu_si512(words + 16 * i))}; };
  return bits(0) | bits(1) << 16;
#elif defined(__AVX2__)
  const auto bits = [words](int i) {
    const __m256i part = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(words + 8 * i));
    return static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(part))) << 8 * i;
  };
  return bits(0) | bits(1) | bits(2) | bits(3);
#else
  std::uint32_t mask = 0;
  for (int i = 0; i < 32; ++i) mask |= words[i] >> 31 << i;
  return mask;
#endif
}

/// The elements of two vectors from the second of the first to the first of the second: each element's successor.
template <class V, std::size_t... I> inline V successors(V values, V next, std::index_sequence<I...> /*lanes*/) {
  return __builtin_shufflevector(values, next, (I + 1)...);
}

} // namespace WARPLENS_LEVEL
} // namespace warplens::exec
