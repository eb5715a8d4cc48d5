#include "emulator/exec/grid.hpp"

#include <algorithm>

namespace warplens::exec {

namespace {

Access access_of(const MemorySite& site, isa::Space space, Mask mask, std::uint64_t count) {
  Access access;
  access.instruction = site.instruction;
  access.space = space;
  access.kind = site.kind;
  access.lane_bytes = site.observed_bytes;
  access.mask = mask;
  access.count = count;
  return access;
}

} // namespace

void AccessWatch::deliver(const Regular& r) {
  if (r.count == 0) return;
  Access access = access_of(*r.site, r.space, r.mask, r.count);
  const bool one_sequence = r.stride[0] == r.stride[1] && r.half == 16 * r.stride[0];
  access.stride = one_sequence ? r.stride[0] : 0;
  access.shape = !one_sequence                           ? Shape::irregular
                 : r.stride[0] == 0                      ? Shape::broadcast
                 : r.stride[0] == r.site->observed_bytes ? Shape::contiguous
                                                         : Shape::strided;
  std::uint64_t addresses[kWarpSize];
  for (int i = 0; i < kWarpSize; ++i) {
    const std::int64_t distance = i < 16 ? i * r.stride[0] : r.half + (i - 16) * r.stride[1];
    addresses[i] = r.base + static_cast<std::uint64_t>(distance);
  }
  access.addresses = addresses;
  shard_.access(access);
}

void AccessWatch::deliver(const Irregular& r) {
  if (r.count == 0) return;
  Access access = access_of(*r.site, r.space, r.mask, r.count);
  access.shape = Shape::irregular;
  std::uint64_t addresses[kWarpSize];
  for (int i = 0; i < kWarpSize; ++i) addresses[i] = r.base + static_cast<std::uint64_t>(r.offsets[i]);
  access.addresses = addresses;
  shard_.access(access);
}

void AccessWatch::irregular(const MemorySite& site, isa::Space space, Mask mask, std::uint64_t base,
                            const std::int64_t* offsets) {
  if (site.observed_bytes == 0) return;
  base += static_cast<std::uint64_t>(site.observed_offset);
  const std::uint64_t phase = base & (kAlignmentPeriod - 1);
  std::uint64_t mixed = phase ^ std::uint64_t{mask} << 21 ^ std::uint64_t{site.index} << 9;
  for (int i = 0; i < kWarpSize; ++i)
    mixed += static_cast<std::uint64_t>(offsets[i]) * (2u * static_cast<unsigned>(i) + 1u);
  Irregular& r = irregular_[mixed * 0x9e3779b97f4a7c15u >> (64 - kIrregularBits)];
  if (r.site == &site && r.phase == phase && r.mask == mask && r.space == space &&
      std::equal(offsets, offsets + kWarpSize, r.offsets)) {
    ++r.count;
    return;
  }
  deliver(r);
  r = {&site, base, phase, 1, mask, space, {}};
  std::copy(offsets, offsets + kWarpSize, r.offsets);
}

void AccessWatch::flush() {
  for (Regular& r : regular_) {
    deliver(r);
    r = {};
  }
  for (Irregular& r : irregular_) {
    deliver(r);
    r = {};
  }
}

Worker::Worker(const Launch& l, std::unique_ptr<Shard> s) : launch(l), shard(std::move(s)) {
  const Program& program = *launch.program;
  regions.resize(program.sites.size());
  if (shard) watch.emplace(*shard);
  blocks.resize(program.blocks.size());
  guarded.resize(program.guarded.size());
  branches.resize(program.branches.size());
  taken_lanes.resize(program.branches.size());
  for (std::size_t i = 0; i < branches.size(); ++i) branches[i] = {program.branches[i], 0, 0, 0};
}

bool Worker::find_region(std::uint32_t site, std::uint64_t low, std::uint64_t high) {
  if (low >= high) return false;
  const auto& list = launch.allocations;
  auto after =
      std::upper_bound(list.begin(), list.end(), low, [](std::uint64_t a, const Allocation& x) { return a < x.begin; });
  if (after != list.begin() && high <= (after - 1)->end) {
    regions[site] = {(after - 1)->begin, (after - 1)->end};
    return true;
  }
  constexpr std::uint64_t kFirstPage = 4096; // where null pointers lead
  if (!launch.host_pointers || low < kFirstPage || high > kSharedWindow) return false;
  return high <= launch.arena_begin || low >= launch.arena_end;
}

void Worker::change_branch(Branch& last, Mask active, Mask taken) {
  if (last.count != 0) shard->branch(last);
  taken_lanes[&last - branches.data()] += last.count * static_cast<unsigned>(__builtin_popcount(last.taken));
  last.active = active;
  last.taken = taken;
  last.count = 1;
}

void Worker::flush() {
  if (!shard) return;
  watch->flush();
  for (Branch& b : branches) {
    change_branch(b, 0, 0);
    b.count = 0;
  }
}

} // namespace warplens::exec
