// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/state/tensor_box.hpp"

#include <algorithm>

namespace warplens::exec {

TensorBox::TensorBox(const TensorMap& map, bool four_rows)
    : bits(map.interleave == 0 ? map.element_bits() : 8 * TensorMap::kUnit * map.interleave) {
  constexpr std::int64_t kUnit = TensorMap::kUnit;
  const auto rank = static_cast<std::size_t>(map.rank);
  for (std::size_t d = 0; d < counts.size(); ++d) {
    const std::uint32_t step = d == 0 ? 1 : map.steps[d];
    counts[d] = d < rank ? (map.box[d] + step - 1) / step : 1;
  }
  // One slice of channels, whatever the box says.
  if (map.interleave != 0 && !map.pixels) counts[rank - 2] = 1;
  span = map.swizzle == 0 ? 0 : kUnit << map.swizzle;
  row = bytes_of(counts[0]);
  pitch = std::max(row / map.packed_unit() * kUnit + row % map.packed_unit(), span);
  rows = map.pixels ? map.pixel_count : 1;
  for (std::size_t d = 1; !map.pixels && d < counts.size(); ++d) rows *= counts[d];
  if (four_rows) rows = 4;
}

DecodedMap::DecodedMap(const TensorMap::Words& words) : map(TensorMap::decoded(words)), made(map.made(words)) {
  if (!made) return;
  boxes = {TensorBox(map, false), TensorBox(map, true)};
  constexpr std::uint64_t kUnit = TensorMap::kUnit, kUnitBits = 8 * kUnit;
  bytes = (map.sizes[0] * static_cast<std::uint64_t>(boxes[0].bits) + kUnitBits - 1) / kUnitBits * kUnit;
  for (std::size_t d = 1; d < static_cast<std::size_t>(map.rank); ++d) bytes += (map.sizes[d] - 1) * map.strides[d - 1];
}

const DecodedMap& DecodedMaps::find(const TensorMap::Words& words) {
  if (!entries_) entries_ = std::make_unique<Entries>();
  // The words that differ between the maps of a kernel: the address, the sizes, and the box.
  const std::uint64_t mixed = (words[0] ^ words[4] << 20 ^ words[6] << 7 ^ words[7] << 33) * 0x9e3779b97f4a7c15u;
  Entry& e = (*entries_)[mixed >> (64 - kEntryBits)];
  if (!e.used || e.words != words) e = {words, true, DecodedMap(words)};
  return e.decoded;
}

} // namespace warplens::exec
