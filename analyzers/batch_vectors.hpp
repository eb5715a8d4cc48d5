// SPDX-License-Identifier: Apache-2.0
// Vectors of numbers of accesses, as wide as the processor level's registers. Compiled per level.
//
//   for (int access = 0; access < kAccesses; access += kWide) store(loaded(a, access) + loaded(b, access), sum,
//   access);
#pragma once

#include "analyzers/batch_functions.hpp"

#include <utility>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace warplens::analyzers::WARPLENS_LEVEL {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif
constexpr int kWide = kVectorBytes / 4, kLanes = exec::kWarpSize, kAccesses = exec::AccessRows::kMost;

using V = std::int32_t __attribute__((vector_size(kVectorBytes)));
using U = std::uint32_t __attribute__((vector_size(kVectorBytes)));

#define WARPLENS_INLINE [[gnu::always_inline]] inline

/// Wraps around.
WARPLENS_INLINE V difference(V a, V b) { return reinterpret_cast<V>(reinterpret_cast<U>(a) - reinterpret_cast<U>(b)); }

WARPLENS_INLINE V loaded(const BatchNumbers& from, int first) {
  V v;
  __builtin_memcpy(&v, from.of + first, sizeof v);
  return v;
}
WARPLENS_INLINE void store(V v, BatchNumbers& to, int first) { __builtin_memcpy(to.of + first, &v, sizeof v); }

template <class Step, int... I>
WARPLENS_INLINE void unrolled([[maybe_unused]] Step step, std::integer_sequence<int, I...>) {
  (step(std::integral_constant<int, I>{}), ...);
}
/// Calls step(0) to step(count - 1), whose numbers are constants.
template <int count, class Step> WARPLENS_INLINE void times(Step step) {
  unrolled(step, std::make_integer_sequence<int, count>{});
}

/// A bit for each element that is not 0, but -1.
WARPLENS_INLINE std::uint32_t bits_of(V truths) {
#if defined(__AVX512F__)
  return _mm512_movepi32_mask(reinterpret_cast<__m512i>(truths));
#elif defined(__AVX2__)
  return static_cast<std::uint32_t>(_mm256_movemask_ps(reinterpret_cast<__m256>(truths)));
#else
  std::uint32_t bits = 0;
  for (int i = 0; i < kWide; ++i) bits |= static_cast<std::uint32_t>(truths[i] & 1) << i;
  return bits;
#endif
}

/// A bit for each access for which it is true.
template <class Truth> WARPLENS_INLINE std::uint32_t accesses_that(Truth truth) {
  std::uint32_t bits = 0;
  for (int access = 0; access < kAccesses; access += kWide) bits |= bits_of(truth(access)) << access;
  return bits;
}

/// The elements in the places of those whose number differs in this bit.
template <int bit, int... C> WARPLENS_INLINE V flipped(V v, std::integer_sequence<int, C...>) {
  return __builtin_shufflevector(v, v, (C ^ bit)...);
}
template <int bit = kWide / 2> WARPLENS_INLINE std::uint32_t total(V numbers) {
  if constexpr (bit == 0)
    return static_cast<std::uint32_t>(numbers[0]);
  else
    return total<bit / 2>(numbers + flipped<bit>(numbers, std::make_integer_sequence<int, kWide>{}));
}

} // namespace warplens::analyzers::WARPLENS_LEVEL
