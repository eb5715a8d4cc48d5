// SPDX-License-Identifier: Apache-2.0
// The layout of a trace file: append-only tables that all launches share. docs/trace-format.md describes it for users
// who read the file with other programs; the two must agree.
//
// Events are stored in independent blocks of up to kBlockEvents. A block begins with a dictionary of patterns (all
// properties of an event except its address); each event is a pattern, a warp, and the low half of an address.
//
//   a warp loads 32 consecutive floats:  pattern 3 = {instruction 12, global, load, stride 4, mask ~0}, warp 1,
//   base 0x1080                          that is 7 bytes before compression
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace warplens::analyzers::trace {

constexpr std::string_view kFormat = "warplens trace";
constexpr std::uint32_t kVersion = 1;

/// The maximum number of events of a block; it ends earlier if its worker ends, or at one of the following limits.
constexpr std::uint32_t kBlockEvents = 1u << 16;
constexpr std::uint32_t kBlockOffsets = 1u << 20;
constexpr std::uint32_t kBlockPatterns = 0xffff;
/// The maximum number of warps of a CTA in the column `warp`.
constexpr std::uint32_t kMostWarps = 256;

enum class EventKind : std::uint8_t { access, branch, barrier };

enum class Lanes : std::uint8_t {
  sequence, ///< lane i at base + i * stride[0]
  halves,   ///< lanes 0 to 15 likewise, lanes 16 to 31 at base + half + (i - 16) * stride[1]
  offsets,  ///< the first active lane at base, each further one at base + the next value of `offsets`
  wide      ///< the same with two values per lane: low half, high half
};

/// All properties of an event except the warp and the low half of the base.
struct PatternRow {
  std::uint64_t origin = 0;      ///< high half of the base; the low one is 0
  std::int64_t stride[2]{};      ///< bytes
  std::int64_t half = 0;         ///< bytes
  std::uint32_t instruction = 0; ///< index into the kernel's instructions, functions that it calls included
  std::uint32_t mask = 0;        ///< active lanes
  std::uint32_t taken = 0;       ///< of a branch: lanes that take it. Of a barrier: its number
  std::uint16_t lane_bytes = 0;
  EventKind event{};
  Lanes lanes{};
  std::uint8_t space = 0; ///< kSpaceNames
  std::uint8_t kind = 0;  ///< exec::AccessKind: load, store, atomic, reduction
  std::uint8_t shape = 0; ///< exec::Shape: contiguous, broadcast, strided, irregular
  std::uint8_t unused = 0;
  friend bool operator==(const PatternRow&, const PatternRow&) = default;
};
static_assert(sizeof(PatternRow) == 56);

/// Consecutive events of one CTA, in order.
struct SegmentRow {
  static constexpr std::uint32_t kBegins = 1, kEnds = 2;
  std::uint64_t cta = 0;
  std::uint32_t events = 0;
  std::uint32_t flags = 0; ///< kBegins: first segment of the CTA; kEnds: last segment, all warps have exited
};
static_assert(sizeof(SegmentRow) == 16);

/// The position of a block. Written after the block: data without a row here does not exist.
struct BlockRow {
  std::uint64_t first_event = 0, first_offset = 0, first_pattern = 0, first_segment = 0;
  std::uint32_t events = 0, offsets = 0, patterns = 0, segments = 0;
  std::uint32_t launch = 0;
  std::uint32_t unused = 0;
};
static_assert(sizeof(BlockRow) == 56);

/// A launch: its description is JSON, a piece of the table `text`.
struct LaunchRow {
  std::uint64_t text = 0, text_size = 0;
};

/// The end of a launch: another piece of JSON, and the execution count of each instruction. Missing if the run was
/// killed.
struct EndRow {
  std::uint64_t text = 0, text_size = 0;
  std::uint64_t first_count = 0, counts = 0;
  std::uint32_t launch = 0;
  std::uint32_t unused = 0;
};
static_assert(sizeof(EndRow) == 40);

enum class Table : std::uint8_t {
  text,
  patterns,
  segments,
  pattern,
  warp,
  base,
  offsets,
  counts,
  launches,
  blocks,
  ends
};
constexpr std::size_t kTables = 11;

/// Rows are added to a table in whole pieces; a piece is a separately compressed HDF5 chunk.
struct TableInfo {
  std::string_view name;
  std::uint32_t row_bytes;
  std::uint32_t piece_rows;
  bool compressed; ///< shuffled and deflated; other tables grow row by row
};

const TableInfo& info(Table table);

} // namespace warplens::analyzers::trace
