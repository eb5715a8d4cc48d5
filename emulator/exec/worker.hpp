// What one worker thread owns while it runs CTAs: bounds caches, counters, what its watchers have seen, its trap.
#pragma once

#include "emulator/exec/memory.hpp"
#include "emulator/exec/program.hpp"

#include <memory>
#include <optional>

namespace warplens::exec {

/// Why a launch stopped.
struct Trap {
  enum class Kind : std::uint8_t {
    out_of_bounds, misaligned, trap_instruction, step_limit, deadlock, divergent_barrier, invalid_barrier,
    wrong_space
  } kind{};
  std::uint32_t instruction = 0;
  std::uint64_t cta = 0;      ///< linear
  std::uint32_t thread = 0;   ///< linear in the CTA
  isa::Space space{};
  AccessKind access{};
  std::uint32_t lane_bytes = 0;
  std::uint64_t address = 0;
  std::string detail;         ///< nearest allocation, who waits where, ...
};

/// The last shapes that a memory instruction had, and how often in a row: see events.hpp.
class AccessWatch {
public:
  AccessWatch(std::size_t sites, Shard& shard) : sites_(sites), shard_(shard) {}

  /// A regular access: `base` is the address of lane 0, extrapolated where lane 0 is inactive.
  void regular(const MemorySite& site, isa::Space space, Mask mask, std::uint64_t base, std::int64_t stride) {
    Last& last = sites_[site.index].last[base >> 7 & 1];
    if (last.count != 0 && ((last.base ^ base) & (kAlignmentPeriod - 1)) == 0 && last.mask == mask &&
        last.stride == stride && last.space == space) {
      ++last.count;
      return;
    }
    flush(site, last);
    last = {base, stride, 1, mask, space};
  }
  void irregular(const MemorySite& site, isa::Space space, Mask mask, const std::uint64_t* addresses);
  /// Delivers what has been held back.
  void flush(const std::deque<MemorySite>& sites);

private:
  struct Last {
    std::uint64_t base = 0;
    std::int64_t stride = 0;
    std::uint64_t count = 0;
    Mask mask = 0;
    isa::Space space{};
  };
  // Two, chosen by address bit 7: warps of a CTA take turns on the two halves of the alignment period.
  struct PerSite {
    Last last[2];
  };
  void flush(const MemorySite& site, const Last& last);

  std::vector<PerSite> sites_;
  Shard& shard_;
};

struct BlockCounter {
  std::uint64_t warps = 0;
  std::uint64_t lanes = 0;
};

struct Launch;

struct Worker {
  explicit Worker(const Launch& launch, std::unique_ptr<Shard> shard);

  const Launch& launch;
  /// The allocation that each memory site hit last.
  struct Region {
    std::uint64_t begin = 1, end = 0;
  };
  std::vector<Region> regions;

  std::unique_ptr<Shard> shard;
  std::optional<AccessWatch> watch;
  std::vector<BlockCounter> blocks;
  std::vector<std::uint64_t> guarded; ///< lanes on, by guard counter
  std::vector<Branch> branches;       ///< held back like accesses
  std::uint64_t steps = 0;
  std::optional<Trap> trap;

  /// True where [low, high) lies in one allocation; remembers it for the site.
  bool find_region(std::uint32_t site, std::uint64_t low, std::uint64_t high);
  void count_branch(std::uint32_t index, Mask active, Mask taken);
  void flush();
};

} // namespace warplens::exec
