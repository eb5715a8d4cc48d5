// SPDX-License-Identifier: Apache-2.0
// The functors of one file of the instruction table (WARPLENS_TABLE) as functions over rows, for compiled kernels.
// Compiled by clang to bitcode, once per level: see row_function.hpp.
#include "emulator/exec/compile/row_function.hpp"
#include "emulator/exec/lanes/lanes.hpp"

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

namespace warplens::exec::WARPLENS_LEVEL {

using namespace isa::WARPLENS_LEVEL;

// A functor without its number(): a handler corrects NaNs after it has computed a row, a row function is all there is.
template <class F> struct WithNans {
  template <class... A> static auto lane(A... operands) { return F::lane(operands...); }
};
template <class F> using Exact = std::conditional_t<has_rare_nans<F>, WithNans<F>, F>;

// Not in an anonymous namespace: compiled kernels name these functions.
template <class F> void rows(const Op* op, Warp* warp) {
  []<class R, class... A>(const Op* o, Warp* w, R (*f)(A...)) {
    using T = typename ValueOf<R>::Type;
    if constexpr (is_predicate<T>)
      run_predicates<F>(o, w, kFullMask, f, std::index_sequence_for<A...>{});
    else
      run_lanes<Exact<F>>(o, w, o->dst[0], kFullMask, f, std::index_sequence_for<A...>{});
  }(op, warp, &F::lane);
}

template <class F> void first_lane(const Op* op, Warp* warp) {
  []<class R, class... A>(const Op* o, Warp* w, R (*f)(A...)) {
    run_one_lane<F>(o, w, 1, f, std::index_sequence_for<A...>{});
  }(op, warp, &F::lane);
}

template <class T> constexpr std::uint8_t kLaneBytes = is_predicate<T> ? 0 : sizeof(T);

// A functor that sets the rounding mode must stay between two changes of the mode: only calls do.
template <class F> constexpr RowFunction row_function() {
  return []<class R, class... A>(std::type_identity<R (*)(A...)>) {
    constexpr bool kStays = isa::WARPLENS_LEVEL::required_rounding<F>() == isa::WARPLENS_LEVEL::Rounding::nearest;
    RowFunction f{kStays ? &rows<F> : nullptr, kStays ? &first_lane<F> : nullptr, 1, sizeof...(A), {}};
    int next = 0;
    if constexpr (ResultCount<R>::value == 2) {
      f.destinations = 2;
      f.bytes[next++] = kLaneBytes<typename R::First>;
      f.bytes[next++] = kLaneBytes<typename R::Second>;
    } else {
      f.bytes[next++] = kLaneBytes<R>;
    }
    ((f.bytes[next++] = kLaneBytes<A>), ...);
    return f;
  }(std::type_identity<decltype(&F::lane)>{});
}

template <template <Form> class F, isa::Pattern pattern>
constexpr auto kRow = []<std::size_t... V>(std::index_sequence<V...>) {
  return std::array<RowFunction, sizeof...(V)>{
      row_function<F<isa::WARPLENS_LEVEL::canonical_form<F, pattern.expand(V)>()>>()...};
}
(std::make_index_sequence<pattern.variants()>{});

#define INSTRUCTION(opcode, pattern, operands, functor, kind, ptx, sm)                                                 \
  {kRow<functor, isa::parse_pattern(pattern)>.data(), kRow<functor, isa::parse_pattern(pattern)>.size()},
#define LEGACY INSTRUCTION
#define RETIRED(opcode, pattern, operands, functor, kind, ptx, sm, last)                                               \
  INSTRUCTION(opcode, pattern, operands, functor, kind, ptx, sm)
#define FAMILY(...) {nullptr, 0},
extern "C" [[gnu::used]] constinit const RowFunctions WARPLENS_FILL[] = {
#include WARPLENS_TABLE
};

} // namespace warplens::exec::WARPLENS_LEVEL
