// SPDX-License-Identifier: Apache-2.0
// Which operands of a division, root or reciprocal that rounds are special: machine code tests them, and calls a
// subroutine for them. The tests are those of the code of ptxas 13.0 for sm_90, on the exponents, and confirmed by
// tests/data/hardware/special_operands_h200.csv. Compiled once per level.
//
//   div.rn.f64 %fd3, %fd1, %fd2;   // special if %fd1 is less than 2^-969, and if the quotient is not a normal number
#pragma once

#include "emulator/exec/block/control.hpp"
#include "emulator/exec/lanes/lanes.hpp"

namespace warplens::exec::WARPLENS_LEVEL {

enum class Rounded : std::uint8_t { division, root, reciprocal };

/// The bits of an f32 or f64. Comparisons give all bits or none, so that lanes stay in vectors.
template <class Bits> struct OperandExponents {
  static constexpr bool kWide = sizeof(Bits) == 8;
  static constexpr int kPosition = kWide ? 52 : 23;
  static constexpr Bits kMask = kWide ? 0x7ff : 0xff;

  /// `number`: with exponents where a float has them, of which some bits below do not matter.
  static constexpr Bits inside(Bits number, std::int64_t first, std::int64_t last) {
    const Bits width = (static_cast<Bits>(last - first + 1) << kPosition) - 1;
    return number - (static_cast<Bits>(first) << kPosition) <= width ? ~Bits{0} : Bits{0};
  }
  static constexpr Bits division(Bits a, Bits b) {
    const Bits x = a & kMask << kPosition, y = b & kMask << kPosition;
    if constexpr (kWide) return ~(inside(x, 54, 2046) & inside(y, 1, 2039) & inside(x - y, -1022, 1017));
    return ~(inside(x, 25, 254) & inside(y, 2, 251) & inside(x - y, -124, 126));
  }
  /// Negative numbers are outside, because the sign is above the exponent.
  static constexpr Bits root(Bits a) { return ~inside(a, kWide ? 53 : 26, kWide ? 2046 : 254); }
  static constexpr Bits reciprocal(Bits a) { return ~inside(a & (~Bits{0} >> 1), 1, kWide ? 2044 : 252); }
};

template <class Bits, Rounded rounded> Bits special_bits(Bits a, [[maybe_unused]] Bits b) {
  using E = OperandExponents<Bits>;
  if constexpr (rounded == Rounded::division) return E::division(a, b);
  if constexpr (rounded == Rounded::root) return E::root(a);
  return E::reciprocal(a);
}

/// src[0], src[1]: the operands.
template <class Bits, Rounded rounded> const Op* tell_special_operands(const Op* op, Warp* warp) {
  const Bits* const a = row<Bits>(warp, op->src[0]);
  const Bits* const b = row<Bits>(warp, op->src[1]);
  const auto special = [&](int i) { return special_bits<Bits, rounded>(a[i], b[i]); };
  Bits any = 0;
  for (int i = 0; i < kWarpSize; ++i) any |= special(i);
  if (any == 0) return op + 1;
  const Mask lanes = gather_bits([&](int i) { return special(i) != 0; }) & acting(op, warp);
  if (lanes != 0) tell_special(warp, op->instruction, lanes);
  return op + 1;
}

} // namespace warplens::exec::WARPLENS_LEVEL
