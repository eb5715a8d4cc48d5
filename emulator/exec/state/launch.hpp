// SPDX-License-Identifier: Apache-2.0
// A launch and its result.
#pragma once

#include "emulator/exec/memory/heap.hpp"
#include "emulator/exec/memory/memory.hpp"
#include "emulator/exec/state/checker.hpp"
#include "emulator/exec/state/device_runtime.hpp"
#include "emulator/exec/state/program.hpp"
#include "emulator/exec/state/ranks.hpp"
#include "emulator/exec/state/texture.hpp"
#include "emulator/exec/state/trap.hpp"

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace warplens::exec {

/// The properties of the emulated device that special registers and limits depend on.
struct Machine {
  std::uint32_t sms = 30;
  std::uint32_t max_warps_per_sm = 32;
};

/// Size in bytes of the driver's workspace for a cooperative launch: its size and the counter of the grid's barrier, 32
/// bits each (grid_workspace in CUDA's cooperative_groups/details/driver_abi.h).
constexpr std::size_t kGridWorkspace = 8;

class WrittenPages;

/// How far a launch has come. Any thread may read it while the launch runs.
struct BlocksDone {
  std::atomic<std::uint64_t> done{0}, all{0}; ///< clusters; without clusters, blocks
};

/// The part of the blocks whose accesses the watcher gets; all blocks run.
struct BlockSampling {
  enum class How : std::uint8_t { exact, automatic, fraction } how = How::exact;
  double fraction = 1;
};

struct Launch {
  std::shared_ptr<const Program> program;
  LaunchShape shape;
  std::vector<std::byte> params;       ///< laid out by parameter_layout()
  std::vector<Allocation> allocations; ///< the accessible memory, sorted by address
  Textures textures;                   ///< the objects that texture and surface instructions may use
  std::vector<Allocation> freed; ///< for tools: memory that was freed and is not used again yet, sorted by address
  const Heap* blocks = nullptr;  ///< for memcheck: kernels may access the blocks of this heap, not all of its memory
  std::uint64_t stack_bytes = 0; ///< for memcheck: the stack that the program requested; 0: none
  bool host_pointers = false;    ///< addresses outside the arena are not checked
  /// As on a GPU, accesses past the ends of allocations succeed in pages that contain an allocation; they are recorded
  /// in LaunchResult::overruns. False: they stop the kernel.
  bool past_ends = false;
  std::array<AddressRange, 2> arena{}; ///< Arena::ranges()
  Machine machine;
  std::uint64_t max_steps = 0;    ///< limit on warp instructions, 0: no limit; includes …
  std::uint64_t steps_before = 0; ///< … those of the launches that led to this one
  std::uint64_t grid_id = 0;
  std::uint64_t number = 0;         ///< for tools: of the process's launches, from 1
  bool cooperative = false;         ///< all CTAs run at the same time
  std::uint64_t grid_workspace = 0; ///< of a cooperative launch: kGridWorkspace zero bytes in an allocation
  unsigned workers = 0;             ///< 0: as many as the machine has
  std::uint64_t schedule_seed = 0;  ///< order of the blocks, and of the warps of a block: schedule.hpp
  Watcher* watcher = nullptr;
  bool ordered = false;                    ///< the blocks run in the order in which they do with a watcher
  BlockSampling sampling;                  ///< with a watcher
  bool footprint = false;                  ///< with a watcher: count LaunchResult::footprint
  Tools tools;                             ///< they report to LaunchResult::findings
  std::vector<LaunchChecker*> checkers;    ///< of a program that was decoded with DecodeOptions::checked
  BlocksDone* progress = nullptr;          ///< told when a cluster has finished
  Heap* heap = nullptr;                    ///< for malloc() in kernels; nullptr: no heap
  DeviceRuntime* device_runtime = nullptr; ///< needed, with `heap`, by kernels that launch kernels
  Ranks* ranks = nullptr;                  ///< run it together; nullptr: this process is alone
  Share share;                             ///< the part of the blocks that runs
  WrittenPages* written = nullptr;         ///< told of atomic operations on global memory
};

/// Distinct sectors of 32 bytes of global memory. Atomic operations write.
struct Footprint {
  std::uint64_t loaded = 0, written = 0;
  std::uint64_t only_loaded = 0; ///< not written, too
  friend bool operator==(const Footprint&, const Footprint&) = default;
};

/// How updates of words of global memory by compare-and-swap may follow each other: those that repeat until no other
/// was faster (ir/swap_updates.hpp). What finds another value than it compares with, or swaps it for the same, is none.
struct Swaps {
  std::uint64_t of_other_warps = 0; ///< most updates of a word, but for those that one warp makes without a pause
  std::uint64_t all = 0;            ///< updates
  std::uint64_t pairs = 0;          ///< ordered pairs of updates of the same word, in the kilobyte that has most
};

struct LaunchResult {
  std::optional<Trap> trap;               ///< of the lowest CTA that trapped
  std::uint64_t steps = 0;                ///< warp instructions, counted at branches
  std::string printed;                    ///< by printf(), in the order of the CTAs; after a trap, up to its CTA
  std::vector<Overrun> overruns;          ///< by instruction
  std::vector<ToolFindingGroup> findings; ///< of the tools, sorted by place
  std::optional<Footprint> footprint;
  std::optional<Swaps> swaps;          ///< with a watcher that sees all blocks
  std::optional<LongestWarps> longest; ///< with a watcher
  std::string watched_because;         ///< with Launch::sampling: why all blocks were watched; empty: not all were
  /// With Launch::ranks: why one rank ran the whole launch; empty: all ranks ran it together.
  std::string alone_because;
};

} // namespace warplens::exec
