// SPDX-License-Identifier: Apache-2.0
#include "analyzers/divergence.hpp"

#include "emulator/ir/control_flow.hpp"

#include <algorithm>
#include <bit>

namespace warplens::analyzers {

void BranchRow::add(const BranchRow& other) {
  executed += other.executed;
  divergent += other.divergent;
  active_lanes += other.active_lanes;
  taken_lanes += other.taken_lanes;
  lost_slots += other.lost_slots;
  at_a_bound += other.at_a_bound;
  irregular = irregular || other.irregular;
  one_sided = one_sided || other.one_sided;
  loops = loops || other.loops;
}

namespace {

/// Whether all lanes of one mask are above all lanes of the other; neither is empty.
bool apart(exec::Mask a, exec::Mask b) {
  return std::countr_zero(a) > 31 - std::countl_zero(b) || std::countr_zero(b) > 31 - std::countl_zero(a);
}

} // namespace

void BranchShard::branch(const exec::Branch& branch) {
  Row& row = row_of(branch.instruction);
  const exec::Mask taken = branch.taken & branch.active;
  const auto active = static_cast<std::uint32_t>(std::popcount(branch.active));
  row.executed += branch.count;
  if (taken != 0 && taken != branch.active) {
    const exec::Mask others = branch.active & ~taken;
    const bool bound = apart(taken, others);
    row.divergent += branch.count;
    row.at_a_bound += bound ? branch.count : 0;
    if (!row.irregular && !bound) row.irregular = !is_box(taken, branch.active) && !is_box(others, branch.active);
  }
  row.active_lanes += branch.count * active;
  row.taken_lanes += branch.count * static_cast<std::uint32_t>(std::popcount(taken));
  active_[active] += branch.count;
}

void Divergence::absorb(exec::Shard& shard) {
  RowAnalyzer::absorb(shard);
  for (std::size_t i = 0; i < active_.size(); ++i) active_[i] += static_cast<const Shard&>(shard).active()[i];
}

namespace {

/// The blocks between a block's branch and the point where its paths reconverge.
std::vector<std::uint32_t> region(const ir::ControlFlow& flow, std::uint32_t from) {
  std::vector<std::uint32_t> found;
  std::vector<bool> seen(flow.blocks.size());
  const std::uint32_t meet = flow.blocks[from].ipdom;
  const auto reach = [&](std::uint32_t block) {
    for (const std::uint32_t next : flow.blocks[block].successors)
      if (next != meet && !seen[next]) {
        seen[next] = true;
        found.push_back(next);
      }
  };
  reach(from);
  for (std::size_t next = 0; next < found.size();) reach(found[next++]);
  return found;
}

/// Whether a path from this block's branch does nothing before it meets the other, or leaves the function: nothing but
/// setting a few registers, such as the 0 of `inside ? in[i] : 0`.
bool one_sided(const ir::Function& function, const ir::ControlFlow& flow, std::uint32_t from) {
  const std::vector<std::uint32_t>& next = flow.blocks[from].successors;
  const std::uint32_t meet = flow.blocks[from].ipdom;
  const auto nothing = [&](std::uint32_t block) {
    constexpr int kFewRegisters = 2;
    for (int set = 0; block != meet;) {
      const ir::Block& b = flow.blocks[block];
      for (std::uint32_t i = b.first; i < b.end; ++i) {
        const std::string_view head = function.instructions[i].head();
        if (head == "bra" || head == "ret" || head == "exit") continue;
        if (head != "mov" || ++set > kFewRegisters) return false;
      }
      if (b.successors.empty()) return b.exits;
      if (b.successors.size() > 1 || b.successors.front() <= block) return false;
      block = b.successors.front();
    }
    return true;
  };
  return next.size() > 1 && std::any_of(next.begin(), next.end(), nothing);
}

} // namespace

void Divergence::conclude(const std::vector<exec::InstructionCount>& counts) {
  const ir::ControlFlow flow = ir::control_flow(function_);
  constexpr std::uint32_t kNobody = ~0u;
  std::vector<std::uint32_t> in_care_of(flow.blocks.size(), kNobody); // instruction of the branch
  std::vector<std::size_t> size(flow.blocks.size());                  // blocks of its region
  for (std::uint32_t block = 0; block < flow.blocks.size(); ++block) {
    if (flow.blocks[block].first == flow.blocks[block].end) continue;
    const std::uint32_t branch = flow.blocks[block].end - 1;
    if (rows_[branch].divergent == 0) continue;
    rows_[branch].one_sided = one_sided(function_, flow, block);
    for (const std::uint32_t next : flow.blocks[block].successors)
      rows_[branch].loops = rows_[branch].loops || next <= block;
    const std::vector<std::uint32_t> blocks = region(flow, block);
    for (const std::uint32_t one : blocks)
      if (in_care_of[one] == kNobody || blocks.size() < size[one]) {
        in_care_of[one] = branch;
        size[one] = blocks.size();
      }
  }
  for (std::size_t block = 0; block < flow.blocks.size(); ++block) {
    if (in_care_of[block] == kNobody) continue;
    for (std::uint32_t i = flow.blocks[block].first; i < flow.blocks[block].end && i < counts.size(); ++i)
      rows_[in_care_of[block]].lost_slots += counts[i].warps * exec::kWarpSize - counts[i].lanes;
  }
}

namespace {

void add_branches(Metrics& metrics, const BranchRow& row) {
  metrics.add(MetricId::branches, row.executed);
  metrics.add(MetricId::uniform_branches, row.executed - row.divergent);
  metrics.add(MetricId::divergent_branches, row.divergent);
  metrics.add_ratio(MetricId::branch_efficiency, 100.0 * static_cast<double>(row.executed - row.divergent),
                    static_cast<double>(row.executed));
  metrics.add(MetricId::branch_active_lanes, row.active_lanes);
  metrics.add(MetricId::branch_taken_lanes, row.taken_lanes);
  metrics.add(MetricId::branch_lost_lane_slots, row.lost_slots);
  metrics.add(MetricId::branch, row.executed);
  metrics.add(MetricId::divergent_branch, row.divergent);
}

} // namespace

void Divergence::report(Metrics& launch, std::vector<InstructionRow>& rows) const {
  add_branches(launch, add_rows(rows_, rows, add_branches));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const BranchRow& row = rows_[i];
    const bool turns = row.loops && 2 * row.divergent > row.executed;
    rows[i].one_sided = row.one_sided && row.divergent != 0 && !turns;
    rows[i].bounds_check = rows[i].one_sided && row.at_a_bound == row.divergent;
    rows[i].of_boxes = row.divergent != 0 && !row.irregular && !turns;
  }
  for (std::size_t lanes = 1; lanes < active_.size(); ++lanes)
    if (active_[lanes]) launch.add({MetricId::branches_with_active_lanes, lanes}, active_[lanes]);
}

} // namespace warplens::analyzers
