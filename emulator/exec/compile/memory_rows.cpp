// SPDX-License-Identifier: Apache-2.0
// Memory accesses, counters and vector moves of compiled kernels. Compiled by clang to bitcode, once per level: see
// row_function.hpp.
#include "emulator/exec/access/access.hpp"
#include "emulator/exec/access/element_rows.hpp"
#include "emulator/exec/block/control.hpp"
#include "emulator/exec/compile/row_function.hpp"
#include "emulator/exec/lanes/special_operands.hpp"

// Defined in emulator/exec/compile/support.cpp.
extern "C" void warplens_tell_access(warplens::exec::Warp* warp, const warplens::exec::Op* op,
                                     warplens::isa::Space space, std::uint64_t base, std::int64_t stride,
                                     std::int64_t half);
extern "C" void warplens_tell_lanes(warplens::exec::Warp* warp, const warplens::exec::Op* op,
                                    warplens::isa::Space space, const std::uint64_t* addresses,
                                    warplens::exec::Mask mask);
extern "C" void warplens_tell_sequences(warplens::exec::Warp* warp, const warplens::exec::Op* op,
                                        warplens::exec::Mask mask, std::uint64_t base, std::int64_t stride,
                                        std::int64_t other_stride, std::int64_t half);
extern "C" void warplens_tell_sequence(warplens::exec::Warp* warp, const warplens::exec::Op* op,
                                       warplens::isa::Space space, std::uint64_t base, std::int64_t stride,
                                       std::int64_t half, std::uint32_t tally);
extern "C" void warplens_deliver_rows(warplens::exec::Warp* warp, warplens::exec::AccessWatch::Rows* rows);
extern "C" void warplens_store_1(const std::uint64_t* places, const void* values, warplens::exec::Mask mask);
extern "C" void warplens_store_2(const std::uint64_t* places, const void* values, warplens::exec::Mask mask);
extern "C" void warplens_store_4(const std::uint64_t* places, const void* values, warplens::exec::Mask mask);
extern "C" void warplens_store_8(const std::uint64_t* places, const void* values, warplens::exec::Mask mask);
extern "C" void warplens_tell_special(warplens::exec::Warp* warp, std::uint32_t instruction,
                                      warplens::exec::Mask lanes);
extern "C" void warplens_tell_branch(warplens::exec::Warp* warp, std::uint32_t branch, warplens::exec::Mask taken);

namespace warplens::exec::WARPLENS_LEVEL {

namespace {

// The accesses of other warps come between those of this one as if it were interpreted: none is moved or left out.
inline void fence() { asm volatile("" ::: "memory"); }

// Whether the lanes' addresses are two sequences of 16: with the stride, or all equal.
template <class A, A stride> inline bool are_sequences(const A* values, bool equal) {
  constexpr int kCount = std::min<int>(kHalf, kVectorBytes / sizeof(A));
  using V = Vector<A, kCount>;
  constexpr auto kSteps = []<int... I>(std::integer_sequence<int, I...>) {
    return V{static_cast<A>(static_cast<A>(I) * stride)...};
  }
  (std::make_integer_sequence<int, kCount>{});
  const A some = equal ? A{0} : static_cast<A>(~A{0});
  const V steps = kSteps & some;
  V bits{};
  for (int h = 0; h < kWarpSize; h += kHalf)
    for (int i = 0; i < kHalf; i += kCount) {
      V lanes;
      std::memcpy(&lanes, values + h + i, sizeof lanes);
      bits |= lanes ^ (steps + static_cast<A>(values[h] + (static_cast<A>(static_cast<A>(i) * stride) & some)));
    }
  return __builtin_reduce_or(bits) == 0;
}

inline void tell(Warp* warp, const Op* op, isa::Space space, std::uint64_t base, std::int64_t stride,
                 std::int64_t half) {
  if (!warp->worker->watch->counts_again(*warp, *op->site, space, base, stride, half)) [[unlikely]]
    warplens_tell_access(warp, op, space, base, stride, half);
}

// Whether the lanes are surely no sequences, not even by halves.
template <class A> inline bool are_scattered(const A* values, Mask mask) {
  return mask == kFullMask && values[2] - values[1] != values[1] - values[0];
}

// As resolve() tells of the addresses of all lanes.
template <class A>
[[gnu::flatten]] void tell_lanes(Warp* warp, const Op* op, isa::Space space, const A* values, Mask mask) {
  if (mask == 0) return;
  const MemorySite& site = *op->site;
  if (!are_scattered(values, mask)) {
    const Sequences a = exec::WARPLENS_LEVEL::classify(values, 0, mask);
    if (a.regular) return warplens_tell_sequences(warp, op, mask, a.base, a.stride[0], a.stride[1], a.half);
  }
  AccessWatch::Rows* const rows = warp->worker->watch->rows_of(*warp, site, space);
  if (rows != nullptr && site.observed_bytes != 0) {
    std::uint64_t* const to = rows->rows[rows->count];
    for (int i = 0; i < kWarpSize; ++i) to[i] = values[i] + static_cast<std::uint64_t>(site.observed_offset);
    rows->masks[rows->count] = mask;
    if (++rows->count == AccessWatch::Rows::kMost) warplens_deliver_rows(warp, rows);
    return;
  }
  std::uint64_t addresses[kWarpSize];
  for (int i = 0; i < kWarpSize; ++i) addresses[i] = values[i];
  warplens_tell_lanes(warp, op, space, addresses, mask);
}

struct Reach {
  std::byte* base;
  std::int64_t half;
};

// As resolve(), for addresses that are two sequences of 16 lanes with the stride 0 or `lane_bytes`.
template <class A, unsigned lane_bytes>
inline bool reach_sequences(const Op* op, const A* values, std::int64_t stride, Warp* warp, const Op* real,
                            AccessFacts facts, Reach& reach) {
  const std::uint64_t base = static_cast<A>(values[0] + static_cast<A>(op->imm));
  const std::int64_t half = static_cast<std::make_signed_t<A>>(static_cast<A>(values[kHalf] - values[0]));
  if (((base | static_cast<std::uint64_t>(half)) & (lane_bytes - 1u)) != 0) return false;
  const std::uint64_t second = base + static_cast<std::uint64_t>(half);
  const std::uint64_t low = std::min(base, second),
                      high = std::max(base, second) + static_cast<std::uint64_t>(15 * stride) + lane_bytes;
  const Cta& cta = *warp->cta;
  std::uint64_t begin = 0, end = 0, origin = 0;
  if (facts.space == isa::Space::shared) {
    end = cta.shared_bytes;
    origin = reinterpret_cast<std::uint64_t>(cta.shared);
  } else {
    const Worker::Region& region = warp->worker->regions[facts.site];
    begin = region.begin;
    end = region.end;
  }
  if (low < begin || low >= high || high > end) return false;
  reach = {reinterpret_cast<std::byte*>(origin + base), half};
  if (facts.watched) tell(warp, real, facts.space, base, stride, half);
  fence();
  return true;
}

template <class M, class R, int V, class A>
[[gnu::flatten]] bool load(const Op* op, Warp* __restrict rows, Warp* warp, const Op* real, AccessFacts facts) {
  constexpr std::int64_t kBytes = V * sizeof(M);
  const A* const values = row<A>(rows, op->src[0]);
  const auto stride = static_cast<std::make_signed_t<A>>(static_cast<A>(values[1] - values[0]));
  const bool equal = stride == 0;
  Reach reach;
  if ((!equal && stride != kBytes) || !are_sequences<A, kBytes>(values, equal) ||
      !reach_sequences<A, kBytes>(op, values, stride, warp, real, facts, reach))
    return false;
  if (equal) {
    for (int e = 0; e < V; ++e) {
      R* const d = row<R>(rows, loaded<V>(op, e));
      fill_half(d, static_cast<R>(exec::WARPLENS_LEVEL::read<M>(reach.base + e * sizeof(M))));
      fill_half(d + kHalf, static_cast<R>(exec::WARPLENS_LEVEL::read<M>(reach.base + reach.half + e * sizeof(M))));
    }
  } else {
    if constexpr (kTransposed<M, R, V>) {
      load_transposed<M, R, V>(op, rows, 0, reach.base);
      load_transposed<M, R, V>(op, rows, kHalf, reach.base + reach.half);
    } else {
      for (int e = 0; e < V; ++e) {
        R* const d = row<R>(rows, loaded<V>(op, e));
        load_half<M, R, V>(d, reach.base + e * sizeof(M), kBytes);
        load_half<M, R, V>(d + kHalf, reach.base + reach.half + e * sizeof(M), kBytes);
      }
    }
  }
  fence();
  return true;
}

template <class M, class R, int V, class A>
[[gnu::flatten]] bool store(const Op* op, Warp* __restrict rows, Warp* warp, const Op* real, AccessFacts facts) {
  constexpr std::int64_t kBytes = V * sizeof(M);
  const A* const values = row<A>(rows, op->src[0]);
  Reach reach;
  if (!are_sequences<A, kBytes>(values, false) ||
      !reach_sequences<A, kBytes>(op, values, kBytes, warp, real, facts, reach))
    return false;
  store_sequences<M, R, V>(op, rows, reach.base, reach.half);
  fence();
  return true;
}

} // namespace

// `rows` is a local variable of the compiled code, which no other memory overlaps: where clang must check this, it
// takes the variable's address, and all rows of the kernel stay in memory.
//
// The table of the access functions: of each kind of access (what follows "access_"), one for addresses of 64 bits and
// one of 32. The names are those that name_of() in compiler.cpp makes.
#define WARPLENS_ACCESS(m, M, r, R, v)                                                                                 \
  extern "C" [[gnu::used]] bool load_##m##_##r##_##v##_64(const Op* op, Warp* __restrict rows, Warp* warp,             \
                                                          const Op* real, AccessFacts* facts) {                        \
    return load<M, R, v, std::uint64_t>(op, rows, warp, real, *facts);                                                 \
  }                                                                                                                    \
  extern "C" [[gnu::used]] bool load_##m##_##r##_##v##_32(const Op* op, Warp* __restrict rows, Warp* warp,             \
                                                          const Op* real, AccessFacts* facts) {                        \
    return load<M, R, v, std::uint32_t>(op, rows, warp, real, *facts);                                                 \
  }
#define WARPLENS_STORE(m, M, r, R, v)                                                                                  \
  extern "C" [[gnu::used]] bool store_##m##_##r##_##v##_64(const Op* op, Warp* __restrict rows, Warp* warp,            \
                                                           const Op* real, AccessFacts* facts) {                       \
    return store<M, R, v, std::uint64_t>(op, rows, warp, real, *facts);                                                \
  }                                                                                                                    \
  extern "C" [[gnu::used]] bool store_##m##_##r##_##v##_32(const Op* op, Warp* __restrict rows, Warp* warp,            \
                                                           const Op* real, AccessFacts* facts) {                       \
    return store<M, R, v, std::uint32_t>(op, rows, warp, real, *facts);                                                \
  }
#define WARPLENS_EACH(m, M, r, R)                                                                                      \
  WARPLENS_ACCESS(m, M, r, R, 1) WARPLENS_ACCESS(m, M, r, R, 2) WARPLENS_ACCESS(m, M, r, R, 4)
#define WARPLENS_EACH_STORE(m, M, r, R)                                                                                \
  WARPLENS_STORE(m, M, r, R, 1) WARPLENS_STORE(m, M, r, R, 2) WARPLENS_STORE(m, M, r, R, 4)

// clang-format off
WARPLENS_EACH(u1, std::uint8_t, 1, std::uint8_t) WARPLENS_EACH(u1, std::uint8_t, 2, std::uint16_t)
WARPLENS_EACH(u1, std::uint8_t, 4, std::uint32_t) WARPLENS_EACH(u1, std::uint8_t, 8, std::uint64_t)
WARPLENS_EACH(s1, std::int8_t, 2, std::int16_t) WARPLENS_EACH(s1, std::int8_t, 4, std::int32_t)
WARPLENS_EACH(s1, std::int8_t, 8, std::int64_t)
WARPLENS_EACH(u2, std::uint16_t, 2, std::uint16_t) WARPLENS_EACH(u2, std::uint16_t, 4, std::uint32_t)
WARPLENS_EACH(u2, std::uint16_t, 8, std::uint64_t) WARPLENS_EACH(s2, std::int16_t, 4, std::int32_t)
WARPLENS_EACH(s2, std::int16_t, 8, std::int64_t)
WARPLENS_EACH(u4, std::uint32_t, 4, std::uint32_t) WARPLENS_EACH(u4, std::uint32_t, 8, std::uint64_t)
WARPLENS_EACH(s4, std::int32_t, 8, std::int64_t)
WARPLENS_EACH(u8, std::uint64_t, 8, std::uint64_t)
WARPLENS_EACH_STORE(u1, std::uint8_t, 1, std::uint8_t) WARPLENS_EACH_STORE(u1, std::uint8_t, 2, std::uint16_t)
WARPLENS_EACH_STORE(u1, std::uint8_t, 4, std::uint32_t) WARPLENS_EACH_STORE(u1, std::uint8_t, 8, std::uint64_t)
WARPLENS_EACH_STORE(u2, std::uint16_t, 2, std::uint16_t) WARPLENS_EACH_STORE(u2, std::uint16_t, 4, std::uint32_t)
WARPLENS_EACH_STORE(u2, std::uint16_t, 8, std::uint64_t)
WARPLENS_EACH_STORE(u4, std::uint32_t, 4, std::uint32_t) WARPLENS_EACH_STORE(u4, std::uint32_t, 8, std::uint64_t)
WARPLENS_EACH_STORE(u8, std::uint64_t, 8, std::uint64_t)
    // clang-format on

    // Whether compiled code cannot do what the launch needs: a watcher that the code does not know, or blocks of
    // another layout; of two warps at once, also events one by one.
    extern "C" [[gnu::used]] bool must_interpret(Warp* warp, bool watched, std::uint8_t layout, bool pair) {
  const Worker& worker = *warp->worker;
  return (pair && warp->told_each) || worker.watch.has_value() != watched || !worker.compiled ||
         static_cast<std::uint8_t>(worker.layout) < layout;
}

// Which lanes have special operands.
#define WARPLENS_SPECIAL(name, Bits, rounded)                                                                          \
  extern "C" [[gnu::used]] void special_##name(const Op* op, Warp* __restrict rows) {                                  \
    const Bits* const a = row<Bits>(rows, op->src[0]);                                                                 \
    const Bits* const b = row<Bits>(rows, op->src[1]);                                                                 \
    predicate(rows, op->dst[0]) =                                                                                      \
        gather_bits([&](int i) { return special_bits<Bits, Rounded::rounded>(a[i], b[i]) != 0; });                     \
  }
WARPLENS_SPECIAL(division_32, std::uint32_t, division)
WARPLENS_SPECIAL(division_64, std::uint64_t, division)
WARPLENS_SPECIAL(root_32, std::uint32_t, root)
WARPLENS_SPECIAL(root_64, std::uint64_t, root)
WARPLENS_SPECIAL(reciprocal_32, std::uint32_t, reciprocal)
WARPLENS_SPECIAL(reciprocal_64, std::uint64_t, reciprocal)

extern "C" [[gnu::used]] const std::byte* shared_of(Warp* warp) { return warp->cta->shared; }
extern "C" [[gnu::used]] std::uint64_t shared_bytes_of(Warp* warp) { return warp->cta->shared_bytes; }
extern "C" [[gnu::used]] const std::byte* local_of(Warp* warp) {
  return warp->cta->local + std::uint64_t{warp->index} * kWarpSize * warp->cta->local_stride;
}
extern "C" [[gnu::used]] std::uint64_t local_bytes_of(Warp* warp) { return warp->cta->local_bytes; }
extern "C" [[gnu::used]] std::uint64_t local_stride_of(Warp* warp) { return warp->cta->local_stride; }
extern "C" [[gnu::used]] const Worker::Region* region_of(Warp* warp, std::uint32_t site) {
  return &warp->worker->regions[site];
}
extern "C" [[gnu::used]] void tell_access_of(Warp* warp, const Op* op, isa::Space space, std::uint64_t base,
                                             std::int64_t stride, std::int64_t half, std::uint32_t tally) {
  warplens_tell_sequence(warp, op, space, base, stride, half, tally);
}
// As classify() finds of some lanes.
extern "C" [[gnu::used]] void tell_some_of(Warp* warp, const Op* op, Mask mask, std::uint64_t base,
                                           std::int64_t stride) {
  if (mask == 0) return;
  if (few(mask)) {
    base += static_cast<std::uint64_t>(__builtin_ctz(mask) * stride);
    stride = 0;
  }
  warplens_tell_sequences(warp, op, mask, base, stride, stride, kHalf * stride);
}
// Whether the sectors of an access to global memory need no more than this.
extern "C" [[gnu::used]] bool extends_touched(Warp* warp, std::uint32_t site, std::uint64_t base, std::uint64_t last,
                                              bool dense) {
  std::optional<TouchedSectors>& touched = warp->worker->touched;
  return !touched || (dense && touched->extends(site, base, last));
}

// Where compiled code counts by itself; null: it tells of everything.
extern "C" [[gnu::used]] std::uint64_t* tallies_of(Warp* warp) {
  return warp->told_each ? nullptr : warp->worker->tallies.words();
}
extern "C" [[gnu::used]] BlockCounter* blocks_of(Warp* warp) { return warp->worker->blocks.data(); }

extern "C" [[gnu::used]] void tell_lanes_of_64(Warp* warp, const Op* op, isa::Space space, const std::uint64_t* values,
                                               Mask mask) {
  tell_lanes(warp, op, space, values, mask);
}
extern "C" [[gnu::used]] void tell_lanes_of_32(Warp* warp, const Op* op, isa::Space space, const std::uint32_t* values,
                                               Mask mask) {
  tell_lanes(warp, op, space, values, mask);
}

extern "C" [[gnu::used]] void tell_special_of(Warp* warp, std::uint32_t instruction, Mask lanes) {
  warplens_tell_special(warp, instruction, lanes);
}

// Elements of so many bytes, by the lanes of a mask.
extern "C" [[gnu::used]] void store_lanes_of_1(const std::uint64_t* places, const void* values, Mask mask) {
  warplens_store_1(places, values, mask);
}
extern "C" [[gnu::used]] void store_lanes_of_2(const std::uint64_t* places, const void* values, Mask mask) {
  warplens_store_2(places, values, mask);
}
extern "C" [[gnu::used]] void store_lanes_of_4(const std::uint64_t* places, const void* values, Mask mask) {
  warplens_store_4(places, values, mask);
}
extern "C" [[gnu::used]] void store_lanes_of_8(const std::uint64_t* places, const void* values, Mask mask) {
  warplens_store_8(places, values, mask);
}

// Whether somebody must know of atomic operations on global memory, and whether no other thread does any.
extern "C" [[gnu::used]] bool tells_reductions(Warp* warp) { return warp->worker->launch.written != nullptr; }
extern "C" [[gnu::used]] bool works_alone(Warp* warp) { return warp->worker->alone; }

// A kernel parameter: `bytes` of it, at the offset, as a number that the compiler narrows or extends.
extern "C" [[gnu::used]] const std::byte* parameter_of(Warp* warp) { return warp->worker->launch.params.data(); }

// The handler of each op as it was decoded.
extern "C" [[gnu::used]] const Handler* originals_of(Warp* warp) { return warp->cta->program.code->originals.data(); }

extern "C" [[gnu::used]] const Op* rejoin_of(Warp* warp) { return warp->paths->rejoin; }

extern "C" [[gnu::used]] void count_guarded_of(Warp* warp, std::uint32_t counter, Mask mask) {
  warp->worker->guarded[counter] += static_cast<unsigned>(__builtin_popcount(mask));
}

extern "C" [[gnu::used]] void count_branch_of(Warp* warp, std::uint32_t branch, Mask taken) {
  if (!warp->worker->count_again(*warp, branch, warp->active, taken)) warplens_tell_branch(warp, branch, taken);
}

// All lanes go the same way, or not.
extern "C" [[gnu::used]] void count_any_branch_of(Warp* warp, std::uint64_t* tallies, std::uint32_t place,
                                                  std::uint32_t branch, Mask taken) {
  if (tallies != nullptr && warp->active == kFullMask && (taken == 0 || taken == kFullMask))
    ++tallies[place + (taken == 0 ? 0 : 1)];
  else
    count_branch_of(warp, branch, taken);
}

extern "C" [[gnu::used]] void count_block_of(Warp* warp, std::uint32_t block) { count(warp, block); }

extern "C" [[gnu::used]] void count_branch_of_pair(Warp* a, Warp* b, std::uint32_t branch, Mask taken) {
  if (a->worker->count_again(*a, branch, a->active, taken, 2)) return;
  warplens_tell_branch(a, branch, taken);
  warplens_tell_branch(b, branch, taken);
}

} // namespace warplens::exec::WARPLENS_LEVEL
