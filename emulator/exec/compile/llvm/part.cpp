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

} // namespace

Part::Part(const Region& region, std::vector<std::uint32_t> heads, llvm::BitVector elsewhere)
    : heads_(std::move(heads)), elsewhere_(std::move(elsewhere)) {
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
  touched_.resize(rows);
  for (const unsigned i : reachable_.set_bits()) {
    dirty_.emplace(i, llvm::BitVector(rows));
    if (elsewhere_.test(i)) continue;
    for (const RowUse& use : region.facts(i).uses) touched_.set(region.row(use.offset));
    for (const RowUse& def : region.facts(i).defs) touched_.set(region.row(def.offset));
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (const unsigned i : reachable_.set_bits()) {
      if (elsewhere_.test(i)) continue;
      llvm::BitVector dirty = dirty_.at(i);
      for (const RowUse& def : region.facts(i).defs) dirty.set(region.row(def.offset));
      for (const std::uint32_t next : region.successors(i)) {
        llvm::BitVector& after = dirty_.at(next);
        if (!dirty.test(after)) continue; // nothing new
        after |= dirty;
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
  const auto worthwhile = [&](llvm::BitVector heads) {
    for (const unsigned head : heads.set_bits())
      if (work_from(region, head, kLeastOps) < kLeastOps) heads.reset(head);
    return heads;
  };
  const auto list = [](const llvm::BitVector& heads) {
    return std::vector<std::uint32_t>(heads.set_bits_begin(), heads.set_bits_end());
  };
  const llvm::BitVector heads = worthwhile(wanted);
  std::vector<Part> parts;
  if (heads.none()) return parts;
  parts.emplace_back(region, list(heads), llvm::BitVector(region.size()));
  sides.reset(heads);
  const llvm::BitVector others = worthwhile(sides);
  for (const unsigned side : others.set_bits()) {
    llvm::BitVector elsewhere = heads;
    elsewhere |= others;
    elsewhere.reset(side);
    parts.emplace_back(region, std::vector<std::uint32_t>{side}, std::move(elsewhere));
  }
  return parts;
}

} // namespace warplens::exec::compile
