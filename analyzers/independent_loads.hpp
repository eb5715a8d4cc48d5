// SPDX-License-Identifier: Apache-2.0
// Independent loads: the number of loads in flight when a warp has to wait for one of them, from the data flow along
// the paths that warps took.
//
//   ld.global.f32 %f1, [%rd1];  ld.global.f32 %f2, [%rd2];  add.f32 %f3, %f1, %f2;   ->   2 loads, 1 wait: 2
//   ld.global.f32 %f1, [%rd1];  add.f32 %f3, %f3, %f1;  ld.global.f32 %f2, [%rd2];  add.f32 %f3, %f3, %f2;   ->   2
//   ld.global.u64 %rd2, [%rd1];  ld.global.f32 %f2, [%rd2];   ->   1
//
// A compiler moves a load up if its result is used in the same basic block and neither data flow nor a store or barrier
// prevents this, so the second line gives the same result as the first. A warp issues in order. It waits at the first
// instruction that reads or writes the destination register of a load in flight, or calls a function. At a wait, and
// when the warp exits, all loads in flight are assumed to arrive together. Loads of global, local and texture memory
// count, and atomics that return a result; shared and constant memory have a low latency and do not count. Independent
// loads are loads per wait: Dasgupta 2011, equation 27, who counts them by hand.
//
// The set of loads in flight at the beginning of a basic block depends on the path to it. All such sets are followed
// through the control flow, each with its share of the block's executions. The shares come from the execution counts of
// blocks and from the directions of branches. If a block is reached with several sets, the direction of its branch is
// assumed not to depend on the set. In loops whose bodies wait, the result is exact.
#pragma once

#include "analyzers/analyzer.hpp"

namespace warplens::analyzers {

/// How often some lanes took a branch, and how often some lanes did not.
struct BranchWays {
  std::uint64_t taken = 0, passed = 0;
  void add(const BranchWays& other) {
    taken += other.taken;
    passed += other.passed;
  }
};

class BranchWaysShard final : public RowShard<BranchWays> {
public:
  using RowShard::RowShard;
  void branch(const exec::Branch& branch) override {
    BranchWays& ways = row_of(branch.instruction);
    if (branch.taken & branch.active) ways.taken += branch.count;
    if (branch.active & ~branch.taken) ways.passed += branch.count;
  }
};

class IndependentLoads final : public RowAnalyzer<BranchWaysShard> {
public:
  static constexpr AnalyzerInfo kInfo = {
      "independent_loads", "Independent loads",
      "loads in flight before the first use, from the data flow along the executed paths"};
  /// `module` and `function` must outlive it; `warps` of the launch.
  IndependentLoads(const ir::Module& module, const ir::Function& function, std::uint64_t warps)
      : RowAnalyzer(kInfo, function.instructions.size()), module_(module), function_(function), warps_(warps) {}

  void conclude(const std::vector<exec::InstructionCount>& counts) override;
  void report(Metrics& launch, std::vector<InstructionRow>& rows) const override;

  /// Waits of one instruction, and the loads in flight at these waits; averages over paths, so not whole numbers.
  struct Waits {
    double waits = 0, in_flight = 0;
    double distance = 0; ///< instructions since each load in flight was issued, summed
  };

private:
  const ir::Module& module_;
  const ir::Function& function_;
  std::uint64_t warps_;
  std::vector<Waits> waits_;  // by instruction
  double waits_in_order_ = 0; // of the launch, if no load is moved up
};

} // namespace warplens::analyzers
