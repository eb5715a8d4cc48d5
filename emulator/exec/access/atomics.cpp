// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/access/atomics.hpp"

#include "emulator/exec/access/access.hpp"
#include "emulator/exec/block/cluster.hpp"
#include "emulator/exec/memory/written_pages.hpp"

#include "emulator/isa/semantics/half.hpp"

#include <atomic>
#include <cstddef>
#include <cstring>
#include <mutex>

namespace warplens::exec {

namespace {

using isa::Type;
using isa::Word;

// Each operation returns the new value in memory (manual, 9.7.13.5). Wrapping uses unsigned types.
struct Addition {
  template <class T> static T apply(T old, T b, T) {
    if constexpr (std::is_same_v<T, double>) { // a NaN stays as it is
      const double sum = old + b;
      return b != b ? b : old != old ? old : sum != sum ? isa::scalar::new_nan() : sum;
    } else if constexpr (std::is_same_v<T, float>) {
      return isa::scalar::canonical(old + b);
    } else {
      using U = std::make_unsigned_t<T>;
      return static_cast<T>(static_cast<U>(old) + static_cast<U>(b));
    }
  }
};
// On global memory, f32 subnormals are flushed to zero; on shared memory they are not.
struct FlushingAddition {
  static float apply(float old, float b, float) {
    using isa::scalar::flushed;
    return isa::scalar::canonical(flushed(flushed(old) + flushed(b)));
  }
};
struct And {
  template <class T> static T apply(T old, T b, T) { return old & b; }
};
struct Or {
  template <class T> static T apply(T old, T b, T) { return old | b; }
};
struct Xor {
  template <class T> static T apply(T old, T b, T) { return old ^ b; }
};
struct Exchange {
  template <class T> static T apply(T, T b, T) { return b; }
};
struct CompareAndSwap {
  template <class T> static T apply(T old, T b, T c) { return old == b ? c : old; }
};
struct Increment {
  template <class T> static T apply(T old, T b, T) { return old >= b ? T{0} : static_cast<T>(old + 1); }
};
struct Decrement {
  template <class T> static T apply(T old, T b, T) { return old == 0 || old > b ? b : static_cast<T>(old - 1); }
};
struct Minimum {
  template <class T> static T apply(T old, T b, T) { return b < old ? b : old; }
};
struct Maximum {
  template <class T> static T apply(T old, T b, T) { return old < b ? b : old; }
};
// Half precision: what add, min and max do with registers.
template <template <isa::Form> class Functor, Type t> struct OnHalves {
  static constexpr isa::Form kForm = [] {
    isa::Form form;
    form.add(isa::word_of(t));
    return form;
  }();
  template <class T> static T apply(T old, T b, T) { return Functor<kForm>::lane(old, b); }
};

using Word128 = unsigned __int128;

// 128-bit operations with the processor's compare-and-swap. If it has none, a lock serialises the 128-bit operations,
// but not those on parts of the 128 bits.
template <class Operation> Word128 update_together(Word128& place, Word128 b, Word128 c) {
#ifdef __GCC_HAVE_SYNC_COMPARE_AND_SWAP_16
  for (Word128 expected = place;;) {
    const Word128 old = __sync_val_compare_and_swap(&place, expected, Operation::apply(expected, b, c));
    if (old == expected) return old;
    expected = old;
  }
#else
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  const Word128 old = place;
  place = Operation::apply(old, b, c);
  return old;
#endif
}

// Memory that only this worker accesses needs no lock.
template <class T, class Operation, bool locked> T update(std::byte* p, T b, T c) {
  T& place = *reinterpret_cast<T*>(p);
  if constexpr (!locked) {
    const T old = place;
    place = Operation::apply(old, b, c);
    return old;
  } else if constexpr (sizeof(T) == sizeof(Word128)) {
    return update_together<Operation>(place, b, c);
  } else {
    std::atomic_ref<T> cell(place);
    if constexpr (std::is_same_v<Operation, Addition> && std::is_integral_v<T>) return cell.fetch_add(b);
    T old = cell.load(std::memory_order_relaxed);
    while (!cell.compare_exchange_weak(old, Operation::apply(old, b, c), std::memory_order_acq_rel)) {
    }
    return old;
  }
}

/// The lanes whose compare-and-swap has changed the word; of other operations, none. `d` may be `b` or `c`.
template <class T, class Operation, bool locked>
Mask update_lanes(const HostAccess& host, Mask mask, int element, const T* b, const T* c, T* d) {
  Mask swapped = 0;
  for (const int i : EachLane(mask)) {
    std::byte* const p = host.at(i) + element * static_cast<std::ptrdiff_t>(sizeof(T));
    const T old = update<T, Operation, locked>(p, b[i], c[i]);
    if constexpr (std::is_same_v<Operation, CompareAndSwap>)
      if (old == b[i] && c[i] != b[i]) swapped |= Mask{1} << i;
    if (d != nullptr) d[i] = old;
  }
  return swapped;
}

// The lanes whose memory does not belong to CTAs of this worker.
Mask in_global(const Warp* warp, const HostAccess& host, Mask mask) {
  const Cluster& cluster = *warp->cta->cluster;
  Mask global = 0;
  for (const int i : EachLane(mask)) {
    if (cluster.owner(host.at(i)) == nullptr) global |= Mask{1} << i;
  }
  return global;
}

// The code of WrittenPages for an operation; 0: its result depends on the order.
template <class T, class Operation> constexpr std::uint8_t reduction_code() {
  if constexpr (!std::is_integral_v<T> || sizeof(T) < 4) {
    return 0;
  } else {
    const auto code = [](Reduction unsigned_one, Reduction signed_one) {
      return code_of(std::is_signed_v<T> ? signed_one : unsigned_one, sizeof(T));
    };
    if (std::is_same_v<Operation, Addition>) return code(Reduction::add, Reduction::add);
    if (std::is_same_v<Operation, And>) return code(Reduction::conjunction, Reduction::conjunction);
    if (std::is_same_v<Operation, Or>) return code(Reduction::disjunction, Reduction::disjunction);
    if (std::is_same_v<Operation, Xor>) return code(Reduction::exclusive, Reduction::exclusive);
    if (std::is_same_v<Operation, Minimum>) return code(Reduction::minimum, Reduction::signed_minimum);
    if (std::is_same_v<Operation, Maximum>) return code(Reduction::maximum, Reduction::signed_maximum);
    return 0;
  }
}

// `Global` is the operation on global memory, if it differs.
template <class T, class Operation, class Global, int V> const Op* atomic(const Op* op, Warp* warp) {
  const Mask mask = acting(op, warp);
  if (mask == 0) return op + 1;
  HostAccess host;
  if (!op->site->resolve(op, warp, mask, host)) return nullptr;
  const MemorySite& site = *op->site;
  const Mask global = site.space == isa::Space::shared    ? 0
                      : site.space == isa::Space::generic ? in_global(warp, host, mask)
                                                          : mask;
  if (WrittenPages* const written = warp->worker->launch.written;
      written != nullptr && reduction_code<T, Global>() != 0)
    for (const int i : EachLane(global))
      written->reduced(reinterpret_cast<std::uint64_t>(host.at(i)), reduction_code<T, Global>());
  if (global == kFullMask && !host.regular && !warp->worker->alone) WARPLENS_LEVEL::fetch_lines(host.lane);
  for (int e = 0; e < V; ++e) {
    const T* const b = row<T>(warp, V == 1 ? op->src[1] : site.from[e]);
    const T* const c = row<T>(warp, V == 1 ? op->src[2] : site.from[e]);
    T* const d = site.kind == AccessKind::atomic ? row<T>(warp, V == 1 ? op->dst[0] : site.to[e]) : nullptr;
    const Mask swapped = warp->worker->alone ? update_lanes<T, Global, false>(host, global, e, b, c, d)
                                             : update_lanes<T, Global, true>(host, global, e, b, c, d);
    update_lanes<T, Operation, false>(host, mask & ~global, e, b, c, d);
    if (auto& words = warp->worker->swapped; swapped != 0 && site.swaps && words)
      for (const int i : EachLane(swapped))
        words->add({warp->cta->number, warp->index}, reinterpret_cast<std::uint64_t>(host.at(i)));
  }
  return op + 1;
}

template <class T, class Operation, class Global> Handler by_width(int elements) {
  switch (elements) {
  case 1: return atomic<T, Operation, Global, 1>;
  case 2: return atomic<T, Operation, Global, 2>;
  case 4: return atomic<T, Operation, Global, 4>;
  case 8: return atomic<T, Operation, Global, 8>;
  default: return nullptr;
  }
}

// One element at `place`, in memory that others may write at the same time.
template <class T, class Operation> void reduce(std::byte* place, const std::byte* value, bool locked) {
  T b;
  std::memcpy(&b, value, sizeof b);
  if (locked)
    update<T, Operation, true>(place, b, b);
  else
    update<T, Operation, false>(place, b, b);
}

// What `make` returns for the operation of an instruction on numbers of type T; null for unknown ones.
template <class T, class Make> auto of_operation(const isa::Spelling& s, Make make) {
  if (s.has(Word::w_add)) return make.template operator()<T, Addition>();
  if (s.has(Word::w_and_)) return make.template operator()<T, And>();
  if (s.has(Word::w_or_)) return make.template operator()<T, Or>();
  if (s.has(Word::w_xor_)) return make.template operator()<T, Xor>();
  if (s.has(Word::w_exch)) return make.template operator()<T, Exchange>();
  if (s.has(Word::w_cas)) return make.template operator()<T, CompareAndSwap>();
  if (s.has(Word::w_inc)) return make.template operator()<T, Increment>();
  if (s.has(Word::w_dec)) return make.template operator()<T, Decrement>();
  if (s.has(Word::w_min)) return make.template operator()<T, Minimum>();
  if (s.has(Word::w_max)) return make.template operator()<T, Maximum>();
  return decltype(make.template operator()<T, Addition>()){};
}

// The same for integers of 32 and 64 bits.
template <class Make> auto on_integers(const isa::Spelling& s, Make make) {
  switch (s.form.type()) {
  case Type::b32:
  case Type::u32: return of_operation<std::uint32_t>(s, make);
  case Type::s32: return of_operation<std::int32_t>(s, make);
  case Type::b64:
  case Type::u64: return of_operation<std::uint64_t>(s, make);
  case Type::s64: return of_operation<std::int64_t>(s, make);
  default: return decltype(make.template operator()<std::uint32_t, Addition>()){};
  }
}

template <class T, class Operation, bool locked, bool returns>
void update_places(const std::uint64_t* places, T* values, Mask mask) {
  const auto lane = [&](int i) {
    const T old = update<T, Operation, locked>(reinterpret_cast<std::byte*>(places[i]), values[i], values[i]);
    if constexpr (returns) values[i] = old;
  };
  if (mask != kFullMask) {
    for (const int i : EachLane(mask)) lane(i);
    return;
  }
  if (locked) WARPLENS_LEVEL::fetch_lines(places);
  for (int i = 0; i < kWarpSize; ++i) lane(i);
}

template <class T, class Operation>
void update_places(const std::uint64_t* places, void* values, Mask mask, bool locked, bool returns) {
  T* const v = static_cast<T*>(values);
  if (locked)
    update_places<T, Operation, true, true>(places, v, mask);
  else if (returns)
    update_places<T, Operation, false, true>(places, v, mask);
  else
    update_places<T, Operation, false, false>(places, v, mask);
}

template <class T, Type t, class Make> auto on_halves(const isa::Spelling& s, Make make) {
  if (s.has(Word::w_min)) return make.template operator()<T, OnHalves<isa::scalar::MinimumHalf, t>>();
  if (s.has(Word::w_max)) return make.template operator()<T, OnHalves<isa::scalar::MaximumHalf, t>>();
  return make.template operator()<T, OnHalves<isa::scalar::AddHalf, t>>();
}

} // namespace

Reducer reducer(const isa::Spelling& spelling) {
  const auto make = []<class T, class Operation>() -> Reducer { return reduce<T, Operation>; };
  switch (spelling.form.type()) {
  case Type::f32: return reduce<float, FlushingAddition>;
  case Type::f64: return reduce<double, Addition>;
  case Type::f16: return on_halves<std::uint16_t, Type::f16>(spelling, make);
  case Type::bf16: return on_halves<std::uint16_t, Type::bf16>(spelling, make);
  default: return on_integers(spelling, make);
  }
}

AtomicLanes atomic_lanes(const isa::Spelling& spelling) {
  if (spelling.has(Word::w_cas)) return nullptr;
  return on_integers(spelling, []<class T, class Operation>() -> AtomicLanes { return update_places<T, Operation>; });
}

Handler atomic_handler(const isa::Spelling& spelling, int elements) {
  const auto on_one = []<class T, class Operation>() -> Handler { return atomic<T, Operation, Operation, 1>; };
  const auto on_all = [&]<class T, class Operation>() { return by_width<T, Operation, Operation>(elements); };
  switch (spelling.form.type()) {
  case Type::b16: return atomic<std::uint16_t, CompareAndSwap, CompareAndSwap, 1>;
  case Type::b128:
    return spelling.has(Word::w_cas) ? atomic<Word128, CompareAndSwap, CompareAndSwap, 1>
                                     : atomic<Word128, Exchange, Exchange, 1>;
  case Type::f32: return by_width<float, Addition, FlushingAddition>(elements);
  case Type::f64: return atomic<double, Addition, Addition, 1>;
  case Type::f16: return on_halves<std::uint16_t, Type::f16>(spelling, on_all);
  case Type::bf16: return on_halves<std::uint16_t, Type::bf16>(spelling, on_all);
  case Type::f16x2: return on_halves<std::uint32_t, Type::f16x2>(spelling, on_all);
  case Type::bf16x2: return on_halves<std::uint32_t, Type::bf16x2>(spelling, on_all);
  default: return on_integers(spelling, on_one);
  }
}

} // namespace warplens::exec
