// SPDX-License-Identifier: Apache-2.0
// A set-associative cache with LRU replacement.
//
//   Cache l1({.bytes = 16384, .line_bytes = 128, .sector_bytes = 128, .ways = 4});   // Fermi's: 32 sets
//   l1.load(7, 0b0001).missed == 0b1111;    // line 7, its first sector: the whole line is fetched
//   l1.load(7, 0b0010).hit == 0b0010;
//
// Callers always use lines of 128 bytes and sectors of 32 bytes; a cache with shorter lines splits them. The set of a
// line is its number modulo the number of sets; real devices also mix in further bits. The cache remembers evicted
// lines. Because a set may have hundreds of ways, lines are found by hashing, and each set is a list in order of use.
#pragma once

#include "analyzers/board.hpp"
#include "analyzers/key_index.hpp"

#include <span>
#include <vector>

namespace warplens::analyzers {

class Cache {
public:
  explicit Cache(const CacheGeometry& geometry);

  /// The result of one access; masks have a bit for each of the four 32-byte sectors of a 128-byte line.
  struct Outcome {
    std::uint32_t hit = 0;     ///< requested sectors that hit
    std::uint32_t missed = 0;  ///< sectors fetched from the next level, including the rest of a longer sector
    std::uint32_t again = 0;   ///< requested sectors that missed although they were cached before
    std::uint32_t evicted = 0; ///< evicted lines
    std::uint32_t written = 0; ///< their dirty sectors, which go to the next level
  };
  Outcome load(std::uint64_t line, std::uint32_t sectors);
  /// Fetches what an access to this line needs soon.
  void expect(std::uint64_t line) const { numbers_.expect(line * (128 / geometry_.line_bytes)); }
  /// If stores write through, the caller writes to the next level. `missed` stays 0: stores fetch nothing.
  Outcome store(std::uint64_t line, std::uint32_t sectors, CacheGeometry::Store how);
  Outcome store(std::uint64_t line, std::uint32_t sectors) { return store(line, sectors, geometry_.store); }
  /// Dirty sectors that the last access with nonzero `written` evicted to the next level.
  struct Changed {
    std::uint64_t line = 0;
    std::uint32_t sectors = 0;
  };
  [[nodiscard]] std::span<const Changed> written() const { return written_; }
  /// Evicts the line without writing it back.
  void invalidate(std::uint64_t line);

  [[nodiscard]] std::uint64_t sets() const { return sets_.size(); }
  [[nodiscard]] const CacheGeometry& geometry() const { return geometry_; }

private:
  static constexpr std::uint32_t kNone = ~0u;
  /// A line that is or was cached.
  struct Line {
    std::uint64_t number = 0; ///< its address / line_bytes
    std::uint32_t set = 0;
    std::uint32_t newer = kNone, older = kNone; ///< in its set
    bool here = false;
    std::uint8_t valid = 0, dirty = 0, held = 0; ///< sectors; `held`: ever
  };
  /// The cached lines, most recently used first.
  struct Set {
    std::uint32_t newest = kNone, oldest = kNone, count = 0;
  };
  std::uint32_t number_of(std::uint64_t line);
  void bring(std::uint32_t number, Outcome& outcome);
  void use(std::uint32_t number);
  void throw_out(std::uint32_t number);
  void link(std::uint32_t number);
  void unlink(std::uint32_t number);
  /// Calls `part(line, its sectors, their start in the 128-byte line)` for each line of this cache.
  template <class Part> void split(std::uint64_t line, std::uint32_t sectors, Part&& part);

  CacheGeometry geometry_;
  std::uint32_t sectors_per_line_; ///< of 32 bytes
  std::vector<Set> sets_;
  KeyIndex<std::uint64_t> numbers_; ///< of lines of line_bytes
  std::vector<Line> lines_;         ///< by number
  std::vector<Changed> written_;
};

} // namespace warplens::analyzers
