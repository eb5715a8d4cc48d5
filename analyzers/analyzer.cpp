// SPDX-License-Identifier: Apache-2.0
#include "analyzers/analyzer.hpp"

namespace warplens::analyzers {

namespace {

using Kind = Pattern::Kind;

std::size_t index(Kind kind) { return static_cast<std::size_t>(kind); }

/// Whether the active lanes access as many consecutive words as there are lanes.
bool is_permutation(const exec::Access& access) {
  const auto lanes = static_cast<std::uint64_t>(std::popcount(access.mask));
  const std::uint64_t first = access.addresses[std::countr_zero(access.mask)], bytes = lanes * access.lane_bytes;
  std::uint64_t words = 0; // by their distance from the first lane's, which is in the middle
  for (exec::Mask rest = access.mask; rest; rest &= rest - 1) {
    const std::uint64_t distance = access.addresses[std::countr_zero(rest)] - first + bytes;
    if (distance >= 2 * bytes) return false;
    const auto near = static_cast<std::uint32_t>(distance), width = std::uint32_t{access.lane_bytes};
    if (near % width != 0) return false;
    words |= std::uint64_t{1} << near / width;
  }
  return static_cast<std::uint64_t>(std::popcount(words)) == lanes &&
         static_cast<std::uint64_t>(std::bit_width(words) - std::countr_zero(words)) == lanes;
}

/// Whether lanes 0 and 1 are as far apart as lanes 2 and 3, 4 and 5, …, as far as both are active: otherwise no groups
/// of lanes have one stride. A cheap test that rejects most scattered accesses.
bool pairs_are_alike(const exec::Access& access) {
  const auto distance = [&](int lane) { return access.addresses[lane + 1] - access.addresses[lane]; };
  const exec::Mask pairs = access.mask & access.mask >> 1 & 0x5555'5555u; // by the first lane
  if (pairs == 0) return true;
  const std::uint64_t first = distance(std::countr_zero(pairs));
  for (const int lane : exec::EachLane(pairs & (pairs - 1)))
    if (distance(lane) != first) return false;
  return true;
}

/// The stride of all groups of this number of lanes, if they have one.
std::optional<std::int64_t> stride_of_groups(const exec::Access& access, int lanes) {
  std::optional<std::int64_t> stride;
  for (int begin = 0; begin < exec::kWarpSize; begin += lanes) {
    exec::Mask rest = access.mask & (((exec::Mask{1} << lanes) - 1) << begin);
    if (std::popcount(rest) < 2) continue;
    const int first = std::countr_zero(rest);
    for (rest &= rest - 1; rest; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      const auto distance = static_cast<std::int64_t>(access.addresses[lane] - access.addresses[first]);
      if (!stride && distance % (lane - first) == 0) stride = distance / (lane - first);
      // Unsigned, because long strides may wrap around.
      if (!stride || static_cast<std::uint64_t>(distance) !=
                         static_cast<std::uint64_t>(*stride) * static_cast<std::uint64_t>(lane - first))
        return std::nullopt;
    }
  }
  return stride;
}

} // namespace

Pattern classify(const exec::Access& access) {
  if (std::has_single_bit(access.mask)) return {Kind::single_lane};
  switch (access.shape) {
  case exec::Shape::contiguous: return {Kind::unit_stride};
  case exec::Shape::broadcast: return {Kind::broadcast};
  case exec::Shape::strided: return {Kind::strided, access.stride};
  case exec::Shape::irregular: break;
  }
  if (is_permutation(access)) return {Kind::permuted};
  if (!pairs_are_alike(access)) return {Kind::random};
  for (const int lanes : {16, 8, 4, 2})
    if (const auto stride = stride_of_groups(access, lanes))
      return {Kind::grouped, *stride, static_cast<std::uint32_t>(lanes), *stride == access.lane_bytes};
  return {Kind::random};
}

void AccessSite::add(const Pattern& pattern, std::uint64_t count) {
  if (count == 0) return;
  std::uint64_t& known = counts_[index(pattern.kind)];
  if (pattern.kind == Kind::strided) strided_.add(pattern, known == 0);
  if (pattern.kind == Kind::grouped) grouped_.add(pattern, known == 0);
  known += count;
}

void AccessSite::merge(const AccessSite& other) {
  const auto merge_kind = [&](Kind kind, Alike& own, const Alike& others) {
    if (other.count(kind) == 0) return;
    own.add(others.one, count(kind) == 0);
    own.differ = own.differ || others.differ;
  };
  merge_kind(Kind::strided, strided_, other.strided_);
  merge_kind(Kind::grouped, grouped_, other.grouped_);
  for (std::size_t i = 0; i < kPatterns; ++i) counts_[i] += other.counts_[i];
}

// A single lane has no pattern: it counts only if there is no other pattern.
std::size_t AccessSite::most_frequent() const {
  const auto* const most = std::max_element(counts_, counts_ + index(Kind::single_lane));
  return *most ? static_cast<std::size_t>(most - counts_) : index(Kind::single_lane);
}

std::int64_t AccessSite::stride() const {
  return most_frequent() == index(Kind::strided) && !strided_.differ ? strided_.one.stride : 0;
}

namespace {

std::string stride_text(const Pattern& pattern) {
  if (pattern.unit) return "unit stride";
  return pattern.stride == 0 ? "broadcast" : "stride " + std::to_string(pattern.stride) + " bytes";
}

} // namespace

std::string AccessSite::pattern() const {
  const std::size_t kind = most_frequent();
  if (counts_[kind] == 0) return {};
  std::string text;
  for (std::size_t i = 0; i < index(Kind::single_lane); ++i)
    if (i != kind && counts_[i]) text = "mostly ";
  switch (static_cast<Kind>(kind)) {
  case Kind::unit_stride: return text + "unit stride";
  case Kind::broadcast: return text + "broadcast";
  case Kind::strided: return text + (strided_.differ ? "several strides" : stride_text(strided_.one));
  case Kind::grouped:
    if (grouped_.differ) return text + "several strides in groups of lanes";
    return text + stride_text(grouped_.one) + " in groups of " + std::to_string(grouped_.one.group) + " lanes";
  case Kind::permuted: return text + "permuted";
  case Kind::random: return text + "random";
  case Kind::single_lane: break;
  }
  return "single lane";
}

} // namespace warplens::analyzers
