// SPDX-License-Identifier: Apache-2.0
// wgmma.mma_async of f16, bf16, tf32 and bytes of floating point (9.7.15.5). Compiled once per level.
#include "emulator/exec/block/warp_groups.hpp"
#include "emulator/exec/matrix/group_handlers.hpp"
#include "emulator/exec/matrix/group_products.hpp"

namespace warplens::exec::WARPLENS_LEVEL {

namespace {

bool read(FactorA& a, const Op* op, Warp* warp, Warp* of) {
  if (!read_group_a(op, warp, of, a.tile, a.present)) return false;
  prepare(a, *op->group);
  return true;
}

bool read(FactorB& b, const Op* op, Warp* warp) {
  if (!read_group_b(op, warp, b.tile)) return false;
  prepare(b, *op->group);
  return true;
}

// ---- accumulators in registers

std::uint32_t row_of_d(const GroupSite& s, int block, int half, int odd) {
  return s.d_rows[static_cast<unsigned>(4 * block + 2 * half + odd)];
}
std::uint32_t row_of_halves(const GroupSite& s, int block, int half) {
  return s.d_rows[static_cast<unsigned>(2 * block + half)];
}

void read_sums(const GroupSite& s, Warp* of, bool accumulate, int block, Sums& c) {
  const bool halves = s.d == MatrixElement::f16;
  for (int odd = 0; odd < 2; ++odd)
    for (int half = 0; half < 2; ++half)
      c.at[odd][half] =
          accumulate && !halves ? row<float>(of, row_of_d(s, block, half, odd)) : c.room[odd] + half * kWarpSize;
  if (!accumulate) return void(std::memset(c.room, 0, sizeof c.room));
  for (int half = 0; half < 2 && halves; ++half) {
    const auto* const words = row<Word32>(of, row_of_halves(s, block, half));
    std::uint16_t parts[2][kWarpSize];
    for (int i = 0; i < kWarpSize; ++i) {
      parts[0][i] = static_cast<std::uint16_t>(words[i]);
      parts[1][i] = static_cast<std::uint16_t>(words[i] >> 16);
    }
    for (int odd = 0; odd < 2; ++odd) widen_halves(parts[odd], kWarpSize, c.room[odd] + half * kWarpSize);
  }
}

void write_sums(const GroupSite& s, Warp* of, int block, const float (*d)[kLanes]) {
  if (s.d != MatrixElement::f16) {
    for (int odd = 0; odd < 2; ++odd)
      for (int half = 0; half < 2; ++half)
        std::memcpy(row<float>(of, row_of_d(s, block, half, odd)), d[odd] + half * kWarpSize,
                    kWarpSize * sizeof(float));
    return;
  }
  std::uint16_t parts[2][kLanes];
  for (int odd = 0; odd < 2; ++odd) narrow_to_halves(d[odd], kLanes, parts[odd]);
  const auto positive = [](std::uint16_t h) { return Word32{(h & 0x7fff) == 0 ? std::uint16_t{0} : h}; };
  for (int half = 0; half < 2; ++half) {
    auto* const words = row<Word32>(of, row_of_halves(s, block, half));
    for (int i = 0; i < kWarpSize; ++i) {
      const int at = half * kWarpSize + i;
      words[i] = positive(parts[0][at]) | positive(parts[1][at]) << 16;
    }
  }
}

struct InRegisters {
  const GroupSite& site;
  Warp* of;
  bool accumulate;
  void read(int block, Sums& c) const { read_sums(site, of, accumulate, block, c); }
  void write(int block, const float (*d)[kLanes]) const { write_sums(site, of, block, d); }
};

template <int kept, bool halves> void multiply(const GroupSite& s, Warp* of, const FactorA& a, const FactorB& b) {
  const bool accumulate = (predicate(of, s.accumulate) & 1) != 0;
  add_products<kept, halves>(s, {0, s.n / kBlock}, accumulate, a, b, InRegisters{s, of, accumulate});
}

} // namespace

bool multiply_group_floats(const Op* op, Warp* warp) {
  const GroupSite& s = *op->group;
  FactorA a;
  FactorB b;
  if (!read(b, op, warp)) return false;
  for (std::uint32_t w = 0; w < kGroupWarps; ++w) {
    Warp* const of = warp_of_group(warp, w);
    if (!read(a, op, warp, of)) return false;
    const bool halves = s.d == MatrixElement::f16;
    if (bits(s.a) == 8)
      halves ? multiply<kKeptOfBytes, true>(s, of, a, b) : multiply<kKeptOfBytes, false>(s, of, a, b);
    else
      halves ? multiply<kKept, true>(s, of, a, b) : multiply<kKept, false>(s, of, a, b);
  }
  return true;
}

} // namespace warplens::exec::WARPLENS_LEVEL
