// SPDX-License-Identifier: Apache-2.0
// The state of a worker thread that runs CTAs: bounds caches, counters, events for watchers, its trap.
#pragma once

#include "emulator/exec/block/block_classes.hpp"
#include "emulator/exec/block/lane_copies.hpp"
#include "emulator/exec/block/longest_warps.hpp"
#include "emulator/exec/block/swapped.hpp"
#include "emulator/exec/block/tallies.hpp"
#include "emulator/exec/block/touched.hpp"
#include "emulator/exec/memory/memory.hpp"
#include "emulator/exec/state/kernel_code.hpp"
#include "emulator/exec/state/launch.hpp"
#include "emulator/exec/state/tensor_box.hpp"

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace warplens::exec {

/// Holds back and counts accesses with a recently seen shape: see events.hpp. It has two direct-mapped tables, indexed
/// by a hash of the shape; on a conflict, the previous entry is delivered.
class AccessWatch {
public:
  /// `touched`: counts the sectors of global memory, too; null: does not.
  AccessWatch(Shard* shard, TouchedSectors* touched, const std::vector<std::unique_ptr<Checker>>& checkers);
  ~AccessWatch();
  AccessWatch(const AccessWatch&) = delete;
  AccessWatch& operator=(const AccessWatch&) = delete;

  /// Always inlined, because the handlers of every processor level use it.
  [[gnu::always_inline]] void regular(const Warp& warp, const MemorySite& site, isa::Space space, Mask mask,
                                      std::uint64_t base, const std::int64_t* stride, std::int64_t half) {
    if (others_) [[unlikely]]
      tell_others(warp, site, space, mask, {base, {stride[0], stride[1]}, half}, nullptr);
    if (site.observed_bytes == 0 || shard_ == nullptr) return;
    base += static_cast<std::uint64_t>(site.observed_offset);
    // Compared with 0 first: g++ keeps `space` as a byte, and would load four bytes for the shift, which stalls.
    if (warp.told_spaces != 0 && (warp.told_spaces >> static_cast<unsigned>(space) & 1) != 0) [[unlikely]] {
      tell(warp, {&site, {base, {stride[0], stride[1]}, half}, 0, 1, mask, space});
      if (!wanted_.together) return;
    }
    Regular& r = place_of(site, mask, base, stride, half);
    if (r.is(site, space, mask, base, stride, half)) {
      ++r.count;
      return;
    }
    make_room(r);
    r = {&site, {base, {stride[0], stride[1]}, half}, base & (kAlignmentPeriod - 1), 1, mask, space};
  }

  /// As regular(), of a full warp, if that calls nothing; otherwise does nothing and returns false. For compiled code,
  /// which saves its registers at each call.
  [[gnu::always_inline]] bool counts_again(const Warp& warp, const MemorySite& site, isa::Space space,
                                           std::uint64_t base, std::int64_t stride, std::int64_t half) {
    if (site.observed_bytes == 0 || shard_ == nullptr || warp.told_spaces != 0 || !checkers_.empty()) return false;
    const std::int64_t strides[] = {stride, stride};
    base += static_cast<std::uint64_t>(site.observed_offset);
    Regular& r = place_of(site, ~Mask{0}, base, strides, half);
    if (!r.is(site, space, ~Mask{0}, base, strides, half)) return false;
    if (touched_ != nullptr && space == isa::Space::global && !touched_->extends(site, base, stride, half))
      return false;
    ++r.count;
    return true;
  }

  /// Accesses of a site to irregular addresses, until there are some times as many as a shard gets at once: it then
  /// brings its code and tables into the caches once for all of them.
  struct Rows {
    static constexpr std::size_t kMost = 4 * AccessRows::kMost;
    const MemorySite* site = nullptr;
    isa::Space space{};
    std::size_t count = 0;
    Mask masks[kMost];
    alignas(64) AccessRows::Row rows[kMost];
  };
  /// Those to which irregular() would only add an access; null: it does more. For compiled code, which adds it itself,
  /// and calls deliver() when they are kMost.
  [[gnu::always_inline]] Rows* rows_of(const Warp& warp, const MemorySite& site, isa::Space space) {
    if (!wanted_.rows || others_ || shard_ == nullptr || warp.told_spaces != 0) return nullptr;
    if (site.index >= tables_->rows.size()) return nullptr;
    Rows* const rows = tables_->rows[site.index].get();
    return rows != nullptr && rows->site == &site && rows->space == space ? rows : nullptr;
  }
  void deliver(Rows& held);

  /// Tells only the checkers.
  void uncounted(const Warp& warp, const MemorySite& site, isa::Space space, Mask mask, std::uint64_t base,
                 const std::int64_t* stride, std::int64_t half) const {
    if (others_) tell_others(warp, site, space, mask, {base, {stride[0], stride[1]}, half}, nullptr);
  }

  /// `offsets`: of all lanes from `base`, 0 for inactive ones.
  void irregular(const Warp& warp, const MemorySite& site, isa::Space space, Mask mask, std::uint64_t base,
                 const std::int64_t* offsets);

  /// Accesses of full warps of which only their number was held back, and where in kAlignmentPeriod they begin.
  void counted(const MemorySite& site, std::uint64_t phase, std::int64_t stride, std::int64_t half,
               std::uint64_t count);

  /// Delivers what has been held back.
  void flush();
  [[nodiscard]] const EachWanted& wanted() const { return wanted_; }

private:
  static constexpr int kRegularBits = 11, kIrregularBits = 8;
  static constexpr std::size_t kRegular = std::size_t{1} << kRegularBits, kIrregular = std::size_t{1} << kIrregularBits;
  struct Regular {
    const MemorySite* site = nullptr;
    HalfWarps lanes;
    std::uint64_t phase = 0, count = 0;
    Mask mask = 0;
    isa::Space space{};
    /// Whether it holds accesses of this shape and alignment.
    [[nodiscard]] [[gnu::always_inline]] bool is(const MemorySite& of, isa::Space in, Mask by, std::uint64_t base,
                                                 const std::int64_t* stride, std::int64_t half) const {
      return site == &of && phase == (base & (kAlignmentPeriod - 1)) && lanes.stride[0] == stride[0] &&
             lanes.stride[1] == stride[1] && lanes.half == half && mask == by && space == in;
    }
  };
  struct Irregular {
    const MemorySite* site = nullptr;
    std::uint64_t base = 0, phase = 0, count = 0;
    Mask mask = 0;
    isa::Space space{};
    std::int64_t offsets[kWarpSize]{};
  };
  /// Empty tables are kept for later launches: clearing new ones takes longer than a small launch.
  struct Tables {
    std::array<Regular, kRegular> regular;
    std::array<Irregular, kIrregular> irregular;
    std::vector<Regular*> used_regular; ///< the entries that hold something, …
    std::vector<Irregular*> used_irregular;
    std::vector<std::unique_ptr<Rows>> rows; ///< by site; null: none so far
  };
  class Pool;
  [[gnu::always_inline]] Regular& place_of(const MemorySite& site, Mask mask, std::uint64_t base,
                                           const std::int64_t* stride, std::int64_t half) {
    const std::uint64_t phase = base & (kAlignmentPeriod - 1);
    const std::uint64_t shape = static_cast<std::uint64_t>(stride[0] << 7 ^ stride[1] << 27 ^ half << 33);
    const std::uint64_t mixed =
        (phase ^ shape ^ std::uint64_t{mask} << 21 ^ std::uint64_t{site.index} << 9) * 0x9e3779b97f4a7c15u;
    return tables_->regular[mixed >> (64 - kRegularBits)];
  }
  /// Delivers what has been held back, once.
  template <class Held> void deliver(const Held& held);
  /// Adds an access to those of its site.
  void add_row(const MemorySite& site, isa::Space space, Mask mask, std::uint64_t base, const std::int64_t* offsets);
  Rows& make_rows(const MemorySite& site);
  void make_room(Regular& r);
  /// Tells the checkers, and the footprint of global memory.
  void tell_others(const Warp& warp, const MemorySite& site, isa::Space space, Mask mask, const HalfWarps& lanes,
                   const std::int64_t* offsets) const;
  void tell(const Warp& warp, const Regular& one);
  /// Without its addresses, …
  static Access access_of(const Regular& r);
  /// … which go to `lanes`.
  static Access access_of(const Regular& r, std::uint64_t* lanes);
  static Access access_of(const Irregular& r, std::uint64_t* lanes);

  std::unique_ptr<Tables> tables_; ///< null without a shard
  Shard* shard_;                   ///< null: only the checkers are told
  TouchedSectors* touched_;
  const std::vector<std::unique_ptr<Checker>>& checkers_;
  bool others_;       ///< there are checkers, or a footprint: one test for both, on the path of every access
  EachWanted wanted_; ///< events to report one by one
};

/// Limits in bytes of the printed text of one CTA, and of all CTAs of a launch. Later text, in CTA order, is dropped.
/// CUDA keeps 1 MiB of a whole launch by default (cudaLimitPrintfFifoSize).
constexpr std::size_t kMostPrintedByCta = std::size_t{1} << 20, kMostPrinted = std::size_t{32} << 20;

struct BlockCounter {
  std::uint64_t warps = 0;
  std::uint64_t lanes = 0;
  std::uint64_t instructions = 0; ///< of the block
};

struct Worker {
  /// `light`: the shard gets all events but accesses.
  explicit Worker(const Launch& launch, std::unique_ptr<Shard> shard, bool light = false);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  const Launch& launch;
  /// The allocation that each memory site hit last.
  struct Region {
    std::uint64_t begin = 1, end = 0;
  };
  std::vector<Region> regions;
  DecodedMaps maps; ///< of copies by tensor map

  bool alone = false;    ///< no other worker touches the launch's memory: atomics need no lock
  bool compiled = false; ///< warps may run in compiled code: exec/compile/tier.hpp
  BlockLayout layout;    ///< of the launch's blocks
  std::unique_ptr<Shard> shard;
  std::optional<TouchedSectors> touched;
  std::optional<SwappedWords> swapped; ///< with a shard that sees all accesses, if the program compares and swaps
  std::vector<std::unique_ptr<Checker>> checkers; ///< by launch.checkers
  std::optional<AccessWatch> watch;
  Tallies tallies;                     ///< of compiled code; with a shard that sees all accesses, and no checkers
  LaneCopyWatch lane_copies;           ///< with a shard
  std::optional<BlockClasses> classes; ///< of a sampled launch
  std::vector<BlockCounter> blocks;
  std::vector<std::uint64_t> guarded; ///< lanes whose guard was true, by guard counter
  std::vector<Branch> branches;
  std::vector<std::uint64_t> taken_lanes; ///< by branch: the lanes whose guard was true
  std::uint64_t steps = 0;
  std::uint64_t paired_turns = 0; ///< that two warps began together in compiled code
  /// Takes the next cluster that has not started, which then never does: the number of its first CTA. Set by the
  /// scheduler of the blocks.
  std::function<std::optional<std::uint64_t>()> cancel_next;
  std::map<std::uint64_t, std::string> printed; ///< by CTA, …
  std::size_t printed_bytes = 0;                ///< … all together
  std::optional<Trap> trap;                     ///< of the CTA with the lowest number
  std::map<std::uint32_t, Overrun> overruns;    ///< by instruction
  ToolFindings findings;
  LongestVisits longest;                ///< with a shard
  std::uint32_t texel_bytes = 0;        ///< while checkers are told of an access to textures
  alignas(64) std::byte nowhere[256]{}; ///< the memory of accesses that memcheck drops: 0 when they are loads

  void print(std::uint64_t cta, std::string_view text);
  /// Of two warps that run in turns, the first one's counts, as if it had run alone.
  void trapped(Trap t) {
    const auto order = [](const Trap& of) { return std::pair(of.cta, of.thread / kWarpSize); };
    if (!trap || order(t) < order(*trap)) trap = std::move(t);
  }
  /// True if [low, high) lies in one allocation that the site may access this way; remembers it for the site.
  bool find_region(std::uint32_t site, std::uint64_t low, std::uint64_t high);
  /// True if the access does not fault on a GPU; records it as an overrun. `access` describes the access.
  bool passes(const Trap& access, std::uint64_t bytes);
  /// Branches are held back like accesses. count_branch() is for those that count_again() refuses: they differ from the
  /// last execution of the same branch, or somebody wants each of them.
  bool count_again(const Warp& warp, std::uint32_t index, Mask active, Mask taken, std::uint64_t times = 1) {
    Branch& last = branches[index];
    if (last.active != active || last.taken != taken || (warp.told_each && watch->wanted().branches)) return false;
    last.count += times;
    return true;
  }
  void count_branch(const Warp& warp, std::uint32_t index, Mask active, Mask taken);
  void change_branch(Branch& last, Mask active, Mask taken);
  /// Compiled code counts by itself from now on, if nobody but the shard must know.
  void begin_tallies();
  void flush();
  /// What run_blocks() has found, for another process that merges it.
  void fields(Archive& a);

private:
  void flush_tallies();
};

} // namespace warplens::exec
