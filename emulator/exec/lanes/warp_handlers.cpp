// SPDX-License-Identifier: Apache-2.0
// Shuffles, votes, matches and reductions across the lanes of a warp, and tests of special operands. Compiled once per
// level.
//
// Only acting lanes send and receive. In a .sync form, lanes with the same membermask form a group. Named lanes that
// have exited (or were never launched) are ignored, as the manual says. For other missing lanes and wrong masks, see
// membermasks.hpp.
#include "emulator/exec/lanes/warp_handlers.hpp"
#include "emulator/exec/block/membermasks.hpp"
#include "emulator/exec/block/sync_checks.hpp"
#include "emulator/exec/lanes/lanes.hpp"
#include "emulator/exec/lanes/special_operands.hpp"
#include "emulator/exec/state/shuffle_source.hpp"

#include <limits>

namespace warplens::exec::WARPLENS_LEVEL {

namespace {

using Word32 = std::uint32_t;

// The lanes whose value is `value`.
template <class T> inline Mask lanes_with(const T* values, T value) {
  return gather_bits([&](int i) { return values[i] == value; });
}
inline Mask lanes_with(const Word32* values, Word32 value) {
  Mask mask = 0;
#if defined(__AVX512F__)
  const __m512i wanted = _mm512_set1_epi32(static_cast<int>(value));
  for (int i = 0; i < kWarpSize; i += 16)
    mask |= static_cast<Mask>(_mm512_cmpeq_epi32_mask(_mm512_load_si512(values + i), wanted)) << i;
#elif defined(__AVX2__)
  const __m256i wanted = _mm256_set1_epi32(static_cast<int>(value));
  for (int i = 0; i < kWarpSize; i += 8) {
    const __m256i eight = _mm256_load_si256(reinterpret_cast<const __m256i*>(values + i));
    const __m256i same = _mm256_cmpeq_epi32(eight, wanted);
    mask |= static_cast<Mask>(_mm256_movemask_ps(_mm256_castsi256_ps(same))) << i;
  }
#else
  mask = gather_bits([&](int i) { return values[i] == value; });
#endif
  return mask;
}

// Calls `with` for each group of acting lanes. Returns false if a membermask is wrong or names missing lanes; then the
// warp stops. `with` may write the lanes of its group in any row: they are not read again.
template <bool sync, class With> inline bool each_group(const Op* op, Warp* warp, Mask mask, With with) {
  if constexpr (!sync) {
    with(mask);
    return true;
  }
  if (mask == 0) return true;
  const Word32* const masks = row<Word32>(warp, op->src[3]);
  const auto group_in = [&](Mask left) { return lanes_with(masks, masks[__builtin_ctz(left)]) & left; };
  const auto right = [&](Mask group) {
    const Word32 named = masks[__builtin_ctz(group)];
    return (group & ~named) == 0 && (named & warp->live & ~group) == 0;
  };
  const Mask first = group_in(mask);
  bool valid = right(first);
  for (Mask left = mask & ~first, group; left != 0 && valid; left &= ~group) valid = right(group = group_in(left));
  if (!valid) { // nothing has run yet: the lanes can repeat the instruction
    stop_at_membermask(op, warp);
    return false;
  }
  with(first);
  for (Mask left = mask & ~first, group; left != 0; left &= ~group) with(group = group_in(left));
  return true;
}

inline void assign(Word32* d, Mask mask, const Word32* fresh) {
  for (int i = 0; i < kWarpSize; ++i) d[i] = (mask >> i & 1) != 0 ? fresh[i] : d[i];
}
inline void assign(Word32* d, Mask mask, Word32 value) {
  if (mask == kFullMask)
    for (int i = 0; i < kWarpSize; ++i) d[i] = value;
  else
    for (int i = 0; i < kWarpSize; ++i) d[i] = (mask >> i & 1) != 0 ? value : d[i];
}
inline void assign(Mask& d, Mask mask, Mask value) { d = (d & ~mask) | (value & mask); }

// ---- shfl (9.7.9.5, 9.7.9.6)

// d[i] = s[lane[i]]; d must differ from s and lane.
inline void permute(Word32* d, const Word32* s, const Word32* lane) {
#if defined(__AVX512F__)
  const __m512i low = _mm512_load_si512(s), high = _mm512_load_si512(s + 16);
  _mm512_store_si512(d, _mm512_permutex2var_epi32(low, _mm512_load_si512(lane), high));
  _mm512_store_si512(d + 16, _mm512_permutex2var_epi32(low, _mm512_load_si512(lane + 16), high));
#else
  for (int i = 0; i < kWarpSize; ++i) d[i] = s[lane[i]];
#endif
}

constexpr Shuffle shuffle_of(WarpOperation mode) {
  return mode == WarpOperation::shuffle_up          ? Shuffle::up
         : mode == WarpOperation::shuffle_down      ? Shuffle::down
         : mode == WarpOperation::shuffle_butterfly ? Shuffle::butterfly
                                                    : Shuffle::index;
}

template <WarpOperation mode, bool sync, bool predicated> const Op* shuffle(const Op* op, Warp* warp) {
  const Mask mask = acting(op, warp);
  if (!each_group<sync>(op, warp, mask, [](Mask) {})) return nullptr;
  const Word32* const a = row<Word32>(warp, op->src[0]);
  const Word32* const b = row<Word32>(warp, op->src[1]);
  const Word32* const c = row<Word32>(warp, op->src[2]);
  Word32* const d = row<Word32>(warp, op->dst[0]);
  alignas(64) Word32 from[kWarpSize], fresh[kWarpSize];
  for (int i = 0; i < kWarpSize; ++i)
    from[i] = static_cast<Word32>(shuffle_source(shuffle_of(mode), i, b[i], c[i]).lane);
  Mask in_range_lanes = 0;
  if constexpr (predicated)
    in_range_lanes = gather_bits([&](int i) { return shuffle_source(shuffle_of(mode), i, b[i], c[i]).in_range; });
  if (mask == kFullMask) {
    permute(fresh, a, from);
    std::memcpy(d, fresh, sizeof fresh);
  } else { // the value of a lane that does not participate is undefined: zero, as on an H200
    if (checks_sync(warp)) check_sources(op, warp, mask, from);
    alignas(64) Word32 given[kWarpSize];
    for (int i = 0; i < kWarpSize; ++i) given[i] = (mask >> i & 1) != 0 ? a[i] : 0;
    permute(fresh, given, from);
    assign(d, mask, fresh);
  }
  if constexpr (predicated) assign(predicate(warp, op->dst[1]), mask, in_range_lanes);
  return op + 1;
}

template <WarpOperation mode> Handler shuffle(const WarpHandlerKey& key) {
  if (key.predicate) return key.sync ? shuffle<mode, true, true> : shuffle<mode, false, true>;
  return key.sync ? shuffle<mode, true, false> : shuffle<mode, false, false>;
}

// ---- vote (9.7.13.6, 9.7.13.7)

template <WarpOperation mode, bool sync> const Op* vote(const Op* op, Warp* warp) {
  const Mask mask = acting(op, warp);
  const Mask votes = predicate(warp, op->src[0]) ^ static_cast<Mask>(op->imm);
  Mask truth = 0;
  const bool valid = each_group<sync>(op, warp, mask, [&](Mask group) {
    const Mask yes = votes & group;
    if constexpr (mode == WarpOperation::ballot)
      assign(row<Word32>(warp, op->dst[0]), group, yes);
    else if constexpr (mode == WarpOperation::vote_all)
      truth |= yes == group ? group : 0;
    else if constexpr (mode == WarpOperation::vote_any)
      truth |= yes != 0 ? group : 0;
    else
      truth |= yes == group || yes == 0 ? group : 0;
  });
  if (!valid) return nullptr;
  if constexpr (mode != WarpOperation::ballot) assign(predicate(warp, op->dst[1]), mask, truth);
  return op + 1;
}

template <WarpOperation mode> Handler vote(const WarpHandlerKey& key) {
  return key.sync ? vote<mode, true> : vote<mode, false>;
}

// ---- match (9.7.13.8)

template <class T> const Op* match_any(const Op* op, Warp* warp) {
  const Mask mask = acting(op, warp);
  const T* const values = row<T>(warp, op->src[0]);
  const bool valid = each_group<true>(op, warp, mask, [&](Mask group) {
    for (Mask left = group; left != 0;) { // the destination may be the source: only remaining lanes are read
      const Mask same = lanes_with(values, values[__builtin_ctz(left)]) & left;
      assign(row<Word32>(warp, op->dst[0]), same, same);
      left &= ~same;
    }
  });
  return valid ? op + 1 : nullptr;
}

template <class T> const Op* match_all(const Op* op, Warp* warp) {
  const Mask mask = acting(op, warp);
  const T* const values = row<T>(warp, op->src[0]);
  Mask truth = 0;
  const bool valid = each_group<true>(op, warp, mask, [&](Mask group) {
    const bool same = (group & ~lanes_with(values, values[__builtin_ctz(group)])) == 0;
    assign(row<Word32>(warp, op->dst[0]), group, same ? group : 0);
    truth |= same ? group : 0;
  });
  if (!valid) return nullptr;
  assign(predicate(warp, op->dst[1]), mask, truth);
  return op + 1;
}

// ---- redux (9.7.13.10)

struct Sum {
  using T = Word32;
  static constexpr T kNeutral = 0;
  static T combine(T a, T b) { return a + b; }
};
template <class Type> struct Least {
  using T = Type;
  static constexpr T kNeutral = std::numeric_limits<T>::max();
  static T combine(T a, T b) { return b < a ? b : a; }
};
template <class Type> struct Most {
  using T = Type;
  static constexpr T kNeutral = std::numeric_limits<T>::min();
  static T combine(T a, T b) { return a < b ? b : a; }
};
struct Conjunction {
  using T = Word32;
  static constexpr T kNeutral = ~T{0};
  static T combine(T a, T b) { return a & b; }
};
struct Disjunction {
  using T = Word32;
  static constexpr T kNeutral = 0;
  static T combine(T a, T b) { return a | b; }
};
struct Parity {
  using T = Word32;
  static constexpr T kNeutral = 0;
  static T combine(T a, T b) { return a ^ b; }
};

template <class Operation> inline auto reduced(const typename Operation::T* values, Mask group) {
  using T = typename Operation::T;
  alignas(64) T members[kWarpSize];
  if (group != kFullMask) {
    for (int i = 0; i < kWarpSize; ++i) members[i] = (group >> i & 1) != 0 ? values[i] : Operation::kNeutral;
    values = members;
  }
  T result = Operation::kNeutral;
  for (int i = 0; i < kWarpSize; ++i) result = Operation::combine(result, values[i]);
  return result;
}

template <class Operation> const Op* reduce(const Op* op, Warp* warp) {
  const auto* const values = row<typename Operation::T>(warp, op->src[0]);
  const bool valid = each_group<true>(op, warp, acting(op, warp), [&](Mask group) {
    assign(row<Word32>(warp, op->dst[0]), group, static_cast<Word32>(reduced<Operation>(values, group)));
  });
  return valid ? op + 1 : nullptr;
}

// Floats by their bits, as integers in the same order (-0 before +0). A NaN becomes the neutral element, whose bits are
// those of the canonical NaN; without .NaN, it is thereby ignored.
template <bool most> const Op* reduce_float(const Op* op, Warp* warp) {
  using Operation = std::conditional_t<most, Most<std::int32_t>, Least<std::int32_t>>;
  constexpr Word32 kSign = 0x80000000u, kInfinity = 0x7f800000u, kNan = 0x7fffffffu;
  const Word32* const values = row<Word32>(warp, op->src[0]);
  const bool absolute = (op->extra & kAbsolute) != 0;
  alignas(64) std::int32_t ordered[kWarpSize];
  for (int i = 0; i < kWarpSize; ++i) {
    const Word32 bits = absolute ? values[i] & ~kSign : values[i];
    const Word32 order = (bits & kSign) != 0 ? bits ^ kNan : bits;
    ordered[i] = (bits & ~kSign) > kInfinity ? Operation::kNeutral : static_cast<std::int32_t>(order);
  }
  const Mask nans = gather_bits([&](int i) { return ordered[i] == Operation::kNeutral; });
  const bool valid = each_group<true>(op, warp, acting(op, warp), [&](Mask group) {
    const bool spoilt = (op->extra & kPropagateNan) != 0 ? (nans & group) != 0 : (nans & group) == group;
    const auto order = static_cast<Word32>(reduced<Operation>(ordered, group));
    const Word32 bits = (order & kSign) != 0 ? order ^ kNan : order;
    assign(row<Word32>(warp, op->dst[0]), group, spoilt ? kNan : bits);
  });
  return valid ? op + 1 : nullptr;
}

// ---- elect (9.7.13.11), activemask (9.7.13.9)

const Op* elect(const Op* op, Warp* warp) {
  const Mask mask = acting(op, warp);
  Mask elected = 0;
  const bool valid = each_group<true>(op, warp, mask, [&](Mask group) {
    assign(row<Word32>(warp, op->dst[0]), group, static_cast<Word32>(__builtin_ctz(group)));
    elected |= group & -group;
  });
  if (!valid) return nullptr;
  assign(predicate(warp, op->dst[1]), mask, elected);
  return op + 1;
}

const Op* active_mask(const Op* op, Warp* warp) {
  const Mask mask = acting(op, warp);
  assign(row<Word32>(warp, op->dst[0]), mask, mask);
  return op + 1;
}

} // namespace

Handler warp_handler(const WarpHandlerKey& key) {
  switch (key.operation) {
  case WarpOperation::shuffle_up: return shuffle<WarpOperation::shuffle_up>(key);
  case WarpOperation::shuffle_down: return shuffle<WarpOperation::shuffle_down>(key);
  case WarpOperation::shuffle_butterfly: return shuffle<WarpOperation::shuffle_butterfly>(key);
  case WarpOperation::shuffle_index: return shuffle<WarpOperation::shuffle_index>(key);
  case WarpOperation::vote_all: return vote<WarpOperation::vote_all>(key);
  case WarpOperation::vote_any: return vote<WarpOperation::vote_any>(key);
  case WarpOperation::vote_uniform: return vote<WarpOperation::vote_uniform>(key);
  case WarpOperation::ballot: return vote<WarpOperation::ballot>(key);
  case WarpOperation::match_any_32: return match_any<std::uint32_t>;
  case WarpOperation::match_any_64: return match_any<std::uint64_t>;
  case WarpOperation::match_all_32: return match_all<std::uint32_t>;
  case WarpOperation::match_all_64: return match_all<std::uint64_t>;
  case WarpOperation::add: return reduce<Sum>;
  case WarpOperation::min_unsigned: return reduce<Least<std::uint32_t>>;
  case WarpOperation::max_unsigned: return reduce<Most<std::uint32_t>>;
  case WarpOperation::min_signed: return reduce<Least<std::int32_t>>;
  case WarpOperation::max_signed: return reduce<Most<std::int32_t>>;
  case WarpOperation::bit_and: return reduce<Conjunction>;
  case WarpOperation::bit_or: return reduce<Disjunction>;
  case WarpOperation::bit_xor: return reduce<Parity>;
  case WarpOperation::min_float: return reduce_float<false>;
  case WarpOperation::max_float: return reduce_float<true>;
  case WarpOperation::elect: return elect;
  case WarpOperation::active_mask: return active_mask;
  case WarpOperation::special_division_32: return tell_special_operands<std::uint32_t, Rounded::division>;
  case WarpOperation::special_division_64: return tell_special_operands<std::uint64_t, Rounded::division>;
  case WarpOperation::special_root_32: return tell_special_operands<std::uint32_t, Rounded::root>;
  case WarpOperation::special_root_64: return tell_special_operands<std::uint64_t, Rounded::root>;
  case WarpOperation::special_reciprocal_32: return tell_special_operands<std::uint32_t, Rounded::reciprocal>;
  case WarpOperation::special_reciprocal_64: return tell_special_operands<std::uint64_t, Rounded::reciprocal>;
  }
  return nullptr;
}

} // namespace warplens::exec::WARPLENS_LEVEL
