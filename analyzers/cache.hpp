// One cache: sets of lines, the least recently used of a set goes first.
//
//   Cache l1({.bytes = 16384, .line_bytes = 128, .sector_bytes = 128, .ways = 4});   // Fermi's: 32 sets
//   l1.load(7, 0b0001).missed == 0b1111;    // line 7, its first sector: the whole line is fetched
//   l1.load(7, 0b0010).hit == 0b0010;
//
// Lines and sectors of those who ask are always of 128 and 32 bytes; a cache whose own lines are shorter splits them.
// A line's set is its number modulo the number of sets; real devices mix further bits in. What has been thrown out is
// remembered. A set may have hundreds of ways: lines are found by hashing, and each set is a list in the order of use.
#pragma once

#include "analyzers/board.hpp"
#include "analyzers/key_index.hpp"

#include <span>
#include <vector>

namespace warplens::analyzers {

class Cache {
public:
  explicit Cache(const CacheGeometry& geometry);

  /// What became of one access; masks of the four 32-byte sectors of a 128-byte line.
  struct Outcome {
    std::uint32_t hit = 0;     ///< of the sectors asked for
    std::uint32_t missed = 0;  ///< fetched from below: with those that come along in a longer sector
    std::uint32_t again = 0;   ///< of the sectors asked for, those that missed though they had been here before
    std::uint32_t evicted = 0; ///< lines thrown out to make room
    std::uint32_t written = 0; ///< changed sectors of them, which go to the level below
  };
  Outcome load(std::uint64_t line, std::uint32_t sectors);
  /// Where stores go on to the next level, that is the caller's to do. `missed` stays 0: nothing is fetched.
  Outcome store(std::uint64_t line, std::uint32_t sectors, CacheGeometry::Store how);
  Outcome store(std::uint64_t line, std::uint32_t sectors) { return store(line, sectors, geometry_.store); }
  /// Of the last access whose `written` is not 0: what goes to the level below.
  struct Changed {
    std::uint64_t line = 0;
    std::uint32_t sectors = 0;
  };
  [[nodiscard]] std::span<const Changed> written() const { return written_; }
  /// Throws the line out; what it held is lost.
  void invalidate(std::uint64_t line);

  [[nodiscard]] std::uint64_t sets() const { return sets_.size(); }
  [[nodiscard]] const CacheGeometry& geometry() const { return geometry_; }

private:
  static constexpr std::uint32_t kNone = ~0u;
  /// A line that is here or has been.
  struct Line {
    std::uint64_t number = 0; ///< its address / line_bytes
    std::uint32_t set = 0;
    std::uint32_t newer = kNone, older = kNone; ///< in its set
    bool here = false;
    std::uint8_t valid = 0, dirty = 0, held = 0; ///< sectors; `held`: ever
  };
  /// The lines that are here, from the one used last.
  struct Set {
    std::uint32_t newest = kNone, oldest = kNone, count = 0;
  };
  std::uint32_t find(std::uint64_t line);
  void bring(std::uint32_t number, Outcome& outcome);
  void use(std::uint32_t number);
  void throw_out(std::uint32_t number);
  void link(std::uint32_t number);
  void unlink(std::uint32_t number);
  /// Calls `part(line, its sectors, where they begin in the 128-byte line)` for each line of our own.
  template <class Part> void split(std::uint64_t line, std::uint32_t sectors, Part&& part);

  CacheGeometry geometry_;
  std::uint32_t sectors_per_line_; ///< of 32 bytes
  std::vector<Set> sets_;
  KeyIndex<std::uint64_t> numbers_; ///< of lines of line_bytes
  std::vector<Line> lines_;         ///< by number
  std::vector<Changed> written_;
};

} // namespace warplens::analyzers
