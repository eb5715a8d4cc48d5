// SPDX-License-Identifier: Apache-2.0
// tcgen05.mma (9.7.16.10) of floating point and integers: a thread multiplies for its block, or for two. Each block has
// its rows of A and D; a block of a pair has half of the columns of B. The product is complete when it has been issued.
// Compiled once per level.
#include "emulator/exec/matrix/tensor_products.hpp"

namespace warplens::exec::WARPLENS_LEVEL {

namespace {

constexpr int kMostShift = 32; ///< of columns of B

// Columns from `shift` on. Transposed, they come in multiples of 16.
bool read_shifted(const TensorFactor& b, const TensorProduct& p, int shift, float* tile) {
  if (!p.b_transposed || shift % 16 == 0) return b.read(shift, p.n, p.k, tile);
  alignas(64) float wide[(kMostColumns + kMostShift) * kMostGroupDepth];
  const int extra = shift % 16;
  if (!b.read(shift - extra, p.n + 16, p.k, wide)) return false;
  for (int n = 0; n < p.n; ++n)
    for (int k = 0; k < p.k; ++k)
      tile[(n / kBlock * p.k + k) * kBlock + n % kBlock] =
          wide[((n + extra) / kBlock * p.k + k) * kBlock + (n + extra) % kBlock];
  return true;
}

} // namespace

bool read_tensor_b(const Issuer& by, const TensorIssue& t, float* tile) {
  const TensorProduct& p = t.product;
  const int each = p.n / t.count;
  for (int i = 0; i < t.count; ++i) {
    const TensorFactor b(t.b_shared, p.b_transposed, p.b, *t.blocks[i]);
    const int shift = t.columns.shift();
    if (shift == 0 ? b.read(0, each, p.k, tile + i * each * p.k) : read_shifted(b, p, shift, tile)) continue;
    stop_at_factor(by.op, by.warp, by.lane, "B", t);
    return false;
  }
  for (int n = 0; n < p.n; ++n)
    for (int k = 0; k < p.k && t.columns.is_zero(p, n); ++k) tile[(n / kBlock * p.k + k) * kBlock + n % kBlock] = 0;
  return true;
}

bool read_tensor_a(const Issuer& by, const TensorIssue& t, int block, int part, int first, float* tile,
                   Word32* present) {
  const TensorProductSite& s = *by.op->product;
  const TensorProduct& p = t.product;
  TensorMemory& memory = *t.blocks[block]->tensor_memory;
  alignas(64) float kept[kRowsOfWarp * kMostTensorDepth / 2];
  float* const to = p.sparse ? kept : tile;
  const int k = p.sparse ? p.k / 2 : p.k;
  if (s.a_in_tensor_memory) {
    const auto words_of = [&](int i) {
      const int row = first + i, from = s.shifts_a && row != 0 ? row - 1 : row;
      return memory.lane(t.a.lane + t.layout.lane(part, from)) + t.a.column;
    };
    read_tensor_rows(p.a, k, words_of, to);
  } else if (!TensorFactor(t.a_shared, p.a_transposed, p.a, *t.blocks[block]).read(first, kRowsOfWarp, k, to)) {
    stop_at_factor(by.op, by.warp, by.lane, "A", t);
    return false;
  }
  if (!p.sparse) return true;
  const std::uint32_t lane = t.metadata.lane + t.layout.lane(part, first), column = t.metadata.column;
  const auto metadata = [&](int i, int g) -> Word32 {
    const auto row = static_cast<std::uint32_t>(i), group = static_cast<std::uint32_t>(g);
    if (bits(p.a) <= 8) return memory.lane(lane + row)[column + group / 8] >> 4 * (group % 8) & 15;
    return memory.lane(lane + row % 8 + 8 * (group / 4))[column] >> (16 * (row / 8) + 4 * (group % 4)) & 15;
  };
  spread_rows(p.a, p.k, metadata, kept, tile, present);
  return true;
}

namespace {

/// The place of an element of 16 rows and eight columns in Sums.
int place_of(int i, int column) { return 4 * i + column / 2; }

// All sums are less than 2^24 and therefore exact in single precision.
void add_integers(const TensorProduct& p, Blocks blocks, bool accumulate, const FactorA& a, const FactorB& b,
                  const TensorRows& d) {
  for (int block = blocks.first; block < blocks.end; ++block) {
    Floats sum[2][kVectors]{};
    for (int k = 0; k < p.k; ++k) {
      const float* const columns = b.tile + (block * p.k + k) * kBlock;
      const Floats even = four_columns(columns), odd = four_columns(columns + 4);
      for (int v = 0; v < kVectors; ++v) {
        const auto of_rows = load<Floats>(a.rows + k * kLanes + v * kWide);
        sum[0][v] += of_rows * even;
        sum[1][v] += of_rows * odd;
      }
    }
    for (int i = 0; i < kRowsOfWarp; ++i)
      for (int column = 0; column < kBlock; ++column) {
        const int place = place_of(i, column), at = (block - blocks.first) * kBlock + column;
        const auto product = static_cast<std::int32_t>(sum[column % 2][place / kWide][place % kWide]);
        const auto before = accumulate ? static_cast<std::int32_t>(d.word(i, at)) : 0;
        const Word32 total = static_cast<Word32>(before) + static_cast<Word32>(product);
        const bool beyond = ((static_cast<Word32>(before) ^ total) & (static_cast<Word32>(product) ^ total)) >> 31 != 0;
        d.set(i, at, p.saturate && beyond ? (before < 0 ? 0x80000000u : 0x7fffffffu) : total);
      }
  }
}

bool multiply(const Issuer& by, const TensorIssue& t) {
  const TensorProduct& p = t.product;
  const int columns = p.n / t.layout.parts;
  const auto factor = static_cast<float>(power_of_two(-by.op->product->reduction_of_d));
  FactorA a;
  FactorB b;
  if (!read_tensor_b(by, t, b.tile)) return false;
  prepare(b, p);
  for (int block = 0; block < t.count; ++block)
    for (int part = 0; part < t.layout.parts; ++part)
      for (int first = 0; first < t.layout.rows; first += kRowsOfWarp) {
        if (!read_tensor_a(by, t, block, part, first, a.tile, a.present)) return false;
        prepare(a, p);
        const TensorRows rows(t, block, part, first);
        const Blocks blocks{part * columns / kBlock, (part + 1) * columns / kBlock};
        if (p.d == MatrixElement::s32)
          add_integers(p, blocks, t.accumulate, a, b, rows);
        else if (p.d == MatrixElement::f16)
          add_products<kKept, true>(p, blocks, t.accumulate, a, b,
                                    InTensorMemory<true>{rows, t.accumulate, blocks.first, factor});
        else
          add_products<kKept, false>(p, blocks, t.accumulate, a, b,
                                     InTensorMemory<false>{rows, t.accumulate, blocks.first, factor});
      }
  return true;
}

} // namespace

const Op* multiply_tensors(const Op* op, Warp* warp) {
  for (Mask left = acting(op, warp); left != 0; left &= left - 1) {
    const Issuer by{op, warp, __builtin_ctz(left)};
    TensorIssue t;
    if (!read_issue(op, warp, by.lane, t)) return nullptr;
    if (!(op->product->scales != 0 ? multiply_scaled_tensors(by, t) : multiply(by, t))) return nullptr;
    count_product(op, warp, t);
  }
  return op + 1;
}

} // namespace warplens::exec::WARPLENS_LEVEL
