// SPDX-License-Identifier: Apache-2.0
// Accesses: from the lanes of a warp to records of lines.
#include "emulator/exec/checks/race/engine.hpp"

#include <bit>
#include <utility>

namespace warplens::exec::race {

namespace {

// `count` set bits from bit `first` on.
constexpr std::uint32_t bits(std::uint32_t first, std::uint32_t count) {
  return count >= 32 ? ~0u : ((1u << count) - 1) << first;
}

// Every n-th bit, by n.
constexpr auto kEach = [] {
  std::array<std::uint32_t, 32> each{};
  for (std::uint32_t n = 1; n < 32; ++n)
    for (std::uint32_t bit = 0; bit < 32; bit += n) each[n] |= 1u << bit;
  return each;
}();

} // namespace

std::uint64_t Touch::address(int lane) const {
  if (offsets != nullptr) return lanes.base + static_cast<std::uint64_t>(offsets[lane]);
  const std::int64_t distance = lane < 16 ? lane * lanes.stride[0] : lanes.half + (lane - 16) * lanes.stride[1];
  return lanes.base + static_cast<std::uint64_t>(distance);
}

Engine::Engine(const Grid& grid, std::span<const Meaning> meanings, Memory& global, const Timeline& timeline, Time now)
    : grid_(grid), warps_(grid.shape.warps()), local_(grid.shape.cluster_ctas() == 1), meanings_(meanings),
      global_(global), timeline_(timeline), begin_(now), now_(now + 1) {}

std::uint64_t Engine::Grid::cluster_of(std::uint64_t cta) const {
  if (shape.cluster_ctas() == 1) return cta;
  const std::uint64_t x = cta % shape.grid[0] / shape.cluster[0],
                      y = cta / shape.grid[0] % shape.grid[1] / shape.cluster[1],
                      z = cta / shape.grid[0] / shape.grid[1] / shape.cluster[2];
  return (z * (shape.grid[1] / shape.cluster[1]) + y) * (shape.grid[0] / shape.cluster[0]) + x;
}

Block& Engine::begin(std::uint64_t cta) {
  const auto first_warp = static_cast<std::uint32_t>(cta * warps_);
  std::unique_ptr<Running> running = std::move(spare_);
  if (running == nullptr)
    running = std::make_unique<Running>(Running{{cta, first_warp, warps_, grid_.lockstep}, {}});
  else
    running->threads = Block(cta, first_warp, warps_, grid_.lockstep);
  Memory& shared = running->shared;
  shared.locations.clear();
  shared.mbarriers.clear();
  shared.space = isa::Space::shared;
  shared.cta = cta;
  spared_ += shared.reads.size();
  shared.reads.clear();
  shared.last_write = 0;
  shared.since = now_++;
  for (std::uint32_t warp = 0; warp < warps_; ++warp) running->threads.warp(warp).epoch = now_;
  return (blocks_[cta] = std::move(running))->threads;
}

void Engine::end(std::uint64_t cta) {
  const auto at = blocks_.find(cta);
  if (at == blocks_.end()) return;
  spare_ = std::move(at->second);
  blocks_.erase(at);
}

Memory* Engine::shared(std::uint64_t cta) {
  const auto at = blocks_.find(cta);
  return at != blocks_.end() ? &at->second->shared : nullptr;
}

void Engine::access(Block& block, std::uint32_t warp, const Touch& touch, Memory& memory, const Values& values) {
  const Meaning& meaning = meanings_[touch.instruction];
  WarpState& state = block.warp(warp);
  // 9.7.9.25: asynchronous reductions are .relaxed.gpu
  const Scope scope = meaning.strong                                                ? meaning.scope
                      : meaning.asynchronous && touch.kind == AccessKind::reduction ? Scope::gpu
                                                                                    : Scope::none;
  // The time of a warp goes on when it synchronises. Where the lanes of one instruction may meet each other, or those
  // of the one before in lockstep, it is a new one; so it is for strong operations, which observe those before them.
  const bool one_sequence = touch.offsets == nullptr && touch.lanes.stride[0] == touch.lanes.stride[1];
  if (grid_.lockstep || scope != Scope::none || (touch.kind != AccessKind::load && !one_sequence)) state.epoch = ++now_;
  const Time time = std::max(state.epoch, begin_ + 1);
  const Time known = std::max(state.block.time, begin_);
  const bool of_block = local_ && memory.space == isa::Space::shared; // barriers of the block order all accesses
  const Current at{block, warp, touch, memory, values, known, of_block ? std::max(known, memory.since) : memory.since};
  if (of_block) {
    if (!memory.reads.empty() && memory.last_read <= at.ordered) { // what follows comes after all of them
      spared_ += memory.reads.size();
      memory.reads.clear();
    }
    if (scope == Scope::none && may_defer(at, meaning)) return defer(at, time);
    if (!memory.reads.empty()) catch_up(at);
    if (touch.kind != AccessKind::load || meaning.asynchronous)
      memory.last_write = meaning.asynchronous ? ~Time{0} : std::max(memory.last_write, time);
  }
  Record record = record_of(at, meaning, scope, time);
  if (meaning.asynchronous) [[unlikely]] {
    record.what |= Record::kAsynchronous;
    open_copies(block, warp, touch.mask, meaning, time);
  }
  pieces(at, record);
  const bool may_release = meaning.strong || (touch.kind != AccessKind::load && !memory.locations.empty());
  if (may_release && !meaning.asynchronous && meaning.step == Step::none) synchronise(at, meaning);
}

Record Engine::record_of(const Current& at, const Meaning& meaning, Scope scope, Time time) const {
  const auto size = static_cast<std::uint32_t>(std::countr_zero(std::max<unsigned>(1, meaning.element_bytes)));
  Record record;
  record.time = time;
  record.warp = at.block.first_warp() + at.warp;
  record.what = Record::describe(at.touch.instruction, at.touch.kind, scope, size);
  return record;
}

// Whether only a later write can race with this read of the block's own memory: then it is enough to note it. Barriers
// often spare the way into the shadow altogether. Where they do not, in this launch, nothing is deferred any more.
bool Engine::may_defer(const Current& at, const Meaning& meaning) const {
  constexpr std::size_t kMost = 4096, kPatience = 1024;
  const Touch& t = at.touch;
  return t.kind == AccessKind::load && t.offsets == nullptr && t.run == 0 && !meaning.asynchronous && !grid_.lockstep &&
         at.memory.last_write <= at.ordered && at.memory.reads.size() < kMost && caught_up_ <= spared_ + kPatience;
}

void Engine::defer(const Current& at, Time time) {
  const Touch& t = at.touch;
  at.memory.reads.push_back({t.instruction, t.lane_bytes, at.warp, t.mask, time, t.lanes});
  at.memory.last_read = std::max(at.memory.last_read, time);
}

// The reads come into the shadow, as if they happened now. There were no writes since.
void Engine::catch_up(const Current& at) {
  caught_up_ += at.memory.reads.size();
  for (const DeferredRead& read : at.memory.reads) {
    const Touch touch{.instruction = read.instruction,
                      .kind = AccessKind::load,
                      .lane_bytes = read.lane_bytes,
                      .mask = read.mask,
                      .lanes = read.lanes};
    const Current then{at.block, read.warp, touch, at.memory, at.values, at.known, at.ordered};
    Record record = record_of(then, meanings_[read.instruction], Scope::none, read.time);
    pieces(then, record);
  }
  at.memory.reads.clear();
}

// What follows in the open group of these lanes, or of the warp.
void Engine::open_copies(Block& block, std::uint32_t warp, Mask lanes, const Meaning& meaning, Time time) {
  if (meaning.step == Step::product) {
    Time& open = block.warp(warp).products.open;
    open = std::min(open, time);
  }
  if (meaning.completes_elsewhere()) return;
  for (const int lane : EachLane(lanes)) {
    LaneCopies& copies = block.copies(warp, lane);
    Time& open = meaning.step == Step::bulk_copy ? copies.bulk.open : copies.each.open;
    copies.last = std::max(copies.last, time);
    open = std::min(open, time);
  }
}

void Engine::pieces(const Current& at, Record& record) {
  const Touch& t = at.touch;
  const Mask first = t.mask & -t.mask;
  if (t.run != 0) {
    record.lanes = first;
    return range(at, record, t.lanes.base, t.run);
  }
  if (t.offsets != nullptr) return scattered(at, record);
  const auto& [base, stride, half] = t.lanes;
  if (stride[0] == stride[1] && half == 16 * stride[0]) return sequence(at, record, base, stride[0], t.mask);
  const Mask lower = t.mask & 0xffff, upper = t.mask >> 16;
  if (half == 0 && stride[0] == stride[1] && lower == upper && t.kind == AccessKind::load && stride[0] != 0 &&
      (lower & (lower - 1)) != 0) { // tiles of 16 columns
    record.what |= Record::kMirrored;
    return sequence(at, record, base, stride[0], lower);
  }
  const std::uint64_t second = base + static_cast<std::uint64_t>(half - 16 * stride[1]);
  Record other = record;
  if (lower != 0) sequence(at, record, base, stride[0], lower);
  if (upper != 0) sequence(at, other, second, stride[1], upper << 16);
}

// Lanes in a row that share an address are one record.
void Engine::scattered(const Current& at, Record& record) {
  const Touch& t = at.touch;
  const std::uint64_t base = t.lanes.base;
  const auto of_lane = [&](Mask left) { return base + static_cast<std::uint64_t>(t.offsets[__builtin_ctz(left)]); };
  if (at.memory.space == isa::Space::global)
    for (Mask left = t.mask; left != 0; left &= left - 1) __builtin_prefetch(&at.memory.shadow.line(of_lane(left)), 1);
  for (Mask left = t.mask; left != 0;) {
    const std::uint64_t address = of_lane(left);
    record.lanes = left & -left;
    left &= left - 1;
    for (; left != 0 && of_lane(left) == address; left &= left - 1) record.lanes |= left & -left;
    if (record.several_lanes()) one_address(at, record);
    range(at, record, address, t.lane_bytes);
  }
}

// Lanes at equal distances.
void Engine::sequence(const Current& at, Record& record, std::uint64_t base, std::int64_t stride, Mask lanes) {
  const std::uint32_t size = at.touch.lane_bytes;
  const auto of_lane = [&](int lane) { return base + static_cast<std::uint64_t>(lane * stride); };
  const std::int64_t step = stride < 0 ? -stride : stride;
  if (stride == 0 || (lanes & (lanes - 1)) == 0) {
    record.lanes = lanes;
    one_address(at, record);
    return range(at, record, of_lane(__builtin_ctz(lanes)), size);
  }
  if (step < size || step >= kLineBytes || size > kLineBytes || (base & (size - 1)) != 0) {
    return this->lanes(at, record, base, stride, lanes);
  }
  record.what |= Record::kSequence;
  const bool whole = ((base | static_cast<std::uint64_t>(step) | size) & (kWord - 1)) == 0;
  const Mask from_zero = lanes >> __builtin_ctz(lanes);
  if (whole && (from_zero & (from_zero + 1)) == 0) return rows(at, record, base, stride, lanes);
  std::array<std::uint32_t, 4> found{}; // bytes; of words, the first
  std::uint64_t line = of_lane(__builtin_ctz(lanes)) & ~std::uint64_t{kLineBytes - 1};
  const auto flush = [&] {
    record.lanes = Record::pack(static_cast<int>(static_cast<std::int64_t>(base - line)), static_cast<int>(stride));
    record.granules = found[0];
    whole ? words(at, record, line) : bytes(at, record, line, found);
    found = {};
  };
  for (const int lane : EachLane(lanes)) {
    const std::uint64_t address = of_lane(lane), its_line = address & ~std::uint64_t{kLineBytes - 1};
    if (its_line != line) flush();
    line = its_line;
    const auto place = static_cast<std::uint32_t>(address - line);
    if (whole)
      found[0] |= bits(place / kWord, size / kWord);
    else
      found[place / kFineBytes] |= bits(place % kFineBytes, size);
  }
  flush();
}

// Lanes one by one. Where they are in different lines, what is known of these may not be in the caches.
void Engine::lanes(const Current& at, Record& record, std::uint64_t base, std::int64_t stride, Mask lanes) {
  const std::uint32_t size = at.touch.lane_bytes;
  const std::uint32_t each = record.mirrored() ? 0x10001u : 1u;
  record.what &= ~Record::kMirrored;
  const auto of_lane = [&](int lane) { return base + static_cast<std::uint64_t>(lane * stride); };
  const bool apart = std::uint64_t{kLineBytes} <= static_cast<std::uint64_t>(stride < 0 ? -stride : stride);
  if (!apart || size > kLineBytes || size % kWord != 0 || (base & (size - 1)) != 0) {
    for (const int lane : EachLane(lanes)) {
      record.lanes = each << lane;
      range(at, record, of_lane(lane), size);
    }
    return;
  }
  std::array<Line*, kWarpSize> lines;
  for (const int lane : EachLane(lanes)) {
    lines[static_cast<std::size_t>(lane)] = &at.memory.shadow.line(of_lane(lane));
    __builtin_prefetch(lines[static_cast<std::size_t>(lane)], 1);
  }
  for (const int lane : EachLane(lanes)) {
    const std::uint64_t address = of_lane(lane), line = address & ~std::uint64_t{kLineBytes - 1};
    record.lanes = each << lane;
    record.granules = bits(static_cast<std::uint32_t>(address - line) / kWord, size / kWord);
    words(at, *lines[static_cast<std::size_t>(lane)], record, line);
  }
}

// Words of lanes without gaps between the lanes: in each line, every n-th word, or the first few of every n.
void Engine::rows(const Current& at, Record& record, std::uint64_t base, std::int64_t stride, Mask lanes) {
  const int first = __builtin_ctz(lanes), last = 31 - __builtin_clz(lanes);
  const std::uint32_t size = at.touch.lane_bytes, step = static_cast<std::uint32_t>(stride < 0 ? -stride : stride);
  const std::uint64_t low = base + static_cast<std::uint64_t>((stride > 0 ? first : last) * stride),
                      high = base + static_cast<std::uint64_t>((stride > 0 ? last : first) * stride) + size;
  std::uint32_t pattern = kEach[step / kWord]; // of words, from the first lane in a line on
  for (std::uint32_t word = 1; word < size / kWord; ++word) pattern |= kEach[step / kWord] << word;
  std::uint64_t next = low; // the first lane in the line
  for (std::uint64_t line = low & ~std::uint64_t{kLineBytes - 1}; line < high; line += kLineBytes) {
    const std::uint32_t to = high < line + kLineBytes ? static_cast<std::uint32_t>(high - line) : kLineBytes;
    const std::uint32_t from = static_cast<std::uint32_t>(next - line);
    if (from < to) {
      record.lanes = Record::pack(static_cast<int>(static_cast<std::int64_t>(base - line)), static_cast<int>(stride));
      record.granules = pattern << from / kWord & bits(0, to / kWord);
      Line& its = at.memory.shadow.line(line);
      __builtin_prefetch(&its + 2, 1); // often the next warp's
      words(at, its, record, line);
      next += std::uint64_t{(to - from + step - 1) / step} * step;
    }
  }
}

// All lanes of the record access all these bytes.
void Engine::range(const Current& at, Record& record, std::uint64_t address, std::uint64_t size) {
  const bool whole = ((address | size) & (kWord - 1)) == 0;
  const std::uint64_t end = address + size, only = address & ~std::uint64_t{kLineBytes - 1};
  if (whole && end <= only + kLineBytes) {
    record.granules =
        bits(static_cast<std::uint32_t>(address - only) / kWord, static_cast<std::uint32_t>(size) / kWord);
    return words(at, record, only);
  }
  for (std::uint64_t line = address & ~std::uint64_t{kLineBytes - 1}; line < end; line += kLineBytes) {
    const auto from = static_cast<std::uint32_t>(std::max(address, line) - line),
               to = static_cast<std::uint32_t>(std::min(end, line + kLineBytes) - line);
    if (whole) {
      record.granules = bits(from / kWord, (to - from) / kWord);
      words(at, record, line);
      continue;
    }
    std::array<std::uint32_t, 4> found{};
    for (std::uint32_t quarter = 0; quarter < 4; ++quarter) {
      const std::uint32_t low = std::max(from, quarter * kFineBytes), high = std::min(to, (quarter + 1) * kFineBytes);
      if (low < high) found[quarter] = bits(low % kFineBytes, high - low);
    }
    bytes(at, record, line, found);
  }
}

} // namespace warplens::exec::race
