// SPDX-License-Identifier: Apache-2.0
// Of im2col, what the manual leaves open is as on an H200. The other two modes need sm_100; they follow the manual,
// and docs/limits.md says what it leaves open.
#include "emulator/exec/state/tensor_pixels.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace warplens::exec {

namespace {

using Action = TensorSite::Action;
using Wide = TensorSite::Wide;

constexpr std::int64_t kPixels = 128, kGroup = 32, kGroupsOfPixels = kPixels / kGroup; ///< pixels of im2col::w::128
constexpr std::int64_t kMostHalo = 511, kMostHaloOf128 = 31, kMostOffset = 31;

std::int64_t last_of_box(const TensorMap& map, std::size_t d) {
  return static_cast<std::int64_t>(map.sizes[d + 1]) - 1 + map.upper[d];
}

std::string why_illegal_wide(const TensorMap& map, const TensorSite& site, const TensorPixels::Place& start,
                             const TensorPixels::Info& info) {
  constexpr int kAtomWithFlip = 2;
  const std::int64_t most = site.wide == Wide::w ? kMostHalo : kMostHaloOf128;
  if (map.swizzle == 0 || map.atom == kAtomWithFlip)
    return "pixels along the width need a swizzle, and not the one that exchanges halves of 16 bytes";
  if (map.interleave != 0) return "pixels along the width need a tensor map without interleave";
  for (std::size_t d = 1; d + 2 < site.dimensions; ++d)
    if (map.lower[d] != 0 || map.upper[d] != 0)
      return "pixels along the width need a tensor map whose bounding box has corners of the width only";
  if (info[0] > most) return fmt::format("its wHalo {} is not from 0 to {}", info[0], most);
  if (info[1] > kMostOffset) return fmt::format("its wOffset {} is not from 0 to {}", info[1], kMostOffset);
  if (start[1] > last_of_box(map, 0))
    return fmt::format("its coordinate {} is beyond the bounding box, which ends at {}", start[1], last_of_box(map, 0));
  return {};
}

} // namespace

std::string TensorPixels::why_illegal(const TensorMap& map, const TensorSite& site, const Place& start,
                                      const Info& info) {
  if (site.wide != Wide::no) return why_illegal_wide(map, site, start, info);
  const bool writes = site.action == Action::store || site.action == Action::reduce;
  for (std::size_t d = 0; d + 2 < site.dimensions; ++d) {
    if (start[d + 1] < map.lower[d] || start[d + 1] > last_of_box(map, d))
      return fmt::format("its coordinate {} is outside the bounding box, {} to {}", start[d + 1], map.lower[d],
                         last_of_box(map, d));
    if (writes && (map.lower[d] != 0 || map.upper[d] != 0))
      return "it writes pixels of a bounding box that is not the whole tensor";
  }
  return {};
}

std::int64_t TensorPixels::count(const TensorMap& map, const TensorSite& site, const Info& info) {
  if (site.wide == Wide::w_128) return kPixels + kGroupsOfPixels * info[0];
  return map.pixel_count + (site.wide == Wide::w ? info[0] : 0);
}

TensorPixels::TensorPixels(const TensorMap& map, const TensorSite& site, const Place& start, const Info& info)
    : map_(map), site_(site), at_(start), inner_(site.wide == Wide::no ? site.dimensions - 2u : 1),
      steps_(count(map, site, info)) {
  if (site.wide == Wide::no) {
    offset_ = info;
    return;
  }
  offset_[0] = info[1];
  halo_ = info[0];
  if (site.wide == Wide::w_128) steps_ = kPixels + halo_;
}

// From one to the next in the bounding box, then in the next image.
void TensorPixels::next() {
  ++visited_;
  for (std::size_t d = 0; d < inner_; ++d) {
    at_[d + 1] += map_.steps[d + 1];
    if (at_[d + 1] <= last_of_box(map_, d)) return;
    at_[d + 1] = map_.lower[d];
  }
  ++at_[site_.dimensions - 1u];
}

TensorPixels::Place TensorPixels::place() const {
  Place from = at_;
  for (std::size_t d = 0; d < inner_; ++d) from[d + 1] += offset_[d];
  return from;
}

// The halo of im2col::w follows the pixels. Each 32 pixels of im2col::w::128 have one: the pixels that come after them.
// These follow all 128 pixels: the first of each halo, then the second of each, and so on.
std::array<std::int64_t, 2> TensorPixels::rows() const {
  if (site_.wide != Wide::w_128) return {visited_, -1};
  const std::int64_t group = visited_ / kGroup - 1, of_halo = visited_ % kGroup;
  const std::int64_t in_halo = group >= 0 && of_halo < halo_ ? kPixels + kGroupsOfPixels * of_halo + group : -1;
  return visited_ < kPixels ? std::array{visited_, in_halo} : std::array{in_halo, std::int64_t{-1}};
}

} // namespace warplens::exec
