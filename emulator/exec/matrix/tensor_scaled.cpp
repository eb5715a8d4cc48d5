// SPDX-License-Identifier: Apache-2.0
// tcgen05.mma with .block_scale (9.7.16.10.7): each row of A and column of B has scales of some of their elements.
// Compiled once per level.
#include "emulator/exec/matrix/aligned_sums.hpp"
#include "emulator/exec/matrix/tensor_products.hpp"

namespace warplens::exec::WARPLENS_LEVEL {

namespace {

struct ScaledFactors {
  alignas(64) float a[kRowsOfWarp * kMostTensorDepth], b[kMostColumns * kMostTensorDepth];
  Word32 present[kMostTensorDepth];
  ProductScale a_scales[kRowsOfWarp][kMostScales], b_scales[kMostColumns][kMostScales];
  AlignedRows rows;
  AlignedColumns columns[kMostColumns / kBlock];
};

class ScaledProduct {
public:
  ScaledProduct(const Issuer& by, const TensorIssue& t)
      : by_(by), t_(t), p_(t.product), of_a_(ScaleColumns::of_a(t.product, t.layout)),
        of_b_(ScaleColumns::of_b(t.product, t.layout)) {
    in_scale_ = p_.k / p_.scales;
    each_ = p_.n / t.layout.parts;
  }

  /// False: the kernel has stopped.
  bool multiply() {
    if (!read_tensor_b(by_, t_, f_.b)) return false;
    if (p_.negate_b) negate(f_.b, p_.n * p_.k);
    for (int block = 0; block < t_.count; ++block)
      for (int part = 0; part < t_.layout.parts; ++part)
        for (int first = 0; first < t_.layout.rows; first += kRowsOfWarp) {
          if (first == 0 || lanes_of(part, first) != lanes_) read_columns(block, part, first);
          if (!read_rows(block, part, first)) return false;
          add(part, InTensorMemory<false>{TensorRows(t_, block, part, first), t_.accumulate, part * each_ / kBlock, 1});
        }
    return true;
  }

private:
  [[nodiscard]] std::uint32_t lanes_of(int part, int first) const {
    return t_.layout.lane(part, first) / kWarpSize * kWarpSize;
  }
  // The scales of a row or column: bytes of words of a lane.
  void read_scales(const Word32* words, ScaleColumns of, ProductScale* to) const {
    for (int i = 0; i < p_.scales; ++i) {
      const int byte = of.first + i;
      to[i] = scale_from(words[byte / 4 * of.apart] >> 8 * (byte % 4) & 0xff, p_.scales_with_fraction);
    }
  }

  // Each 32 lanes have all scales of B.
  void read_columns(int block, int part, int first) {
    TensorMemory& memory = *t_.blocks[block]->tensor_memory;
    lanes_ = lanes_of(part, first);
    for (int n = 0; n < each_; ++n) {
      const std::uint32_t* const words =
          memory.lane(lanes_ + static_cast<std::uint32_t>(n % kWarpSize)) + t_.b_scales.column;
      read_scales(words + n / kWarpSize, of_b_, f_.b_scales[n]);
    }
    for (int column = 0; column < each_; column += kBlock) {
      ColumnScales scales;
      for (int j = 0; j < kBlock; ++j)
        for (int i = 0; i < p_.scales; ++i) scales.put(i, even_first(j), f_.b_scales[column + j][i]);
      ColumnPutter<true> to(f_.columns[column / kBlock], smallest_of(p_.b), &scales, in_scale_);
      const float* const tile = f_.b + (part * each_ + column) * p_.k;
      for (int k = 0; k < p_.k; k += 2)
        to.put(k, even_first(load<EightFloats>(tile + k * kBlock)),
               even_first(load<EightFloats>(tile + (k + 1) * kBlock)));
    }
  }
  bool read_rows(int block, int part, int first) {
    if (!read_tensor_a(by_, t_, block, part, first, f_.a, f_.present)) return false;
    if (p_.negate_a) negate(f_.a, kRowsOfWarp * p_.k);
    TensorMemory& memory = *t_.blocks[block]->tensor_memory;
    RowScales scales;
    for (int i = 0; i < kRowsOfWarp; ++i) {
      const std::uint32_t lane = t_.layout.lane(part, first) + static_cast<std::uint32_t>(i);
      const Word32* const words = memory.lane(lane) + t_.a_scales.column + first / kWarpSize;
      read_scales(words, of_a_, f_.a_scales[i]);
      for (int j = 0; j < p_.scales; ++j) scales.put(j, i, f_.a_scales[i][j]);
    }
    RowPutter<true>(f_.rows, p_.k, smallest_of(p_.a), &scales, in_scale_).put_tile(f_.a);
    return true;
  }

  void add(int part, const InTensorMemory<false>& d) {
    const int exact = p_.scales_with_fraction ? kExactOfFour : kExact;
    alignas(64) float values[2][kLanes];
    Sums c;
    for (int block = d.first; block < d.first + each_ / kBlock; ++block) {
      d.read(block, c);
      const auto ordinary = [&] {
        const TruncatingScope scope;
        return add_aligned<false>(f_.rows, f_.columns[block - d.first], {0, p_.k}, exact, c, values);
      };
      if (!ordinary()) add_elements(block, block * kBlock - part * each_, c, values);
      d.write(block, values);
    }
  }
  void add_elements(int block, int first, const Sums& c, float (*d)[kLanes]) const {
    for (int odd = 0; odd < 2; ++odd)
      for (int lane = 0; lane < kLanes; ++lane) {
        const int i = lane / kGroup, j = lane % kGroup * 2 + odd;
        ElementSum sum(smallest_of(p_.a), smallest_of(p_.b), kKept);
        if (t_.accumulate) sum.accumulate(c.at[odd][lane / kWarpSize][lane % kWarpSize], 1);
        for (int k = 0; k < p_.k; ++k)
          if (!p_.sparse || (f_.present[k] >> i & 1) != 0)
            sum.add(f_.a[(i / kBlock * p_.k + k) * kBlock + i % kBlock], f_.b[(block * p_.k + k) * kBlock + j],
                    f_.a_scales[i][k / in_scale_] * f_.b_scales[first + j][k / in_scale_]);
        d[odd][lane] = sum.result(false);
      }
  }

  const Issuer& by_;
  const TensorIssue& t_;
  const TensorProduct& p_;
  ScaleColumns of_a_, of_b_;
  int in_scale_ = 0, each_ = 0; ///< elements of a scale; columns of a part
  std::uint32_t lanes_ = ~0u;   ///< from which the scales of B were read
  ScaledFactors f_;
};

} // namespace

bool multiply_scaled_tensors(const Issuer& by, const TensorIssue& t) { return ScaledProduct(by, t).multiply(); }

} // namespace warplens::exec::WARPLENS_LEVEL
