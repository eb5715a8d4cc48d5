// Independent loads: how many loads a warp has in flight when it has to wait for one of them, from the data flow along
// the paths that warps took.
//
//   ld.global.f32 %f1, [%rd1];  ld.global.f32 %f2, [%rd2];  add.f32 %f3, %f1, %f2;   ->   2 loads, 1 wait: 2
//   ld.global.f32 %f1, [%rd1];  add.f32 %f3, %f3, %f1;  ld.global.f32 %f2, [%rd2];  add.f32 %f3, %f3, %f2;   ->   2
//   ld.global.u64 %rd2, [%rd1];  ld.global.f32 %f2, [%rd2];   ->   1
//
// A compiler moves loads up, where their results are used in the same basic block and neither data flow nor a store or
// barrier stands in the way; so the second line is as good as the first. A warp issues in order. It waits at the first
// instruction that reads what a load in flight will write, writes the same register, or calls a function; then, and
// when it exits, all loads in flight are taken to arrive together. Loads of global, local and texture memory count, and
// atomics that return something; shared and constant memory are near. Independent loads are loads per wait: Dasgupta
// 2011, equation 27, who counted them by hand.
//
// What is in flight where a basic block begins depends on the path to it. All such sets are followed through the
// control flow, each with the share of the block's executions that came with it. The shares come from how often each
// block ran and each branch went either way; where the same block is reached with several sets, which way a branch goes
// is taken not to depend on the set. In loops whose bodies wait, that is exact.
#pragma once

#include "analyzers/analyzer.hpp"

namespace warplens::analyzers {

class IndependentLoads final : public Analyzer {
public:
  class Shard;
  /// `module` and `function` must outlive it; `warps` of the launch.
  IndependentLoads(const ir::Module& module, const ir::Function& function, std::uint64_t warps)
      : module_(module), function_(function), warps_(warps), ways_(function.instructions.size() + 1) {}

  [[nodiscard]] const AnalyzerInfo& info() const override;
  std::unique_ptr<exec::Shard> make_shard() override;
  void absorb(exec::Shard& shard) override;
  void conclude(const std::vector<exec::InstructionCount>& counts) override;
  void report(Metrics& launch, std::vector<InstructionRow>& rows) const override;

  /// How often a branch was taken by some lanes, and not taken by some.
  struct Ways {
    std::uint64_t taken = 0, passed = 0;
  };
  /// Waits of one instruction, and the loads that were in flight then; averages over paths, so no whole numbers.
  struct Waits {
    double waits = 0, in_flight = 0;
    double distance = 0; ///< instructions since each load in flight was issued, summed
  };

private:
  const ir::Module& module_;
  const ir::Function& function_;
  std::uint64_t warps_;
  std::vector<Ways> ways_;    // by instruction; the last: instructions out of range
  std::vector<Waits> waits_;  // by instruction
  double waits_in_order_ = 0; // of the launch, were no load moved up
  double loads_ = 0;
};

class IndependentLoads::Shard final : public exec::Shard {
public:
  explicit Shard(std::size_t rows) : ways_(rows) {}
  void branch(const exec::Branch& branch) override {
    Ways& ways = ways_[std::min<std::size_t>(branch.instruction, ways_.size() - 1)];
    if (branch.taken & branch.active) ways.taken += branch.count;
    if (branch.active & ~branch.taken) ways.passed += branch.count;
  }
  [[nodiscard]] const std::vector<Ways>& ways() const { return ways_; }

private:
  std::vector<Ways> ways_;
};

} // namespace warplens::analyzers
