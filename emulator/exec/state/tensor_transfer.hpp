// SPDX-License-Identifier: Apache-2.0
// Transfers between tensor memory and registers, and copies of shared memory to tensor memory, as decoded.
//
//   tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r1, %r2}, [%r0];
//   ->  TensorTransfer{lanes: 32, columns: 2, rows: those of %r1 and %r2, …}
#pragma once

#include "emulator/exec/memory/tensor_memory.hpp"
#include "emulator/exec/state/events.hpp"

#include <array>
#include <vector>

namespace warplens::exec {

/// tcgen05.ld, tcgen05.st. A warp has 32 threads; the words of their registers are in `lanes` lanes.
struct TensorTransfer {
  enum class Shape : std::uint8_t { x32b, x64b, x128b, x256b, two_of_x32b };
  enum class Reduction : std::uint8_t { none, u32, s32, f32 };

  Shape shape{};
  bool halves = false;                   ///< .pack::16b, .unpack::16b: a register has the lower halves of two columns
  std::uint32_t lanes = 32, columns = 0; ///< columns: of each access
  std::uint32_t second = 0;              ///< two_of_x32b: the distance of the second access in addresses
  std::vector<std::uint32_t> rows;       ///< of the registers
  std::vector<std::uint32_t> places;     ///< place() of each register, thread by thread
  Reduction reduction{};
  bool greatest = false, absolute = false, passes_nan = false;
  std::uint32_t result = 0; ///< row of the reduction

  /// Where a register of a thread is, from the first lane and column of its access: words between lanes are those of
  /// TensorMemory.
  [[nodiscard]] std::uint32_t place(std::uint32_t reg, std::uint32_t thread) const;
};

/// tcgen05.cp: rows of shared memory to lanes.
struct SharedToTensor {
  enum class Packed : std::uint8_t { none, six, four };

  std::uint32_t rows = 0, columns = 0;
  /// The lanes of row i are i * step + each of the first `copies` of these.
  std::uint32_t step = 1, copies = 1;
  std::array<std::uint32_t, 4> first{};
  bool split = false; ///< rows from 32 on begin at lane 64
  Packed packed{};
  bool pair = false; ///< .cta_group::2

  [[nodiscard]] std::uint32_t lane(std::uint32_t row, std::uint32_t copy) const {
    return first[copy] + (split ? row / kWarpSize * 2 * kWarpSize + row % kWarpSize : row * step);
  }
};

// Figures 183 to 187 of 9.7.16.2.3.1. They are pictures; the layouts are those that compilers for these GPUs use.
inline std::uint32_t TensorTransfer::place(std::uint32_t reg, std::uint32_t thread) const {
  constexpr std::uint32_t kHalf = 8;
  std::uint32_t lane = thread / 4, column = 0;
  switch (shape) {
  case Shape::x32b: lane = thread, column = reg; break;
  case Shape::two_of_x32b: lane = thread % 16, column = reg; break;
  case Shape::x64b: lane += thread % 2 * kHalf, column = 2 * reg + thread / 2 % 2; break;
  case Shape::x128b: lane += reg % 2 * kHalf, column = reg / 2 * 4 + thread % 4; break;
  case Shape::x256b: lane += reg / 2 % 2 * kHalf, column = reg / 4 * 8 + thread % 4 * 2 + reg % 2; break;
  }
  return lane * TensorMemory::kColumns + (halves ? 2 * column : column);
}

} // namespace warplens::exec
