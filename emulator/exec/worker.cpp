#include "emulator/exec/grid.hpp"

#include <algorithm>

namespace warplens::exec {

void AccessWatch::flush(const MemorySite& site, const Last& last) {
  if (last.count == 0) return;
  Access access;
  access.instruction = site.instruction;
  access.space = last.space;
  access.kind = site.kind;
  access.lane_bytes = site.lane_bytes;
  access.mask = last.mask;
  access.stride = last.stride;
  access.shape = last.stride == 0                 ? Shape::broadcast
                 : last.stride == site.lane_bytes ? Shape::contiguous
                                                  : Shape::strided;
  access.count = last.count;
  std::uint64_t addresses[kWarpSize];
  for (int i = 0; i < kWarpSize; ++i) addresses[i] = last.base + static_cast<std::uint64_t>(i * last.stride);
  access.addresses = addresses;
  shard_.access(access);
}

void AccessWatch::irregular(const MemorySite& site, isa::Space space, Mask mask, const std::uint64_t* addresses) {
  Access access;
  access.instruction = site.instruction;
  access.space = space;
  access.kind = site.kind;
  access.shape = Shape::irregular;
  access.lane_bytes = site.lane_bytes;
  access.mask = mask;
  access.addresses = addresses;
  shard_.access(access);
}

void AccessWatch::flush(const std::deque<MemorySite>& sites) {
  for (const MemorySite& site : sites)
    for (Last& last : sites_[site.index].last) {
      flush(site, last);
      last = {};
    }
}

Worker::Worker(const Launch& l, std::unique_ptr<Shard> s) : launch(l), shard(std::move(s)) {
  const Program& program = *launch.program;
  regions.resize(program.sites.size());
  if (shard) watch.emplace(program.sites.size(), *shard);
  blocks.resize(program.blocks.size());
  guarded.resize(program.guarded.size());
  branches.resize(program.branches.size());
  for (std::size_t i = 0; i < branches.size(); ++i) branches[i] = {program.branches[i], 0, 0, 0};
}

bool Worker::find_region(std::uint32_t site, std::uint64_t low, std::uint64_t high) {
  if (low >= high) return false;
  const auto& list = launch.allocations;
  auto after = std::upper_bound(list.begin(), list.end(), low,
                                [](std::uint64_t a, const Allocation& x) { return a < x.begin; });
  if (after != list.begin() && high <= (after - 1)->end) {
    regions[site] = {(after - 1)->begin, (after - 1)->end};
    return true;
  }
  if (!launch.host_pointers || high > kSharedWindow) return false;
  return high <= launch.arena_begin || low >= launch.arena_end;
}

void Worker::count_branch(std::uint32_t index, Mask active, Mask taken) {
  Branch& last = branches[index];
  if (last.active == active && last.taken == taken) {
    ++last.count;
    return;
  }
  if (last.count != 0) shard->branch(last);
  last.active = active;
  last.taken = taken;
  last.count = 1;
}

void Worker::flush() {
  if (!shard) return;
  watch->flush(launch.program->sites);
  for (Branch& b : branches) {
    if (b.count != 0) shard->branch(b);
    b.count = 0;
  }
}

} // namespace warplens::exec
