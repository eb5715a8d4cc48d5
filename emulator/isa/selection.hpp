// SPDX-License-Identifier: Apache-2.0
// The operand selection of a video instruction as one number: the selected parts, their signedness, and negations. It
// is an implicit source of the instruction ("selection" in operands.hpp): the decoder encodes selectors and types, and
// the functors of semantics/video.hpp decode them.
//
//   vadd.s32.u32.s32 %r1.h1, %r2.b3, %r4, %r5:  the part of a has shift 24 and 8 bits, b is whole, the result goes to
//     the 16 bits from bit 16; b and the result are signed
//   vadd4.u32.u32.u32 %r1.b10, %r2.b7531, %r3, %r4:  bytes of a 0x7531, bytes of b 0x7654, written 0b0011
#pragma once

namespace warplens::isa {

// Scalar instructions, five bits each: the first bit of a part, and how many bits it has, less one.
constexpr int kShiftOfA = 0, kBitsOfA = 8, kShiftOfB = 16, kBitsOfB = 24, kShiftOfResult = 32, kBitsOfResult = 40;

// SIMD instructions: four digits, the lowest for byte 0, say which of the eight bytes of b:a it is; and a bit for each
// half or byte of the result that is not taken from c (or added to c).
constexpr int kBytesOfA = 0, kBytesOfB = 16, kWritten = 32;

// Both: a bit each.
constexpr int kSignedA = 48, kSignedB = 49, kSignedResult = 50;
constexpr int kNegatedProduct = 51, kNegatedAddend = 52; ///< of vmad
/// Scalar: computed like the assembler's expansion for targets from sm_70 on, which have no such instruction.
constexpr int kExpanded = 53;

} // namespace warplens::isa
