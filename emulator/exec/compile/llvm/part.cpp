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

Part::Part(const Region& region, std::vector<std::uint32_t> heads, llvm::BitVector elsewhere, bool in_memory)
    : heads_(std::move(heads)), elsewhere_(std::move(elsewhere)), in_memory_(in_memory) {
  find_reachable(region);
  find_leaders(region);
  find_dirty(region);
}

bool Part::enters(std::uint32_t op) const { return std::binary_search(heads_.begin(), heads_.end(), op); }

std::uint32_t Part::masked_until(const Region& region, std::uint32_t branch) const {
  const std::uint32_t meeting = region.masked_until(branch);
  for (std::uint32_t i = branch + 1; i < meeting; ++i)
    if (enters(i) || elsewhere(i)) return 0;
  return meeting;
}

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
      // The side behind a branch may run after the other one.
      const std::uint32_t meeting = region.goes(i) ? masked_until(region, i) : 0;
      if (meeting != 0 && region.has_two_sides(i)) dirty |= dirty_.at(meeting);
      for (const std::uint32_t next : region.successors(i)) {
        llvm::BitVector& after = dirty_.at(next);
        if (!dirty.test(after)) continue; // nothing new
        after |= dirty;
        changed = true;
      }
    }
  }
}

llvm::SmallVector<std::uint32_t, 4> Part::ends() const {
  llvm::SmallVector<std::uint32_t, 4> ops;
  for (const unsigned op : reachable_.set_bits())
    if (elsewhere_.test(op)) ops.push_back(op);
  return ops;
}

// The rows that go back to memory where warps leave the part, all together.
std::size_t Part::saved_rows(const Region& region) const {
  std::size_t rows = 0;
  for (const unsigned i : reachable_.set_bits()) {
    if (!elsewhere_.test(i) && !region.facts(i).leaves && !region.goes(i)) continue;
    llvm::BitVector saved = region.live_before(i);
    saved &= dirty_before(i);
    rows += saved.count();
  }
  return rows;
}

std::size_t Part::work(const Region& region) const {
  constexpr std::size_t kOfAccess = 8; // it has several blocks of code
  std::size_t work = 0;
  for (const unsigned i : reachable_.set_bits()) {
    if (elsewhere_.test(i)) continue;
    const Kind kind = region.facts(i).meaning.kind;
    work += kind == Kind::load || kind == Kind::store || kind == Kind::atomic ? kOfAccess : 1;
  }
  return work;
}

std::optional<std::uint32_t> innermost_loop(const Region& region, std::uint32_t head) {
  for (std::uint32_t i = head; i < region.size(); ++i)
    if (region.goes(i) && region.target(i) <= i) return region.target(i) == head ? std::optional(i) : std::nullopt;
  return std::nullopt;
}

namespace {

std::vector<std::uint32_t> list(const llvm::BitVector& ops) {
  return std::vector<std::uint32_t>(ops.set_bits_begin(), ops.set_bits_end());
}

llvm::BitVector worthwhile(const Region& region, llvm::BitVector heads) {
  for (const unsigned head : heads.set_bits())
    if (work_from(region, head, kLeastOps) < kLeastOps) heads.reset(head);
  return heads;
}

// Where diverged warps enter: both sides of a branch, and where paths meet. Not those of branches whose sides run under
// masks, as `masked` says.
template <class Masked> llvm::BitVector sides_of(const Region& region, Masked&& masked) {
  llvm::BitVector sides(region.size()), meetings(region.size());
  for (std::uint32_t i = 0; i + 1 < region.size(); ++i) {
    if (region.facts(i).meaning.kind != Kind::branch) continue;
    if (masked(i)) {
      meetings.set(region.masked_until(i));
      continue;
    }
    sides.set(region.target(i));
    sides.set(i + 1);
  }
  for (std::uint32_t i = 0; i + 1 < region.size(); ++i)
    if (region.facts(i).meaning.kind == Kind::rejoin && !meetings.test(i)) sides.set(i + 1);
  return sides;
}

// From `head` to wherever other code begins.
Part piece(const Region& region, std::uint32_t head, llvm::BitVector others) {
  others.reset(head);
  return {region, {head}, std::move(others)};
}

// Consecutive ops are a part. It ends where code goes to another one, or to `elsewhere`.
void add_parts_in_memory(const Region& region, llvm::BitVector heads, const llvm::BitVector& elsewhere,
                         std::uint32_t length, std::vector<Part>& parts) {
  const auto part_of = [&](std::uint32_t op) { return op / length; };
  for (std::uint32_t i = 0; i < region.size(); ++i)
    for (const std::uint32_t next : region.successors(i))
      if (part_of(next) != part_of(i)) heads.set(next);
  heads |= worthwhile(region, sides_of(region, [&](std::uint32_t branch) {
                        const std::uint32_t meeting = region.masked_until(branch);
                        if (meeting == 0 || part_of(meeting - 1) != part_of(branch)) return false;
                        for (std::uint32_t i = branch + 1; i < meeting; ++i)
                          if (heads.test(i) || elsewhere.test(i)) return false;
                        return true;
                      }));
  heads.reset(elsewhere);
  for (std::uint32_t begin = 0; begin < region.size(); begin += length) {
    llvm::BitVector own(region.size()), others = heads;
    own.set(begin, std::min(begin + length, region.size()));
    others.reset(own);
    others |= elsewhere;
    own &= heads;
    if (own.any()) parts.emplace_back(region, list(own), std::move(others), true);
  }
}

// The innermost loops that begin at heads, each without what follows it, unless they have too many exits; and
// everything else.
std::vector<Part> divided(const Region& region, llvm::BitVector heads, const Division& division) {
  std::vector<Part> parts;
  llvm::BitVector elsewhere(region.size());
  std::size_t left = division.saved_of_loops;
  const llvm::BitVector given = heads;
  for (const unsigned head : given.set_bits()) {
    const std::optional<std::uint32_t> last = innermost_loop(region, head);
    if (!last) continue;
    llvm::BitVector others(region.size(), true);
    others.reset(head, *last + 1);
    Part loop(region, {head}, std::move(others));
    const std::size_t rows = loop.saved_rows(region);
    if (rows > left || loop.work(region) > kMostWork) continue;
    left -= rows;
    for (const unsigned op : loop.ends()) heads.set(op);
    elsewhere.set(head);
    parts.push_back(std::move(loop));
  }
  add_parts_in_memory(region, heads, elsewhere, division.length, parts);
  return parts;
}

} // namespace

std::vector<Part> parts_of(const Region& region, const Division& division) {
  llvm::BitVector wanted(region.size());
  wanted.set(0);
  for (std::uint32_t i = 0; i < region.size(); ++i) {
    if (region.goes(i) && region.target(i) <= i) wanted.set(region.target(i));
    if (region.facts(i).leaves && i + 1 < region.size()) wanted.set(i + 1);
  }
  const llvm::BitVector heads = worthwhile(region, wanted);
  if (heads.none()) return {};
  Part whole(region, list(heads), llvm::BitVector(region.size()));
  if (division.anyhow || whole.saved_rows(region) > kMostSaved || whole.work(region) > kMostWork)
    return divided(region, heads, division);
  std::vector<Part> parts;
  parts.push_back(std::move(whole));
  llvm::BitVector all =
      worthwhile(region, sides_of(region, [&](std::uint32_t branch) { return region.masked_until(branch) != 0; }));
  all |= heads;
  for (const unsigned head : all.set_bits())
    if (!heads.test(head)) parts.push_back(piece(region, head, all));
  return parts;
}

void add_entries(const Region& region, const std::vector<std::uint32_t>& ops, const Division& division,
                 std::vector<Part>& parts) {
  llvm::BitVector known(region.size()), added(region.size());
  for (const Part& part : parts)
    for (const std::uint32_t head : part.heads()) known.set(head);
  for (const std::uint32_t op : ops) added.set(op);
  added.reset(known);
  added = worthwhile(region, std::move(added));
  if (!parts.empty() && parts.back().in_memory()) {
    llvm::BitVector elsewhere(region.size());
    for (const Part& part : parts)
      for (const std::uint32_t head : part.heads()) (part.in_memory() ? added : elsewhere).set(head);
    std::erase_if(parts, [](const Part& part) { return part.in_memory(); });
    return add_parts_in_memory(region, added, elsewhere, division.length, parts);
  }
  for (const unsigned op : added.set_bits()) parts.push_back(piece(region, op, known));
}

} // namespace warplens::exec::compile
