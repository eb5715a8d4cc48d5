// SPDX-License-Identifier: Apache-2.0
// Makes tensor maps, with the checks of CUDA's driver (tests/data/hardware/tensor_maps.jsonl).
//
//   TensorMapRequest r;
//   r.type = 6; r.rank = 2; r.address = p; r.sizes = {64, 32}; r.strides = {128}; r.box = {64, 8};
//   auto map = make_tensor_map(r);
#pragma once

#include "emulator/base/expected.hpp"
#include "emulator/exec/state/tensor_map.hpp"

namespace warplens::api {

struct TensorMapRequest {
  enum class Kind : std::uint8_t { tiled, im2col, im2col_wide } kind{};
  std::int64_t type = 0, rank = 1; ///< these and the other enumerations as in CUDA's header, not checked
  std::uint64_t address = 0;
  std::array<std::uint64_t, 5> sizes{};
  std::array<std::uint64_t, 4> strides{};
  std::array<std::uint32_t, 5> steps{1, 1, 1, 1, 1}, box{}; ///< box: of tiled
  std::array<int, 3> lower{}, upper{};
  std::uint32_t channels = 0, pixels = 0;
  std::int64_t interleave = 0, swizzle = 0, promotion = 0, fill = 0, mode = 0;
  /// Whether the device has swizzles that move more than 16 bytes, and elements of 4 and 6 bits: since sm_100.
  bool since_sm_100 = false;
};

Expected<exec::TensorMap> make_tensor_map(const TensorMapRequest& request);

/// Whether a tensor with this interleave can begin there.
bool can_begin_at(std::uint64_t address, int interleave);

} // namespace warplens::api
