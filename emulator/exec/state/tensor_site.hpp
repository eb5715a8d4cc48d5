// SPDX-License-Identifier: Apache-2.0
// A copy by tensor map: what the instruction says beyond its addresses.
#pragma once

#include <array>
#include <cstdint>

namespace warplens::exec {

struct TensorSite {
  enum class Action : std::uint8_t { load, store, reduce, prefetch };
  enum class Operation : std::uint8_t { none, add, min, max, inc, dec, bit_and, bit_or, bit_xor };

  /// Pixels along the width only: .im2col::w, .im2col::w::128.
  enum class Wide : std::uint8_t { no, w, w_128 };

  Action action{};
  Operation operation{}; ///< of reduce
  bool pixels = false;   ///< the modes of im2col
  Wide wide{};
  bool four_rows = false; ///< .tile::gather4, .tile::scatter4: the coordinates are a column and four rows
  bool multicast = false;
  bool in_pair = false; ///< .cta_group::2: the mbarrier may be that of the other block of a pair
  std::uint8_t dimensions = 1;
  std::array<std::uint32_t, 5> coordinate{}; ///< rows of s32
  std::array<std::uint32_t, 3> offset{};     ///< rows of u16: of loads and prefetches of pixels
  std::uint32_t mask = 0;                    ///< row of u16: of multicast
};

} // namespace warplens::exec
