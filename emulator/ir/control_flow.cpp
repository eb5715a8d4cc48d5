#include "emulator/ir/control_flow.hpp"

#include <algorithm>

namespace warplens::ir {

namespace {

std::string_view head(const Instruction& i) { return i.opcode.substr(0, i.opcode.find('.')); }

bool is_branch(const Instruction& i) { return head(i) == "bra" || head(i) == "brx"; }
bool leaves(const Instruction& i) {
  const std::string_view op = head(i);
  return (op == "ret" || op == "exit" || op == "trap") && i.guard == kNone;
}

// The instructions that a branch may go to.
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
    if (leaves(last))
      block.exits = true;
    else if (!is_branch(last) || last.guard != kNone)
      reach(block.end);
    std::sort(block.successors.begin(), block.successors.end());
    block.successors.erase(std::unique(block.successors.begin(), block.successors.end()), block.successors.end());
  }
}

// Cooper, Harvey and Kennedy, "A simple, fast dominance algorithm", on the reversed graph. The exit is node n.
class PostDominators {
public:
  explicit PostDominators(const ControlFlow& flow)
      : blocks_(flow.blocks), exit_(static_cast<std::uint32_t>(blocks_.size())) {
    predecessors_of_reversed();
    number();
    solve();
  }
  std::uint32_t of(std::uint32_t block) const { return idom_[block] == exit_ ? kNone : idom_[block]; }

private:
  void predecessors_of_reversed() {
    into_.resize(exit_ + 1);
    for (std::uint32_t b = 0; b < exit_; ++b) {
      for (const std::uint32_t s : blocks_[b].successors) into_[s].push_back(b);
      if (blocks_[b].exits) into_[exit_].push_back(b);
    }
  }

  // Post-order of the reversed graph from the exit, without recursion (bodies of 100 000 blocks exist).
  void number() {
    order_.assign(exit_ + 1, kNone);
    std::vector<std::pair<std::uint32_t, std::size_t>> stack{{exit_, 0}};
    std::vector<bool> seen(exit_ + 1, false);
    seen[exit_] = true;
    while (!stack.empty()) {
      auto& [node, next] = stack.back();
      if (next < into_[node].size()) {
        const std::uint32_t child = into_[node][next++];
        if (!seen[child]) {
          seen[child] = true;
          stack.emplace_back(child, 0);
        }
      } else {
        order_[node] = static_cast<std::uint32_t>(sequence_.size());
        sequence_.push_back(node);
        stack.pop_back();
      }
    }
  }

  std::uint32_t meet(std::uint32_t a, std::uint32_t b) const {
    while (a != b) {
      while (order_[a] < order_[b]) a = idom_[a];
      while (order_[b] < order_[a]) b = idom_[b];
    }
    return a;
  }

  void solve() {
    idom_.assign(exit_ + 1, kNone);
    idom_[exit_] = exit_;
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t i = sequence_.size(); i-- > 0;) {
        const std::uint32_t node = sequence_[i];
        if (node == exit_) continue;
        std::uint32_t best = blocks_[node].exits ? exit_ : kNone;
        for (const std::uint32_t s : blocks_[node].successors)
          if (idom_[s] != kNone) best = best == kNone ? s : meet(best, s);
        if (best != idom_[node]) {
          idom_[node] = best;
          changed = true;
        }
      }
    }
    for (std::uint32_t& d : idom_) // blocks that never reach the exit: endless loops
      if (d == kNone) d = exit_;
  }

  const std::vector<Block>& blocks_;
  std::uint32_t exit_;
  std::vector<std::vector<std::uint32_t>> into_;
  std::vector<std::uint32_t> order_, sequence_, idom_;
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
