// SPDX-License-Identifier: Apache-2.0
// The pixels that a copy by tensor map visits in the modes im2col (5.5.4), im2col::w and im2col::w::128 (5.5.5), and
// the rows of the box in shared memory that they go to.
//
//   TensorPixels pixels(map, site, start, info);
//   for (; pixels.more(); pixels.next()) copy(pixels.place(), pixels.rows());
#pragma once

#include "emulator/exec/state/tensor_map.hpp"
#include "emulator/exec/state/tensor_site.hpp"

#include <string>

namespace warplens::exec {

class TensorPixels {
public:
  using Place = std::array<std::int64_t, 5>;
  using Info = std::array<std::int64_t, 3>; ///< the offsets of im2col; wHalo and wOffset of the others

  TensorPixels(const TensorMap& map, const TensorSite& site, const Place& start, const Info& info);

  /// Empty: the copy is legal.
  static std::string why_illegal(const TensorMap& map, const TensorSite& site, const Place& start, const Info& info);
  /// Pixels in shared memory, with those of the halo.
  static std::int64_t count(const TensorMap& map, const TensorSite& site, const Info& info);

  [[nodiscard]] bool more() const { return visited_ < steps_; }
  void next();
  [[nodiscard]] Place place() const;
  /// One row, or two: a pixel of the halo of im2col::w::128 is also one of the next 32 pixels. -1: no second one.
  [[nodiscard]] std::array<std::int64_t, 2> rows() const;

private:
  const TensorMap& map_;
  const TensorSite& site_;
  Place at_;
  Info offset_{};
  std::size_t inner_; ///< dimensions of the bounding box
  std::int64_t halo_ = 0, steps_, visited_ = 0;
};

} // namespace warplens::exec
