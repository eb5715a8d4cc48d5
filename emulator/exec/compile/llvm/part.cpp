// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/compile/llvm/part.hpp"

#include <algorithm>

namespace warplens::exec::compile {

using Kind = OpMeaning::Kind;

namespace {

// Entering and leaving compiled code moves rows between memory and registers: less work than this is not worth it.
constexpr int kLeastOps = 6;

// The most instructions that may run from an op until the warp leaves, up to a limit.
int work_from(const Region& region, std::uint32_t op, int limit) {
  if (limit == 0 || region.facts(op).leaves) return 0;
  const Kind kind = region.facts(op).meaning.kind;
  const int own = kind == Kind::count_block || kind == Kind::count_guarded || kind == Kind::rejoin ? 0 : 1;
  int most = 0;
  for (const std::uint32_t next : region.successors(op)) most = std::max(most, work_from(region, next, limit - own));
  return own + most;
}

bool worth_it(const Region& region, std::uint32_t op) { return work_from(region, op, kLeastOps) == kLeastOps; }

using Edges = std::vector<llvm::SmallVector<std::uint32_t, 2>>;

llvm::BitVector reached(const Edges& edges, std::uint32_t from) {
  llvm::BitVector found(static_cast<unsigned>(edges.size()));
  llvm::SmallVector<std::uint32_t, 16> work{from};
  while (!work.empty()) {
    const std::uint32_t op = work.pop_back_val();
    if (found.test(op)) continue;
    found.set(op);
    work.append(edges[op].begin(), edges[op].end());
  }
  return found;
}

// The ops of loops: those between the target of a backward branch and the branch.
llvm::BitVector in_loops(const Region& region) {
  Edges forward(region.size()), backward(region.size());
  for (std::uint32_t i = 0; i < region.size(); ++i)
    for (const std::uint32_t next : region.successors(i)) {
      forward[i].push_back(next);
      backward[next].push_back(i);
    }
  llvm::BitVector loops(region.size());
  for (std::uint32_t i = 0; i < region.size(); ++i) {
    if (!region.goes(i) || region.target(i) > i) continue;
    llvm::BitVector loop = reached(forward, region.target(i));
    if (!loop.test(i)) continue;
    loop &= reached(backward, i);
    loops |= loop;
  }
  return loops;
}

} // namespace

Part::Part(const Region& region, std::vector<std::uint32_t> heads, llvm::BitVector elsewhere)
    : heads_(std::move(heads)), elsewhere_(std::move(elsewhere)) {
  std::sort(heads_.begin(), heads_.end());
  find_reachable(region);
  find_leaders(region);
  find_dirty(region);
}

bool Part::enters(std::uint32_t op) const { return std::binary_search(heads_.begin(), heads_.end(), op); }

void Part::find_reachable(const Region& region) {
  reachable_.resize(region.size());
  llvm::SmallVector<std::uint32_t, 16> work(heads_.begin(), heads_.end());
  while (!work.empty()) {
    const std::uint32_t op = work.pop_back_val();
    if (reachable_.test(op)) continue;
    reachable_.set(op);
    if (elsewhere_.test(op)) continue;
    for (const std::uint32_t next : region.successors(op)) work.push_back(next);
  }
}

void Part::find_leaders(const Region& region) {
  leaders_.resize(region.size());
  for (const std::uint32_t head : heads_) leaders_.set(head);
  for (std::uint32_t i = 0; i < region.size(); ++i) {
    if (!reachable_.test(i)) continue;
    if (region.goes(i)) leaders_.set(region.target(i));
    if ((region.facts(i).leaves || region.goes(i) || elsewhere_.test(i)) && i + 1 < region.size()) leaders_.set(i + 1);
  }
}

void Part::find_dirty(const Region& region) {
  const auto rows = static_cast<unsigned>(region.rows().size());
  dirty_.assign(region.size() + 1, llvm::BitVector(rows));
  for (bool changed = true; changed;) {
    changed = false;
    for (std::uint32_t i = 0; i < region.size(); ++i) {
      if (!reachable_.test(i) || elsewhere_.test(i)) continue;
      llvm::BitVector dirty = dirty_[i];
      for (const RowUse& def : region.facts(i).defs) dirty.set(region.row(def.offset));
      for (const std::uint32_t next : region.successors(i)) {
        llvm::BitVector after = dirty_[next];
        after |= dirty;
        if (after == dirty_[next]) continue;
        dirty_[next] = std::move(after);
        changed = true;
      }
    }
  }
}

std::vector<Part> parts_of(const Region& region) {
  llvm::BitVector wanted(region.size()), sides(region.size());
  wanted.set(0);
  for (std::uint32_t i = 0; i < region.size(); ++i) {
    if (region.goes(i) && region.target(i) <= i) wanted.set(region.target(i));
    if (i + 1 == region.size()) break;
    if (region.facts(i).leaves) wanted.set(i + 1);
    const Kind kind = region.facts(i).meaning.kind;
    if (kind == Kind::branch) sides.set(region.target(i));
    if (kind == Kind::branch || kind == Kind::rejoin) sides.set(i + 1);
  }
  const llvm::BitVector loops = in_loops(region);
  std::vector<std::uint32_t> heads, inside;
  llvm::BitVector main(region.size());
  for (std::uint32_t i = 0; i < region.size(); ++i) {
    if (!wanted.test(i) && !sides.test(i)) continue;
    if (!worth_it(region, i)) continue;
    (wanted.test(i) || !loops.test(i) ? heads : inside).push_back(i);
  }
  for (const std::uint32_t head : heads) main.set(head);
  std::vector<Part> parts;
  if (heads.empty()) return parts;
  llvm::BitVector second(region.size());
  parts.emplace_back(region, std::move(heads), second);
  if (!inside.empty()) parts.emplace_back(region, std::move(inside), std::move(main));
  return parts;
}

} // namespace warplens::exec::compile
