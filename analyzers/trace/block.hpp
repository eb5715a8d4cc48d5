// SPDX-License-Identifier: Apache-2.0
// A block of a trace in memory: built from events as they occur, and converted back to events.
//
//   BlockBuilder builder;
//   builder.begin_cta(0);
//   builder.access({0, 1}, access);
//   Block block = builder.take();            // written to a file
//   deliver(block, shard);                   // the shard receives the events of the builder
#pragma once

#include "analyzers/trace/layout.hpp"
#include "emulator/exec/state/events.hpp"

#include <functional>
#include <string>

namespace warplens::analyzers::trace {

struct Block {
  std::vector<std::uint16_t> pattern;
  std::vector<std::uint8_t> warp;
  std::vector<std::uint32_t> base;
  std::vector<std::int32_t> offsets;
  std::vector<PatternRow> patterns;
  std::vector<SegmentRow> segments;
};

class BlockBuilder {
public:
  BlockBuilder();
  void begin_cta(std::uint64_t cta);
  void end_cta(std::uint64_t cta);
  void access(const exec::WarpId& of, const exec::Access& access);
  void branch(const exec::WarpId& of, const exec::Branch& branch);
  void barrier(const exec::Barrier& barrier);

  /// Call before each event: the block may have no space for another one.
  [[nodiscard]] bool full() const { return full_ || events_ >= kBlockEvents; }
  [[nodiscard]] bool empty() const { return block_.segments.empty(); }
  /// Returns the block and begins a new one.
  Block take();

private:
  void sequences(const exec::WarpId& of, const exec::Access& access, const exec::HalfWarps& lanes);
  void scattered(const exec::WarpId& of, const exec::Access& access);
  void add(const exec::WarpId& of, std::uint16_t pattern, std::uint64_t base);
  const PatternRow& last_of(std::uint32_t instruction) const;
  std::uint16_t number_of(const PatternRow& pattern);
  SegmentRow& begin_segment(std::uint64_t cta, std::uint32_t flags);
  SegmentRow& segment_of(std::uint64_t cta);
  void add_offsets(PatternRow& pattern, const std::int64_t* offsets);

  static constexpr std::size_t kSlots = std::size_t{1} << 17; // of a hash table that is at most half full
  static constexpr std::uint16_t kFree = 0xffff;
  Block block_;
  std::size_t events_ = 0;           ///< the columns have space for a whole block
  bool full_ = false;                ///< one of the other tables is full
  std::vector<std::uint16_t> slots_; ///< numbers of patterns
  std::vector<std::uint16_t> last_;  ///< of each instruction's last event: usually also of its next one
};

/// The events that an instruction can cause: a bit for each EventKind, exec::AccessKind and isa::Space.
struct Allowed {
  std::uint8_t events = 0, kinds = 0;
  std::uint32_t spaces = 0;
  bool whole_warps = false; ///< a bulk copy: accesses of one thread, recorded as accesses of whole warps
};

/// The limits of a launch for its blocks.
struct Limits {
  std::uint64_t ctas = 0;
  std::uint32_t warps = 0;           ///< of a CTA
  std::uint32_t instructions = 0;    ///< of the kernel
  std::uint32_t threads = 0;         ///< of a CTA; 0: all lanes of all warps
  std::vector<Allowed> allowed = {}; ///< by instruction; empty: no restrictions
};

/// The reason why the block is invalid for such a launch; empty if it is valid. Data of a file must be checked before
/// use.
std::string find_damage(const Block& block, const Limits& limits);

/// An event of a block.
struct Event {
  exec::WarpId of{};
  const PatternRow* pattern = nullptr;
  std::uint64_t base = 0;                ///< of the access; of a barrier: Barrier::steps
  const std::int32_t* offsets = nullptr; ///< of an irregular access

  /// The access, with its addresses in `lanes`; requires an access pattern.
  exec::Access access(std::uint64_t (&lanes)[exec::kWarpSize]) const;
  [[nodiscard]] exec::Branch branch() const;
  [[nodiscard]] exec::Barrier barrier() const;
};

/// Where a segment begins.
struct Place {
  std::size_t event = 0, offset = 0;
};
/// Of each segment of a block without damage.
std::vector<Place> places(const Block& block);
/// Calls `see` for each event of a segment that begins at `place`.
void visit(const Block& block, const SegmentRow& segment, Place place, const std::function<void(const Event&)>& see);

/// Delivers the events of blocks to a shard as the emulator does: similar accesses together, or one by one if
/// begin_cta() requested this. Remembers these CTAs.
class Deliverer {
public:
  explicit Deliverer(exec::Shard& shard);
  void deliver(const Block& block) {
    deliver(block, [](std::uint64_t) { return true; });
  }
  /// `owns`: whether to deliver the events of a CTA; the same answer for all blocks.
  void deliver(const Block& block, const std::function<bool(std::uint64_t)>& owns);

private:
  struct Held {
    const PatternRow* pattern = nullptr;
    const std::int32_t* offsets = nullptr;
    std::uint64_t base = 0, count = 0;
  };
  void tell(const Event& event, bool each);
  void hold(const Event& event);
  void release(const Held& held);
  /// Irregular accesses of an instruction, of one form.
  struct Rows {
    exec::AccessRows form{};
    exec::Mask masks[exec::AccessRows::kMost];
    exec::AccessRows::Row rows[exec::AccessRows::kMost];
  };
  void add_row(const exec::Access& access);
  void release(Rows& rows);

  exec::Shard& shard_;
  bool wants_rows_;
  std::vector<Held> held_;
  std::vector<Rows> rows_;          ///< by the low bits of the instruction; empty unless the shard wants them
  std::vector<std::uint64_t> each_; ///< active CTAs that need every event
};

} // namespace warplens::analyzers::trace
