// SPDX-License-Identifier: Apache-2.0
// The products of a warp group (wgmma) that were asked of hardware: which forms, where their matrices lie in shared
// memory, what was in them, and the kernels that multiply them.
//
//   for (const WgmmaForm& form : wgmma_forms()) load(wgmma_kernel(form)), run(wgmma_input(form, test)) …
//
// A block of 128 threads for each test: it copies images of A and B from global to shared memory, multiplies once, and
// stores D. Everything is words; a fragment's are by register, then by thread.
#pragma once

#include "tests/hardware/matrix_inputs.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace warplens::tests {

/// A matrix in shared memory, as a descriptor says (PTX manual, "matrix descriptor format").
struct SharedMatrix {
  int swizzle = 0;         ///< 0, 32, 64 or 128 bytes
  int leading = 0;         ///< leading dimension byte offset
  int stride = 0;          ///< stride dimension byte offset
  int start = 0;           ///< from the begin of the image, which is a multiple of 1024
  int base_offset = 0;     ///< matrix base offset
  bool transposed = false; ///< of 16-bit elements: consecutive elements are of one k
  [[nodiscard]] std::uint64_t descriptor() const;
  /// Where in the image a byte of row `row` (of B: column) lies; `byte` counts along k. Transposed: of an element.
  [[nodiscard]] int place(int row, int byte) const;
};

struct WgmmaForm {
  std::string d, a, b; ///< types
  int n = 8;
  bool sparse = false, registers = false; ///< A in registers
  int selector = 0;
  bool saturating = false, scale_d = true, negative_a = false, negative_b = false;
  SharedMatrix in_a, in_b;
  int tests = kMatrixModes;

  [[nodiscard]] int k() const;
  [[nodiscard]] std::string name() const;      ///< of the instruction
  [[nodiscard]] std::string statement() const; ///< with registers d, a, and e; descriptors %da, %db; scale-d %p
  /// A name of its own: it decides what is in the matrices.
  [[nodiscard]] std::string key() const;
  [[nodiscard]] int registers_of_d() const { return d == "f16" ? n / 4 : n / 2; }
  [[nodiscard]] int image_a() const; ///< bytes, a multiple of 1024; 0: in registers
  [[nodiscard]] int image_b() const;
};
std::vector<WgmmaForm> wgmma_forms();

struct WgmmaInput {
  std::vector<std::uint32_t> a, b, c, e; ///< A: an image, or a fragment; metadata of 128 threads
};
WgmmaInput wgmma_input(const WgmmaForm& form, int test);

/// k(d, a, b, c, e, descriptor of A, descriptor of B), the pointers to the words of all tests. Descriptors are relative
/// to the images, that of A at the begin of shared memory, B following.
std::string wgmma_kernel(const WgmmaForm& form);

constexpr int kGroup = 128; ///< threads
constexpr int kRowsOfA = 64;

} // namespace warplens::tests
