// SPDX-License-Identifier: Apache-2.0
// What a random program (generator.hpp) consists of besides its statements.
#pragma once

#include "emulator/isa/table.hpp"

#include <array>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

namespace warplens::fuzz {

constexpr int kPtx = 93;               // of the programs
constexpr std::size_t kSlotBytes = 64; // of each thread in each space
constexpr int kLoops = 3;              // branches back, at most

// Besides, all threads together have arrays in shared and in global memory, one for elements of each of these sizes.
// Consecutive threads have consecutive elements: these accesses of a warp are contiguous.
constexpr std::uint32_t kElementBytes[] = {1, 2, 4, 8, 16};
constexpr std::uint32_t kElements = 2; // of each thread in each array
constexpr std::size_t kElementWords = kElements * (1 + 1 + 1 + 1 + 2);
constexpr std::uint32_t kSame = 8; // words that are the same for all threads

struct Register {
  std::string name;
  isa::Type type;
};

/// The registers of the programs: untyped ones, which all instructions accept, and some typed ones.
const std::vector<Register>& registers();

/// Values that matter: zeros, ones, infinities, NaNs, subnormals, extremes, small numbers, and random bits.
template <class Random> std::uint64_t interesting(Random& random) {
  constexpr std::uint64_t kCorners[] = {
      0,          1,          0x8000000000000000, ~std::uint64_t{0},  0x3ff0000000000000, 0x7ff0000000000000,
      0x7fffffff, 0x80000000, 0xfff0000000000001, 0x000fffffffffffff, 0x3f8000003f800000, 0x7f8000007f800000,
      31,         32,         0x8000000080000000, 0x007fffff807fffff, 0xff8000007fc00000, 0x3c007c0080000001,
      63,         255,        0x7fffffff7fffffff, 0x4f0000005f000000, 0x3c003c003c003c00, 0x4000bc00c0003800};
  const std::uint64_t pick = random(), bits = random();
  if (pick % 4 == 0) return kCorners[pick / 4 % std::size(kCorners)];
  if (pick % 4 == 1) return bits >> (pick / 4 % 64);
  if (pick % 4 == 2) // ordinary floats, in either half
    return (bits & 0x807fffff807fffff) | (0x3e000000 + (pick >> 8 & 0x03800000)) * 0x100000001u;
  return bits;
}

} // namespace warplens::fuzz
