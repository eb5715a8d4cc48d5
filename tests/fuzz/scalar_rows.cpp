// SPDX-License-Identifier: Apache-2.0
// Defines the single-lane functions for one group of files of the table (WARPLENS_TABLE).
#include "tests/fuzz/scalar_rows.hpp"

#include "emulator/isa/operands.hpp"
#include "emulator/isa/semantics/approximate.hpp"
#include "emulator/isa/semantics/bits.hpp"
#include "emulator/isa/semantics/compare.hpp"
#include "emulator/isa/semantics/convert.hpp"
#include "emulator/isa/semantics/convert_packed.hpp"
#include "emulator/isa/semantics/floating.hpp"
#include "emulator/isa/semantics/half.hpp"
#include "emulator/isa/semantics/integer.hpp"
#include "emulator/isa/semantics/mixed.hpp"
#include "emulator/isa/semantics/video.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace warplens::fuzz {

namespace {

using namespace isa::WARPLENS_LEVEL;
using isa::Form;

template <class T> T read(std::uint64_t bits) {
  if constexpr (std::is_same_v<T, bool>) {
    return bits != 0;
  } else if constexpr (sizeof(T) > sizeof bits) {
    return T{bits}; // programs have no registers of 128 bits
  } else {
    T value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
}

template <class T> std::uint64_t written(T value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, std::min(sizeof bits, sizeof value));
  return bits;
}
template <class A, class B> void put(Both<A, B> both, std::uint64_t* results) {
  results[0] = written(both.first);
  results[1] = written(both.second);
}
template <class T> void put(T value, std::uint64_t* results) { results[0] = written(value); }

// The rounding mode holds between loading the sources and storing the results.
template <class F, class R, class... A, std::size_t... I>
void call(const std::uint64_t* sources, std::uint64_t* results, R (*)(A...), std::index_sequence<I...>) {
  [[maybe_unused]] const RoundingScope<F> scope;
  put(F::lane(read<A>(sources[I])...), results);
}

template <class F> void one_lane(const std::uint64_t* sources, std::uint64_t* results) {
  []<class R, class... A>(const std::uint64_t* s, std::uint64_t* r, R (*f)(A...)) {
    call<F>(s, r, f, std::index_sequence_for<A...>{});
  }(sources, results, &F::lane);
}

template <template <Form> class F, isa::Pattern pattern> std::span<const LaneFunction> made() {
  static constexpr auto kRow = []<std::size_t... V>(std::index_sequence<V...>) {
    return std::array<LaneFunction, sizeof...(V)>{&one_lane<F<pattern.expand(V)>>...};
  }
  (std::make_index_sequence<pattern.variants()>{});
  return kRow;
}

} // namespace

std::span<const LaneFunction>* WARPLENS_FILL(std::span<const LaneFunction>* row) {
#define INSTRUCTION(opcode, pattern, operands, functor, kind, ptx, sm)                                                 \
  *row++ = made<functor, isa::parse_pattern(pattern)>();
#define LEGACY INSTRUCTION
#define RETIRED(opcode, pattern, operands, functor, kind, ptx, sm, last)                                               \
  INSTRUCTION(opcode, pattern, operands, functor, kind, ptx, sm)
#define FAMILY(...) *row++ = {};
#include WARPLENS_TABLE
#undef INSTRUCTION
#undef LEGACY
#undef RETIRED
#undef FAMILY
  return row;
}

} // namespace warplens::fuzz
