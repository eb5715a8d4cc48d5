#include "emulator/exec/atomics.hpp"

#define WARPLENS_LEVEL scalar
#include "emulator/exec/access.hpp"

#include <atomic>

namespace warplens::exec {

namespace {

using isa::Word;

// Each operation says what memory holds afterwards (manual, 9.7.13.5). Wrapping is done on unsigned types.
struct Addition {
  template <class T> static T apply(T old, T b, T) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(old) + static_cast<U>(b));
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

template <class T, class Operation> T update(std::byte* p, T b, T c) {
  std::atomic_ref<T> cell(*reinterpret_cast<T*>(p));
  T old = cell.load(std::memory_order_relaxed);
  while (!cell.compare_exchange_weak(old, Operation::apply(old, b, c), std::memory_order_acq_rel)) {
  }
  return old;
}

template <class T, class Operation> const Op* atomic(const Op* op, Warp* warp) {
  const Mask mask = acting(op, warp);
  if (mask == 0) return op + 1;
  HostAccess host;
  if (!(warp->worker->watch ? scalar::resolve<true>(op, warp, mask, host)
                            : scalar::resolve<false>(op, warp, mask, host)))
    return nullptr;
  const T* const b = row<T>(warp, op->src[1]);
  const T* const c = row<T>(warp, op->src[2]);
  T* const d = op->site->kind == AccessKind::atomic ? row<T>(warp, op->dst[0]) : nullptr;
  for (Mask m = mask; m != 0; m &= m - 1) {
    const int i = __builtin_ctz(m);
    const T old = update<T, Operation>(host.at(i), b[i], c[i]);
    if (d != nullptr) d[i] = old;
  }
  return op + 1;
}

template <class T> Handler for_type(const isa::Spelling& s) {
  if (s.has(Word::w_add)) return atomic<T, Addition>;
  if (s.has(Word::w_and_)) return atomic<T, And>;
  if (s.has(Word::w_or_)) return atomic<T, Or>;
  if (s.has(Word::w_xor_)) return atomic<T, Xor>;
  if (s.has(Word::w_exch)) return atomic<T, Exchange>;
  if (s.has(Word::w_cas)) return atomic<T, CompareAndSwap>;
  if (s.has(Word::w_inc)) return atomic<T, Increment>;
  if (s.has(Word::w_dec)) return atomic<T, Decrement>;
  if (s.has(Word::w_min)) return atomic<T, Minimum>;
  if (s.has(Word::w_max)) return atomic<T, Maximum>;
  return nullptr;
}

} // namespace

Handler atomic_handler(const isa::Spelling& spelling) {
  switch (spelling.form.type()) {
  case isa::Type::b32:
  case isa::Type::u32: return for_type<std::uint32_t>(spelling);
  case isa::Type::s32: return for_type<std::int32_t>(spelling);
  case isa::Type::b64:
  case isa::Type::u64: return for_type<std::uint64_t>(spelling);
  case isa::Type::s64: return for_type<std::int64_t>(spelling);
  default: return nullptr;
  }
}

} // namespace warplens::exec
