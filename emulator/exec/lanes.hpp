// THE loop: applies a functor that computes one lane to all lanes of a warp. Included only by the files that are
// compiled once per level; everything in it lives in the level's namespace, so that the linker never mixes levels.
//
//   template <Form f> struct Add { static T lane(T a, T b) { return a + b; } };
//   lanes<Add<…>>  is the Handler.
//
// A functor's `lane` takes one argument per source of the table line (bool for predicates and the carry) and returns
// the destination (bool for a predicate), or Both<A, B> for two. It is total: it is applied to every lane, active or
// not. It may have a `row` besides, which computes all lanes at once (lane.hpp). `static constexpr Rounding rounding`
// in a functor sets the processor's rounding mode around the loop.
#pragma once

#include "emulator/exec/warp.hpp"
#include "emulator/isa/operands.hpp"

#include "emulator/isa/semantics/lane.hpp"

#include <array>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>

namespace warplens::exec::WARPLENS_LEVEL {

using isa::Form;
using isa::WARPLENS_LEVEL::Both;
using isa::WARPLENS_LEVEL::RoundingScope;

// How many bytes a lane of an operand takes in its row: a predicate is a mask, so none.
template <class T> constexpr bool is_predicate = std::is_same_v<T, bool>;

template <class T> struct Source {
  const T* values;
  Source(Warp* warp, std::uint32_t offset) : values(row<T>(warp, offset)) {}
  T operator[](int lane) const { return values[lane]; }
};
template <> struct Source<bool> {
  Mask mask;
  Source(Warp* warp, std::uint32_t offset) : mask(predicate(warp, offset)) {}
  bool operator[](int lane) const { return (mask >> lane & 1) != 0; }
};

// The bits of 32 truth values. Where lanes can be shifted each by its own count, the compiler makes the mask itself;
// elsewhere a multiplication gathers eight bytes at a time.
template <class Truth> inline Mask gather_bits(Truth truth) {
  Mask mask = 0;
#if defined(__AVX2__)
  for (int i = 0; i < kWarpSize; ++i) mask |= truth(i) ? Mask{1} << i : 0;
#else
  std::uint8_t bytes[kWarpSize];
  for (int i = 0; i < kWarpSize; ++i) bytes[i] = truth(i) ? 1 : 0;
  for (int i = 0; i < kWarpSize; i += 8) {
    std::uint64_t eight;
    std::memcpy(&eight, bytes + i, sizeof eight);
    mask |= static_cast<Mask>(eight * 0x0102040810204080u >> 56) << i;
  }
#endif
  return mask;
}

template <class T> struct Destination {
  T* values;
  T fresh[kWarpSize];
  Destination(Warp* warp, std::uint32_t offset) : values(row<T>(warp, offset)) {}
  void commit(Mask mask) {
#pragma GCC ivdep
    for (int i = 0; i < kWarpSize; ++i) values[i] = (mask >> i & 1) != 0 ? fresh[i] : values[i];
  }
};
template <> struct Destination<bool> {
  Mask* values;
  std::uint8_t fresh[kWarpSize];
  Destination(Warp* warp, std::uint32_t offset) : values(&predicate(warp, offset)) {}
  void commit(Mask mask) {
    commit(mask, gather_bits([&](int i) { return fresh[i] != 0; }));
  }
  void commit(Mask mask, Mask bits) { *values = (*values & ~mask) | (bits & mask); }
};

// Applies the functor to all lanes of a row.
template <class F, class R, class... A> void each_lane(R* d, const Source<A>&... sources) {
  if constexpr (requires { &F::row; }) {
    static_assert(isa::WARPLENS_LEVEL::kRowLanes == kWarpSize);
    F::row(d, sources.values...);
  } else {
#pragma GCC ivdep
    for (int i = 0; i < kWarpSize; ++i) d[i] = F::lane(sources[i]...);
  }
}

template <class> struct Signature;
template <class R, class... A> struct Signature<R (*)(A...)> {
  using Result = R;
  using Arguments = std::tuple<A...>;
};
template <class T> struct ResultCount { static constexpr int value = 1; };
template <class A, class B> struct ResultCount<Both<A, B>> { static constexpr int value = 2; };

// The row of a source: a fifth one is in `extra`.
inline std::uint32_t source_row(const Op* op, std::size_t i) { return i < 4 ? op->src[i] : op->extra; }

template <class F, class Result, class... A, std::size_t... I>
const Op* run_lanes(const Op* op, Warp* warp, Result (*)(A...), std::index_sequence<I...>) {
  const Mask mask = acting(op, warp);
  [[maybe_unused]] const RoundingScope<F> scope;
  const std::tuple<Source<A>...> sources{Source<A>(warp, source_row(op, I))...};
  if constexpr (ResultCount<Result>::value == 2) {
    Destination<typename Result::First> first(warp, op->dst[0]);
    Destination<typename Result::Second> second(warp, op->dst[1]);
#pragma GCC ivdep
    for (int i = 0; i < kWarpSize; ++i) {
      const Result r = F::lane(std::get<I>(sources)[i]...);
      first.fresh[i] = r.first;
      second.fresh[i] = r.second;
    }
    first.commit(mask);
    second.commit(mask);
  } else if constexpr (is_predicate<Result>) {
    Destination<bool>(warp, op->dst[0]).commit(mask, gather_bits([&](int i) {
                                                 return F::lane(std::get<I>(sources)[i]...);
                                               }));
  } else if (mask == kFullMask) {
    each_lane<F>(row<Result>(warp, op->dst[0]), std::get<I>(sources)...);
  } else {
    Destination<Result> d(warp, op->dst[0]);
    each_lane<F>(d.fresh, std::get<I>(sources)...);
    d.commit(mask);
  }
  return op + 1;
}

template <class F> const Op* lanes(const Op* op, Warp* warp) {
  return []<class R, class... A>(const Op* o, Warp* w, R (*f)(A...)) {
    return run_lanes<F>(o, w, f, std::index_sequence_for<A...>{});
  }(op, warp, &F::lane);
}

// The table line and the functor must agree on how many operands there are and how wide each is.
template <class T> constexpr int width = is_predicate<T> ? 1 : static_cast<int>(8 * sizeof(T));
constexpr bool fits(const isa::OperandSpec& operand, const Form& form, int functor_width) {
  return isa::bits(isa::operand_type(operand, form)) == functor_width;
}

template <class Result, class... A>
constexpr bool agrees(const isa::OperandList& operands, const Form& form, Result (*)(A...)) {
  std::array<int, 8> destinations{}, sources{width<A>...};
  int destination_count = 1;
  if constexpr (ResultCount<Result>::value == 2) {
    destinations = {width<typename Result::First>, width<typename Result::Second>};
    destination_count = 2;
  } else {
    destinations = {width<Result>};
  }
  int d = 0, s = 0;
  for (int i = 0; i < operands.count; ++i) {
    const isa::OperandSpec& o = operands.items[i];
    if (o.negatable) continue; // combined by the decoder
    if (o.destination) {
      if (d == destination_count || !fits(o, form, destinations[d++])) return false;
      // p|q: the functor may give both; otherwise the decoder makes the second from the first.
      if (o.pair && destination_count == 2 && (d == 2 || destinations[d++] != 1)) return false;
    } else {
      for (int e = 0; e < o.elements; ++e)
        if (s == static_cast<int>(sizeof...(A)) || !fits(o, form, sources[s++])) return false;
    }
  }
  return d == destination_count && s == static_cast<int>(sizeof...(A));
}

template <template <Form> class F, isa::Pattern pattern, isa::OperandList operands> constexpr auto handler_row() {
  return []<std::size_t... V>(std::index_sequence<V...>) {
    static_assert((agrees(operands, pattern.expand(V), &F<pattern.expand(V)>::lane) && ...),
                  "a line of the instruction table and its functor disagree on operand types");
    return std::array<Handler, sizeof...(V)>{&lanes<F<pattern.expand(V)>>...};
  }
  (std::make_index_sequence<pattern.variants()>{});
}

} // namespace warplens::exec::WARPLENS_LEVEL
