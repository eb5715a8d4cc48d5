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
  /// If `sequence`, the place in the line of lane 0, and the distance to the next lane, 16 bits each; else a mask: each
  /// of these lanes accessed all granules.
  std::uint32_t lanes = 0;
  std::uint32_t instruction : 20 = 0;
  std::uint32_t kind : 2 = 0; ///< of AccessKind
  std::uint32_t scope : 3 = 0;
  std::uint32_t size : 3 = 0; ///< log2 of the bytes of an element
  std::uint32_t asynchronous : 1 = 0;
  std::uint32_t sequence : 1 = 0;

  static constexpr std::uint32_t kMostInstructions = 1u << 20;
  [[nodiscard]] AccessKind access() const { return static_cast<AccessKind>(kind); }
  [[nodiscard]] bool writes() const { return access() != AccessKind::load; }
  [[nodiscard]] bool strong() const { return scope != 0; }
  [[nodiscard]] Scope its_scope() const { return static_cast<Scope>(scope); }
  [[nodiscard]] int base() const { return static_cast<std::int16_t>(lanes & 0xffff); }
  [[nodiscard]] int stride() const { return static_cast<std::int16_t>(lanes >> 16); }
  /// The lanes that accessed a byte of the line.
  [[nodiscard]] Mask lanes_at(int place) const;
  [[nodiscard]] bool same_lanes(const Record& other) const {
    return sequence == other.sequence && lanes == other.lanes && (sequence != 0 || (lanes & (lanes - 1)) == 0);
  }
  static std::uint32_t pack(int base, int stride) {
    return static_cast<std::uint16_t>(base) | std::uint32_t{static_cast<std::uint16_t>(stride)} << 16;
  }
};
static_assert(sizeof(Record) == 20);

struct Line {
  std::vector<Record> writes, reads; ///< atomics are writes
  std::unique_ptr<std::array<Line, 4>> fine;
  std::uint8_t oldest_read = 0, oldest_atomic = 0; ///< the next one to be forgotten
  bool synchronises = false;                       ///< a word of it may have released something
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
    if (page != last_page_ || last_ == nullptr) find(page);
    return (*last_)[address / kLineBytes % kLines];
  }
  /// Forgets accesses to these bytes.
  void forget(std::uint64_t address, std::uint64_t bytes);
  void clear();

private:
  static constexpr std::uint64_t kPageBytes = 4096;
  static constexpr std::size_t kLines = kPageBytes / kLineBytes;
  using Page = std::array<Line, kLines>;
  void find(std::uint64_t page);
  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
  std::uint64_t last_page_ = 0;
  Page* last_ = nullptr;
};

} // namespace warplens::exec::race
