// SPDX-License-Identifier: Apache-2.0
// What is known of a line: the comparison of an access with those before, and what is remembered of it.
#include "emulator/exec/checks/race/engine.hpp"

#include <bit>
#include <utility>

namespace warplens::exec::race {

namespace {

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
  if (!with_writes && !with_reads && granule == kWord && std::has_single_bit(record.granules) &&
      mine.has_free_cell(record.granules))
    if (const std::optional<Cell> cell = Cell::of(record)) {
      mine.set_cell(std::countr_zero(record.granules), *cell, at.memory.shadow.pool());
      return mine.cover(record);
    }
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
  if (racing != 0 && !morally_strong(old, record))
    racing = report_all(at, history, old, record, racing, address, granule);
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
