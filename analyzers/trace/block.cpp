// SPDX-License-Identifier: Apache-2.0
#include "analyzers/trace/block.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>

namespace warplens::analyzers::trace {

namespace {

using exec::kWarpSize;
using exec::Mask;

constexpr std::uint64_t kLow = 0xffff'ffffu;
constexpr std::uint16_t kMostLaneBytes = 128; // as analyzers::transactions()

std::uint64_t times(int lanes, std::int64_t stride) {
  return static_cast<std::uint64_t>(lanes) * static_cast<std::uint64_t>(stride);
}

std::size_t offsets_of(const PatternRow& p) {
  const auto others = static_cast<std::size_t>(std::popcount(p.mask)) - 1;
  return p.lanes == Lanes::offsets ? others : p.lanes == Lanes::wide ? 2 * others : 0;
}

std::uint64_t mix(const PatternRow& p) {
  std::uint64_t h = p.origin ^ static_cast<std::uint64_t>(p.stride[0]) << 7 ^
                    static_cast<std::uint64_t>(p.stride[1]) << 27 ^ static_cast<std::uint64_t>(p.half) << 33;
  h ^= std::uint64_t{p.mask} << 21 ^ p.taken ^ std::uint64_t{p.instruction} << 9;
  return h * 0x9e3779b97f4a7c15u;
}

// Lanes 0 to 15 in one sequence and 16 to 31 in another: two-dimensional blocks of 16 columns.
std::optional<exec::HalfWarps> as_halves(const exec::Access& a) {
  if (a.mask != ~Mask{0}) return std::nullopt;
  const std::uint64_t first = a.addresses[1] - a.addresses[0], second = a.addresses[17] - a.addresses[16];
  std::uint64_t difference = 0;
  for (std::uint64_t i = 0; i < 16; ++i)
    difference |=
        (a.addresses[i] ^ (a.addresses[0] + i * first)) | (a.addresses[16 + i] ^ (a.addresses[16] + i * second));
  if (difference != 0) return std::nullopt;
  return exec::HalfWarps{a.addresses[0],
                         {static_cast<std::int64_t>(first), static_cast<std::int64_t>(second)},
                         static_cast<std::int64_t>(a.addresses[16] - a.addresses[0])};
}

// All properties except the addresses of the lanes.
PatternRow row_of(const exec::Access& a) {
  PatternRow p;
  p.instruction = a.instruction;
  p.mask = a.mask;
  p.lane_bytes = a.lane_bytes;
  p.event = EventKind::access;
  p.space = static_cast<std::uint8_t>(a.space);
  p.kind = static_cast<std::uint8_t>(a.kind);
  p.shape = static_cast<std::uint8_t>(a.shape);
  return p;
}

} // namespace

BlockBuilder::BlockBuilder() { take(); }

Block BlockBuilder::take() {
  Block full = std::move(block_);
  full.pattern.resize(events_);
  full.warp.resize(events_);
  full.base.resize(events_);
  block_ = {};
  block_.pattern.resize(kBlockEvents);
  block_.warp.resize(kBlockEvents);
  block_.base.resize(kBlockEvents);
  events_ = 0;
  full_ = false;
  slots_.assign(kSlots, kFree);
  last_.clear();
  return full;
}

SegmentRow& BlockBuilder::begin_segment(std::uint64_t cta, std::uint32_t flags) {
  block_.segments.push_back({cta, 0, flags});
  full_ |= block_.segments.size() >= kBlockEvents;
  return block_.segments.back();
}

SegmentRow& BlockBuilder::segment_of(std::uint64_t cta) {
  if (!block_.segments.empty())
    if (SegmentRow& last = block_.segments.back(); last.cta == cta && (last.flags & SegmentRow::kEnds) == 0)
      return last;
  return begin_segment(cta, 0);
}

void BlockBuilder::begin_cta(std::uint64_t cta) { begin_segment(cta, SegmentRow::kBegins); }
void BlockBuilder::end_cta(std::uint64_t cta) { segment_of(cta).flags |= SegmentRow::kEnds; }

// The pattern of the instruction's last event, which is usually also that of the next one; or an invalid pattern.
inline const PatternRow& BlockBuilder::last_of(std::uint32_t instruction) const {
  static constexpr PatternRow kNone;
  return instruction < last_.size() && last_[instruction] != kFree ? block_.patterns[last_[instruction]] : kNone;
}

std::uint16_t BlockBuilder::number_of(const PatternRow& pattern) {
  if (pattern.instruction >= last_.size()) last_.resize(pattern.instruction + 1, kFree);
  for (std::size_t slot = mix(pattern) >> 47;; slot = (slot + 1) % kSlots) {
    std::uint16_t& number = slots_[slot];
    if (number == kFree) {
      number = static_cast<std::uint16_t>(block_.patterns.size());
      block_.patterns.push_back(pattern);
      full_ |= block_.patterns.size() >= kBlockPatterns;
    } else if (!(block_.patterns[number] == pattern)) {
      continue;
    }
    return last_[pattern.instruction] = number;
  }
}

inline void BlockBuilder::add(const exec::WarpId& of, std::uint16_t pattern, std::uint64_t base) {
  ++segment_of(of.cta).events;
  block_.pattern[events_] = pattern;
  block_.warp[events_] = static_cast<std::uint8_t>(of.warp);
  block_.base[events_] = static_cast<std::uint32_t>(base);
  ++events_;
}

void BlockBuilder::access(const exec::WarpId& of, const exec::Access& a) {
  if (a.halves != nullptr) return sequences(of, a, *a.halves);
  if (a.shape != exec::Shape::irregular) {
    const int first = std::countr_zero(a.mask);
    return sequences(of, a,
                     {a.addresses[first] - times(first, a.stride),
                      {a.stride, a.stride},
                      static_cast<std::int64_t>(times(16, a.stride))});
  }
  if (const std::optional<exec::HalfWarps> halves = as_halves(a)) return sequences(of, a, *halves);
  scattered(of, a);
}

// Compare before writing: vector loads of recently stored scalars would stall.
void BlockBuilder::sequences(const exec::WarpId& of, const exec::Access& a, const exec::HalfWarps& lanes) {
  const PatternRow& last = last_of(a.instruction);
  if (last.mask == a.mask && last.origin == (lanes.base & ~kLow) && last.stride[0] == lanes.stride[0] &&
      last.stride[1] == lanes.stride[1] && last.half == lanes.half && last.event == EventKind::access &&
      last.lanes <= Lanes::halves && last.lane_bytes == a.lane_bytes &&
      last.space == static_cast<std::uint8_t>(a.space) && last.kind == static_cast<std::uint8_t>(a.kind) &&
      last.shape == static_cast<std::uint8_t>(a.shape))
    return add(of, last_[a.instruction], lanes.base);
  PatternRow p = row_of(a);
  p.origin = lanes.base & ~kLow;
  p.lanes = a.shape == exec::Shape::irregular ? Lanes::halves : Lanes::sequence;
  p.stride[0] = lanes.stride[0];
  p.stride[1] = lanes.stride[1];
  p.half = lanes.half;
  add(of, number_of(p), lanes.base);
}

void BlockBuilder::scattered(const exec::WarpId& of, const exec::Access& a) {
  const std::uint64_t base = a.addresses[std::countr_zero(a.mask)];
  std::int64_t offsets[kWarpSize];
  for (const int lane : exec::EachLane(a.mask)) offsets[lane] = static_cast<std::int64_t>(a.addresses[lane] - base);
  PatternRow p = row_of(a);
  p.origin = base & ~kLow;
  add_offsets(p, offsets);
  add(of, number_of(p), base);
}

// The first active lane has no offset: its address is the base.
void BlockBuilder::add_offsets(PatternRow& p, const std::int64_t* offsets) {
  const Mask others = p.mask & (p.mask - 1);
  p.lanes = Lanes::offsets;
  for (Mask rest = others; rest != 0; rest &= rest - 1) {
    const std::int64_t offset = offsets[std::countr_zero(rest)];
    if (offset != static_cast<std::int32_t>(offset)) p.lanes = Lanes::wide;
  }
  for (Mask rest = others; rest != 0; rest &= rest - 1) {
    const std::int64_t offset = offsets[std::countr_zero(rest)];
    block_.offsets.push_back(static_cast<std::int32_t>(offset & static_cast<std::int64_t>(kLow)));
    if (p.lanes == Lanes::wide) block_.offsets.push_back(static_cast<std::int32_t>(offset >> 32));
  }
  full_ |= block_.offsets.size() >= kBlockOffsets;
}

void BlockBuilder::branch(const exec::WarpId& of, const exec::Branch& b) {
  const PatternRow& last = last_of(b.instruction);
  if (last.event == EventKind::branch && last.mask == b.active && last.taken == b.taken)
    return add(of, last_[b.instruction], 0);
  PatternRow p;
  p.event = EventKind::branch;
  p.instruction = b.instruction;
  p.mask = b.active;
  p.taken = b.taken;
  add(of, number_of(p), 0);
}

void BlockBuilder::barrier(const exec::Barrier& b) {
  PatternRow p;
  p.event = EventKind::barrier;
  p.instruction = b.instruction;
  p.mask = b.active;
  p.taken = b.number;
  p.origin = b.steps & ~kLow;
  add(b.of, number_of(p), b.steps);
}

namespace {

constexpr Allowed kAnything{0xff, 0xff, ~0u};

std::string damage_of(const PatternRow& p, const Limits& limits) {
  if (p.instruction >= limits.instructions) return "an instruction that the kernel does not have";
  if (p.mask == 0) return "an event without lanes";
  if (p.event > EventKind::barrier) return "an event of unknown kind";
  const Allowed allowed = limits.allowed.empty() ? kAnything : limits.allowed[p.instruction];
  if ((allowed.events >> static_cast<unsigned>(p.event) & 1) == 0) return "an event that its instruction cannot make";
  if (p.event == EventKind::branch) return (p.taken & ~p.mask) != 0 ? "a branch taken by inactive lanes" : "";
  constexpr std::uint32_t kBarriers = 16;
  if (p.event == EventKind::barrier) return p.taken >= kBarriers ? "an invalid barrier number" : "";
  if (p.lanes > Lanes::wide || p.kind > static_cast<std::uint8_t>(exec::AccessKind::reduction) ||
      p.shape > static_cast<std::uint8_t>(exec::Shape::irregular) || p.lane_bytes == 0 ||
      p.lane_bytes > kMostLaneBytes || p.space > static_cast<std::uint8_t>(isa::Space::generic))
    return "an invalid access";
  if ((allowed.kinds >> p.kind & 1) == 0 || (allowed.spaces >> p.space & 1) == 0)
    return "an access that its instruction cannot make";
  const auto shape = static_cast<exec::Shape>(p.shape);
  if (shape == exec::Shape::irregular) return {};
  const bool fits = p.lanes == Lanes::sequence && (shape != exec::Shape::contiguous || p.stride[0] == p.lane_bytes) &&
                    (shape != exec::Shape::broadcast || p.stride[0] == 0);
  return fits ? std::string() : "an access whose shape and stride do not match";
}

} // namespace

std::string find_damage(const Block& block, const Limits& limits) {
  for (const PatternRow& p : block.patterns)
    if (std::string damage = damage_of(p, limits); !damage.empty()) return damage;
  std::uint64_t events = 0, offsets = 0;
  for (const SegmentRow& s : block.segments) {
    events += s.events;
    if (s.cta >= limits.ctas) return fmt::format("block {} of a grid of {}", s.cta, limits.ctas);
  }
  if (events != block.pattern.size() || events != block.warp.size() || events != block.base.size())
    return "tables of different lengths";
  for (const std::uint16_t number : block.pattern) {
    if (number >= block.patterns.size()) return "an event of unknown pattern";
    const PatternRow& p = block.patterns[number];
    if (p.event == EventKind::access) offsets += offsets_of(p);
  }
  if (offsets != block.offsets.size()) return "too few or too many offsets";
  for (const std::uint8_t warp : block.warp)
    if (warp >= limits.warps) return fmt::format("warp {} of a block of {}", warp, limits.warps);
  const std::uint32_t in_last = limits.threads % kWarpSize;
  if (in_last == 0) return {};
  const auto is_whole = [&](const PatternRow& p) {
    return !limits.allowed.empty() && limits.allowed[p.instruction].whole_warps;
  };
  for (std::size_t i = 0; i < block.warp.size(); ++i)
    if (const PatternRow& p = block.patterns[block.pattern[i]];
        block.warp[i] + 1u == limits.warps && (p.mask >> in_last) != 0 && !is_whole(p))
      return fmt::format("lanes of the last warp that a block of {} threads does not have", limits.threads);
  return {};
}

exec::Access Event::access(std::uint64_t (&lanes)[kWarpSize]) const {
  const PatternRow& p = *pattern;
  exec::Access a;
  a.instruction = p.instruction;
  a.space = static_cast<isa::Space>(p.space);
  a.kind = static_cast<exec::AccessKind>(p.kind);
  a.shape = static_cast<exec::Shape>(p.shape);
  a.lane_bytes = p.lane_bytes;
  a.mask = p.mask;
  a.addresses = lanes;
  if (p.lanes == Lanes::sequence || p.lanes == Lanes::halves) {
    if (a.shape != exec::Shape::irregular) a.stride = p.stride[0];
    const bool one = p.lanes == Lanes::sequence;
    const auto step = static_cast<std::uint64_t>(p.stride[0]);
    const auto second_step = one ? step : static_cast<std::uint64_t>(p.stride[1]);
    std::uint64_t at = base, second = base + (one ? 16 * step : static_cast<std::uint64_t>(p.half));
    for (std::size_t i = 0; i < 16; ++i, at += step, second += second_step) {
      lanes[i] = at;
      lanes[16 + i] = second;
    }
    return a;
  }
  std::fill(std::begin(lanes), std::end(lanes), base);
  const std::int32_t* next = offsets;
  for (Mask rest = p.mask & (p.mask - 1); rest != 0; rest &= rest - 1) {
    std::uint64_t& lane = lanes[std::countr_zero(rest)];
    if (p.lanes == Lanes::offsets) {
      lane = base + static_cast<std::uint64_t>(std::int64_t{*next++});
    } else {
      lane = base + (std::uint64_t{static_cast<std::uint32_t>(next[0])} |
                     std::uint64_t{static_cast<std::uint32_t>(next[1])} << 32);
      next += 2;
    }
  }
  return a;
}

exec::Branch Event::branch() const { return {pattern->instruction, pattern->mask, pattern->taken, 1}; }

exec::Barrier Event::barrier() const { return {pattern->instruction, pattern->mask, pattern->taken, of, base}; }

namespace {

// Returns where the next segment begins.
template <class See> Place see_segment(const Block& block, const SegmentRow& segment, Place place, const See& see) {
  for (const std::size_t end = place.event + segment.events; place.event < end; ++place.event) {
    const PatternRow& p = block.patterns[block.pattern[place.event]];
    see(Event{{segment.cta, block.warp[place.event]},
              &p,
              p.origin | block.base[place.event],
              block.offsets.data() + place.offset});
    if (p.event == EventKind::access) place.offset += offsets_of(p);
  }
  return place;
}

} // namespace

std::vector<Place> places(const Block& block) {
  std::vector<Place> result;
  Place place;
  for (const SegmentRow& s : block.segments) {
    result.push_back(place);
    place = see_segment(block, s, place, [](const Event&) {});
  }
  return result;
}

void visit(const Block& block, const SegmentRow& segment, Place place, const std::function<void(const Event&)>& see) {
  see_segment(block, segment, place, see);
}

namespace {
constexpr int kHeldBits = 11;
constexpr std::size_t kRows = 64; // instructions
} // namespace

Deliverer::Deliverer(exec::Shard& shard)
    : shard_(shard), wants_rows_(shard.each_wanted().rows), held_(std::size_t{1} << kHeldBits) {}

void Deliverer::release(Rows& rows) {
  if (rows.form.count == 0) return;
  rows.form.masks = rows.masks;
  rows.form.rows = rows.rows;
  shard_.access_rows(rows.form);
  rows.form.count = 0;
}

void Deliverer::add_row(const exec::Access& access) {
  if (rows_.empty()) rows_.resize(kRows);
  Rows& own = rows_[access.instruction % kRows];
  exec::AccessRows& form = own.form;
  if (form.instruction != access.instruction || form.space != access.space || form.kind != access.kind ||
      form.lane_bytes != access.lane_bytes) {
    release(own);
    form.instruction = access.instruction;
    form.space = access.space;
    form.kind = access.kind;
    form.lane_bytes = access.lane_bytes;
  }
  own.masks[form.count] = access.mask;
  std::copy_n(access.addresses, kWarpSize, own.rows[form.count]);
  if (++form.count == exec::AccessRows::kMost) release(own);
}

void Deliverer::release(const Held& held) {
  if (held.count == 0) return;
  std::uint64_t lanes[kWarpSize]{};
  exec::Access access = Event{{}, held.pattern, held.base, held.offsets}.access(lanes);
  access.count = held.count;
  if (wants_rows_ && access.shape == exec::Shape::irregular && access.halves == nullptr && held.count == 1)
    return add_row(access);
  shard_.access(access);
}

// As in exec::AccessWatch, accesses that differ by a multiple of the alignment period are combined.
void Deliverer::hold(const Event& event) {
  if (event.pattern->lanes >= Lanes::offsets) return release({event.pattern, event.offsets, event.base, 1});
  constexpr std::uint64_t kPhase = exec::kAlignmentPeriod - 1;
  const std::uint64_t key = reinterpret_cast<std::uintptr_t>(event.pattern) ^ (event.base & kPhase) << 40;
  Held& held = held_[key * 0x9e3779b97f4a7c15u >> (64 - kHeldBits)];
  if (held.pattern == event.pattern && ((held.base ^ event.base) & kPhase) == 0) {
    ++held.count;
    return;
  }
  release(held);
  held = {event.pattern, nullptr, event.base, 1};
}

void Deliverer::deliver(const Block& block, const std::function<bool(std::uint64_t)>& owns) {
  Place place;
  for (const SegmentRow& s : block.segments) {
    if (!owns(s.cta)) {
      place = see_segment(block, s, place, [](const Event&) {});
      continue;
    }
    auto wanted = std::find(each_.begin(), each_.end(), s.cta);
    if ((s.flags & SegmentRow::kBegins) != 0 && shard_.begin_cta(s.cta) && wanted == each_.end())
      wanted = each_.insert(each_.end(), s.cta);
    const bool each = wanted != each_.end();
    place = see_segment(block, s, place, [&](const Event& event) { tell(event, each); });
    if ((s.flags & SegmentRow::kEnds) == 0) continue;
    if (each) each_.erase(wanted);
    shard_.end_cta(s.cta);
  }
  for (Held& held : held_) { // the patterns end with the block
    release(held);
    held = {};
  }
  for (Rows& rows : rows_) release(rows);
}

void Deliverer::tell(const Event& event, bool each) {
  switch (event.pattern->event) {
  case EventKind::barrier: shard_.barrier(event.barrier()); return;
  case EventKind::branch:
    if (each) shard_.each_branch(event.of, event.branch());
    shard_.branch(event.branch());
    return;
  case EventKind::access: break;
  }
  if (each) {
    std::uint64_t lanes[kWarpSize];
    shard_.each_access(event.of, event.access(lanes));
  }
  hold(event);
}

} // namespace warplens::analyzers::trace
