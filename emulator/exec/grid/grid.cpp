// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/compile/tier.hpp"
#include "emulator/exec/grid/block_scheduler.hpp"
#include "emulator/exec/grid/over_ranks.hpp"
#include "emulator/exec/grid/sampled.hpp"
#include "emulator/exec/grid/workers.hpp"

#include <algorithm>

namespace warplens::exec {

namespace {

// Independent of which worker ran which CTA.
LongestWarps longest_warps(const Program& program, const std::vector<std::unique_ptr<Worker>>& workers) {
  LongestVisits all(program.blocks.size());
  for (const auto& worker : workers) all.merge(worker->longest);
  LongestWarps result{all.of_launch, all.of_ctas, {}, {}};
  result.launch_times.resize(program.function->instructions.size());
  result.cta_times.resize(program.function->instructions.size());
  for (std::size_t b = 0; b < program.blocks.size(); ++b) {
    const CountedBlock& block = program.blocks[b];
    for (std::uint32_t i = block.first; i < block.first + block.count; ++i) {
      result.launch_times[i] += all.launch_times[b];
      result.cta_times[i] += all.cta_times[b];
    }
  }
  return result;
}

// Merges the results independently of which worker ran which CTA.
std::vector<Overrun> merged_overruns(const std::vector<std::unique_ptr<Worker>>& workers) {
  std::map<std::uint32_t, Overrun> all;
  for (const auto& worker : workers)
    for (const auto& [instruction, overrun] : worker->overruns) {
      Overrun& known = all.try_emplace(instruction, Overrun{overrun.first, 0}).first->second;
      known.count += overrun.count;
      if (overrun.first.cta < known.first.cta) known.first = overrun.first;
    }
  std::vector<Overrun> list;
  list.reserve(all.size());
  for (auto& [instruction, overrun] : all) list.push_back(std::move(overrun));
  return list;
}

// What the tools have found, independently of which worker ran which CTA.
std::vector<ToolFindingGroup> merged_findings(const Launch& launch,
                                              const std::vector<std::unique_ptr<Worker>>& workers) {
  ToolFindings all;
  for (const auto& worker : workers) {
    for (const auto& checker : worker->checkers) checker->finish(worker->findings);
    all.merge(std::move(worker->findings));
  }
  for (std::size_t i = 0; i < launch.checkers.size(); ++i) {
    std::vector<std::unique_ptr<Checker>> of_one;
    of_one.reserve(workers.size());
    for (const auto& worker : workers) of_one.push_back(std::move(worker->checkers[i]));
    launch.checkers[i]->finish(launch, of_one, all);
  }
  return all.take();
}

} // namespace

std::vector<InstructionCount> instruction_counts(const Program& program, const std::vector<const Worker*>& workers) {
  std::vector<InstructionCount> counts(program.function->instructions.size());
  for (const Worker* const worker : workers) {
    for (std::size_t b = 0; b < program.blocks.size(); ++b) {
      const CountedBlock& block = program.blocks[b];
      for (std::uint32_t i = block.first; i < block.first + block.count; ++i) {
        counts[i].warps += worker->blocks[b].warps;
        counts[i].lanes += worker->blocks[b].lanes;
      }
    }
    for (std::size_t g = 0; g < program.guarded.size(); ++g) counts[program.guarded[g]].lanes_on += worker->guarded[g];
    for (std::size_t b = 0; b < program.branches.size(); ++b)
      counts[program.branches[b]].lanes_on += worker->taken_lanes[b];
  }
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (program.function->instructions[i].guard == ir::kNone) counts[i].lanes_on = counts[i].lanes;
  return counts;
}

// Whether CTAs must run in the same order each time. If they run one after the other, they always get the same
// addresses from malloc(), launch in the same order, and find the data of other CTAs in the same state: the number of
// iterations in which they wait, and the numbers that they draw, are reproducible. Without a watcher, these may differ
// from run to run; but CTAs that wait for each other would only compete for processors.
bool runs_in_order(const Launch& launch) {
  const ir::BlockDependence dependence = launch.program->block_dependence;
  return launch.program->uses_heap || dependence == ir::BlockDependence::waiting || launch.tools.racecheck ||
         launch.tools.initcheck ||
         ((launch.watcher != nullptr || launch.tools.any() || launch.ordered) &&
          dependence == ir::BlockDependence::order);
}

LaunchResult run(const Launch& launch) {
  if (launch.ranks != nullptr) return run_over_ranks(launch);
  std::string because;
  if (launch.watcher != nullptr && launch.sampling.how != BlockSampling::How::exact) {
    because = why_all_watched(launch);
    if (because.empty()) return run_sampled(launch);
  }
  Workers workers = run_blocks(launch);
  LaunchResult result = merged(launch, workers);
  result.watched_because = std::move(because);
  return result;
}

Workers run_blocks(const Launch& launch) {
  const bool compiled = compile_before(launch);
  const std::uint64_t clusters = launch.share.size(launch.shape.clusters());
  const unsigned hardware = default_workers();
  const bool ordered = runs_in_order(launch);
  const unsigned wanted = ordered ? 1 : launch.workers != 0 ? launch.workers : hardware;
  const auto count = static_cast<unsigned>(std::min<std::uint64_t>(wanted, std::max<std::uint64_t>(clusters, 1)));
  Workers workers;
  for (unsigned i = 0; i < count; ++i)
    workers.push_back(
        std::make_unique<Worker>(launch, launch.watcher != nullptr ? launch.watcher->make_shard() : nullptr));

  for (const auto& worker : workers) worker->compiled = compiled;
  // CTAs that depend on each other may also depend on the host, or on another concurrent launch.
  workers.front()->alone = count == 1 && !(ordered && launch.host_pointers);

  LaunchProgress progress;
  progress.steps = launch.steps_before;
  const auto work = [&](unsigned i) {
    BlockScheduler(*workers[i], progress).run();
    workers[i]->flush();
  };
  if (count == 1)
    work(0);
  else
    run_workers(count, std::min(count, hardware), work);
  return workers;
}

LaunchResult totals(const Launch& launch, Workers& workers) {
  LaunchResult result;
  std::map<std::uint64_t, std::string> printed;
  for (const auto& worker : workers) {
    result.steps += worker->steps;
    printed.merge(worker->printed);
    if (worker->trap && (!result.trap || worker->trap->cta < result.trap->cta)) result.trap = worker->trap;
  }
  if (workers.front()->touched) {
    for (std::size_t i = 1; i < workers.size(); ++i) workers.front()->touched->merge(*workers[i]->touched);
    result.footprint = workers.front()->touched->count();
  }
  result.overruns = merged_overruns(workers);
  result.findings = merged_findings(launch, workers);
  for (const auto& [cta, text] : printed)
    if (!result.trap || cta <= result.trap->cta) result.printed.append(text, 0, kMostPrinted - result.printed.size());
  if (launch.watcher != nullptr) result.longest = longest_warps(*launch.program, workers);
  return result;
}

LaunchResult merged(const Launch& launch, Workers& workers) {
  LaunchResult result = totals(launch, workers);
  if (launch.watcher == nullptr) return result;
  if (workers.front()->swapped) {
    for (std::size_t i = 1; i < workers.size(); ++i) workers.front()->swapped->merge(*workers[i]->swapped);
    result.swaps = workers.front()->swapped->count();
  }
  std::vector<std::unique_ptr<Shard>> shards;
  std::vector<const Worker*> all;
  for (const auto& worker : workers) {
    shards.push_back(std::move(worker->shard));
    all.push_back(worker.get());
  }
  launch.watcher->longest_warps(*result.longest);
  launch.watcher->finish(std::move(shards), instruction_counts(*launch.program, all));
  return result;
}

} // namespace warplens::exec
