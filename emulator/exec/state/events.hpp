// SPDX-License-Identifier: Apache-2.0
// The events that the emulator reports to watchers. Analyzers include no other header of exec.
//
// A warp access is delivered with its shape and a count: accesses of an instruction with the same shape, mask and
// alignment (address modulo kAlignmentPeriod) are held back and delivered once, with their `count`. For most kernels,
// the cost of analyzers is therefore negligible.
//
//   warp 0 of a vector addition loads a[tid]:  Access{shape: contiguous, addresses: p, p+4, …, mask: ~0, lane_bytes: 4}
#pragma once

#include "emulator/base/archive.hpp"
#include "emulator/exec/state/lane_mask.hpp"
#include "emulator/exec/state/matrix_element.hpp"
#include "emulator/ir/module.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace warplens::exec {

/// Accesses whose addresses differ by a multiple of this are equivalent for every rule that evaluates single accesses.
constexpr std::uint64_t kAlignmentPeriod = 256;

enum class Shape : std::uint8_t {
  contiguous, ///< lane i at base + i * lane_bytes (active lanes)
  broadcast,  ///< all active lanes at one address
  strided,    ///< lane i at base + i * stride
  irregular
};

enum class AccessKind : std::uint8_t { load, store, atomic, reduction };

/// The addresses of an access in compact form: lanes 0 to 15 at base + i * stride[0], lanes 16 to 31 at
/// base + half + (i - 16) * stride[1]. Two-dimensional blocks of 16 columns have two such sequences, most others one.
struct HalfWarps {
  std::uint64_t base = 0; ///< of lane 0, extrapolated if it is inactive
  std::int64_t stride[2]{};
  std::int64_t half = 0;
  friend bool operator==(const HalfWarps&, const HalfWarps&) = default;
};

/// One memory instruction of one warp.
struct Access {
  std::uint32_t instruction = 0; ///< index into ir::Function::instructions
  isa::Space space{}; ///< where the addresses lie after generic ones are resolved: global, shared, local, constant
  AccessKind kind{};
  Shape shape{};
  std::uint16_t lane_bytes = 0;             ///< bytes that each lane accesses: 16 for ld.v4.f32
  Mask mask = 0;                            ///< lanes that take part; never 0
  std::int64_t stride = 0;                  ///< bytes from lane to lane, for contiguous and strided
  const std::uint64_t* addresses = nullptr; ///< [32]; valid for the lanes in mask. Shared and local: byte offsets
  const HalfWarps* halves = nullptr;        ///< the same addresses; null: not known to be such sequences
  std::uint64_t count = 1;                  ///< how many such accesses this stands for
};

/// Irregular accesses of one instruction in one space, in any order: those of several warps, or of one again and again.
struct AccessRows {
  static constexpr std::size_t kMost = 16;
  using Row = std::uint64_t[kWarpSize];
  std::uint32_t instruction = 0;
  isa::Space space{};
  AccessKind kind{};
  std::uint16_t lane_bytes = 0;
  std::size_t count = 0;       ///< from 1 to kMost
  const Mask* masks = nullptr; ///< of each; never 0
  const Row* rows = nullptr;   ///< the addresses of each, valid for the lanes in its mask
  [[nodiscard]] Access operator[](std::size_t i) const {
    Access access;
    access.instruction = instruction;
    access.space = space;
    access.kind = kind;
    access.shape = Shape::irregular;
    access.lane_bytes = lane_bytes;
    access.mask = masks[i];
    access.addresses = rows[i];
    return access;
  }
};

/// A branch executed by a warp (only conditional ones can diverge; uniform ones are reported too).
struct Branch {
  std::uint32_t instruction = 0;
  Mask active = 0;
  Mask taken = 0;
  std::uint64_t count = 1;
};

/// The warp of an event.
struct WarpId {
  std::uint64_t cta = 0;  ///< linear
  std::uint32_t warp = 0; ///< in the CTA
};

/// A multiplication whose size is known only when it runs: tcgen05.mma.
struct SizedProduct {
  std::uint32_t instruction = 0;
  MatrixElement element{};         ///< of A
  std::uint64_t multiply_adds = 0; ///< of a sparse A, those of the elements that are kept
  bool half_sums = false;          ///< D is of half precision
};

/// A bulk copy or a copy by tensor map, by one lane, with what it moves.
struct BulkCopy {
  std::uint32_t instruction = 0;
  AccessKind kind{};                ///< of global memory: load, store or reduction
  std::uint64_t bytes = 0;          ///< of global memory; 0: both sides are shared memory
  std::uint64_t sectors = 0;        ///< of global memory, as the copy is cut into pieces: access/copied_bytes.hpp
  std::uint64_t received = 0;       ///< of a load: sectors that a block gets, with what is filled in beyond a tensor
  std::uint64_t shared_read = 0;    ///< bytes of shared memory
  std::uint64_t shared_written = 0; ///< of all blocks
  std::uint32_t blocks = 1;         ///< that receive the data: more than one of a multicast
  std::uint64_t count = 1;          ///< how many such copies this stands for
};

/// Copies of 16 bytes by the lanes of a warp that bypass the first-level cache: cp.async.cg. What each fetches depends
/// on its sources and destinations together: access/lane_copies.hpp.
struct LaneCopy {
  std::uint32_t instruction = 0;
  std::uint32_t sectors = 0;   ///< distinct sectors of the sources
  std::uint32_t fetched = 0;   ///< sectors that the second-level cache sends
  std::uint32_t looked_up = 0; ///< sectors that the first-level cache looks up
  std::uint64_t count = 1;     ///< how many such copies this stands for
};

/// A step of asynchronous work that a warp later waits for.
struct AsyncStep {
  enum class Work : std::uint8_t { copies, bulk_copies, products } work{}; ///< cp.async, bulk groups, wgmma
  enum class Kind : std::uint8_t { begins, commits, waits, waits_for_all } kind{};
  std::uint32_t instruction = 0;
  std::uint32_t running = 0; ///< of a wait: how many groups may still run
  WarpId of{};
};

/// Bytes complete at an mbarrier, or copies or products arrive there; or a thread finds that a phase is complete.
struct PhaseStep {
  std::uint32_t instruction = 0;
  bool waits = false;
  std::uint64_t cta = 0;    ///< that has the mbarrier
  std::uint64_t object = 0; ///< its place in the shared memory of the CTA
};

/// Lanes of a warp divide, or take a root or reciprocal, that rounds, of operands for which machine code of sm_90 calls
/// a subroutine: zeros, small and large numbers, infinities and NaNs.
struct SpecialOperands {
  std::uint32_t instruction = 0;
  Mask lanes = 0;          ///< 0: unknown, from compiled code and in traces, which have only the count
  std::uint64_t count = 1; ///< how many warps
};

/// Waits for asynchronous work that found some in flight: traces have these instead of steps.
struct AsyncWaits {
  static constexpr std::uint8_t kPhases = 3;
  std::uint32_t instruction = 0;
  std::uint8_t work = 0; ///< AsyncStep::Work, or kPhases: phases of mbarriers
  std::uint64_t count = 0;
  std::uint64_t in_flight = 0; ///< groups or phases in flight, summed over these waits, …
  std::uint64_t most = 0;      ///< … and the largest number
};

/// Lanes of a warp arrive at a CTA barrier: all live lanes, or some of them if the warp has diverged.
struct Barrier {
  std::uint32_t instruction = 0;
  Mask active = 0;
  std::uint32_t number = 0; ///< barrier number: 0 to 15
  WarpId of{};
  std::uint64_t steps = 0; ///< instructions that the warp has executed, to the end of this basic block
};

/// How often each instruction ran, from the counters of the basic blocks.
struct InstructionCount {
  std::uint64_t warps = 0;    ///< warp instructions with at least one active lane
  std::uint64_t lanes = 0;    ///< active lanes, summed
  std::uint64_t lanes_on = 0; ///< active lanes whose guard was true, summed
};

/// The warps that execute the most instructions: a CTA takes as long as its longest warp. Of several, the first one.
struct LongestWarps {
  std::uint64_t of_launch = 0; ///< its warp instructions
  std::uint64_t of_ctas = 0;   ///< those of the longest warp of each CTA, summed
  /// How often these warps executed each instruction; the second summed over the CTAs.
  std::vector<std::uint64_t> launch_times, cta_times;
  friend bool operator==(const LongestWarps&, const LongestWarps&) = default;
};

/// The shape of the watched launch.
struct LaunchShape {
  std::uint32_t grid[3]{1, 1, 1};
  std::uint32_t block[3]{1, 1, 1};
  std::uint32_t cluster[3]{1, 1, 1}; ///< CTAs per cluster; the grid is a multiple of it
  bool explicit_cluster = false;     ///< the launch or the kernel requests clusters
  std::uint64_t shared_static = 0;   ///< bytes
  std::uint64_t shared_dynamic = 0;  ///< bytes
  [[nodiscard]] std::uint64_t ctas() const { return std::uint64_t{grid[0]} * grid[1] * grid[2]; }
  [[nodiscard]] std::uint32_t cluster_ctas() const { return cluster[0] * cluster[1] * cluster[2]; }
  [[nodiscard]] std::uint64_t clusters() const { return ctas() / cluster_ctas(); }
  [[nodiscard]] std::uint32_t threads() const { return block[0] * block[1] * block[2]; }
  [[nodiscard]] std::uint32_t warps() const { return (threads() + kWarpSize - 1) / kWarpSize; }
};

/// The events that a shard wants one by one.
struct EachWanted {
  std::uint32_t spaces = ~0u; ///< of accesses: a bit for each isa::Space
  bool branches = true;
  bool addresses = true; ///< false: Access::addresses may be null if Access::halves is not
  bool together = true;  ///< false: events reported one by one need not also go to access()
  bool rows = false;     ///< irregular accesses go to access_rows(), each as often as it occurs, instead of access()
  [[nodiscard]] bool in(isa::Space space) const { return (spaces >> static_cast<unsigned>(space) & 1) != 0; }
  static constexpr std::uint32_t bit(isa::Space space) { return 1u << static_cast<unsigned>(space); }
};

/// Receives the events of one worker. A shard belongs to one worker, so it needs no locks. All events of a CTA come
/// from one worker, those of a warp in program order. The assignment of CTAs to workers varies: the data of the shards
/// must merge to the same total for every assignment.
///
/// If begin_cta() returns true, the shard also receives each access and branch of that CTA one by one, with its warp,
/// as soon as it happens: each_access() and each_branch(), with `count` 1. This costs several times as much as the
/// emulation, or less if each_wanted() or each_spaces() exclude events. If begin_cta() returns false, the cost is
/// negligible.
class Shard {
public:
  virtual ~Shard() = default;
  virtual void access(const Access&) {}
  virtual void access_rows(const AccessRows& all) {
    for (std::size_t i = 0; i < all.count; ++i) access(all[i]);
  }
  virtual void branch(const Branch&) {}
  virtual void barrier(const Barrier&) {}
  virtual void product(const SizedProduct&) {}
  virtual void bulk_copy(const BulkCopy&) {}
  virtual void lane_copy(const LaneCopy&) {}
  virtual void async_step(const AsyncStep&) {}
  virtual void phase_step(const PhaseStep&) {}
  virtual void special_operands(const SpecialOperands&) {}
  virtual void async_waits(const AsyncWaits&) {}

  virtual bool begin_cta(std::uint64_t /*cta*/) { return false; }
  virtual void end_cta(std::uint64_t /*cta*/) {} ///< all its warps have exited; not called after a trap
  /// Called once, before the first event. If another shard wants more events, this shard may receive them too.
  [[nodiscard]] virtual EachWanted each_wanted() const { return {}; }
  /// Called for each warp of a CTA for which begin_cta() has returned true: a bit for each isa::Space whose accesses by
  /// this warp it wants, of those in each_wanted().
  [[nodiscard]] virtual std::uint32_t each_spaces(const WarpId&) const { return ~0u; }
  virtual void each_access(const WarpId&, const Access&) {}
  virtual void each_branch(const WarpId&, const Branch&) {}
  /// What another process needs to merge this shard as if it were its own; after the last event.
  virtual void fields(Archive& archive) { archive.fail(); }
};

/// Blocks of a sampled launch: their shards, and how often they executed each instruction.
struct SampleGroup {
  std::vector<Shard*> shards;
  std::vector<InstructionCount> counts;
};

/// What was watched of a launch of which only some blocks are (exec/grid/sampled.hpp).
struct Sample {
  SampleGroup rest;                     ///< of blocks that had to be watched; also the shards of the unwatched ones
  std::vector<SampleGroup> drawn;       ///< blocks drawn at random, in groups, each drawn from the whole grid
  std::vector<InstructionCount> counts; ///< of all blocks
  std::uint64_t blocks = 0, watched = 0;
  double fraction = 0;                 ///< drawn of those that could be
  std::uint64_t classes = 0, seen = 0; ///< of blocks whose warps ran the same basic blocks as often; with watched ones
  std::uint64_t unseen_blocks = 0;     ///< of the other classes
  bool classes_known = true;           ///< false: there are too many, and the numbers are extrapolated
};

/// A watcher that can estimate its counts of accesses from some of the blocks. The shards of the other blocks get all
/// other events.
class SampledWatcher {
public:
  virtual ~SampledWatcher() = default;
  /// Whether it needs the accesses of this block in any case.
  [[nodiscard]] virtual bool needs(std::uint64_t cta) const = 0;
  /// The relative standard error of the main counters that this sample gives. The shards stay as they are.
  [[nodiscard]] virtual double error_of(const Sample& sample) = 0;
  /// In place of Watcher::finish().
  virtual void finish_sample(const Sample& sample) = 0;
};

/// Creates a shard for each worker, and merges the shards after the launch.
class Watcher {
public:
  virtual ~Watcher() = default;
  virtual std::unique_ptr<Shard> make_shard() = 0;
  /// Called once, before finish(), unless the warps are not known one by one.
  virtual void longest_warps(const LongestWarps&) {}
  /// Null if it needs the events of all blocks.
  virtual SampledWatcher* sampled() { return nullptr; }
  /// The events since make_shard() do not count, and the shards are gone: the launch runs again.
  virtual void in_vain() {}
  /// Called once, after the last CTA, with all shards in worker order and the counts of each instruction.
  virtual void finish(std::vector<std::unique_ptr<Shard>> shards, const std::vector<InstructionCount>& counts) = 0;
};

} // namespace warplens::exec
