// SPDX-License-Identifier: Apache-2.0
#include "emulator/ir/control_flow.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace warplens::ir {

namespace {

bool is_branch(const Instruction& i) { return i.head() == "bra" || i.head() == "brx"; }
bool leaves(const Instruction& i) {
  const std::string_view op = i.head();
  return (op == "ret" || op == "exit" || op == "trap") && i.guard == kNone;
}

// The possible target instructions of a branch.
std::vector<std::uint32_t> targets(const Function& f, const Instruction& i) {
  std::vector<std::uint32_t> list;
  for (const Operand& o : f.operands(i)) {
    if (o.kind == OperandKind::label) list.push_back(f.labels[o.index].instruction);
    if (o.kind == OperandKind::table)
      for (const std::uint32_t label : f.tables[o.index].labels) list.push_back(f.labels[label].instruction);
  }
  return list;
}

std::vector<bool> leaders(const Function& f) {
  const std::size_t n = f.instructions.size();
  std::vector<bool> leader(n + 1, false);
  leader[0] = true;
  for (std::size_t i = 0; i < n; ++i) {
    const Instruction& instruction = f.instructions[i];
    if (is_branch(instruction)) {
      for (const std::uint32_t t : targets(f, instruction)) leader[std::min<std::size_t>(t, n)] = true;
      leader[i + 1] = true;
    } else if (leaves(instruction)) {
      leader[i + 1] = true;
    }
  }
  return leader;
}

void connect(const Function& f, ControlFlow& flow) {
  const auto n = static_cast<std::uint32_t>(f.instructions.size());
  for (std::uint32_t b = 0; b < flow.blocks.size(); ++b) {
    Block& block = flow.blocks[b];
    const Instruction& last = f.instructions[block.end - 1];
    const auto reach = [&](std::uint32_t instruction) {
      if (instruction >= n)
        block.exits = true;
      else
        block.successors.push_back(flow.block_of[instruction]);
    };
    if (is_branch(last))
      for (const std::uint32_t t : targets(f, last)) reach(t);
    if (leaves(last)) {
      block.exits = true;
      block.traps = last.head() == "trap";
    } else if (!is_branch(last) || last.guard != kNone) {
      reach(block.end);
    }
    std::sort(block.successors.begin(), block.successors.end());
    block.successors.erase(std::unique(block.successors.begin(), block.successors.end()), block.successors.end());
  }
}

// Lengauer and Tarjan, "A fast algorithm for finding dominators in a flowgraph" (1979), the simple version, on the
// reversed graph: n log n for any graph. The exit is node n of the graph, and number 0 of the walk.
class PostDominators {
public:
  explicit PostDominators(const ControlFlow& flow)
      : blocks_(flow.blocks), exit_(static_cast<std::uint32_t>(blocks_.size())) {
    predecessors();
    number();
    solve();
  }

  /// Of a block; kNone: the exit, or the block never reaches it (an endless loop).
  [[nodiscard]] std::uint32_t of(std::uint32_t block) const {
    const std::uint32_t n = number_[block];
    if (n == kNone || dominator_[n] == 0) return kNone;
    return node_[dominator_[n]];
  }

private:
  void predecessors() {
    into_.resize(exit_ + 1);
    for (std::uint32_t b = 0; b < exit_; ++b) {
      for (const std::uint32_t s : blocks_[b].successors) into_[s].push_back(b);
      if (blocks_[b].exits && !blocks_[b].traps) into_[exit_].push_back(b);
    }
  }

  void visit(std::uint32_t node, std::uint32_t parent) {
    number_[node] = static_cast<std::uint32_t>(node_.size());
    node_.push_back(node);
    parent_.push_back(parent);
  }

  // Backwards from the exit, depth first, without recursion (some bodies have 100 000 blocks).
  void number() {
    number_.assign(exit_ + 1, kNone);
    visit(exit_, 0);
    std::vector<std::pair<std::uint32_t, std::size_t>> stack{{exit_, 0}};
    while (!stack.empty()) {
      auto& [node, next] = stack.back();
      if (next == into_[node].size()) {
        stack.pop_back();
        continue;
      }
      const std::uint32_t child = into_[node][next++];
      if (number_[child] != kNone) continue;
      visit(child, number_[node]);
      stack.emplace_back(child, 0);
    }
  }

  // The number with the smallest semi-dominator on the path up from `v`; compresses the path.
  std::uint32_t evaluate(std::uint32_t v) {
    if (ancestor_[v] == kNone) return label_[v];
    path_.clear();
    for (std::uint32_t u = v; ancestor_[ancestor_[u]] != kNone; u = ancestor_[u]) path_.push_back(u);
    for (std::size_t i = path_.size(); i-- > 0;) {
      const std::uint32_t u = path_[i], above = ancestor_[u];
      if (semi_[label_[above]] < semi_[label_[u]]) label_[u] = label_[above];
      ancestor_[u] = ancestor_[above];
    }
    return label_[v];
  }

  void take(std::uint32_t v, std::uint32_t successor) { // a predecessor in the reversed graph
    if (number_[successor] != kNone) semi_[v] = std::min(semi_[v], semi_[evaluate(number_[successor])]);
  }

  void solve() {
    const auto count = static_cast<std::uint32_t>(node_.size());
    semi_.resize(count);
    std::iota(semi_.begin(), semi_.end(), 0u);
    label_ = semi_;
    ancestor_.assign(count, kNone);
    dominator_.assign(count, 0);
    std::vector<std::uint32_t> first(count, kNone), next(count, kNone); // lists of those with a semi-dominator
    for (std::uint32_t v = count; v-- > 1;) {
      const Block& block = blocks_[node_[v]];
      for (const std::uint32_t s : block.successors) take(v, s);
      if (block.exits && !block.traps) take(v, exit_);
      next[v] = std::exchange(first[semi_[v]], v);
      const std::uint32_t parent = parent_[v];
      ancestor_[v] = parent;
      for (std::uint32_t w = std::exchange(first[parent], kNone); w != kNone; w = next[w]) {
        const std::uint32_t u = evaluate(w);
        dominator_[w] = semi_[u] < semi_[w] ? u : parent;
      }
    }
    for (std::uint32_t v = 1; v < count; ++v)
      if (dominator_[v] != semi_[v]) dominator_[v] = dominator_[dominator_[v]];
  }

  const std::vector<Block>& blocks_;
  std::uint32_t exit_;
  std::vector<std::vector<std::uint32_t>> into_;
  std::vector<std::uint32_t> number_;        ///< by node; kNone if it never reaches the exit
  std::vector<std::uint32_t> node_, parent_; ///< by number
  std::vector<std::uint32_t> semi_, label_, ancestor_, dominator_, path_;
};

} // namespace

ControlFlow control_flow(const Function& function) {
  ControlFlow flow;
  const auto n = static_cast<std::uint32_t>(function.instructions.size());
  if (n == 0) return flow;
  const std::vector<bool> leader = leaders(function);
  flow.block_of.resize(n);
  for (std::uint32_t i = 0; i < n; ++i) {
    if (leader[i]) {
      if (!flow.blocks.empty()) flow.blocks.back().end = i;
      Block block;
      block.first = i;
      flow.blocks.push_back(std::move(block));
    }
    flow.block_of[i] = static_cast<std::uint32_t>(flow.blocks.size() - 1);
  }
  flow.blocks.back().end = n;
  connect(function, flow);
  const PostDominators post(flow);
  for (std::uint32_t b = 0; b < flow.blocks.size(); ++b) flow.blocks[b].ipdom = post.of(b);
  return flow;
}

} // namespace warplens::ir
