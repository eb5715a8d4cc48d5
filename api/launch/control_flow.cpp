// SPDX-License-Identifier: Apache-2.0
#include "api/launch/control_flow.hpp"

#include "emulator/ir/control_flow.hpp"

namespace warplens::api {

std::vector<FlowBlock> flow_of(const ir::Function& kernel, const analyzers::Profile& profile) {
  std::vector<FlowBlock> list;
  auto row = profile.instructions.begin(); // both ascend
  for (const ir::Block& block : ir::control_flow(kernel).blocks) {
    FlowBlock& flow = list.emplace_back();
    flow.successors = block.successors;
    if (block.ipdom != ir::kNone) flow.reconverges_at = block.ipdom;
    flow.exits = block.exits;
    if (block.first == block.end) continue;
    flow.first_line = kernel.instructions[block.first].where.line;
    flow.last_line = kernel.instructions[block.end - 1].where.line;
    while (row != profile.instructions.end() && row->instruction < block.first) ++row;
    if (row == profile.instructions.end() || row->instruction >= block.end) continue;
    flow.warps = row->metrics.integer(analyzers::MetricId::warp_instructions);
    flow.threads = row->metrics.integer(analyzers::MetricId::thread_instructions);
  }
  return list;
}

} // namespace warplens::api
