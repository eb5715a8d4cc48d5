// SPDX-License-Identifier: Apache-2.0
// THE loop: applies a functor that computes one lane to all lanes of a warp. Included only by the files that are
// compiled once per level; everything in it lives in the level's namespace, so that the linker never mixes levels.
//
//   template <Form f> struct Add { static T lane(T a, T b) { return a + b; } };
//   lanes<Add<…>>  is the Handler.
//
// A functor's `lane` takes one argument per source of the table line (bool for predicates and the carry) and returns
// the destination (bool for a predicate), or Both<A, B> for two. It is total: it is applied to every lane, active or
// not. It may also have a `row`, which computes all lanes at once, or an `element` (lane.hpp). `static constexpr
// Rounding rounding` in a functor sets the processor's rounding mode around the loop.
#pragma once

#include "emulator/base/loops.hpp"
#include "emulator/exec/state/vectors.hpp"
#include "emulator/exec/state/warp.hpp"
#include "emulator/isa/operands.hpp"

#include "emulator/isa/semantics/floating.hpp"
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

// Bytes per lane of an operand in its row: 0 for a predicate, which is a mask.
template <class T> constexpr bool is_predicate = std::is_same_v<T, bool>;

template <class T> struct Source {
  const T* values;
  Source(Warp* warp, std::uint32_t offset) : values(row<T>(warp, offset)) {}
  T operator[](int lane) const { return values[lane]; }
};
// A word per lane, nonzero if the predicate is true: vector instructions compare words, not bits.
template <> struct Source<bool> {
  std::uint32_t words[kWarpSize];
  Source(Warp* warp, std::uint32_t offset) {
    static constexpr auto kBits = [] {
      std::array<std::uint32_t, kWarpSize> bits{};
      for (int i = 0; i < kWarpSize; ++i) bits[i] = Mask{1} << i;
      return bits;
    }();
    const Mask mask = predicate(warp, offset);
    for (int i = 0; i < kWarpSize; ++i) words[i] = mask & kBits[i];
  }
  bool operator[](int lane) const { return words[lane] != 0; }
};

// The bits of 32 truth values. Without an instruction for this, a multiplication gathers eight bytes at a time.
template <class Truth> inline Mask gather_bits(Truth truth) {
#if defined(__AVX2__)
  alignas(kVectorBytes) std::uint32_t words[kWarpSize];
  for (int i = 0; i < kWarpSize; ++i) words[i] = truth(i) ? ~0u : 0;
  return sign_bits(words);
#else
  Mask mask = 0;
  std::uint8_t bytes[kWarpSize];
  for (int i = 0; i < kWarpSize; ++i) bytes[i] = truth(i) ? 1 : 0;
  for (int i = 0; i < kWarpSize; i += 8) {
    std::uint64_t eight;
    std::memcpy(&eight, bytes + i, sizeof eight);
    mask |= static_cast<Mask>(eight * 0x0102040810204080u >> 56) << i;
  }
  return mask;
#endif
}

inline void write_predicate(Warp* warp, std::uint32_t offset, Mask mask, Mask values) {
  Mask& d = predicate(warp, offset);
  d = (d & ~mask) | (values & mask);
}

// Narrow results of wide sources are first computed as words, so that the functor's loop has vectors of one width.
template <class T, class... A, class Value> void write(T* d, Value value) {
  if constexpr (sizeof(T) < 4 && ((!is_predicate<A> && sizeof(A) > sizeof(T)) || ...)) {
    std::uint32_t words[kWarpSize];
    WARPLENS_INDEPENDENT
    for (int i = 0; i < kWarpSize; ++i) words[i] = static_cast<std::uint32_t>(value(i));
    WARPLENS_INDEPENDENT
    for (int i = 0; i < kWarpSize; ++i) d[i] = static_cast<T>(words[i]);
  } else {
    WARPLENS_INDEPENDENT
    for (int i = 0; i < kWarpSize; ++i) d[i] = value(i);
  }
}

template <class> struct Signature;
template <class R, class... A> struct Signature<R (*)(A...)> {
  using Result = R;
  using Indices = std::index_sequence_for<A...>;
};
template <class T> struct ResultCount { static constexpr int value = 1; };
template <class A, class B> struct ResultCount<Both<A, B>> { static constexpr int value = 2; };

// The row of a source; that of a fifth one is in `extra`.
inline std::uint32_t source_row(const Op* op, std::size_t i) { return i < 4 ? op->src[i] : op->extra; }

// A functor on predicates operates on whole masks: its truth table combines their bits.
template <class F, class... A> Mask bitwise(A... masks) {
  static_assert(sizeof...(A) <= 2);
  Mask result = 0;
  for (unsigned row = 0; row < 1u << sizeof...(A); ++row) {
    unsigned bit = 0;
    const auto truth = [&](Mask) { return (row >> bit++ & 1) != 0; };
    const std::tuple<std::conditional_t<true, bool, A>...> values{truth(masks)...};
    Mask here = std::apply([](auto... v) { return F::lane(v...); }, values) ? kFullMask : 0;
    bit = 0;
    ((here &= truth(masks) ? masks : ~masks), ...);
    result |= here;
  }
  return result;
}

template <class T> T lane_of(Warp* warp, std::uint32_t offset, int lane) {
  if constexpr (is_predicate<T>)
    return (predicate(warp, offset) >> lane & 1) != 0;
  else
    return row<T>(warp, offset)[lane];
}
template <class T> void set_lane(Warp* warp, std::uint32_t offset, int lane, T value) {
  if constexpr (is_predicate<T>) {
    Mask& d = predicate(warp, offset);
    d = (d & ~(Mask{1} << lane)) | Mask{value} << lane;
  } else {
    row<T>(warp, offset)[lane] = value;
  }
}

template <class F, class Result, class... A, std::size_t... I>
const Op* run_one_lane(const Op* op, Warp* warp, Mask mask, Result (*)(A...), std::index_sequence<I...>) {
  if (mask == 0) return op + 1;
  const int lane = __builtin_ctz(mask);
  [[maybe_unused]] const RoundingScope<F> scope;
  const Result result = F::lane(lane_of<A>(warp, source_row(op, I), lane)...);
  if constexpr (ResultCount<Result>::value == 2) {
    set_lane(warp, op->dst[0], lane, result.first);
    set_lane(warp, op->dst[1], lane, result.second);
  } else {
    set_lane(warp, op->dst[0], lane, result);
  }
  return op + 1;
}

// For blocks of one thread, which machine-learning compilers emit, and for warps that have diverged to one lane. Only
// for the tables of common instructions (WARPLENS_SINGLE_LANE): it takes a third of the time to compile them.
template <class F> [[gnu::flatten, gnu::noinline]] const Op* one_lane(const Op* op, Warp* warp, Mask mask) {
  return run_one_lane<F>(op, warp, mask, &F::lane, typename Signature<decltype(&F::lane)>::Indices());
}

// Computes truth values; few instructions do, and all of them often: they have masks of their own.
template <class F, class Result, class... A, std::size_t... I>
const Op* run_predicates(const Op* op, Warp* warp, Mask mask, Result (*)(A...), std::index_sequence<I...>) {
  if constexpr ((is_predicate<A> && ...)) {
    write_predicate(warp, op->dst[0], mask, bitwise<F>(predicate(warp, op->src[I])...));
  } else {
    const std::tuple<Source<A>...> sources{Source<A>(warp, source_row(op, I))...};
    const auto lane = [&](int i) { return F::lane(std::get<I>(sources)[i]...); };
    if constexpr (ResultCount<Result>::value == 2) {
      const Mask first = gather_bits([&](int i) { return lane(i).first; });
      const Mask second = gather_bits([&](int i) { return lane(i).second; });
      write_predicate(warp, op->dst[0], mask, first);
      write_predicate(warp, op->dst[1], mask, second);
    } else {
      write_predicate(warp, op->dst[0], mask, gather_bits(lane));
    }
  }
  return op + 1;
}

// Whether F has a number(), which only_nans_differ describes.
template <class F> constexpr bool has_rare_nans = false;
template <template <Form> class F, Form f>
requires requires { &F<f>::number; }
constexpr bool has_rare_nans<F<f>> = isa::WARPLENS_LEVEL::only_nans_differ<f>;

// Computes all lanes into the row at `destination`.
template <class F, class Result, class... A, std::size_t... I>
void run_lanes(const Op* op, Warp* warp, std::uint32_t destination, [[maybe_unused]] Mask mask, Result (*)(A...),
               std::index_sequence<I...>) {
  [[maybe_unused]] const RoundingScope<F> scope;
  const std::tuple<Source<A>...> sources{Source<A>(warp, source_row(op, I))...};
  const auto lane = [&](int i) { return F::lane(std::get<I>(sources)[i]...); };
  if constexpr (ResultCount<Result>::value == 2) { // one loop, with truth values as wide as the value
    using First = typename Result::First;
    First values[kWarpSize], truths[kWarpSize];
    WARPLENS_INDEPENDENT
    for (int i = 0; i < kWarpSize; ++i) {
      values[i] = lane(i).first;
      truths[i] = lane(i).second ? 1 : 0;
    }
    std::memcpy(row<First>(warp, destination), values, sizeof values);
    write_predicate(warp, op->dst[1], mask, gather_bits([&](int i) { return truths[i] != 0; }));
  } else if constexpr (requires { typename F::Element; }) {
    using Element = typename F::Element;
    [d = row<Element>(warp, destination)](const auto*... values) {
      WARPLENS_INDEPENDENT
      for (std::size_t i = 0; i < kWarpSize * sizeof(Result) / sizeof(Element); ++i) d[i] = F::element(values[i]...);
    }(row<Element>(warp, source_row(op, I))...);
  } else if constexpr (requires { &F::row; }) {
    static_assert(isa::WARPLENS_LEVEL::kRowLanes == kWarpSize);
    F::row(row<Result>(warp, destination), std::get<I>(sources).values...);
  } else if constexpr (has_rare_nans<F>) {
    write<Result, A...>(row<Result>(warp, destination), [&](int i) { return F::number(std::get<I>(sources)[i]...); });
  } else {
    write<Result, A...>(row<Result>(warp, destination), lane);
  }
}

// Copies the lanes of the mask from the warp's spare row to the destination.
template <class T> [[gnu::noinline]] const Op* commit(const Op* op, Warp* warp, Mask mask) {
  copy_some(row<T>(warp, op->dst[0]), row<T>(warp, kSpareRow), mask);
  return op + 1;
}

template <class T> const Op* finish(const Op* op, Warp* warp, Mask mask) {
  return mask == kFullMask ? op + 1 : commit<T>(op, warp, mask);
}

template <class T>
[[gnu::noinline]] const Op* correct_nans(const Op* op, Warp* warp, Mask mask, std::uint32_t destination) {
  T* const d = row<T>(warp, destination);
  for (int i = 0; i < kWarpSize; ++i) d[i] = isa::WARPLENS_LEVEL::canonical(d[i]);
  return finish<T>(op, warp, mask);
}

template <class R> struct ValueOf { using Type = R; };
template <class A, class B> struct ValueOf<Both<A, B>> { using Type = A; };

// Everything is inlined: a remaining call would prevent vectorisation of the loops. If some lanes do not act, all are
// computed in the spare row, so that a functor's loop is compiled once, and has no mask.
template <class F> [[gnu::flatten]] const Op* lanes(const Op* op, Warp* warp) {
  using Types = Signature<decltype(&F::lane)>;
  using T = typename ValueOf<typename Types::Result>::Type;
  constexpr typename Types::Indices sources;
  const Mask mask = acting(op, warp);
  if constexpr (is_predicate<T>) {
    return run_predicates<F>(op, warp, mask, &F::lane, sources);
  } else {
    std::uint32_t destination = op->dst[0];
    if (mask != kFullMask) [[unlikely]] {
      if constexpr (WARPLENS_SINGLE_LANE && !requires { &F::row; })
        if (few(mask)) return one_lane<F>(op, warp, mask);
      destination = kSpareRow;
    }
    asm("" : "+r"(destination)); // or the compiler makes two loops
    run_lanes<F>(op, warp, destination, mask, &F::lane, sources);
    if constexpr (has_rare_nans<F>)
      if (any_nan(row<T>(warp, destination))) [[unlikely]]
        return correct_nans<T>(op, warp, mask, destination);
    return finish<T>(op, warp, mask);
  }
}

// The table line and the functor must agree on the number of operands and their widths.
template <class T> constexpr int width = is_predicate<T> ? 1 : static_cast<int>(8 * sizeof(T));
constexpr bool fits(const isa::OperandSpec& operand, const Form& form, int functor_width) {
  return isa::bits(isa::operand_type(operand, form)) == functor_width;
}

template <class Result, class... A>
constexpr bool agrees(const isa::OperandList& operands, const Form& form, std::type_identity<Result(A...)>) {
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
      // p|q: the functor may return both; otherwise the decoder derives the second from the first.
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
    static_assert(
        (agrees(operands, pattern.expand(V), std::type_identity<decltype(F<pattern.expand(V)>::lane)>{}) && ...),
        "a line of the instruction table and its functor disagree on operand types");
    return std::array<Handler, sizeof...(V)>{&lanes<F<isa::WARPLENS_LEVEL::canonical_form<F, pattern.expand(V)>()>>...};
  }
  (std::make_index_sequence<pattern.variants()>{});
}

} // namespace warplens::exec::WARPLENS_LEVEL
