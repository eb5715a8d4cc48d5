// SPDX-License-Identifier: Apache-2.0
// The lane from which a shuffle reads (PTX manual, 9.7.9.6).
//
//   shuffle_source(Shuffle::down, 3, 1, 31) == {4, true}
#pragma once

#include <cstdint>

namespace warplens::exec {

enum class Shuffle : std::uint8_t { up, down, butterfly, index };

struct ShuffleSource {
  std::int32_t lane = 0; ///< the reading lane itself if the source is out of range
  bool in_range = false;
};

// `b` and `c`: operands of the instruction. Lanes and distances are below 32, so that signed and unsigned words agree
// except for the sign of lane - b. Static, because files that include this are compiled for different processors.
static inline ShuffleSource shuffle_source(Shuffle mode, std::int32_t i, std::uint32_t b, std::uint32_t c) {
  const auto distance = static_cast<std::int32_t>(b & 31), segment = static_cast<std::int32_t>(c >> 8 & 31);
  const std::int32_t last = (i & segment) | (static_cast<std::int32_t>(c & 31) & ~segment);
  const std::int32_t j = mode == Shuffle::up          ? i - distance
                         : mode == Shuffle::down      ? i + distance
                         : mode == Shuffle::butterfly ? i ^ distance
                                                      : (i & segment) | (distance & ~segment);
  const bool in_range = mode == Shuffle::up ? j >= last : j <= last;
  return {in_range ? j : i, in_range};
}

} // namespace warplens::exec
