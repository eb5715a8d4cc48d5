// SPDX-License-Identifier: Apache-2.0
#include "analyzers/loops.hpp"

#include "emulator/ir/module.hpp"

#include <algorithm>

namespace warplens::analyzers {

namespace {

/// The blocks of the shortest way from a block back to it, that block first; empty: there is none.
std::vector<std::uint32_t> shortest_cycle(const ir::ControlFlow& flow, std::uint32_t block) {
  std::vector<std::uint32_t> from(flow.blocks.size(), ir::kNone), queue = {block};
  for (std::size_t i = 0; i < queue.size(); ++i) {
    for (const std::uint32_t next : flow.blocks[queue[i]].successors) {
      if (next == block) {
        std::vector<std::uint32_t> cycle;
        for (std::uint32_t at = queue[i]; at != block; at = from[at]) cycle.push_back(at);
        cycle.push_back(block);
        std::reverse(cycle.begin(), cycle.end());
        return cycle;
      }
      if (from[next] != ir::kNone) continue;
      from[next] = queue[i];
      queue.push_back(next);
    }
  }
  return {};
}

std::vector<std::vector<std::uint32_t>> predecessors_of(const ir::ControlFlow& flow) {
  std::vector<std::vector<std::uint32_t>> result(flow.blocks.size());
  for (std::uint32_t b = 0; b < flow.blocks.size(); ++b)
    for (const std::uint32_t next : flow.blocks[b].successors) result[next].push_back(b);
  return result;
}

} // namespace

// The compiler places the header of a loop before the rest of it.
std::optional<Loop> innermost_loop(const ir::ControlFlow& flow, std::uint32_t block) {
  const std::vector<std::uint32_t> cycle = shortest_cycle(flow, block);
  if (cycle.empty()) return std::nullopt;
  Loop loop;
  const auto header = std::min_element(cycle.begin(), cycle.end());
  loop.header = *header;
  const auto predecessors = predecessors_of(flow);
  // All that reaches the end of the loop without its header belongs to it.
  std::vector<bool> inside(flow.blocks.size(), false);
  inside[loop.header] = true;
  std::vector<std::uint32_t> queue = {header == cycle.begin() ? cycle.back() : *std::prev(header)};
  while (!queue.empty()) {
    const std::uint32_t b = queue.back();
    queue.pop_back();
    if (inside[b]) continue;
    inside[b] = true;
    queue.insert(queue.end(), predecessors[b].begin(), predecessors[b].end());
  }
  for (const std::uint32_t b : predecessors[loop.header])
    if (!inside[b]) loop.before.push_back(b);
  return loop;
}

} // namespace warplens::analyzers
