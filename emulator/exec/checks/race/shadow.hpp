// SPDX-License-Identifier: Apache-2.0
// Who accessed which bytes last: the memory of racecheck.
//
// Memory is kept in lines of 32 granules, of 4 bytes each. One record stands for all granules of a line that an
// instruction of a warp accessed, with the lane of each as a function of its place, so that an access of consecutive
// lanes is one record. Lines with accesses to parts of a word are split into four lines of single bytes.
//
//   warp 3 stores 4 bytes a lane from address 256: lines 2: writes: {warp 3, granules 0xffffffff, lane = place / 4}
#pragma once

#include "emulator/exec/checks/race/knowledge.hpp"
#include "emulator/exec/checks/race/meaning.hpp"
#include "emulator/exec/state/events.hpp"

#include <array>
#include <memory>
#include <unordered_map>
#include <vector>

namespace warplens::exec::race {

constexpr std::uint32_t kLineBytes = 128, kFineBytes = 32;

/// An access to granules of one line by the lanes of a warp.
struct Record {
  Time time = 0;
  std::uint32_t warp = 0; ///< in the grid
  std::uint32_t granules = 0;
  /// If sequence(), the place in the line of lane 0, and the distance to the next lane, 16 bits each; else a mask: each
  /// of these lanes accessed all granules.
  std::uint32_t lanes = 0;
  /// From the low end: instruction (20 bits), kind (2), scope (3), log2 of the bytes of an element (3), asynchronous,
  /// sequence.
  std::uint32_t what = 0;

  static constexpr std::uint32_t kMostInstructions = 1u << 20, kAsynchronous = 1u << 28, kSequence = 1u << 29;
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
  [[nodiscard]] bool asynchronous() const { return (what & kAsynchronous) != 0; }
  [[nodiscard]] bool sequence() const { return (what & kSequence) != 0; }
  [[nodiscard]] int base() const { return static_cast<std::int16_t>(lanes & 0xffff); }
  [[nodiscard]] int stride() const { return static_cast<std::int16_t>(lanes >> 16); }
  [[nodiscard]] bool several_lanes() const { return !sequence() && (lanes & (lanes - 1)) != 0; }
  /// The lanes that accessed a byte of the line.
  [[nodiscard]] Mask lanes_at(int place) const;
  /// Whether the same lane accessed each granule that both did.
  [[nodiscard]] bool same_lanes(const Record& other) const {
    return lanes == other.lanes && sequence() == other.sequence() && !several_lanes();
  }
  static std::uint32_t pack(int base, int stride) {
    return static_cast<std::uint16_t>(base) | std::uint32_t{static_cast<std::uint16_t>(stride)} << 16;
  }
};
static_assert(sizeof(Record) == 20);

/// A list of records. Most lines have one, which needs no memory of its own.
class Records {
public:
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }
  /// Whether a record may concern one of these granules.
  [[nodiscard]] bool covers(std::uint32_t granules) const { return (covered_ & granules) != 0; }
  /// No record is newer; ~0 if one is of an asynchronous copy.
  [[nodiscard]] Time newest() const { return newest_; }
  /// A record like this one is added, or takes the place of another one.
  void cover(const Record& record) {
    covered_ |= record.granules;
    newest_ = std::max(newest_, record.asynchronous() ? ~Time{0} : record.time);
  }
  Record* begin() { return more_ ? more_.get() : &one_; }
  Record* end() { return begin() + size_; }
  void add(const Record& record) {
    if (size_ == room_) grow();
    begin()[size_++] = record;
    cover(record);
    note(record);
  }
  void replace(std::size_t i, const Record& record) {
    begin()[i] = record;
    note(record);
  }
  /// Of warp, lanes and granules: 7 bits.
  static std::uint32_t hash(const Record& r) {
    const std::uint64_t key = (std::uint64_t{r.lanes} << 32 | r.granules) ^ r.warp * 0xbf58476d1ce4e5b9u;
    return static_cast<std::uint32_t>(key * 0x9e3779b97f4a7c15u >> 57);
  }
  /// False if there is none of the same warp, lanes and granules.
  [[nodiscard]] bool may_have_like(const Record& record) const {
    return (seen_[hash(record) / 64] >> hash(record) % 64 & 1) != 0;
  }
  template <class Wrong> void remove_if(Wrong wrong) {
    size_ = static_cast<std::uint16_t>(std::remove_if(begin(), end(), wrong) - begin());
    if (size_ == 0) seen_ = {};
    covered_ = newest_ = 0;
    for (const Record& record : *this) cover(record);
  }

private:
  void note(const Record& r) { seen_[hash(r) / 64] |= std::uint64_t{1} << hash(r) % 64; }
  void grow();
  std::unique_ptr<Record[]> more_;
  std::array<std::uint64_t, 2> seen_{}; ///< a bit for each hash of warp, lanes and granules
  Record one_;
  std::uint16_t size_ = 0, room_ = 1;
  std::uint32_t covered_ = 0; ///< the granules of all records, and perhaps of some that are gone
  Time newest_ = 0;
};

struct Line {
  Records writes, reads; ///< atomics are writes
  std::unique_ptr<std::array<Line, 4>> fine;
  std::uint8_t forgotten = 0; ///< counts
  std::uint8_t next = 0;      ///< the record after the last one found or added
  bool synchronises = false;  ///< a word of it may have released something
  /// Splits the line into bytes.
  void refine();
};

/// A record of a line, as one of its quarter, in bytes.
Record quartered(const Record& record, int quarter);

/// The lines of a memory that have been accessed.
class Shadow {
public:
  Line& line(std::uint64_t address) {
    const std::uint64_t page = address / kPageBytes;
    Recent& recent = recent_[page % recent_.size()];
    if (recent.page != page || recent.lines == nullptr) find(page, recent);
    return (*recent.lines)[address / kLineBytes % kLines];
  }
  /// Calls `look` with each line that begins in these bytes and has been accessed.
  template <class Look> void each_line(std::uint64_t begin, std::uint64_t bytes, Look look) {
    for (std::uint64_t page = begin / kPageBytes; page <= (begin + bytes - 1) / kPageBytes; ++page)
      if (const auto found = pages_.find(page); found != pages_.end())
        for (std::size_t i = 0; i < kLines; ++i) look(page * kPageBytes + i * kLineBytes, (*found->second)[i]);
  }
  /// Forgets accesses to these bytes.
  void forget(std::uint64_t address, std::uint64_t bytes);
  void clear();

private:
  static constexpr std::uint64_t kPageBytes = 4096;
  static constexpr std::size_t kLines = kPageBytes / kLineBytes;
  using Page = std::array<Line, kLines>;
  struct Recent {
    std::uint64_t page = 0;
    Page* lines = nullptr;
  };
  void find(std::uint64_t page, Recent& recent);
  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
  std::array<Recent, 64> recent_{};
};

} // namespace warplens::exec::race
