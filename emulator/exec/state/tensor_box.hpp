// SPDX-License-Identifier: Apache-2.0
// What a tensor map makes of a box: its elements, and how its rows lie in shared memory; and the maps that a worker has
// decoded last, because decoding one takes longer than copying a small box.
//
//   const DecodedMap& decoded = worker.maps.find(words);  decoded.box(false).rows
#pragma once

#include "emulator/exec/state/tensor_map.hpp"

#include <memory>

namespace warplens::exec {

struct TensorBox {
  std::array<std::int64_t, 5> counts{};
  std::int64_t bits = 0; ///< of an element, or of a slice of channels
  std::int64_t span = 0; ///< of the swizzle
  std::int64_t row = 0;  ///< bytes of a row in global memory
  std::int64_t pitch = 0, rows = 0;

  TensorBox() = default;
  /// `four_rows`: of gather4 and scatter4.
  TensorBox(const TensorMap& map, bool four_rows);
  [[nodiscard]] std::int64_t bytes_of(std::int64_t elements) const { return elements * bits / 8; }
  /// That the mbarrier is told of.
  [[nodiscard]] std::uint32_t bytes() const { return static_cast<std::uint32_t>(rows * row); }
};

struct DecodedMap {
  TensorMap map;
  bool made = false;              ///< a driver can have made these words; otherwise nothing else of this is known
  std::uint64_t bytes = 0;        ///< of the tensor, from its address on, with its gaps
  std::array<TensorBox, 2> boxes; ///< the second: of four rows

  DecodedMap() = default;
  explicit DecodedMap(const TensorMap::Words& words);
};

/// A kernel can change a map between two copies, so what counts is not its address but all of its words.
class DecodedMaps {
public:
  const DecodedMap& find(const TensorMap::Words& words);

private:
  static constexpr int kEntryBits = 4;
  struct Entry {
    TensorMap::Words words{};
    bool used = false;
    DecodedMap decoded;
  };
  using Entries = std::array<Entry, std::size_t{1} << kEntryBits>;
  std::unique_ptr<Entries> entries_; ///< null before the first copy: most kernels have none
};

} // namespace warplens::exec
