// SPDX-License-Identifier: Apache-2.0
// How racecheck and initcheck follow a launch: every access, and every instruction that synchronises, one by one.
// Programs that are decoded for them (DecodeOptions::checked) report these events; others have no code for it.
//
//   class Counter : public Checker {
//     void access(const WarpAccess& a) override { accesses_ += a.lanes(); }
//     void step(const WarpStep& s) override { if (!s.after) … }
//   };
#pragma once

#include "emulator/exec/state/events.hpp"
#include "emulator/exec/state/tool_finding.hpp"
#include "emulator/exec/state/warp.hpp"

#include <memory>
#include <vector>

namespace warplens::exec {

struct Launch;

/// The access of a warp in one space, before it happens. The lanes of a generic instruction that access several spaces
/// make one access each. Accesses that fault and are dropped are not reported.
struct WarpAccess {
  const Warp* warp = nullptr;
  WarpId of{};
  const MemorySite* site = nullptr; ///< instruction, kind, bytes of a lane
  isa::Space space{};               ///< generic addresses are resolved: global, shared, local, constant, param, texture
  Mask mask = 0;
  /// If `offsets` is null, the addresses are a sequence for each half of the warp, else base + offsets[lane]. They are
  /// offsets in shared and local memory; kClusterStride and above: in the shared memory of another CTA of the cluster.
  HalfWarps lanes{};
  const std::int64_t* offsets = nullptr;

  [[nodiscard]] std::uint64_t address(int lane) const {
    if (offsets != nullptr) return lanes.base + static_cast<std::uint64_t>(offsets[lane]);
    const std::int64_t distance = lane < 16 ? lane * lanes.stride[0] : lanes.half + (lane - 16) * lanes.stride[1];
    return lanes.base + static_cast<std::uint64_t>(distance);
  }
};

/// An instruction that synchronises or orders memory: barriers of every kind, bar.warp.sync, shuffles and other
/// warp-level instructions, fences, asynchronous copies, their groups and mbarriers. Before it, the lanes arrive; after
/// it, they go on. A barrier releases nobody before all have arrived: of its lanes, all events `before` precede those
/// `after`. Lanes of a diverged warp may arrive and go on in several steps.
struct WarpStep {
  const Warp* warp = nullptr;
  WarpId of{};
  std::uint32_t instruction = 0; ///< index into the instructions of Program::function
  Mask mask = 0;                 ///< lanes that execute it; never 0
  bool after = false;
  const Op* op = nullptr; ///< its rows have the operands, and afterwards the results (see its handler)
};

/// Follows the CTAs of one worker. All events of a CTA come from one worker, those of a warp in program order.
class Checker {
public:
  virtual ~Checker() = default;
  virtual void begin_cta(std::uint64_t /*cta*/) {}
  virtual void end_cta(std::uint64_t /*cta*/) {} ///< all its warps have exited; not called after a trap
  virtual void access(const WarpAccess&) {}
  virtual void step(const WarpStep&) {}
  /// An instruction that is in ir::Unwritten::uses or ir::GroupRegisters::uses, before it runs. The mask may be 0.
  virtual void registers(const WarpStep&) {}
  /// An op of a warp with Warp::followed, before it runs.
  virtual void next_op(const Warp&, const Op&) {}
  /// Lanes have called a part of the program; `frames`: where their frames begin in local memory, by lane.
  virtual void entered(const Warp&, std::uint32_t /*part*/, Mask, const std::uint32_t* /*frames*/) {}
  /// A lane has got memory whose contents are undefined: on its stack, on the device's heap.
  virtual void fresh(const Warp&, int /*lane*/, isa::Space, std::uint64_t /*address*/, std::uint64_t /*bytes*/) {}
  /// A function of the device's library has written memory for a lane, or reads it.
  virtual void written(const Warp&, int /*lane*/, isa::Space, std::uint64_t /*address*/, std::uint64_t /*bytes*/) {}
  virtual void read(const Warp&, int /*lane*/, isa::Space, std::uint64_t /*address*/, std::uint64_t /*bytes*/) {}
  /// After the worker's last CTA: what it has found.
  virtual void finish(ToolFindings&) {}
};

/// A tool that follows launches; it lives as long as the memory that it knows.
class LaunchChecker {
public:
  virtual ~LaunchChecker() = default;
  /// Called before a launch for each worker, in worker order, by one thread.
  virtual std::unique_ptr<Checker> make(const Launch& launch) = 0;
  /// Called after the last CTA, with all checkers of the launch in worker order. For what only all workers together
  /// show: races between blocks.
  virtual void finish(const Launch&, const std::vector<std::unique_ptr<Checker>>& /*checkers*/, ToolFindings&) {}
};

} // namespace warplens::exec
