// SPDX-License-Identifier: Apache-2.0
// wgmma.mma_async (9.7.15.5) of integers and bits, and what all types have in common. Compiled once per level.
#include "emulator/exec/matrix/group_handlers.hpp"

#include "emulator/exec/block/group_faults.hpp"
#include "emulator/exec/block/membermasks.hpp"
#include "emulator/exec/block/warp_groups.hpp"

#include <algorithm>

namespace warplens::exec::WARPLENS_LEVEL {

namespace {

using Kind = MatrixHandler;

// ---- descriptors: the same in all threads of the warp group

bool read(const Op* op, Warp* warp, std::uint32_t row_of, const char* name, bool transposed, MatrixElement element,
          int first, int rows, int k, float* tile) {
  const std::uint64_t descriptor = row<std::uint64_t>(warp, row_of)[0];
  for (std::uint32_t w = 0; w < kGroupWarps; ++w) {
    const auto* const all = row<std::uint64_t>(warp_of_group(warp, w), row_of);
    std::uint64_t differing = 0; // without branches, so that the loop uses vectors
    for (int lane = 0; lane < kWarpSize; ++lane) differing |= all[lane] ^ descriptor;
    if (differing == 0) continue;
    const auto* const other = std::find_if(all, all + kWarpSize, [&](std::uint64_t d) { return d != descriptor; });
    return stop_at_descriptors(op, warp, name, descriptor, *other), false;
  }
  if (read_shared(SharedFactor(descriptor, transposed, *warp->cta), element, first, rows, k, tile)) return true;
  stop_at_descriptor(op, warp, name, descriptor);
  return false;
}

} // namespace

bool read_group_a(const Op* op, Warp* warp, Warp* of, float* tile, Word32* present) {
  const GroupSite& s = *op->group;
  alignas(64) float kept[kRowsOfWarp * kMostGroupDepth / 2];
  const int k = s.sparse ? s.k / 2 : s.k;
  float* const to = s.sparse ? kept : tile;
  if (s.a_in_registers)
    read_registers(s, k, of, to);
  else if (const auto first = static_cast<int>(of->index % kGroupWarps) * kRowsOfWarp;
           !read(op, warp, s.a_descriptor, "A", s.a_transposed, s.a, first, kRowsOfWarp, k, to))
    return false;
  if (s.sparse) spread(s, of, kept, tile, present);
  return true;
}

bool read_group_b(const Op* op, Warp* warp, float* tile) {
  const GroupSite& s = *op->group;
  return read(op, warp, s.b_descriptor, "B", s.b_transposed, s.b, 0, s.n, s.k, tile);
}

namespace {

// ---- integers. Of D, a register has eight rows, each in four lanes: every second column of eight.

using Counts = std::int32_t __attribute__((vector_size(4 * kWide)));
constexpr int kHalfLanes = 64, kHalfVectors = kHalfLanes / kWide; ///< of 16 rows and every second column of eight

// D = products, or D + products, kept to 32 bits.
void add_products(const GroupSite& s, Warp* of, bool accumulate, int block, int half, int odd,
                  const std::int32_t* counts) {
  auto* const d = row<std::int32_t>(of, s.d_rows[static_cast<unsigned>(4 * block + 2 * half + odd)]);
  for (int i = 0; i < kWarpSize; ++i) {
    const std::int32_t c = accumulate ? d[i] : 0;
    const auto sum = static_cast<std::int32_t>(static_cast<Word32>(c) + static_cast<Word32>(counts[i]));
    const bool beyond = ((c ^ sum) & (counts[i] ^ sum)) < 0;
    d[i] = s.saturate && beyond ? (c < 0 ? -0x7fffffff - 1 : 0x7fffffff) : sum;
  }
}

// Columns 0, 2, 4, 6, 1, 3, 5, 7.
void order_columns(float* tile, int count) {
  for (int i = 0; i < count; i += kBlock) {
    using Columns = float __attribute__((vector_size(32)));
    const auto v = load<Columns>(tile + i);
    store(tile + i, __builtin_shufflevector(v, v, 0, 2, 4, 6, 1, 3, 5, 7));
  }
}

bool accumulates(const GroupSite& s, Warp* of) { return (predicate(of, s.accumulate) & 1) != 0; }

// All sums are less than 2^24 and therefore exact in single precision.
void multiply_rows(const GroupSite& s, Warp* of, const float* a, const float* b) {
  alignas(64) float rows[kMostGroupDepth * kRowsOfWarp * 4];
  for (int k = 0; k < s.k; ++k)
    for (int i = 0; i < kRowsOfWarp; ++i)
      for (int copy = 0; copy < 4; ++copy)
        rows[(k * kRowsOfWarp + i) * 4 + copy] = a[(i / kBlock * s.k + k) * kBlock + i % kBlock];
  const bool accumulate = accumulates(s, of);
  for (int block = 0; block < s.n / kBlock; ++block) {
    Floats sum[2][kHalfVectors]{};
    for (int k = 0; k < s.k; ++k) {
      const float* const columns = b + (block * s.k + k) * kBlock;
      const Floats even = four_columns(columns), odd = four_columns(columns + 4);
      for (int v = 0; v < kHalfVectors; ++v) {
        const auto of_rows = load<Floats>(rows + k * kHalfLanes + v * kWide);
        sum[0][v] += of_rows * even;
        sum[1][v] += of_rows * odd;
      }
    }
    alignas(64) std::int32_t products[2][kHalfLanes];
    for (int odd = 0; odd < 2; ++odd) {
      for (int v = 0; v < kHalfVectors; ++v)
        store(products[odd] + v * kWide, __builtin_convertvector(sum[odd][v], Counts));
      for (int half = 0; half < 2; ++half)
        add_products(s, of, accumulate, block, half, odd, products[odd] + half * kWarpSize);
    }
  }
}

bool multiply_integers(const Op* op, Warp* warp) {
  const GroupSite& s = *op->group;
  alignas(64) float a[kRowsOfWarp * kMostGroupDepth], b[kMostColumns * kMostGroupDepth];
  Word32 present[kMostGroupDepth];
  if (!read_group_b(op, warp, b)) return false;
  order_columns(b, s.n * s.k);
  for (std::uint32_t w = 0; w < kGroupWarps; ++w) {
    Warp* const of = warp_of_group(warp, w);
    if (!read_group_a(op, warp, of, a, present)) return false;
    multiply_rows(s, of, a, b);
  }
  return true;
}

bool multiply_bits(const Op* op, Warp* warp) {
  const GroupSite& s = *op->group;
  alignas(64) float a[kRowsOfWarp * kMostGroupDepth], b[kMostColumns * kMostGroupDepth]; // words of bits
  if (!read_group_b(op, warp, b)) return false;
  for (std::uint32_t w = 0; w < kGroupWarps; ++w) {
    Warp* const of = warp_of_group(warp, w);
    if (!read_group_a(op, warp, of, a, nullptr)) return false;
    const bool accumulate = accumulates(s, of);
    for (int block = 0; block < s.n / kBlock; ++block)
      for (int half = 0; half < 2; ++half)
        for (int odd = 0; odd < 2; ++odd) {
          std::int32_t counts[kWarpSize]{};
          for (int lane = 0; lane < kWarpSize; ++lane)
            for (int k = 0; k < s.k; ++k) {
              const float x = a[(half * s.k + k) * kBlock + lane / 4],
                          y = b[(block * s.k + k) * kBlock + lane % 4 * 2 + odd];
              counts[lane] += __builtin_popcount(std::bit_cast<Word32>(x) & std::bit_cast<Word32>(y));
            }
          add_products(s, of, accumulate, block, half, odd, counts);
        }
  }
  return true;
}

/// The handler of an instruction that the four warps of a group execute together.
template <bool (*perform)(const Op*, Warp*)> const Op* by_group(const Op* op, Warp* warp) {
  const Mask mask = acting(op, warp);
  if (mask == 0) return op + 1;
  if (mask != kFullMask) return stop_at_incomplete_warp(op, warp), nullptr;
  if (!arrive_in_group(op, warp) || !perform(op, warp)) return nullptr;
  release_group(op, warp);
  return op + 1;
}

} // namespace

Handler group_handler(Kind kind) {
  switch (kind) {
  case Kind::group_floats: return by_group<multiply_group_floats>;
  case Kind::group_integers: return by_group<multiply_integers>;
  case Kind::group_bits: return by_group<multiply_bits>;
  default: return nullptr;
  }
}

} // namespace warplens::exec::WARPLENS_LEVEL
