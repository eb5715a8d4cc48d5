// One cache: sets of lines, the least recently used of a set goes first.
//
//   Cache l1({.bytes = 16384, .line_bytes = 128, .sector_bytes = 128, .ways = 4});   // Fermi's: 32 sets
//   l1.load(7, 0b0001).missed == 0b1111;    // line 7, its first sector: the whole line is fetched
//   l1.load(7, 0b0010).hit == 0b0010;
//
// Lines and sectors of those who ask are always of 128 and 32 bytes; a cache whose own lines are shorter splits them.
// A line's set is its number modulo the number of sets; real devices mix further bits in.
#pragma once

#include "analyzers/board.hpp"

#include <vector>

namespace warplens::analyzers {

class Cache {
public:
  explicit Cache(const CacheGeometry& geometry);

  /// What became of one access; masks of the four 32-byte sectors of a 128-byte line.
  struct Outcome {
    std::uint32_t hit = 0;     ///< of the sectors asked for
    std::uint32_t missed = 0;  ///< fetched from below: with those that come along in a longer sector
    std::uint32_t evicted = 0; ///< lines thrown out to make room
    std::uint32_t written = 0; ///< changed sectors of them, which go to the level below
  };
  Outcome load(std::uint64_t line, std::uint32_t sectors);
  /// Where stores go on to the next level, that is the caller's to do. `missed` stays 0: nothing is fetched.
  Outcome store(std::uint64_t line, std::uint32_t sectors);
  /// Throws the line out; what it held is lost.
  void invalidate(std::uint64_t line);

  [[nodiscard]] std::uint64_t sets() const { return sets_; }
  [[nodiscard]] const CacheGeometry& geometry() const { return geometry_; }

private:
  struct Way {
    std::uint64_t line = 0; ///< of line_bytes
    std::uint64_t used = 0; ///< when; 0: never, the way is free
    std::uint32_t valid = 0, dirty = 0;
  };
  Way* find(std::uint64_t line);
  Way& take(std::uint64_t line, Outcome& outcome);
  /// Calls `part(line, its sectors, where they begin in the 128-byte line)` for each line of our own.
  template <class Part> void split(std::uint64_t line, std::uint32_t sectors, Part&& part);

  CacheGeometry geometry_;
  std::uint32_t sectors_per_line_; ///< of 32 bytes
  std::uint64_t sets_;
  std::uint64_t now_ = 0;
  std::vector<Way> ways_; ///< by set
};

/// Lines of 128 bytes, each with the sectors that have been put in.
class SectorSet {
public:
  SectorSet() : slots_(kFirst) {}
  /// Adds sectors; returns those that were there already.
  std::uint32_t add(std::uint64_t line, std::uint32_t sectors);
  [[nodiscard]] std::size_t lines() const { return count_; }

private:
  static constexpr std::size_t kFirst = 256;
  std::uint64_t& slot(std::uint64_t line);
  std::vector<std::uint64_t> slots_; ///< line * 16 + sectors; 0: free. Open addressing
  std::size_t count_ = 0;
};

} // namespace warplens::analyzers
