// SPDX-License-Identifier: Apache-2.0
// Who accessed which bytes last: the memory of racecheck.
//
// Memory is kept in lines of 32 granules, of 4 bytes each. One record stands for all granules of a line that an
// instruction of a warp accessed, with the lane of each as a function of its place, so that an access of consecutive
// lanes is one record. A line has room for one write and one read, and takes more when it needs it: then, accesses of
// single lanes, and of all lanes to one word, are in a table with a cell for each word, where there is nothing to
// search. Lines with accesses to parts of a word are split into four lines of single bytes.
//
//   warp 3 stores 4 bytes a lane from address 256: lines 2: writes: {warp 3, granules 0xffffffff, lane = place / 4}
#pragma once

#include "emulator/exec/checks/race/knowledge.hpp"
#include "emulator/exec/checks/race/meaning.hpp"
#include "emulator/exec/state/events.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace warplens::exec::race {

constexpr std::uint32_t kLineBytes = 128, kFineBytes = 32, kWord = 4;

/// An access to granules of one line by the lanes of a warp.
struct Record {
  Time time = 0;
  std::uint32_t warp = 0; ///< in the grid
  std::uint32_t granules = 0;
  /// If sequence(), the place in the line of lane 0, and the distance to the next lane, 16 bits each; else a mask: each
  /// of these lanes accessed all granules.
  std::uint32_t lanes = 0;
  /// From the low end: instruction (20 bits), kind (2), scope (3), log2 of the bytes of an element (3), asynchronous,
  /// sequence, mirrored: the lanes of the upper half accessed the same as those of the lower half.
  std::uint32_t what = 0;

  static constexpr std::uint32_t kMostInstructions = 1u << 20, kAsynchronous = 1u << 28, kSequence = 1u << 29,
                                 kMirrored = 1u << 30;
  static std::uint32_t describe(std::uint32_t instruction, AccessKind kind, Scope scope, std::uint32_t size) {
    return (instruction & (kMostInstructions - 1)) | static_cast<std::uint32_t>(kind) << 20 |
           static_cast<std::uint32_t>(scope) << 22 | (size & 7) << 25;
  }
  [[nodiscard]] std::uint32_t instruction() const { return what & (kMostInstructions - 1); }
  [[nodiscard]] AccessKind access() const { return static_cast<AccessKind>(what >> 20 & 3); }
  [[nodiscard]] bool writes() const { return access() != AccessKind::load; }
  [[nodiscard]] Scope scope() const { return static_cast<Scope>(what >> 22 & 7); }
  [[nodiscard]] bool strong() const { return (what >> 22 & 7) != 0; }
  [[nodiscard]] std::uint32_t size() const { return what >> 25 & 7; }
  /// Kind, scope and size: 8 bits.
  [[nodiscard]] std::uint32_t strength() const { return what >> 20 & 0xff; }
  [[nodiscard]] bool asynchronous() const { return (what & kAsynchronous) != 0; }
  [[nodiscard]] bool sequence() const { return (what & kSequence) != 0; }
  [[nodiscard]] int base() const { return static_cast<std::int16_t>(lanes & 0xffff); }
  [[nodiscard]] int stride() const { return static_cast<std::int16_t>(lanes >> 16); }
  [[nodiscard]] bool mirrored() const { return (what & kMirrored) != 0; }
  [[nodiscard]] bool several_lanes() const { return mirrored() || (!sequence() && (lanes & (lanes - 1)) != 0); }
  /// The lanes that accessed a byte of the line.
  [[nodiscard]] Mask lanes_at(int place) const;
  /// Whether it reads what other strong operations wrote: observation order (Engine::observed) leads through it.
  [[nodiscard]] bool observes() const {
    return access() == AccessKind::atomic || (strong() && access() == AccessKind::load);
  }
  /// Whether the same lane accessed each granule that both did.
  [[nodiscard]] bool same_lanes(const Record& other) const {
    return lanes == other.lanes && sequence() == other.sequence() && !several_lanes();
  }
  static std::uint32_t pack(int base, int stride) {
    return static_cast<std::uint16_t>(base) | std::uint32_t{static_cast<std::uint16_t>(stride)} << 16;
  }
};
static_assert(sizeof(Record) == 20);

/// An access to one word by one lane, by all lanes of a warp, or by those of one half of it.
struct Cell {
  Time time = 0;
  std::uint32_t warp = 0;
  /// From the low end: instruction (18 bits), kind, scope and size as in a record, lanes (6): a lane, or one of these.
  std::uint32_t what = 0;

  static constexpr std::uint32_t kMostInstructions = 1u << 18, kAll = 32, kLower = 33, kUpper = 34;
  /// None if the record is not of that form.
  static std::optional<Cell> of(const Record& record) {
    if (record.sequence() || record.asynchronous() || record.instruction() >= kMostInstructions) return std::nullopt;
    const std::uint32_t lanes = record.lanes;
    const std::uint32_t code = (lanes & (lanes - 1)) == 0 ? static_cast<std::uint32_t>(__builtin_ctz(lanes))
                               : lanes == ~0u             ? kAll
                               : lanes == 0xffffu         ? kLower
                               : lanes == 0xffff0000u     ? kUpper
                                                          : 0xffu;
    if (code == 0xff) return std::nullopt;
    return Cell{record.time, record.warp, record.instruction() | record.strength() << 18 | code << 26};
  }
  [[nodiscard]] Record record(std::uint32_t granules) const {
    const std::uint32_t code = what >> 26;
    const std::uint32_t lanes = code < 32 ? 1u << code : code == kAll ? ~0u : code == kLower ? 0xffffu : 0xffff0000u;
    return {time, warp, granules, lanes, (what & (kMostInstructions - 1)) | (what >> 18 & 0xff) << 20};
  }
  /// Whether the same lanes made both accesses, in the same way.
  [[nodiscard]] bool alike(const Cell& other) const {
    return warp == other.warp && (what ^ other.what) < kMostInstructions;
  }
  friend bool operator==(const Cell&, const Cell&) = default;
};
static_assert(sizeof(Cell) == 12);

/// Memory of a shadow: taken piece by piece, and given back as a whole. New pieces are all zero.
class Pool {
public:
  template <class T> T* take(std::size_t count) {
    static_assert(std::is_trivially_destructible_v<T> && std::is_trivially_copyable_v<T>);
    return static_cast<T*>(take_bytes(count * sizeof(T)));
  }
  /// The piece is used again for others of its size.
  template <class T> void give(T* piece, std::size_t count) { give_bytes(piece, count * sizeof(T)); }
  void clear();
  /// Bytes of all pieces.
  [[nodiscard]] std::size_t size() const { return size_; }

private:
  /// Gives its bytes back to the system.
  struct Return {
    std::size_t mapped = 0; ///< 0: of the allocator
    void operator()(std::byte* block) const;
  };
  using Block = std::unique_ptr<std::byte[], Return>;
  static Block new_block(std::size_t bytes);
  void* take_bytes(std::size_t bytes);
  void give_bytes(void* piece, std::size_t bytes);
  std::vector<Block> blocks_;
  std::byte *next_ = nullptr, *end_ = nullptr;
  std::vector<std::pair<std::size_t, void*>> free_; ///< a list for each size
  std::size_t size_ = 0;
};

/// The accesses of one kind to a line: a list of records, and a table with a cell for each word. All zero: none.
class Records {
public:
  struct Limits {
    std::size_t reads, writes;
  };
  /// With these, a line takes at most 16 bytes for each of its bytes: test RaceShadow.
  static constexpr Limits kOfWords{32, 22}, kOfBytes{8, 6};

  [[nodiscard]] bool empty() const { return newest_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }
  /// Whether an access may concern one of these granules.
  [[nodiscard]] bool covers(std::uint32_t granules) const { return ((listed_ | celled_) & granules) != 0; }
  /// No access is newer; ~0 if one is of an asynchronous copy.
  [[nodiscard]] Time newest() const { return newest_; }
  /// All accesses until then happen before all that follow.
  void forget(Time until) {
    if (newest_ - 1 < until) clear(); // 0 is larger than any time
  }
  /// An access like this one is added, or takes the place of another one.
  void cover(const Record& record) {
    newest_ = std::max(newest_, record.asynchronous() ? ~Time{0} : record.time);
    const std::uint32_t strength = record.asynchronous() ? kMixed : record.strength() + 1;
    if (strength_ != strength) strength_ = static_cast<std::uint16_t>(strength_ == 0 ? strength : kMixed);
  }
  /// Whether all accesses are atomic or otherwise strong in the same way as this one, for the whole device.
  [[nodiscard]] bool morally_strong(const Record& record) const {
    return record.scope() >= Scope::gpu && strength_ == record.strength() + 1;
  }

  Record* begin() { return records_; }
  Record* end() { return records_ + size_; }
  void add(const Record& record, std::size_t most, Pool& pool) {
    if (size_ == room_) grow(most, pool);
    records_[size_++] = record;
    listed_ |= record.granules;
    cover(record);
    note(record);
  }
  void replace(std::size_t i, const Record& record) {
    records_[i] = record;
    listed_ |= record.granules;
    cover(record);
    note(record);
  }
  /// Of warp, lanes and granules: 6 bits.
  static std::uint32_t hash(const Record& r) {
    const std::uint64_t key = (std::uint64_t{r.lanes} << 32 | r.granules) ^ r.warp * 0xbf58476d1ce4e5b9u;
    return static_cast<std::uint32_t>(key * 0x9e3779b97f4a7c15u >> 58);
  }
  /// False if the list has none of the same warp, lanes and granules.
  [[nodiscard]] bool may_have_like(const Record& record) const { return (seen_ >> hash(record) & 1) != 0; }
  template <class Wrong> void remove_if(Wrong wrong) {
    size_ = static_cast<std::uint16_t>(std::remove_if(begin(), end(), wrong) - begin());
    listed_ = 0;
    for (const Record& record : *this) listed_ |= record.granules;
    if (size_ == 0) seen_ = 0;
    if (size_ == 0 && celled_ == 0) clear();
  }
  /// Gives all memory back.
  void release(Pool& pool);
  void clear() {
    listed_ = celled_ = full_ = newest_ = full_since_ = lost_ = 0;
    size_ = strength_ = next_ = dropped_ = 0;
    seen_ = 0;
  }

  /// The granules that have a cell.
  [[nodiscard]] std::uint32_t celled() const { return celled_; }
  [[nodiscard]] const Cell& cell(int granule) const { return cells_[granule]; }
  void set_cell(int granule, const Cell& cell, Pool& pool) {
    if (cells_ == nullptr) cells_ = pool.take<Cell>(32);
    cells_[granule] = cell;
    celled_ |= 1u << granule;
    full_ &= ~(1u << granule);
  }
  /// Whether a cell of this word would be the first: nothing is known of it, and there are cells.
  [[nodiscard]] bool has_free_cell(std::uint32_t word) const { return cells_ != nullptr && (celled_ & word) == 0; }
  void drop_cells(std::uint32_t granules) {
    celled_ &= ~granules;
    full_ &= ~granules;
    if (size_ == 0 && celled_ == 0) clear();
  }

  /// A read is forgotten for want of room, or a later one stands for it that not all know who know it.
  void lose(const Record& read) {
    if (read.observes()) lost_ = std::max(lost_, read.time);
  }
  void lose(const Records& others) { lost_ = std::max(lost_, others.lost_); }
  /// Until then, there may have been more reads that observed others. Of atomic operations, the last one remains.
  [[nodiscard]] Time lost() const { return lost_; }

  /// Nothing is known of these granules any more.
  void forget_granules(std::uint32_t granules);

  /// There was no place for another access of this granule.
  void fill(std::uint32_t granules, Time now) {
    full_ |= granules;
    full_since_ = now;
  }
  [[nodiscard]] bool full(std::uint32_t granules) const { return (full_ & granules) == granules; }
  /// Where there is no place, one of eight is looked at, and may replace another one; all of them after a barrier,
  /// which may have made place. `known`: the time of the last barrier.
  [[nodiscard]] bool drops(std::uint32_t granules, Time known) {
    return full(granules) && full_since_ > known && (++dropped_ & 7) != 0;
  }
  /// Calls `each` with all accesses.
  template <class Each> void visit(Each each) {
    for (const Record& record : *this) each(record);
    for (std::uint32_t left = celled_; left != 0; left &= left - 1)
      each(cells_[__builtin_ctz(left)].record(left & -left));
  }
  std::uint8_t& next() { return next_; } ///< the record after the last one found or added
  /// Where a list has no place, one of eight times is looked for old ones.
  [[nodiscard]] bool skips_purge() { return ++dropped_ % 8 != 0; }

private:
  static constexpr std::uint32_t kMixed = 0x1ff;
  void note(const Record& r) { seen_ |= std::uint64_t{1} << hash(r); }
  void grow(std::size_t most, Pool& pool);
  std::uint32_t listed_ = 0; ///< the granules of all records, and perhaps of some that are gone
  std::uint32_t celled_ = 0, full_ = 0;
  Time newest_ = 0, full_since_ = 0;
  std::uint16_t size_ = 0, room_ = 0;
  std::uint16_t strength_ = 0; ///< of all accesses, plus one; or kMixed
  std::uint8_t next_ = 0, dropped_ = 0;
  Time lost_ = 0;
  std::uint64_t seen_ = 0; ///< a bit for each hash of warp, lanes and granules
  Record* records_ = nullptr;
  Cell* cells_ = nullptr;
};

/// All accesses to a line. Atomics are writes.
struct History {
  Records writes, reads;
};

struct Line {
  /// While there is no history, these are all accesses: weak ones, but no asynchronous copies. No granules: none.
  Record write, read;
  History* history = nullptr;
  std::array<Line, 4>* fine = nullptr;
  bool synchronises = false; ///< a word of it may have released something
  /// Begins the history. `cells`: what may be in a cell is in one.
  History& remember_all(bool cells, Records::Limits most, Pool& pool);
  /// Calls `each` with all accesses, but not those of the quarters.
  template <class Each> void visit(Each each) {
    if (history != nullptr) {
      history->writes.visit(each);
      history->reads.visit(each);
      return;
    }
    if (write.granules != 0) each(write);
    if (read.granules != 0) each(read);
  }
  /// Splits the line into bytes.
  void refine(Pool& pool);
  /// Forgets accesses to these bytes of the line, the first and the one behind the last, and to words of which they are
  /// a part.
  void forget(std::uint32_t first, std::uint32_t end);
};
static_assert(sizeof(Line) == 64);

/// A record of a line, as one of its quarter, in bytes.
Record quartered(const Record& record, int quarter);

/// The lines of a memory that have been accessed.
class Shadow {
public:
  Line& line(std::uint64_t address) {
    const std::uint64_t number = address / kChunkBytes;
    Recent& recent = recent_[number % recent_.size()];
    if (recent.number != number || recent.chunk == nullptr) [[unlikely]]
      find(number, recent);
    Line* lines = recent.chunk->pages[address % kChunkBytes / kPageBytes];
    if (lines == nullptr) lines = begin_page(*recent.chunk, address);
    return lines[address / kLineBytes % kLines];
  }
  /// Calls `look` with each line that begins in these bytes and has been accessed.
  template <class Look> void each_line(std::uint64_t begin, std::uint64_t bytes, Look look) {
    for (std::uint64_t page = begin / kPageBytes; page <= (begin + bytes - 1) / kPageBytes; ++page)
      if (Line* const lines = page_at(page * kPageBytes))
        for (std::size_t i = 0; i < kLines; ++i) look(page * kPageBytes + i * kLineBytes, lines[i]);
  }
  /// Forgets accesses to these bytes.
  void forget(std::uint64_t address, std::uint64_t bytes);
  void clear();
  Pool& pool() { return pool_; }
  /// Bytes that the shadow takes itself.
  [[nodiscard]] std::size_t size() const { return pool_.size(); }

private:
  static constexpr std::uint64_t kPageBytes = 4096, kChunkBytes = 256 * kPageBytes;
  static constexpr std::size_t kLines = kPageBytes / kLineBytes;
  struct Chunk {
    std::array<Line*, kChunkBytes / kPageBytes> pages;
  };
  struct Recent {
    std::uint64_t number = 0;
    Chunk* chunk = nullptr;
  };
  void find(std::uint64_t number, Recent& recent);
  Line* begin_page(Chunk& chunk, std::uint64_t address);
  /// Null if no line of the page has been accessed.
  [[nodiscard]] Line* page_at(std::uint64_t address) const;
  Pool pool_;
  std::unordered_map<std::uint64_t, Chunk*> chunks_;
  std::array<Recent, 64> recent_{};
};

} // namespace warplens::exec::race
