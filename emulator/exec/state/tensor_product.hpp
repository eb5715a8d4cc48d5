// SPDX-License-Identifier: Apache-2.0
// A multiplication with tensor memory (tcgen05.mma, 9.7.16.10): what its spelling says. The rest is in a descriptor of
// 32 bits (matrix/instruction_descriptor.hpp).
//
//   tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, %p1;   ->  TensorProductSite{kind: f16, …}
#pragma once

#include <array>
#include <cstdint>

namespace warplens::exec {

struct TensorProductSite {
  enum class Kind : std::uint8_t { f16, tf32, f8f6f4, i8, mxf8f6f4, mxf4, mxf4nvf4 };
  Kind kind{};
  bool pair = false;               ///< .cta_group::2
  bool weights_stationary = false; ///< .ws
  bool sparse = false;             ///< .sp
  bool a_in_tensor_memory = false;
  bool shifts_a = false;    ///< .ashift
  bool masks_lanes = false; ///< disable-output-lane
  bool masks_columns = false;
  int scales = 0;           ///< of a row of A and a column of B; 0: no .block_scale
  int reduction_of_d = 0;   ///< scale-input-d: D is multiplied with 2 to the power of its negation
  const char* name = "f16"; ///< of the kind

  /// An address in tensor memory: a row of 32 bits and an offset.
  struct Place {
    std::uint32_t row = 0;
    std::int64_t offset = 0;
  };
  Place d, a, metadata, a_scales, b_scales;
  std::uint32_t a_descriptor = 0, b_descriptor = 0, column_mask = 0; ///< rows of 64 bits
  std::uint32_t instruction = 0;                                     ///< the descriptor: a row of 32 bits
  std::uint32_t accumulate = 0;                                      ///< enable-input-d: a predicate
  std::array<std::uint32_t, 8> lane_masks{};
};

} // namespace warplens::exec
