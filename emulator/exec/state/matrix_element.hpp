// SPDX-License-Identifier: Apache-2.0
// Types of the elements of matrices.
//
//   bits(MatrixElement::bf16)  ->  16;   name(MatrixElement::packed_e2m1)  ->  "e2m1"
#pragma once

#include <cstdint>
#include <string_view>

namespace warplens::exec {

/// The type of an element.
enum class MatrixElement : std::uint8_t {
  f16,
  bf16,
  tf32,
  f32,
  f64,
  e4m3,
  e5m2,
  e3m2,
  e2m3,
  e2m1,        ///< in the middle of a byte: its bits 2 to 5
  packed_e2m1, ///< two in a byte
  s8,
  u8,
  s4,
  u4,
  b1,
  s32
};
constexpr int kMatrixElements = static_cast<int>(MatrixElement::s32) + 1;
int bits(MatrixElement);
/// As instructions and metrics call it. In the header, because analyzers use it, which need no emulator.
constexpr std::string_view name(MatrixElement element) {
  constexpr std::string_view kNames[kMatrixElements] = {"f16",  "bf16", "tf32", "f32",  "f64",  "e4m3",
                                                        "e5m2", "e3m2", "e2m3", "e2m1", "e2m1", "s8",
                                                        "u8",   "s4",   "u4",   "b1",   "s32"};
  return kNames[static_cast<int>(element)];
}

} // namespace warplens::exec
