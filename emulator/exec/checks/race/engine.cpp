// SPDX-License-Identifier: Apache-2.0
// Accesses: from the lanes of a warp to records, and the comparison with those before.
#include "emulator/exec/checks/race/engine.hpp"

#include <bit>
#include <utility>

namespace warplens::exec::race {

namespace {

constexpr std::uint32_t kWord = 4;

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

// Whether whatever is unordered with `old` and conflicts with it also does so with `record`, if old happens before it.
// What observes others is needed for as long as these are there; weak stores end both.
bool dominates(const Record& record, const Record& old) {
  if (!record.writes() && old.writes()) return false;
  if (old.observes() && !record.observes() && (record.strong() || !record.writes())) return false;
  return !record.strong() || (record.scope() == old.scope() && record.size() == old.size());
}

// Whether whatever comes after `record` comes after `old`, the last write before it, because it has observed it. A
// store is kept: it ends the chain of those before.
bool supersedes(const Record& record, const Record& old) {
  return record.access() == AccessKind::atomic && record.scope() >= Scope::gpu && old.scope() >= Scope::gpu &&
         old.access() != AccessKind::store && old.size() == record.size();
}

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
  return t.kind == AccessKind::load && t.offsets == nullptr && t.run == 0 && !meaning.asynchronous &&
         !grid_.lockstep && at.memory.last_write <= at.ordered && at.memory.reads.size() < kMost &&
         caught_up_ <= spared_ + kPatience;
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

// What follows in the open group of these lanes.
void Engine::open_copies(Block& block, std::uint32_t warp, Mask lanes, const Meaning& meaning, Time time) {
  if (meaning.step == Step::completing_copy) return;
  for (const int lane : EachLane(lanes)) {
    LaneCopies& copies = block.copies(warp, lane);
    Time& open = meaning.step == Step::bulk_copy ? copies.bulk.open : copies.each.open;
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
    for (Mask left = t.mask; left != 0; left &= left - 1)
      __builtin_prefetch(&at.memory.shadow.line(of_lane(left)), 1);
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

void Engine::words(const Current& at, const Record& record, std::uint64_t address) {
  words(at, at.memory.shadow.line(address), record, address);
}

void Engine::words(const Current& at, Line& line, const Record& record, std::uint64_t address) {
  if (line.fine == nullptr) [[likely]]
    return visit(at, line, record, address, kWord);
  for (int quarter = 0; quarter < 4; ++quarter)
    if (const Record part = quartered(record, quarter); part.granules != 0)
      visit(at, (*line.fine)[static_cast<std::size_t>(quarter)], part,
            address + static_cast<std::uint64_t>(quarter) * kFineBytes, 1);
}

void Engine::bytes(const Current& at, Record record, std::uint64_t line, const std::array<std::uint32_t, 4>& found) {
  Line& l = at.memory.shadow.line(line);
  l.refine(at.memory.shadow.pool());
  const std::uint32_t lanes = record.lanes;
  for (std::uint32_t quarter = 0; quarter < 4; ++quarter) {
    if (found[quarter] == 0) continue;
    record.granules = found[quarter];
    if (record.sequence()) {
      record.lanes = lanes;
      record.lanes = Record::pack(record.base() - static_cast<int>(quarter * kFineBytes), record.stride());
    }
    visit(at, (*l.fine)[quarter], record, line + std::uint64_t{quarter} * kFineBytes, 1);
  }
}

// Whether the access leaves the line without a history: nothing races with it, and it needs no place of its own.
bool Engine::simple(const Current& at, Line& line, const Record& record, std::uint32_t granule) const {
  if (record.strong() || record.asynchronous()) return false;
  if (line.write.time <= at.ordered) line.write.granules = 0;
  if (line.read.time <= at.ordered) line.read.granules = 0;
  const bool writes = record.writes();
  const auto ordered = [&](const Record& old) {
    const std::uint32_t common = old.granules & record.granules;
    return common == 0 || in_known_order(at, old) || unordered(at, old, record, common, granule) == 0;
  };
  if (!ordered(line.write) || (writes && !ordered(line.read))) return false;
  if (writes) { // it stands for those before
    line.write.granules &= ~record.granules;
    line.read.granules &= ~record.granules;
  }
  Record& mine = writes ? line.write : line.read;
  if (mine.granules != 0 && !joins(record, mine)) return false;
  const std::uint32_t others = mine.granules;
  mine = record;
  mine.granules |= others;
  return true;
}

void Engine::visit(const Current& at, Line& line, const Record& record, std::uint64_t address, std::uint32_t granule) {
  if (line.history == nullptr) {
    if (simple(at, line, record, granule)) return;
    const bool words = granule == kWord;
    line.remember_all(words && Cell::of(record), words ? Records::kOfWords : Records::kOfBytes,
                      at.memory.shadow.pool());
  }
  History& history = *line.history;
  const bool writes = record.writes();
  Records& mine = writes ? history.writes : history.reads;
  history.writes.forget(at.ordered);
  history.reads.forget(at.ordered);
  const bool with_writes = history.writes.covers(record.granules) && !history.writes.morally_strong(record);
  const bool with_reads = writes && history.reads.covers(record.granules);
  if (!with_writes && !with_reads && record.access() != AccessKind::atomic && mine.drops(record.granules, at.known))
    return mine.lose(record);
  if (with_writes) compare(at, history, history.writes, record, address, granule);
  if (with_reads) compare(at, history, history.reads, record, address, granule);
  remember(at, mine, record, granule);
}

// Reports what races with the record, and forgets what it stands for from now on: at the end, because each access is
// judged in the light of the others.
void Engine::compare(const Current& at, History& history, Records& list, const Record& record, std::uint64_t address,
                     std::uint32_t granule) {
  std::array<std::uint32_t, Records::kOfWords.reads> left; // of each record
  std::uint32_t dropped = 0;
  std::size_t n = 0;
  for (const Record& old : list) {
    const bool meets = (old.granules & record.granules) != 0;
    left[n] = meets ? old.granules & ~judge(at, history, old, record, address, granule) : old.granules;
    dropped |= left[n++] ^ old.granules;
  }
  std::uint32_t gone = 0;
  for (std::uint32_t rest = list.celled() & record.granules; rest != 0;) { // cells of one access are judged together
    const Cell& first = list.cell(__builtin_ctz(rest));
    std::uint32_t same = 0;
    for (; rest != 0 && list.cell(__builtin_ctz(rest)) == first; rest &= rest - 1) same |= rest & -rest;
    gone |= judge(at, history, first.record(same), record, address, granule);
  }
  if (gone != 0) list.drop_cells(gone);
  if (dropped == 0) return;
  bool some_empty = false;
  n = 0;
  for (Record& old : list) {
    old.granules = left[n++];
    some_empty = some_empty || old.granules == 0;
  }
  if (some_empty) list.remove_if([](const Record& r) { return r.granules == 0; });
}

// Most often a barrier of the block has ordered them.
bool Engine::in_known_order(const Current& at, const Record& old) const {
  return old.time <= at.known && old.time > begin_ && !old.asynchronous() && at.block.holds(old.warp);
}

// Returns the granules for which the record stands from now on.
std::uint32_t Engine::judge(const Current& at, History& history, const Record& old, const Record& record,
                            std::uint64_t address, std::uint32_t granule) {
  const std::uint32_t common = old.granules & record.granules;
  if (record.scope() >= Scope::gpu && old.scope() >= Scope::gpu && old.size() == record.size())
    return 0; // morally strong
  std::uint32_t racing = in_known_order(at, old) ? 0 : unordered(at, old, record, common, granule);
  if (racing != 0 && !morally_strong(old, record)) racing = report_all(at, history, old, record, racing, address, granule);
  return dominates(record, old) ? common & ~racing : 0;
}

// Whether one record has place for both: the newer of two accesses by the same lanes stands for both.
bool Engine::joins(const Record& record, const Record& old) const {
  constexpr std::uint32_t kStrength = ~(Record::kMostInstructions - 1); // all but the instruction
  if (old.warp != record.warp || old.lanes != record.lanes) return false;
  if (((old.what ^ record.what) & kStrength) != 0 || old.time <= begin_ || old.asynchronous()) return false;
  const bool whole = (old.granules & ~record.granules) == 0;
  return whole || (old.time == record.time && old.what == record.what);
}

// Where there are too many accesses, some are forgotten: a race may be missed, none is invented.
void Engine::remember(const Current& at, Records& list, const Record& record, std::uint32_t granule) {
  const bool writes = record.writes();
  if (granule == kWord && !list.empty())
    if (const std::optional<Cell> cell = Cell::of(record)) return remember_cell(at, list, record, *cell);
  const auto stands_for = [&](Record& old) {
    if (!joins(record, old)) return false;
    const std::uint32_t granules = old.granules | record.granules;
    if (!writes) list.lose(old);
    old = record;
    old.granules = granules;
    list.cover(record);
    return true;
  };
  const Records::Limits limits = granule == kWord ? Records::kOfWords : Records::kOfBytes;
  const std::size_t most = writes ? limits.writes : limits.reads, size = list.size();
  const auto slot = [&] { return most / 2 + Records::hash(record) % (most / 2); };
  Record* const records = list.begin();
  std::uint8_t& next = list.next();
  if (next != 0 && next <= size && stands_for(records[next - 1])) return;
  // A full list is a table by hash in its second half; its first half keeps the oldest records.
  if (size >= most && stands_for(records[slot()])) return;
  // Weak stores have replaced those before in compare(). Loops visit the records in the same order each time.
  if (size < most && (!writes || record.strong()) && list.may_have_like(record))
    for (std::size_t n = 0, i = next < size ? next : 0; n < size; ++n, i = i + 1 < size ? i + 1 : 0)
      if (stands_for(records[i])) {
        next = static_cast<std::uint8_t>(i + 1);
        return;
      }
  if (size >= most && !list.skips_purge()) purge(at, list, record);
  if (list.size() >= most) {
    if (!writes) list.lose(records[slot()]);
    return list.replace(slot(), record);
  }
  list.add(record, most, at.memory.shadow.pool());
  next = static_cast<std::uint8_t>(list.size());
}

// Accesses of words by one lane, or by all: each word has a cell, and what another thread has accessed in the meantime
// goes into the list.
void Engine::remember_cell(const Current& at, Records& list, const Record& record, const Cell& cell) {
  Pool& pool = at.memory.shadow.pool();
  const std::size_t most = record.writes() ? Records::kOfWords.writes : Records::kOfWords.reads;
  bool purged = false;
  std::uint32_t full = 0;
  for (const int i : EachLane(record.granules)) {
    const std::uint32_t bit = 1u << i;
    const bool there = (list.celled() & bit) != 0, alike = there && list.cell(i).alike(cell);
    if (alike && list.cell(i).time > begin_) {
      if (record.strong() && !record.writes()) list.lose(list.cell(i).record(bit));
    } else if (there) {
      const Record old = list.cell(i).record(bit);
      if (!supersedes(record, old) && (!dominates(record, old) || !settled(at, old))) {
        if (list.size() >= most && !std::exchange(purged, true) && !list.skips_purge()) purge(at, list, record);
        if (list.size() < most) {
          list.add(old, most, pool);
        } else {
          full |= bit;
          const bool turn = list.full(bit); // of this one: Records::drops()
          if (!record.writes()) list.lose(turn ? old : record);
          if (!turn && record.access() != AccessKind::atomic) continue;
        }
      }
    }
    list.set_cell(i, cell, pool);
  }
  if (full != 0) list.fill(full, now_);
  list.cover(record);
}

// Whether all that follows in this block comes after this access.
bool Engine::settled(const Current& at, const Record& old) const {
  if (old.asynchronous()) return false;
  if (old.time <= begin_) return timeline_.precedes(old.time);
  return old.time <= at.known && at.block.holds(old.warp);
}

void Engine::purge(const Current& at, Records& list, const Record& record) const {
  list.remove_if([&](const Record& old) {
    return (old.granules & ~record.granules) == 0 && dominates(record, old) && settled(at, old);
  });
}

} // namespace warplens::exec::race
