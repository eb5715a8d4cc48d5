// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/compile/llvm/pairs.hpp"

#include "emulator/exec/compile/llvm/by_value.hpp"

#include <algorithm>

namespace warplens::exec::compile {

using Kind = OpMeaning::Kind;
using How = Computed::How;

namespace {

// Longer loops have so much work that does not depend on other work that a processor finds it.
constexpr std::uint32_t kLongest = 200;

// Whether nothing outside of the warp's registers matters to the op, and nobody else sees what it does; the counters of
// a launch are sums.
bool is_private(const OpFacts& f) {
  if (f.leaves || f.by_handler) return false;
  switch (f.meaning.kind) {
  case Kind::lane:
  case Kind::parameter:
  case Kind::predicate_and:
  case Kind::predicate_or:
  case Kind::predicate_xor:
  case Kind::copy:
  case Kind::pack:
  case Kind::unpack:
  case Kind::nothing:
  case Kind::special:
  case Kind::count_block:
  case Kind::count_guarded:
  case Kind::jump:
  case Kind::branch:
  case Kind::rejoin: return true;
  default: return false;
  }
}

/// What an iteration of a loop takes, in cycles, roughly.
struct Estimate {
  double work = 0;  ///< if the processor's units are always busy
  double chain = 0; ///< from a row's value to the next one of the same row
  unsigned registers = 0;
};

class Loop {
public:
  Loop(const Region& region, const Shapes& shapes, Target& target, std::uint32_t head, std::uint32_t last)
      : region_(region), shapes_(shapes), target_(target), head_(head), last_(last) {}

  /// Nothing if an op of the loop is not private.
  std::optional<Estimate> estimate() {
    if (!add_ops()) return std::nullopt;
    Estimate e;
    for (const Step& step : steps_) e.work += step.cycles;
    llvm::BitVector rows(static_cast<unsigned>(region_.rows().size()));
    for (const Step& step : steps_) {
      for (const std::uint32_t row : step.sources) rows.set(row);
      for (const std::uint32_t row : step.destinations) rows.set(row);
    }
    rows &= region_.live_before(head_);
    for (const unsigned row : rows.set_bits()) {
      if (region_.rows()[row].bytes != 0) e.registers += target_.chunks.of(region_.rows()[row].bytes);
      e.chain = std::max(e.chain, chain_of(row));
    }
    return e;
  }

private:
  /// An op that computes all lanes.
  struct Step {
    llvm::SmallVector<std::uint32_t, 4> sources, destinations; ///< rows
    double cycles = 0, latency = 0;
  };

  bool add_ops() {
    RowShapes rows = shapes_.at(head_);
    for (std::uint32_t op = head_; op <= last_; ++op) {
      const OpFacts& f = region_.facts(op);
      if (!is_private(f)) return false;
      if (shapes_.leads(op)) rows = shapes_.at(op);
      if (f.meaning.kind == Kind::lane && shapes_.computed(op, rows).how == How::lanes) add(f, rows);
      shapes_.step(op, rows);
    }
    return true;
  }

  void add(const OpFacts& f, const RowShapes& rows) {
    Step step;
    RowsOfFunction of;
    for (std::uint32_t i = 0; i < f.sources; ++i) of.sources.push_back(f.uses[i].bytes);
    for (const RowUse& use : f.uses)
      if (const std::uint32_t row = region_.row(use.offset); !rows[row].is_sequence()) step.sources.push_back(row);
    unsigned chunks = 1;
    for (const RowUse& def : f.defs) {
      of.destinations.push_back(def.bytes);
      step.destinations.push_back(region_.row(def.offset));
      chunks = std::max(chunks, target_.chunks.of(def.bytes));
    }
    for (const std::uint32_t bytes : of.sources) chunks = std::max(chunks, target_.chunks.of(bytes));
    const std::string function =
        all_by_value(target_, target_.bitcode.row_function(f.meaning.entry, f.meaning.variant).all, of);
    const double each = static_cast<double>(target_.bitcode.operations(function)) / chunks;
    const double units = f.meaning.latency >= 4 ? 2 : 3; // of the processor
    step.cycles = std::max(each, 1.0) * chunks / units;
    step.latency = f.meaning.latency * std::max(each / 2, 1.0);
    steps_.push_back(std::move(step));
  }

  // The longest way from the row's value before an iteration to that after it.
  double chain_of(std::uint32_t row) const {
    std::vector<double> after(region_.rows().size(), -1);
    after[row] = 0;
    for (const Step& step : steps_) {
      double longest = -1;
      for (const std::uint32_t source : step.sources) longest = std::max(longest, after[source]);
      if (longest >= 0) longest += step.latency;
      for (const std::uint32_t destination : step.destinations) after[destination] = longest;
    }
    return after[row];
  }

  const Region& region_;
  const Shapes& shapes_;
  Target& target_;
  std::uint32_t head_, last_;
  std::vector<Step> steps_;
};

bool is_faster(const Estimate& e, const Target& target) {
  constexpr unsigned kOthers = 6; // registers of values that both warps share, and of results that are used at once
  const unsigned registers = target.chunks.vector_bytes() == 64 ? 32 : 16;
  return e.chain > 1.25 * e.work && 2 * e.registers + kOthers <= registers;
}

// Where turns begin: at the start of the program, after barriers, and in loops.
llvm::BitVector beginnings(const Region& region) {
  llvm::BitVector ops(region.size());
  ops.set(0);
  for (std::uint32_t i = 0; i + 1 < region.size(); ++i) {
    if (region.facts(i).meaning.kind == Kind::barrier) ops.set(i + 1);
    if (region.goes(i) && region.target(i) <= i) ops.set(region.target(i));
  }
  return ops;
}

llvm::BitVector private_ops(const Region& region) {
  llvm::BitVector ops(region.size());
  for (std::uint32_t i = 0; i < region.size(); ++i)
    if (is_private(region.facts(i))) ops.set(i);
  return ops;
}

// The heads of the loops that are faster with two warps.
llvm::BitVector faster_loops(const Region& region, const Shapes& shapes, Target& target) {
  llvm::BitVector heads(region.size());
  for (std::uint32_t i = 0; i < region.size(); ++i) {
    if (!region.goes(i) || region.target(i) > i || i - region.target(i) >= kLongest) continue;
    const std::uint32_t head = region.target(i);
    if (innermost_loop(region, head) != i) continue;
    const std::optional<Estimate> e = Loop(region, shapes, target, head, i).estimate();
    if (e && is_faster(*e, target)) heads.set(head);
  }
  return heads;
}

bool leads_to(const Region& region, std::uint32_t head, const llvm::BitVector& through, const llvm::BitVector& to) {
  llvm::BitVector seen(region.size());
  llvm::SmallVector<std::uint32_t, 16> work{head};
  while (!work.empty()) {
    const std::uint32_t op = work.pop_back_val();
    if (seen.test(op) || !through.test(op)) continue;
    if (to.test(op)) return true;
    seen.set(op);
    for (const std::uint32_t next : region.successors(op)) work.push_back(next);
  }
  return false;
}

} // namespace

std::optional<Part> pairs_of(const Region& region, const Shapes& shapes, const std::vector<Part>& parts, Target& target,
                             bool anyhow) {
  const llvm::BitVector own = private_ops(region);
  const llvm::BitVector wanted = anyhow ? own : faster_loops(region, shapes, target);
  if (wanted.none()) return std::nullopt;
  llvm::BitVector possible(region.size());
  for (const Part& part : parts)
    for (const std::uint32_t head : part.heads()) possible.set(head);
  possible &= beginnings(region);
  std::vector<std::uint32_t> heads;
  for (const unsigned head : possible.set_bits())
    if (leads_to(region, head, own, wanted)) heads.push_back(head);
  if (heads.empty()) return std::nullopt;
  llvm::BitVector others(region.size());
  for (std::uint32_t i = 0; i < region.size(); ++i)
    if (!own.test(i) && !region.facts(i).leaves) others.set(i);
  Part pairs(region, std::move(heads), std::move(others));
  return pairs.saved_rows(region) <= kMostSaved ? std::optional(std::move(pairs)) : std::nullopt;
}

std::vector<std::uint32_t> partings_of(const Region& region, const Part& pairs) {
  std::vector<std::uint32_t> ops;
  for (std::uint32_t i = 0; i < region.size(); ++i)
    if (pairs.reachable(i) && pairs.elsewhere(i)) ops.push_back(i);
  return ops;
}

} // namespace warplens::exec::compile
