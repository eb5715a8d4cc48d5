// SPDX-License-Identifier: Apache-2.0
// Compiled once per processor level.
#include "analyzers/batch_functions.hpp"

#include "analyzers/batch_vectors.hpp"

namespace warplens::analyzers::WARPLENS_LEVEL {

namespace {

// ---- From accesses to lanes.

/// Exchanges the elements with and without this bit in their number between rows with and without it.
template <int bit, int... C> WARPLENS_INLINE void exchange(V& low, V& high, std::integer_sequence<int, C...>) {
  const V a = low, b = high;
  low = __builtin_shufflevector(a, b, ((C & bit) != 0 ? kWide + (C ^ bit) : C)...);
  high = __builtin_shufflevector(a, b, ((C & bit) != 0 ? kWide + C : C ^ bit)...);
}

template <int bit> WARPLENS_INLINE void transpose_step(V (&rows)[kWide]) {
  times<kWide>([&](auto i) __attribute__((always_inline)) {
    if constexpr ((i & bit) == 0) exchange<bit>(rows[i], rows[i + bit], std::make_integer_sequence<int, kWide>{});
  });
  if constexpr (bit > 1) transpose_step<bit / 2>(rows);
}

constexpr std::int32_t kSectorEnd = 31, kLineEnd = 127; // the last bytes of the units
constexpr std::uint64_t kUnit = 4096;                   // no segment of memory, no row of banks is longer
constexpr std::uint64_t kReach = 1 << 30;               // of the lanes, from the first one

/// Whether all are near enough.
WARPLENS_INLINE bool distances(const std::uint64_t* addresses, std::uint64_t base, std::int32_t* keys) {
  std::uint64_t far = 0;
  for (int i = 0; i < kLanes; ++i) {
    const std::uint64_t distance = addresses[i] - base;
    far |= distance;
    keys[i] = static_cast<std::int32_t>(distance);
  }
  return far < 2 * kReach;
}

WARPLENS_INLINE void fill_idle(const std::uint64_t* addresses, exec::Mask mask, std::uint64_t* lanes) {
  for (int first = 0; first < kLanes; first += 8) {
    exec::Mask own = mask & 0xffu << first;
    if (own == 0) own = mask & 0xffffu << (first & 16);
    if (own == 0) own = mask;
    const std::uint64_t active = addresses[__builtin_ctz(own)];
    for (int i = first; i < first + 8; ++i) lanes[i] = (mask >> i & 1) != 0 ? addresses[i] : active;
  }
}

std::uint32_t arrange(const exec::AccessRows& rows, LaneNumbers& keys) {
  alignas(64) std::int32_t distance[kAccesses][kLanes];
  std::uint32_t near = 0;
  for (int r = 0; r < kAccesses; ++r) {
    if (r >= static_cast<int>(rows.count)) {
      for (std::int32_t& key : distance[r]) key = 0;
      continue;
    }
    const exec::Mask mask = rows.masks[r];
    const std::uint64_t* addresses = rows.rows[r];
    const std::uint64_t base = (addresses[__builtin_ctz(mask)] & ~(kUnit - 1)) - kReach;
    std::uint64_t lanes[kLanes];
    if (mask != ~exec::Mask{0}) {
      fill_idle(addresses, mask, lanes);
      addresses = lanes;
    }
    near |= static_cast<std::uint32_t>(distances(addresses, base, distance[r])) << r;
  }
  std::uint32_t aligned = 0;
  for (int first = 0; first < kAccesses; first += kWide) {
    V any{};
    for (int lane = 0; lane < kLanes; lane += kWide) {
      V block[kWide];
      times<kWide>([&](auto i) __attribute__((always_inline)) {
        __builtin_memcpy(&block[i], distance[first + i] + lane, sizeof(V));
      });
      transpose_step<kWide / 2>(block);
      times<kWide>([&](auto i) __attribute__((always_inline)) {
        any |= block[i];
        store(block[i], keys.lane[lane + i], first);
      });
    }
    aligned |= bits_of(reinterpret_cast<V>((any & (rows.lane_bytes - 1)) == 0)) << first;
  }
  return near & aligned;
}

// ---- Sorting: Batcher's merges.

struct Pair {
  int low, high;
};
/// What turns sorted runs of `From` numbers into one of `N`.
template <int N, int From> struct Network {
  template <class See> static constexpr void each(See see) {
    for (int run = From; run < N; run *= 2)
      for (int distance = run; distance >= 1; distance /= 2)
        for (int begin = distance % run; begin + distance < N; begin += 2 * distance)
          for (int i = begin; i < begin + distance && i + distance < N; ++i)
            if (i / (2 * run) == (i + distance) / (2 * run)) see(Pair{i, i + distance});
  }
  static constexpr int kCount = [] {
    int count = 0;
    each([&](Pair) { ++count; });
    return count;
  }();
  Pair pair[kCount]{};
  constexpr Network() {
    int count = 0;
    each([&](Pair p) { pair[count++] = p; });
  }
};

template <int N, int From> WARPLENS_INLINE void merge(V* rows) {
  static constexpr Network<N, From> kNetwork;
  times<Network<N, From>::kCount>([&](auto i) __attribute__((always_inline)) {
    constexpr Pair p = kNetwork.pair[i];
    const V a = rows[p.low], b = rows[p.high];
    rows[p.low] = a < b ? a : b;
    rows[p.high] = a < b ? b : a;
  });
}

void sort(const LaneNumbers& keys, LaneNumbers (&sorted)[3]) {
  for (int first = 0; first < kAccesses; first += kWide) {
    for (int half = 0; half < kLanes; half += 16) {
      V rows[16];
      times<16>([&](auto i) __attribute__((always_inline)) { rows[i] = loaded(keys.lane[half + i], first); });
      merge<8, 1>(rows);
      merge<8, 1>(rows + 8);
      times<16>([&](auto i) __attribute__((always_inline)) { store(rows[i], sorted[0].lane[half + i], first); });
      merge<16, 8>(rows);
      times<16>([&](auto i) __attribute__((always_inline)) { store(rows[i], sorted[1].lane[half + i], first); });
    }
    V rows[32];
    times<32>([&](auto i) __attribute__((always_inline)) { rows[i] = loaded(sorted[1].lane[i], first); });
    merge<32, 16>(rows);
    times<32>([&](auto i) __attribute__((always_inline)) { store(rows[i], sorted[2].lane[i], first); });
  }
}

// ---- Counting.

/// All bits where some lane of the group is in the mask.
WARPLENS_INLINE V has_lanes(V masks, int first, int lanes) {
  const auto group = static_cast<std::int32_t>((lanes == 32 ? ~0u : (1u << lanes) - 1) << first);
  return reinterpret_cast<V>((masks & group) != 0);
}

struct Sums {
  V distinct, sectors, blocks, lines, wide;
};

#if defined(__AVX512F__)

// Four counts of at most 32 in the bytes of a number: what begins where two keys differ in this many leading zeros.
// Keys are not negative, so that 0 is free for equal keys, which differ in 32.
constexpr std::uint32_t kBegins[32] = {
    0,          0x01010101, 0x01010101, 0x01010101, 0x01010101, 0x01010101, 0x01010101, 0x01010101,
    0x01010101, 0x01010101, 0x01010101, 0x01010101, 0x01010101, 0x01010101, 0x01010101, 0x01010101,
    0x01010101, 0x01010101, 0x01010101, 0x01010101, 0x01010101, 0x01010101, 0x01010101, 0x01010101,
    0x01010101, 0x00010101, 0x00000101, 0x00000001, 0x00000001, 0x00000001, 0x00000001, 0x00000001};

template <int lanes> WARPLENS_INLINE Sums sums_of(const LaneNumbers& sorted, int from, int) {
  const __m512i low = _mm512_loadu_si512(kBegins), high = _mm512_loadu_si512(kBegins + 16);
  const __m512i line = _mm512_set1_epi32(kLineEnd), sector = _mm512_set1_epi32(kSectorEnd), one = _mm512_set1_epi32(1);
  __m512i last = _mm512_load_si512(&sorted.lane[from]), first = last, packed = _mm512_set1_epi32(0x01010101),
          wide = _mm512_setzero_si512();
  const auto end_line = [&](__mmask16 ends) __attribute__((always_inline)) {
    const __mmask16 both = _mm512_mask_cmpgt_epu32_mask(ends, _mm512_xor_si512(last, first), sector);
    wide = _mm512_mask_add_epi32(wide, both, wide, one);
  };
  times<lanes - 1>([&](auto i) __attribute__((always_inline)) {
    const __m512i key = _mm512_load_si512(&sorted.lane[from + 1 + i]), differs = _mm512_xor_si512(key, last);
    packed = _mm512_add_epi32(packed, _mm512_permutex2var_epi32(low, _mm512_lzcnt_epi32(differs), high));
    const __mmask16 ends = _mm512_cmpgt_epu32_mask(differs, line);
    end_line(ends);
    first = _mm512_mask_mov_epi32(first, ends, key);
    last = key;
  });
  end_line(0xffff);
  const U counts = reinterpret_cast<U>(packed);
  const auto byte = [&](int i) __attribute__((always_inline)) { return reinterpret_cast<V>(counts >> 8 * i & 0xff); };
  return {byte(0), byte(1), byte(2), byte(3), reinterpret_cast<V>(wide)};
}

#else

constexpr std::int32_t kBlockEnd = 63;

template <int lanes> WARPLENS_INLINE Sums sums_of(const LaneNumbers& sorted, int from, int first_access) {
  V last = loaded(sorted.lane[from], first_access), first = last;
  Sums sums{V{} + 1, V{} + 1, V{} + 1, V{} + 1, V{}};
  for (int i = 1; i < lanes; ++i) {
    const V key = loaded(sorted.lane[from + i], first_access), differs = key ^ last; // not negative
    const V ends = reinterpret_cast<V>(differs > kLineEnd);
    sums.distinct -= reinterpret_cast<V>(differs > 0);
    sums.sectors -= reinterpret_cast<V>(differs > kSectorEnd);
    sums.blocks -= reinterpret_cast<V>(differs > kBlockEnd);
    sums.lines -= ends;
    sums.wide -= ends & reinterpret_cast<V>((last ^ first) > kSectorEnd);
    first = (ends & key) | (~ends & first);
    last = key;
  }
  sums.wide -= reinterpret_cast<V>((last ^ first) > kSectorEnd);
  return sums;
}

#endif

template <int lanes>
WARPLENS_INLINE void count_groups(const LaneNumbers& sorted, const BatchNumbers& masks, GroupCounts* counts) {
  for (int access = 0; access < kAccesses; access += kWide)
    for (int group = 0; group < kLanes / lanes; ++group) {
      const Sums sums = sums_of<lanes>(sorted, group * lanes, access);
      const V counted = has_lanes(loaded(masks, access), group * lanes, lanes);
      GroupCounts& to = counts[group];
      store(sums.distinct & counted, to.distinct, access);
      store(sums.sectors & counted, to.sectors, access);
      store(sums.blocks & counted, to.blocks, access);
      store(sums.lines & counted, to.lines, access);
      store(sums.wide & counted, to.wide, access);
    }
}

void count(const LaneNumbers& sorted, Group group, const BatchNumbers& masks, GroupCounts* counts) {
  switch (group) {
  case Group::quarter: return count_groups<8>(sorted, masks, counts);
  case Group::half: return count_groups<16>(sorted, masks, counts);
  default: return count_groups<32>(sorted, masks, counts);
  }
}

void add_up(const GroupCounts* counts, std::size_t groups, const Moved& moved, BatchSums& sums) {
  const auto least = static_cast<std::int32_t>(moved.least), in_segment = static_cast<std::int32_t>(moved.segment - 1),
             word = static_cast<std::int32_t>(moved.word);
  for (int access = 0; access < kAccesses; access += kWide) {
    V distinct{}, sectors{}, blocks{}, lines{}, wide{}, ideal{};
    for (const GroupCounts* group = counts; group != counts + groups; ++group) {
      const V own = loaded(group->distinct, access);
      distinct += own;
      sectors += loaded(group->sectors, access);
      blocks += loaded(group->blocks, access);
      lines += loaded(group->lines, access);
      wide += loaded(group->wide, access);
      // least_moved(), without branches.
      const V used = own * word, rest = used & in_segment;
      ideal += used - rest;
      ideal += reinterpret_cast<V>(rest > 0) & least;
      ideal += reinterpret_cast<V>(rest > least) & least;
      ideal += reinterpret_cast<V>(rest > 2 * least) & (2 * least);
    }
    const V all = sectors * moved.sector + blocks * moved.block + lines * moved.line + wide * moved.wide;
    sums.distinct += total(distinct);
    sums.sectors += total(sectors);
    sums.blocks += total(blocks);
    sums.lines += total(lines);
    sums.wide += total(wide);
    sums.ideal += total(ideal < all ? ideal : all);
  }
}

// ---- Cells. Numbers in binary, side by side: bit b of plane p is digit p of the count of cell b.

WARPLENS_INLINE U sum_of(U a, U b, U c) {
#if defined(__AVX512F__)
  return reinterpret_cast<U>(_mm512_ternarylogic_epi32(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b),
                                                       reinterpret_cast<__m512i>(c), 0x96));
#else
  return a ^ b ^ c;
#endif
}
WARPLENS_INLINE U carry_of(U a, U b, U c) {
#if defined(__AVX512F__)
  return reinterpret_cast<U>(_mm512_ternarylogic_epi32(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b),
                                                       reinterpret_cast<__m512i>(c), 0xe8));
#else
  return (a & b) | (c & (a ^ b));
#endif
}

/// Adds `count` numbers of one digit with the value of the plane; their carries are added to the next planes.
template <int count> WARPLENS_INLINE void add_digits(U* digits, U* plane) {
  U sum = digits[0];
  if constexpr (count > 1) {
    times<count / 2 - 1>([&](auto i) __attribute__((always_inline)) {
      const U a = digits[2 * i + 1], b = digits[2 * i + 2];
      digits[i] = carry_of(sum, a, b);
      sum = sum_of(sum, a, b);
    });
    const U last = digits[count - 1];
    digits[count / 2 - 1] = sum & last;
    sum ^= last;
    add_digits<count / 2>(digits, plane + 1);
  }
  *plane = sum;
}

constexpr int planes_of(int count) { return count == 1 ? 1 : 1 + planes_of(count / 2); }

template <int count> WARPLENS_INLINE V fullest_of(U* cells) {
  constexpr int kPlanes = planes_of(count);
  U plane[kPlanes];
  add_digits<count>(cells, plane);
  U among = ~U{}, result{};
  times<kPlanes>([&](auto i) __attribute__((always_inline)) {
    constexpr int p = kPlanes - 1 - i;
    const U with = among & plane[p];
    const auto some = reinterpret_cast<U>(with != 0);
    result |= some & (1u << p);
    among = (some & with) | (~some & among);
  });
  return reinterpret_cast<V>(result);
}

/// `cell_of`: the bit of the cell of a lane, 0 if it is not counted.
template <int lanes, class CellOf>
WARPLENS_INLINE void find_fullest(const BatchNumbers& masks, BatchNumbers* fullest, CellOf cell_of) {
  for (int access = 0; access < kAccesses; access += kWide)
    for (int group = 0; group < kLanes / lanes; ++group) {
      U cells[lanes];
      times<lanes>([&](auto i) __attribute__((always_inline)) {
        cells[i] = cell_of(group * lanes, std::integral_constant<int, i>{}, access);
      });
      store(fullest_of<lanes>(cells) & has_lanes(loaded(masks, access), group * lanes, lanes), fullest[group], access);
    }
}
template <class CellOf>
WARPLENS_INLINE void find_fullest(Group group, const BatchNumbers& masks, BatchNumbers* fullest, CellOf cell_of) {
  switch (group) {
  case Group::quarter: return find_fullest<8>(masks, fullest, cell_of);
  case Group::half: return find_fullest<16>(masks, fullest, cell_of);
  default: return find_fullest<32>(masks, fullest, cell_of);
  }
}

WARPLENS_INLINE U bit_of(V key, std::uint32_t shift, std::uint32_t last) {
  return (U{} + 1) << (reinterpret_cast<U>(key) >> shift & last);
}

void fullest_cells(const LaneNumbers& sorted, Group group, const BatchNumbers& masks, std::uint32_t shift,
                   std::uint32_t last, BatchNumbers* fullest) {
  const std::int32_t end = (1 << shift) - 1;
  find_fullest(
      group, masks, fullest, [&](int begin, auto i, int access) __attribute__((always_inline)) {
        const V key = loaded(sorted.lane[begin + i], access);
        const U bit = bit_of(key, shift, last);
        if constexpr (i == 0) return bit;
        const V differs = key ^ loaded(sorted.lane[begin + (i == 0 ? 0 : i - 1)], access);
        return bit & reinterpret_cast<U>(differs > end);
      });
}

void fullest_lanes(const LaneNumbers& keys, Group group, const BatchNumbers& masks, std::uint32_t shift,
                   std::uint32_t last, BatchNumbers* fullest) {
  find_fullest(
      group, masks, fullest, [&](int begin, auto i, int access) __attribute__((always_inline)) {
        const auto counts = reinterpret_cast<U>(loaded(masks, access)) >> static_cast<unsigned>(begin + i) & 1;
        return counts << (reinterpret_cast<U>(loaded(keys.lane[begin + i], access)) >> shift & last);
      });
}

// ---- Single lanes.

// Sorts the keys with the number of their lane in place of the low bits; idle lanes come last.
void first_lanes(const LaneNumbers& keys, const BatchNumbers& masks, BatchNumbers& firsts) {
  constexpr std::int32_t kIdle = 0x7fffffff, kLaneBits = 31, kWords = 0x3fffc;
  for (int access = 0; access < kAccesses; access += kWide) {
    const V mask = loaded(masks, access);
    V rows[kLanes];
    times<kLanes>([&](auto lane) __attribute__((always_inline)) {
      const V active = reinterpret_cast<V>((mask & static_cast<std::int32_t>(1u << lane)) != 0);
      const V numbered = (loaded(keys.lane[lane], access) & kWords) << 3 | std::int32_t{lane};
      rows[lane] = (active & numbered) | (~active & kIdle);
    });
    merge<8, 1>(rows);
    merge<8, 1>(rows + 8);
    merge<8, 1>(rows + 16);
    merge<8, 1>(rows + 24);
    merge<16, 8>(rows);
    merge<16, 8>(rows + 16);
    merge<32, 16>(rows);
    U found{};
    V last = rows[0] ^ 0x40000000; // another one
    times<kLanes>([&](auto i) __attribute__((always_inline)) {
      const V first = reinterpret_cast<V>((rows[i] ^ last) > kLaneBits) & reinterpret_cast<V>(rows[i] != kIdle);
      found |= ((U{} + 1) << (reinterpret_cast<U>(rows[i]) & static_cast<std::uint32_t>(kLaneBits))) &
               reinterpret_cast<U>(first);
      last = rows[i];
    });
    store(reinterpret_cast<V>(found), firsts, access);
  }
}

std::uint32_t with_unlike_pairs(const LaneNumbers& keys, const BatchNumbers& masks) {
  return accesses_that([&](int access) __attribute__((always_inline)) {
    const V mask = loaded(masks, access);
    V some{}, known{}, differ{};
    times<kLanes / 2>([&](auto i) __attribute__((always_inline)) {
      constexpr int lane = 2 * i;
      constexpr auto both = static_cast<std::int32_t>(3u << lane);
      const V pair = reinterpret_cast<V>((mask & both) == both);
      const V distance = difference(loaded(keys.lane[lane + 1], access), loaded(keys.lane[lane], access));
      differ |= pair & some & reinterpret_cast<V>(distance != known);
      known = (pair & distance) | (~pair & known);
      some |= pair;
    });
    return differ;
  });
}

std::uint32_t differ_by(const BatchNumbers& a, const BatchNumbers& b, std::int32_t by) {
  return accesses_that([&](int access) __attribute__((always_inline)) {
    return reinterpret_cast<V>(difference(loaded(a, access), loaded(b, access)) == by);
  });
}

std::uint32_t differ_by_at_least(const BatchNumbers& a, const BatchNumbers& b, const BatchNumbers& by) {
  return accesses_that([&](int access) __attribute__((always_inline)) {
    return reinterpret_cast<V>(difference(loaded(a, access), loaded(b, access)) >= loaded(by, access));
  });
}

} // namespace

extern const BatchFunctions kBatchFunctions = {
#define WARPLENS_NAME_OF(level) #level
#define WARPLENS_NAME(level) WARPLENS_NAME_OF(level)
    WARPLENS_NAME(WARPLENS_LEVEL),
    arrange,
    sort,
    count,
    add_up,
    fullest_cells,
    fullest_lanes,
    first_lanes,
    with_unlike_pairs,
    differ_by,
    differ_by_at_least};

} // namespace warplens::analyzers::WARPLENS_LEVEL
