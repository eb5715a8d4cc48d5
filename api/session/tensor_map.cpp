// SPDX-License-Identifier: Apache-2.0
#include "api/session/tensor_map.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace warplens::api {

namespace {

using exec::TensorMap;
using MapKind = TensorMapRequest::Kind;

constexpr std::uint64_t kAddresses = std::uint64_t{1} << 57, kStrides = std::uint64_t{1} << 40;
constexpr std::uint64_t kSizes = std::uint64_t{1} << 32, kBoxBytes = std::uint64_t{1} << 18;
constexpr std::uint32_t kMostOfBox = 256, kMostPixels = 1024, kMostStep = 8;
constexpr int kFirstFloat = 6; ///< type
constexpr int kUnit = 16;

bool between(std::int64_t x, std::int64_t least, std::int64_t most) { return x >= least && x <= most; }
std::uint64_t unit_of(std::int64_t interleave) { return interleave == 2 ? 2 * kUnit : kUnit; }

class Check {
public:
  explicit Check(const TensorMapRequest& request) : r_(request) {}

  /// Empty: a driver makes the map.
  std::string run() {
    if (!enumerations()) return why_;
    map_.type = static_cast<TensorMap::Type>(r_.type);
    map_.rank = static_cast<int>(r_.rank);
    map_.pixels = r_.kind != MapKind::tiled;
    map_.interleave = static_cast<int>(r_.interleave);
    constexpr std::int64_t kSwizzle128 = 3; // after it, those that move more than 16 bytes
    map_.swizzle = static_cast<int>(std::min(r_.swizzle, kSwizzle128));
    map_.atom = static_cast<int>(r_.swizzle) - map_.swizzle;
    map_.promotion = static_cast<int>(r_.promotion);
    map_.fill_nan = r_.fill != 0;
    if (!tensor() || (map_.pixels ? !pixels() : !box()) || !bytes() || !narrow()) return why_;
    return {};
  }
  [[nodiscard]] const TensorMap& map() const { return map_; }

private:
  bool no(std::string why) {
    why_ = std::move(why);
    return false;
  }

  bool enumerations() {
    const bool slices = r_.interleave != 0, tiled = r_.kind == MapKind::tiled;
    if (!between(r_.type, 0, (r_.since_sm_100 ? TensorMap::kTypes : TensorMap::kTypesOf90) - 1))
      return no(fmt::format("{} is not a type of a tensor of this device", r_.type));
    if (!between(r_.interleave, 0, 2)) return no(fmt::format("{} is not an interleave", r_.interleave));
    if (!between(r_.rank, tiled && !slices ? 1 : 3, TensorMap::kMostDimensions))
      return no(fmt::format("expected {} to 5 dimensions, got {}", tiled && !slices ? 1 : 3, r_.rank));
    if (!between(r_.swizzle, 0, r_.since_sm_100 ? 6 : 3))
      return no(fmt::format("{} is not a swizzle of this device", r_.swizzle));
    if (!between(r_.promotion, 0, 3)) return no(fmt::format("{} is not a promotion", r_.promotion));
    if (!between(r_.fill, 0, 1)) return no(fmt::format("{} is not a filling", r_.fill));
    if (r_.fill != 0 && !between(r_.type, kFirstFloat, TensorMap::kTypesOf90 - 1))
      return no("only floating-point numbers can be filled with NaN");
    if (r_.kind == MapKind::im2col_wide && !between(r_.mode, 0, 1)) return no(fmt::format("{} is not a mode", r_.mode));
    return true;
  }

  bool tensor() {
    if (!can_begin_at(r_.address, map_.interleave))
      return no(
          fmt::format("the address {:#x} is not a multiple of {} below 2^57", r_.address, unit_of(r_.interleave)));
    map_.address = r_.address;
    const auto rank = static_cast<std::size_t>(map_.rank);
    for (std::size_t d = 0; d < rank; ++d) {
      // Im2colWide refuses 2^32 - 1 between width and images; where the limit lies is not known.
      const bool inner = r_.kind == MapKind::im2col_wide && d >= 2 && d + 1 < rank;
      if (r_.sizes[d] < 1 || r_.sizes[d] > (inner ? kSizes / 2 : kSizes))
        return no(fmt::format("the size {} of dimension {} is not from 1 to 2^{}", r_.sizes[d], d, inner ? 31 : 32));
      if (r_.steps[d] < 1 || r_.steps[d] > kMostStep)
        return no(fmt::format("the element stride {} of dimension {} is not from 1 to 8", r_.steps[d], d));
      map_.sizes[d] = r_.sizes[d];
      map_.steps[d] = r_.steps[d];
    }
    for (std::size_t d = 0; d + 1 < rank; ++d) {
      if (r_.strides[d] % unit_of(r_.interleave) != 0 || r_.strides[d] >= kStrides)
        return no(fmt::format("the stride {} of dimension {} is not a multiple of {} below 2^40", r_.strides[d], d + 1,
                              unit_of(r_.interleave)));
      map_.strides[d] = r_.strides[d];
    }
    return true;
  }

  bool box() {
    for (std::size_t d = 0; d < static_cast<std::size_t>(map_.rank); ++d) {
      if (r_.box[d] < 1 || r_.box[d] > kMostOfBox)
        return no(fmt::format("the size {} of the box in dimension {} is not from 1 to 256", r_.box[d], d));
      map_.box[d] = r_.box[d];
    }
    return true;
  }

  bool pixels() {
    if (r_.channels < 1 || r_.channels > kMostOfBox)
      return no(fmt::format("the number of channels, {}, is not from 1 to 256", r_.channels));
    if (r_.pixels < 1 || r_.pixels > kMostPixels)
      return no(fmt::format("the number of pixels, {}, is not from 1 to 1024", r_.pixels));
    map_.box[0] = r_.channels;
    map_.pixel_count = r_.pixels;
    const std::size_t corners = r_.kind == MapKind::im2col_wide ? 1 : static_cast<std::size_t>(map_.rank) - 2;
    const std::int64_t limit = std::int64_t{1} << (map_.corner_bits() - 1);
    for (std::size_t d = 0; d < corners; ++d) {
      if (!between(r_.lower[d], -limit, limit - 1) || !between(r_.upper[d], -limit, limit - 1))
        return no(
            fmt::format("the corners {} and {} are not from {} to {}", r_.lower[d], r_.upper[d], -limit, limit - 1));
      if (static_cast<std::int64_t>(r_.sizes[d + 1]) + r_.upper[d] - r_.lower[d] < 1)
        return no("the bounding box holds no pixel");
      map_.lower[d] = r_.lower[d];
      map_.upper[d] = r_.upper[d];
    }
    return true;
  }

  // Elements of 4 and 6 bits: the requirements of cuda.h.
  bool narrow() {
    constexpr std::uint64_t kPadded = TensorMap::kPaddedBox, kAligned = 32;
    const std::uint64_t group = map_.is_padded() ? kPadded : 2;
    if (!map_.has_narrow_elements()) return true;
    if (map_.sizes[0] % group != 0)
      return no(fmt::format("the size {} of dimension 0 is not a multiple of {}", map_.sizes[0], group));
    if (!map_.is_padded()) return true;
    if (map_.box[0] != kPadded)
      return no(fmt::format("a row of the box has {} elements: expected 128 of a type with padding", map_.box[0]));
    bool aligned = map_.address % kAligned == 0;
    for (const std::uint64_t stride : map_.strides) aligned = aligned && stride % kAligned == 0;
    if (!aligned) return no("the address or a stride is not a multiple of 32, as types with padding need");
    const bool six = map_.type == TensorMap::Type::b6x16_p32;
    if (six && map_.interleave != 0) return no("there is no interleave of elements of 6 bits");
    constexpr int kSwizzle128 = 3, kAtom32 = 1, kAtom64 = 3;
    const bool of_128 = map_.swizzle == kSwizzle128 &&
                        (map_.atom <= kAtom32 || (six && map_.atom == kAtom64)); // not the one with halves
    return map_.swizzle == 0 || of_128 || no(fmt::format("types with padding do not have the swizzle {}", r_.swizzle));
  }

  bool bytes() {
    const std::int64_t row = std::int64_t{map_.box[0]} * map_.element_bits() / 8;
    if (std::int64_t{map_.box[0]} * map_.element_bits() % 8 != 0 || row % kUnit != 0)
      return no(fmt::format("a row of the box has {} bytes, which is not a multiple of 16", row));
    if (map_.interleave == 0 && map_.swizzle != 0 && row > kUnit << map_.swizzle)
      return no(
          fmt::format("a row of the box has {} bytes, more than the {} of the swizzle", row, kUnit << map_.swizzle));
    if (map_.box_bytes() >= kBoxBytes)
      return no(fmt::format("the box has {} bytes, not less than 2^18", map_.box_bytes()));
    return true;
  }

  const TensorMapRequest& r_;
  TensorMap map_;
  std::string why_;
};

} // namespace

bool can_begin_at(std::uint64_t address, int interleave) {
  return address % unit_of(interleave) == 0 && address < kAddresses;
}

Expected<exec::TensorMap> make_tensor_map(const TensorMapRequest& request) {
  Check check(request);
  if (std::string why = check.run(); !why.empty()) return failure("no such tensor map: " + std::move(why));
  return check.map();
}

} // namespace warplens::api
