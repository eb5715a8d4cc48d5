// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/checks/race/shadow.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <new>

namespace warplens::exec::race {

Mask Record::lanes_at(int place) const {
  if (!sequence()) return lanes;
  if (mirrored()) {
    Record lower = *this;
    lower.what &= ~kMirrored;
    const Mask first = lower.lanes_at(place);
    return first | first << 16;
  }
  const int distance = place - base(), step = stride() > 0 ? stride() : -stride();
  // With a negative stride, the bytes of a lane lie in front of those of the lane before it.
  const int lane = stride() > 0 ? distance / step : (step - 1 - distance) / step;
  return lane >= 0 && lane < kWarpSize ? Mask{1} << lane : 0;
}

Record quartered(const Record& record, int quarter) {
  Record part = record;
  part.granules = 0;
  for (const int word : EachLane(record.granules >> 8 * quarter & 0xff)) part.granules |= 0xfu << 4 * word;
  if (record.sequence()) {
    const int base = record.base() - static_cast<int>(kFineBytes) * quarter;
    part.lanes = Record::pack(base, record.stride());
  }
  return part;
}

namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

} // namespace

void Pool::Return::operator()(std::byte* block) const {
  if (mapped != 0)
    munmap(block, mapped);
  else
    std::free(block);
}

// Blocks of huge pages: where kernels touch much memory, the first accesses to small pages of the shadow would take
// longer than all else.
Pool::Block Pool::new_block(std::size_t bytes) {
  if (bytes != kHugePage) {
    Block block(static_cast<std::byte*>(std::calloc(bytes, 1)));
    return block != nullptr ? std::move(block) : throw std::bad_alloc();
  }
  void* const map =
      mmap(nullptr, 2 * bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (map == MAP_FAILED) throw std::bad_alloc();
  auto* const first = static_cast<std::byte*>(map);
  const std::size_t before = (bytes - reinterpret_cast<std::uintptr_t>(map) % bytes) % bytes;
  if (before != 0) munmap(first, before);
  munmap(first + before + bytes, bytes - before);
  madvise(first + before, bytes, MADV_HUGEPAGE);
#ifdef MADV_POPULATE_WRITE // where there is no huge page, all small ones at once: a fault for each would take longer
  madvise(first + before, bytes, MADV_POPULATE_WRITE);
#endif
  return Block(first + before, Return{bytes});
}

void* Pool::take_bytes(std::size_t bytes) {
  bytes = (bytes + 7) / 8 * 8;
  for (auto& [size, first] : free_)
    if (size == bytes && first != nullptr) {
      void* const piece = first;
      std::memcpy(static_cast<void*>(&first), piece, sizeof first);
      return std::memset(piece, 0, bytes);
    }
  if (static_cast<std::size_t>(end_ - next_) < bytes) {
    constexpr std::size_t kFirst = 8192;
    const std::size_t room = std::max(bytes, std::min(kHugePage, kFirst << std::min<std::size_t>(blocks_.size(), 8)));
    blocks_.push_back(new_block(room));
    next_ = blocks_.back().get();
    end_ = next_ + room;
    size_ += room;
  }
  return std::exchange(next_, next_ + bytes);
}

// The pieces of a size are a list, in which each begins with the address of the next one.
void Pool::give_bytes(void* piece, std::size_t bytes) {
  bytes = (bytes + 7) / 8 * 8;
  auto at = std::find_if(free_.begin(), free_.end(), [&](const auto& f) { return f.first == bytes; });
  if (at == free_.end()) at = free_.insert(free_.end(), {bytes, nullptr});
  std::memcpy(piece, static_cast<const void*>(&at->second), sizeof at->second);
  at->second = piece;
}

void Pool::clear() {
  blocks_.clear();
  free_.clear();
  next_ = end_ = nullptr;
  size_ = 0;
}

void Records::grow(std::size_t most, Pool& pool) {
  const std::size_t larger = room_ == 0 ? 4 : std::min<std::size_t>(most, 4 * std::size_t{room_});
  auto* const more = pool.take<Record>(larger);
  std::copy(begin(), end(), more);
  if (records_ != nullptr) pool.give(records_, room_);
  records_ = more;
  room_ = static_cast<std::uint16_t>(larger);
}

void Records::release(Pool& pool) {
  if (records_ != nullptr) pool.give(records_, room_);
  if (cells_ != nullptr) pool.give(cells_, 32);
  *this = {};
}

History& Line::remember_all(bool cells, Records::Limits most, Pool& pool) {
  if (history != nullptr) return *history;
  history = pool.take<History>(1);
  const auto take = [&](const Record& from, Records& to, std::size_t room) {
    if (from.granules == 0) return;
    const std::optional<Cell> cell = cells ? Cell::of(from) : std::nullopt;
    if (!cell) return to.add(from, room, pool);
    for (const int word : EachLane(from.granules)) to.set_cell(word, *cell, pool);
    to.cover(from);
  };
  take(write, history->writes, most.writes);
  take(read, history->reads, most.reads);
  write = read = {};
  return *history;
}

void Line::refine(Pool& pool) {
  if (fine != nullptr) return;
  fine = pool.take<std::array<Line, 4>>(1);
  for (int quarter = 0; quarter < 4; ++quarter) (*fine)[static_cast<std::size_t>(quarter)].synchronises = synchronises;
  if (history == nullptr && write.granules == 0 && read.granules == 0) return;
  History& all = remember_all(false, Records::kOfWords, pool);
  for (int quarter = 0; quarter < 4; ++quarter) {
    History& part = (*fine)[static_cast<std::size_t>(quarter)].remember_all(false, Records::kOfBytes, pool);
    const auto take = [&](Records& from, Records& to, std::size_t most) {
      from.visit([&](const Record& r) {
        const Record q = quartered(r, quarter);
        if (q.granules == 0) return;
        to.size() < most ? to.add(q, most, pool) : to.lose(q);
      });
      to.lose(from);
    };
    take(all.writes, part.writes, Records::kOfBytes.writes);
    take(all.reads, part.reads, Records::kOfBytes.reads);
  }
  all.writes.release(pool);
  all.reads.release(pool);
  pool.give(std::exchange(history, nullptr), 1);
}

void Records::forget_granules(std::uint32_t granules) {
  for (Record& record : *this) record.granules &= ~granules;
  remove_if([](const Record& record) { return record.granules == 0; });
  drop_cells(granules);
}

void Line::forget(std::uint32_t first, std::uint32_t end) {
  const auto bits = [](std::uint32_t from, std::uint32_t to) {
    return static_cast<std::uint32_t>((std::uint64_t{1} << to) - (std::uint64_t{1} << from));
  };
  const auto drop = [](Line& line, std::uint32_t granules) {
    line.write.granules &= ~granules;
    line.read.granules &= ~granules;
    if (line.history == nullptr) return;
    line.history->writes.forget_granules(granules);
    line.history->reads.forget_granules(granules);
  };
  if (fine == nullptr) return drop(*this, bits(first / 4, (end + 3) / 4));
  for (std::uint32_t quarter = 0; quarter < 4; ++quarter) {
    const std::uint32_t begin = quarter * kFineBytes, from = std::max(first, begin),
                        to = std::min(end, begin + kFineBytes);
    if (from < to) drop((*fine)[quarter], bits(from - begin, to - begin));
  }
}

void Shadow::find(std::uint64_t number, Recent& recent) {
  Chunk*& chunk = chunks_[number];
  if (chunk == nullptr) chunk = pool_.take<Chunk>(1);
  recent = {number, chunk};
}

Line* Shadow::begin_page(Chunk& chunk, std::uint64_t address) {
  return chunk.pages[address % kChunkBytes / kPageBytes] = pool_.take<Line>(kLines);
}

Line* Shadow::page_at(std::uint64_t address) const {
  const auto chunk = chunks_.find(address / kChunkBytes);
  return chunk == chunks_.end() ? nullptr : chunk->second->pages[address % kChunkBytes / kPageBytes];
}

void Shadow::forget(std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t end = address + bytes;
  for (std::uint64_t page = address / kPageBytes * kPageBytes; page < end; page += kPageBytes) {
    Line* const lines = page_at(page);
    if (lines == nullptr) continue;
    const std::uint64_t last = std::min(end, page + kPageBytes);
    for (std::uint64_t at = std::max(address, page) / kLineBytes * kLineBytes; at < last; at += kLineBytes)
      lines[(at - page) / kLineBytes].forget(static_cast<std::uint32_t>(std::max(address, at) - at),
                                             static_cast<std::uint32_t>(std::min(last, at + kLineBytes) - at));
  }
}

void Shadow::clear() {
  chunks_.clear();
  recent_.fill({});
  pool_.clear();
}

} // namespace warplens::exec::race
