// SPDX-License-Identifier: Apache-2.0
#include "analyzers/access_batch.hpp"

#include "analyzers/analyzer.hpp"
#include "emulator/base/processor_levels.hpp"

#include <vector>

namespace warplens::analyzers {

namespace {

constexpr std::size_t kFirstCounts[] = {0, 4, 6}; // by Group

} // namespace

// WARPLENS_FOR_EACH_LEVEL: LEVEL(v4) …
#define LEVEL(name)                                                                                                    \
  namespace name {                                                                                                     \
  extern const BatchFunctions kBatchFunctions;                                                                         \
  }
WARPLENS_FOR_EACH_LEVEL
#undef LEVEL

std::span<const BatchFunctions> batch_functions() {
  // Never destroyed: a program may use it during its exit.
  static const std::vector<BatchFunctions>& available = *new std::vector<BatchFunctions>([] {
    std::vector<BatchFunctions> list;
#if defined(__x86_64__)
    __builtin_cpu_init();
#endif
#define LEVEL(name)                                                                                                    \
  if (WARPLENS_RUNS_##name) list.push_back(name::kBatchFunctions);
    WARPLENS_FOR_EACH_LEVEL
#undef LEVEL
    return list;
  }());
  return available;
}

AccessBatch::AccessBatch(const exec::AccessRows& all, const BatchFunctions& by)
    : rows(all), by_(by), masks_{}, lanes_{} {
  const bool common = std::has_single_bit(std::uint32_t{all.lane_bytes}) && all.lane_bytes <= kSectorBytes;
  if (common) taken_ = by.arrange(all, keys_) & static_cast<std::uint32_t>((std::uint64_t{1} << all.count) - 1);
  for (std::size_t i = 0; i < all.count; ++i) {
    const exec::Mask mask = (taken_ >> i & 1) != 0 ? all.masks[i] : 0;
    masks_.of[i] = static_cast<std::int32_t>(mask);
    lanes_.of[i] = std::popcount(mask);
    full_ |= std::uint32_t{mask == ~exec::Mask{0}} << i;
  }
}

void AccessBatch::leave_out(std::uint32_t accesses) {
  accesses &= taken_;
  if (accesses == 0) return;
  taken_ &= ~accesses;
  full_ &= ~accesses;
  for (; accesses != 0; accesses &= accesses - 1) {
    const int i = std::countr_zero(accesses);
    masks_.of[i] = lanes_.of[i] = 0;
  }
  counted_[0] = counted_[1] = counted_[2] = false;
  sums_of_warps_.reset();
}

void AccessBatch::sort() {
  if (!is_sorted_) by_.sort(keys_, sorted_);
  is_sorted_ = true;
}

const GroupCounts* AccessBatch::counts(Group group) {
  const auto g = static_cast<std::size_t>(group);
  GroupCounts* const own = counts_ + kFirstCounts[g];
  if (!counted_[g]) {
    sort();
    by_.count(sorted_[g], group, masks_, own);
    counted_[g] = true;
  }
  return own;
}

BatchSums AccessBatch::sums(Group group, const Moved& moved) {
  BatchSums sums;
  by_.add_up(counts(group), exec::kWarpSize / lanes_of(group), moved, sums);
  return sums;
}

const BatchSums& AccessBatch::sums_of_warps() {
  if (!sums_of_warps_)
    sums_of_warps_ = sums(Group::warp, {.sector = std::int32_t{kSectorBytes}, .word = rows.lane_bytes});
  return *sums_of_warps_;
}

std::uint32_t AccessBatch::with_equal_lanes() {
  return taken_ & ~by_.differ_by(counts(Group::warp)->distinct, lanes_, 0);
}

void AccessBatch::fullest_cells(Group group, std::uint32_t shift, std::uint32_t last, BatchNumbers* fullest) {
  sort();
  by_.fullest_cells(sorted_[static_cast<std::size_t>(group)], group, masks_, shift, last, fullest);
}

void AccessBatch::fullest_lanes(Group group, std::uint32_t shift, std::uint32_t last, BatchNumbers* fullest) const {
  by_.fullest_lanes(keys_, group, masks_, shift, last, fullest);
}

std::uint32_t AccessBatch::out_of_order(std::uint32_t lanes) const {
  std::uint32_t ordered = 0;
  for (std::size_t first = 0; first < exec::kWarpSize; first += lanes)
    ordered |= by_.differ_by(keys_.lane[first + 1], keys_.lane[first], rows.lane_bytes);
  return full_ & ~ordered;
}

// Only permutations lie as near as their words together; only groups with a stride have pairs that are alike.
void AccessBatch::add_patterns(AccessSite& site) {
  sort();
  const LaneNumbers& sorted = sorted_[static_cast<std::size_t>(Group::warp)];
  BatchNumbers together = lanes_;
  for (std::int32_t& bytes : together.of) bytes *= rows.lane_bytes;
  const std::uint32_t random = taken_ & by_.with_unlike_pairs(keys_, masks_) &
                               by_.differ_by_at_least(sorted.lane[exec::kWarpSize - 1], sorted.lane[0], together);
  if (random != 0) site.add({Pattern::Kind::random}, static_cast<std::uint64_t>(std::popcount(random)));
  for (std::uint32_t rest = taken_ & ~random; rest != 0; rest &= rest - 1)
    site.add(classify(rows[static_cast<std::size_t>(std::countr_zero(rest))]), 1);
}

} // namespace warplens::analyzers
