// SPDX-License-Identifier: Apache-2.0
#include "emulator/base/processors.hpp"
#include "emulator/exec/block/cta.hpp"

#include <algorithm>
#include <mutex>
#include <tuple>
#include <utility>

namespace warplens::exec {

namespace {

// The access to report: `site`, `space`, `mask`, and the addresses, for which `lanes` has room.
Access access_of(const MemorySite& site, isa::Space space, Mask mask, const std::uint64_t* lanes) {
  Access access;
  access.instruction = site.instruction;
  access.space = space;
  access.kind = site.kind;
  access.lane_bytes = site.observed_bytes;
  access.mask = mask;
  access.addresses = lanes;
  return access;
}

WARPLENS_PER_PROCESSOR void move(const std::int64_t* offsets, std::uint64_t base, std::uint64_t* __restrict lanes) {
  for (int i = 0; i < kWarpSize; ++i) lanes[i] = base + static_cast<std::uint64_t>(offsets[i]);
}

WARPLENS_PER_PROCESSOR std::uint32_t hash_of(const std::int64_t* offsets) {
  std::uint32_t mixed = 0;
  for (std::uint32_t i = 0; i < kWarpSize; ++i) mixed += static_cast<std::uint32_t>(offsets[i]) * (2 * i + 1);
  return mixed;
}

} // namespace

class AccessWatch::Pool {
public:
  static Pool& instance() {
    static Pool* const pool = new Pool; // never destroyed: threads may end a launch while the process ends
    return *pool;
  }
  std::unique_ptr<Tables> take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return std::make_unique<Tables>();
    std::unique_ptr<Tables> tables = std::move(free_.back());
    free_.pop_back();
    return tables;
  }
  /// Drops those of a launch that ended early, which hold something.
  void give(std::unique_ptr<Tables> tables) {
    if (!tables->used_regular.empty() || !tables->used_irregular.empty()) return;
    const auto holds = [](const std::unique_ptr<Rows>& rows) { return rows != nullptr && rows->count != 0; };
    if (std::any_of(tables->rows.begin(), tables->rows.end(), holds)) return;
    if (tables->rows.size() > kMostSites) tables->rows.clear();
    const std::lock_guard lock(mutex_);
    if (free_.size() < kMost) free_.push_back(std::move(tables));
  }

private:
  static constexpr std::size_t kMost = 64;      ///< 12 MB, and of each for …
  static constexpr std::size_t kMostSites = 64; ///< … its sites 1 MB at most, if all of them access irregularly
  std::mutex mutex_;
  std::vector<std::unique_ptr<Tables>> free_;
};

AccessWatch::AccessWatch(Shard* shard, TouchedSectors* touched, const std::vector<std::unique_ptr<Checker>>& checkers)
    : tables_(shard != nullptr ? Pool::instance().take() : nullptr), shard_(shard), touched_(touched),
      checkers_(checkers), others_(touched != nullptr || !checkers.empty()),
      wanted_(shard != nullptr ? shard->each_wanted() : EachWanted{}) {}

AccessWatch::~AccessWatch() {
  if (tables_ != nullptr) Pool::instance().give(std::move(tables_));
}

Access AccessWatch::access_of(const Regular& r) {
  const auto& [base, stride, half] = r.lanes;
  Access access = exec::access_of(*r.site, r.space, r.mask, nullptr);
  const bool one_sequence = stride[0] == stride[1] && half == 16 * stride[0];
  access.stride = one_sequence ? stride[0] : 0;
  access.shape = !one_sequence                         ? Shape::irregular
                 : stride[0] == 0                      ? Shape::broadcast
                 : stride[0] == r.site->observed_bytes ? Shape::contiguous
                                                       : Shape::strided;
  access.halves = &r.lanes;
  return access;
}

Access AccessWatch::access_of(const Regular& r, std::uint64_t* lanes) {
  Access access = access_of(r);
  access.addresses = lanes;
  std::uint64_t first = r.lanes.base, second = first + static_cast<std::uint64_t>(r.lanes.half);
  for (int i = 0; i < kWarpSize / 2; ++i) { // additions: 64-bit multiplications are slow
    lanes[i] = first;
    lanes[16 + i] = second;
    first += static_cast<std::uint64_t>(r.lanes.stride[0]);
    second += static_cast<std::uint64_t>(r.lanes.stride[1]);
  }
  return access;
}

Access AccessWatch::access_of(const Irregular& r, std::uint64_t* lanes) {
  Access access = exec::access_of(*r.site, r.space, r.mask, lanes);
  access.shape = Shape::irregular;
  move(r.offsets, r.base, lanes);
  return access;
}

template <class Held> void AccessWatch::deliver(const Held& held) {
  if (held.count == 0) return;
  std::uint64_t lanes[kWarpSize];
  Access access = access_of(held, lanes);
  access.count = held.count;
  shard_->access(access);
}

void AccessWatch::deliver(Rows& held) {
  AccessRows all;
  for (std::size_t first = 0; first < held.count; first += AccessRows::kMost) {
    all.instruction = held.site->instruction;
    all.space = held.space;
    all.kind = held.site->kind;
    all.lane_bytes = held.site->observed_bytes;
    all.count = std::min(held.count - first, AccessRows::kMost);
    all.masks = held.masks + first;
    all.rows = held.rows + first;
    shard_->access_rows(all);
  }
  held.count = 0;
}

AccessWatch::Rows& AccessWatch::make_rows(const MemorySite& site) {
  if (tables_->rows.size() <= site.index) tables_->rows.resize(site.index + std::size_t{1});
  std::unique_ptr<Rows>& rows = tables_->rows[site.index];
  rows = std::make_unique<Rows>();
  return *rows;
}

void AccessWatch::add_row(const MemorySite& site, isa::Space space, Mask mask, std::uint64_t base,
                          const std::int64_t* offsets) {
  const bool known = site.index < tables_->rows.size() && tables_->rows[site.index] != nullptr;
  Rows& rows = known ? *tables_->rows[site.index] : make_rows(site);
  if (rows.space != space) deliver(rows);
  rows.site = &site;
  rows.space = space;
  rows.masks[rows.count] = mask;
  move(offsets, base, rows.rows[rows.count]);
  if (++rows.count == Rows::kMost) deliver(rows);
}

void AccessWatch::make_room(Regular& r) {
  if (r.site == nullptr) tables_->used_regular.push_back(&r);
  deliver(r);
}

namespace {
WarpId id_of(const Warp& warp) { return {warp.cta->number, warp.index}; }
} // namespace

void AccessWatch::tell_others(const Warp& warp, const MemorySite& site, isa::Space space, Mask mask,
                              const HalfWarps& lanes, const std::int64_t* offsets) const {
  const WarpAccess access{&warp, id_of(warp), &site, space, mask, lanes, offsets};
  for (const auto& checker : checkers_) checker->access(access);
  if (touched_ == nullptr || space != isa::Space::global || site.observed_bytes == 0) return;
  const std::uint64_t base = lanes.base + static_cast<std::uint64_t>(site.observed_offset);
  if (offsets != nullptr)
    touched_->irregular(site, mask, base, offsets);
  else
    touched_->regular(site, mask, base, lanes.stride, lanes.half);
}

void AccessWatch::tell(const Warp& warp, const Regular& one) {
  if (!wanted_.addresses) return shard_->each_access(id_of(warp), access_of(one));
  std::uint64_t lanes[kWarpSize];
  shard_->each_access(id_of(warp), access_of(one, lanes));
}

void AccessWatch::irregular(const Warp& warp, const MemorySite& site, isa::Space space, Mask mask, std::uint64_t base,
                            const std::int64_t* offsets) {
  if (others_) tell_others(warp, site, space, mask, {base, {}, 0}, offsets);
  if (site.observed_bytes == 0 || shard_ == nullptr) return;
  base += static_cast<std::uint64_t>(site.observed_offset);
  if (warp.told_spaces >> static_cast<unsigned>(space) & 1) {
    Irregular one{&site, base, 0, 1, mask, space, {}};
    std::copy(offsets, offsets + kWarpSize, one.offsets);
    std::uint64_t lanes[kWarpSize];
    shard_->each_access(id_of(warp), access_of(one, lanes));
    if (!wanted_.together) return;
  }
  if (wanted_.rows) return add_row(site, space, mask, base, offsets);
  const std::uint64_t phase = base & (kAlignmentPeriod - 1);
  const std::uint64_t mixed = (phase ^ std::uint64_t{mask} << 21 ^ std::uint64_t{site.index} << 9) + hash_of(offsets);
  Irregular& r = tables_->irregular[mixed * 0x9e3779b97f4a7c15u >> (64 - kIrregularBits)];
  if (r.site == &site && r.phase == phase && r.mask == mask && r.space == space &&
      std::equal(offsets, offsets + kWarpSize, r.offsets)) {
    ++r.count;
    return;
  }
  if (r.site == nullptr) tables_->used_irregular.push_back(&r);
  deliver(r);
  r.site = &site;
  r.base = base;
  r.phase = phase;
  r.count = 1;
  r.mask = mask;
  r.space = space;
  std::copy(offsets, offsets + kWarpSize, r.offsets);
}

// Any address will do that is as many bytes after a multiple of the period: one from which no lane lies before 0.
void AccessWatch::counted(const MemorySite& site, std::uint64_t phase, std::int64_t stride, std::int64_t half,
                          std::uint64_t count) {
  const std::int64_t last = 15 * stride;
  const std::int64_t lowest =
      std::min({std::int64_t{0}, last, half, half + last}) + std::min<std::int64_t>(site.observed_offset, 0);
  const auto before = static_cast<std::uint64_t>(-lowest) + kAlignmentPeriod - 1;
  const std::uint64_t base =
      before / kAlignmentPeriod * kAlignmentPeriod + phase + static_cast<std::uint64_t>(site.observed_offset);
  deliver(Regular{&site, {base, {stride, stride}, half}, 0, count, kFullMask, site.space});
}

void AccessWatch::flush() {
  const auto empty = [&](auto& used) {
    for (auto* const r : used) {
      deliver(*r);
      *r = {};
    }
    used.clear();
  };
  empty(tables_->used_regular);
  empty(tables_->used_irregular);
  for (const std::unique_ptr<Rows>& rows : tables_->rows)
    if (rows != nullptr) {
      deliver(*rows);
      rows->site = nullptr;
    }
}

Worker::Worker(const Launch& l, std::unique_ptr<Shard> s, bool light)
    : launch(l), layout(layout_of(l.shape.block)), shard(std::move(s)), longest(l.program->blocks.size()) {
  const Program& program = *launch.program;
  regions.resize(program.sites.size());
  for (LaunchChecker* const checker : launch.checkers) checkers.push_back(checker->make(launch));
  if (shard && launch.footprint) touched.emplace(program.sites.size());
  const auto swaps = [](const MemorySite& site) { return site.swaps; };
  if (shard && !light && std::any_of(program.sites.begin(), program.sites.end(), swaps)) swapped.emplace();
  if ((shard && !light) || !checkers.empty()) watch.emplace(shard.get(), touched ? &*touched : nullptr, checkers);
  for (const CountedBlock& block : program.blocks) blocks.push_back({0, 0, block.count});
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
    if (launch.blocks != nullptr && launch.blocks->range().overlaps(low, high)) return launch.blocks->holds(low, high);
    if ((after - 1)->constant && launch.program->sites[site].kind != AccessKind::load) return false;
    regions[site] = {(after - 1)->begin, (after - 1)->end};
    return true;
  }
  constexpr std::uint64_t kFirstPage = 4096; // null pointers point here
  if (!launch.host_pointers || low < kFirstPage || high > kSharedWindow) return false;
  return std::none_of(launch.arena.begin(), launch.arena.end(),
                      [&](const AddressRange& range) { return range.overlaps(low, high); });
}

bool Worker::passes(const Trap& access, std::uint64_t bytes) {
  const std::uint64_t end = access.address + bytes;
  if (!launch.past_ends || end <= access.address || !in_used_pages(launch.allocations, access.address, end))
    return false;
  const auto [found, fresh] = overruns.try_emplace(access.instruction, Overrun{access, 0});
  Overrun& known = found->second;
  ++known.count;
  const auto order = [](const Trap& t) { return std::tuple(t.cta, t.thread, t.address); };
  if (!fresh && order(access) < order(known.first)) known.first = access;
  return true;
}

// Discards text that will not be shown: that of CTAs after the output limit is reached.
void Worker::print(std::uint64_t cta, std::string_view text) {
  std::string& out = printed[cta];
  const std::size_t before = out.size();
  out.append(text.substr(0, kMostPrintedByCta - before));
  printed_bytes += out.size() - before;
  while (printed_bytes - printed.rbegin()->second.size() >= kMostPrinted) {
    const auto last = std::prev(printed.end());
    printed_bytes -= last->second.size();
    printed.erase(last);
  }
}

void Worker::change_branch(Branch& last, Mask active, Mask taken) {
  if (last.count != 0) shard->branch(last);
  taken_lanes[&last - branches.data()] += last.count * static_cast<unsigned>(__builtin_popcount(last.taken));
  last.active = active;
  last.taken = taken;
  last.count = 1;
}

void Worker::count_branch(const Warp& warp, std::uint32_t index, Mask active, Mask taken) {
  Branch& last = branches[index];
  if (warp.told_each && watch->wanted().branches) shard->each_branch(id_of(warp), {last.instruction, active, taken, 1});
  if (last.active == active && last.taken == taken)
    ++last.count;
  else
    change_branch(last, active, taken);
}

void Worker::begin_tallies() {
  const KernelCode& code = *launch.program->code;
  if (tallies.words() == nullptr && shard && watch && checkers.empty()) tallies.begin(code.tallies, code.tally_words);
}

void Worker::flush_tallies() {
  const Program& program = *launch.program;
  tallies.flush([&](const Tally& tally, std::uint64_t place, std::uint64_t half, std::uint64_t count) {
    switch (tally.of) {
    case Tally::Of::accesses:
      watch->counted(program.sites[tally.index], place, tally.stride, static_cast<std::int64_t>(half), count);
      break;
    case Tally::Of::special_operands: shard->special_operands({tally.index, 0, count}); break;
    case Tally::Of::branches:
      const Mask taken = place != 0 ? kFullMask : 0;
      shard->branch({branches[tally.index].instruction, kFullMask, taken, count});
      taken_lanes[tally.index] += count * static_cast<unsigned>(__builtin_popcount(taken));
      break;
    }
  });
}

void Worker::flush() {
  add_paired_turns(std::exchange(paired_turns, 0));
  if (!shard) return;
  flush_tallies();
  if (watch) watch->flush();
  lane_copies.flush(*shard);
  for (Branch& b : branches) {
    change_branch(b, 0, 0);
    b.count = 0;
  }
}

void Worker::fields(Archive& a) {
  a(blocks, guarded, taken_lanes, steps, printed, trap, overruns, longest);
  if (touched) touched->fields(a);
  if (swapped) swapped->fields(a);
  if (shard) shard->fields(a);
}

} // namespace warplens::exec
