// SPDX-License-Identifier: Apache-2.0
// Vectors as wide as the processor level's registers. Compiled per level.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#if defined(__AVX512F__)
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

/// The elements of two vectors from the second of the first to the first of the second: each element's successor.
template <class V, std::size_t... I> inline V successors(V values, V next, std::index_sequence<I...> /*lanes*/) {
  return __builtin_shufflevector(values, next, (I + 1)...);
}

} // namespace WARPLENS_LEVEL
} // namespace warplens::exec
