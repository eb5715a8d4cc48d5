// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/compile/llvm/region.hpp"

#include <algorithm>

namespace warplens::exec::compile {

using Kind = OpMeaning::Kind;

Region::Region(const Program& program, std::vector<OpFacts> facts) : program_(program), facts_(std::move(facts)) {
  list_rows();
  find_masked();
  if (!is_too_large()) find_live();
}

// What is known of each row at each op takes memory: up to half a gigabyte at this limit.
bool Region::is_too_large() const {
  constexpr std::size_t kMost = 60'000'000;
  return facts_.size() * rows_.size() > kMost;
}

bool Region::goes(std::uint32_t op) const {
  return facts_[op].meaning.kind == Kind::jump || facts_[op].meaning.kind == Kind::branch;
}

std::uint32_t Region::target(std::uint32_t op) const {
  return static_cast<std::uint32_t>(program_.ops[op].target - program_.ops.data());
}

std::optional<std::uint32_t> Region::find_row(std::uint32_t offset) const {
  const auto found = row_of_.find(offset);
  return found == row_of_.end() ? std::nullopt : std::optional(found->second);
}

llvm::SmallVector<std::uint32_t, 2> Region::successors(std::uint32_t op) const {
  const OpFacts& f = facts_[op];
  if (f.leaves) return {};
  if (f.meaning.kind == Kind::jump) return {target(op)};
  if (f.meaning.kind == Kind::branch) return {op + 1, target(op)};
  return {op + 1};
}

void Region::find_masked() {
  masked_until_.assign(facts_.size(), 0);
  std::vector<std::uint32_t> going;
  for (std::uint32_t i = 0; i < size(); ++i)
    if (goes(i)) going.push_back(i);
  // Sides inside of others are found first.
  for (auto branch = going.rbegin(); branch != going.rend(); ++branch)
    if (can_mask(*branch, going)) masked_until_[*branch] = *branch + program_.ops[*branch].src[0];
}

std::uint32_t Region::goes_on_at(std::uint32_t branch) const { return target(jump_before(target(branch))); }

std::uint32_t Region::jump_before(std::uint32_t op) const {
  return op - (facts_[op - 1].meaning.kind == Kind::count_block ? 2 : 1);
}

// The pieces of the code of a branch's sides: of the lanes that do not jump, of those that do, and again of the former.
// Each ends with a jump but the last. None if the code is arranged in another way.
llvm::SmallVector<Region::Piece, 3> Region::pieces_of_sides(std::uint32_t branch, std::uint32_t meeting) const {
  llvm::SmallVector<Piece, 3> pieces{{branch + 1, meeting}};
  for (std::uint32_t to = target(branch); to != meeting; to = target(pieces[pieces.size() - 2].end)) {
    if (to <= pieces.back().begin || to >= meeting || pieces.size() == 3) return {};
    const std::uint32_t end = jump_before(to);
    if (end < pieces.back().begin || facts_[end].meaning.kind != Kind::jump) return {};
    pieces.back().end = end;
    pieces.push_back({to, meeting});
  }
  return pieces;
}

bool Region::can_mask(std::uint32_t branch, const std::vector<std::uint32_t>& going) const {
  constexpr std::uint32_t kLongest = 100;
  const OpFacts& f = facts_[branch];
  const std::uint32_t distance = program_.ops[branch].src[0], meeting = branch + distance;
  if (f.meaning.kind != Kind::branch || !f.guarded || distance < 2 || meeting >= size()) return false;
  const llvm::SmallVector<Piece, 3> pieces = pieces_of_sides(branch, meeting);
  for (const auto& [begin, end] : pieces) {
    if (end - begin > kLongest) return false;
    for (std::uint32_t i = begin; i < end; ++i) {
      if (facts_[i].leaves) return false;
      if (!goes(i)) continue;
      if (masked_until_[i] == 0 || masked_until_[i] > end) return false;
      i = masked_until_[i] - 1; // its sides were looked at before
    }
  }
  return !pieces.empty() && std::none_of(going.begin(), going.end(), [&](std::uint32_t i) {
    return (i < branch || i >= meeting) && target(i) > branch && target(i) < meeting;
  });
}

void Region::list_rows() {
  const auto add = [&](const RowUse& use) {
    const auto [found, fresh] = row_of_.try_emplace(use.offset, static_cast<std::uint32_t>(rows_.size()));
    if (fresh) rows_.push_back({use.offset, use.bytes, -1});
    RowInfo& row = rows_[found->second];
    row.bytes = std::max(row.bytes, use.bytes);
  };
  for (const OpFacts& f : facts_) {
    for (const RowUse& use : f.uses) add(use);
    for (const RowUse& def : f.defs) add(def);
  }
  // The optimiser computes with constants, but not the NaNs of x86-64: an invalid operation on f64 gives one with a
  // sign, and a NaN that is multiplied by one becomes quiet.
  const bool doubles = std::any_of(facts_.begin(), facts_.end(), [](const OpFacts& f) { return f.meaning.doubles; });
  for (std::size_t c = 0; c < program_.constants.size(); ++c)
    if (const auto found = row_of_.find(program_.constants[c].offset);
        found != row_of_.end() && !(doubles && program_.constants[c].lane_bytes == 8))
      rows_[found->second].constant = static_cast<std::int64_t>(c);
}

void Region::find_live() {
  const auto rows = static_cast<unsigned>(rows_.size());
  live_.assign(size() + 1, llvm::BitVector(rows));
  for (bool changed = true; changed;) {
    changed = false;
    for (std::uint32_t i = size(); i-- > 0;) {
      const OpFacts& f = facts_[i];
      llvm::BitVector live(rows);
      if (f.reads_all) {
        live.set();
      } else {
        const Kind kind = f.meaning.kind;
        const bool ends = kind == Kind::exit || kind == Kind::trap;
        if (kind == Kind::barrier || (ends && f.guarded)) live |= live_[i + 1];
        for (const std::uint32_t next : successors(i)) live |= live_[next];
        if (!f.guarded)
          for (const RowUse& def : f.defs) live.reset(row_of_.at(def.offset));
        for (const RowUse& use : f.uses) live.set(row_of_.at(use.offset));
      }
      if (live == live_[i]) continue;
      live_[i] = std::move(live);
      changed = true;
    }
  }
}

} // namespace warplens::exec::compile
