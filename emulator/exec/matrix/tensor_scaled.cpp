// SPDX-License-Identifier: Apache-2.0
// tcgen05.mma with .block_scale (9.7.16.10.7): each row of A and column of B has scales of some of their elements.
// Compiled once per level.
#include "emulator/exec/matrix/element_sum.hpp"
#include "emulator/exec/matrix/tensor_products.hpp"

namespace warplens::exec::WARPLENS_LEVEL {

namespace {

constexpr int kMostScales = 4;

struct ScaledFactors {
  alignas(64) float a[kRowsOfWarp * kMostTensorDepth], b[kMostColumns * kMostTensorDepth];
  Word32 present[kMostTensorDepth];
  ProductScale a_scales[kRowsOfWarp][kMostScales], b_scales[kMostColumns][kMostScales];
};

// The scales of a row or column of A or B: bytes of a word of a lane. Each 32 lanes have all scales.
void read_scales(const TensorProductSite& s, const TensorProduct& p, Word32 word, int first, ProductScale* to) {
  for (int i = 0; i < s.scales; ++i) to[i] = scale_from(word >> 8 * (first + i) & 0xff, p.scales_with_fraction);
}

void add_scaled(const TensorProductSite& s, const TensorProduct& p, bool accumulate, const ScaledFactors& f, int first,
                int columns, const TensorRows& d) {
  const int in_block = p.k / s.scales, a = smallest_of(p.a), b = smallest_of(p.b);
  for (int i = 0; i < kRowsOfWarp; ++i)
    for (int column = 0; column < columns; ++column) {
      ElementSum sum(a, b, kKept);
      if (accumulate) sum.accumulate(std::bit_cast<float>(d.word(i, column)), 1);
      const int n = first + column;
      for (int k = 0; k < p.k; ++k)
        if (!p.sparse || (f.present[k] >> i & 1) != 0)
          sum.add(f.a[(i / kBlock * p.k + k) * kBlock + i % kBlock], f.b[(n / kBlock * p.k + k) * kBlock + n % kBlock],
                  f.a_scales[i][k / in_block] * f.b_scales[column][k / in_block]);
      d.set(i, column, bits_of(sum.result(false)));
    }
}

void negate(float* values, int count) {
  for (int i = 0; i < count; ++i) values[i] = -values[i];
}

} // namespace

bool multiply_scaled_tensors(const Issuer& by, const TensorIssue& t) {
  const TensorProductSite& s = *by.op->product;
  const TensorProduct& p = t.product;
  const int columns = p.n / t.layout.parts;
  ScaledFactors f;
  if (!read_tensor_b(by, t, f.b)) return false;
  if (p.negate_b) negate(f.b, p.n * p.k);
  for (int block = 0; block < t.count; ++block) {
    TensorMemory& memory = *t.blocks[block]->tensor_memory;
    for (int part = 0; part < t.layout.parts; ++part)
      for (int first = 0; first < t.layout.rows; first += kRowsOfWarp) {
        if (!read_tensor_a(by, t, block, part, first, f.a, f.present)) return false;
        if (p.negate_a) negate(f.a, kRowsOfWarp * p.k);
        const std::uint32_t lane = t.layout.lane(part, first);
        for (int i = 0; i < kRowsOfWarp; ++i) {
          const std::uint32_t* const words = memory.lane(lane + static_cast<std::uint32_t>(i)) + t.a_scales.column;
          read_scales(s, p, words[first / kWarpSize], p.a_scale, f.a_scales[i]);
        }
        for (int n = 0; n < columns; ++n) {
          const auto in_lanes = static_cast<std::uint32_t>(n % kWarpSize);
          const std::uint32_t* const words = memory.lane(lane / kWarpSize * kWarpSize + in_lanes) + t.b_scales.column;
          read_scales(s, p, words[n / kWarpSize], p.b_scale, f.b_scales[n]);
        }
        add_scaled(s, p, t.accumulate, f, part * columns, columns, TensorRows(t, block, part, first));
      }
  }
  return true;
}

} // namespace warplens::exec::WARPLENS_LEVEL
