// SPDX-License-Identifier: Apache-2.0
#include "emulator/ir/block_dependence.hpp"

#include "emulator/ir/effects.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace warplens::ir {

namespace {

using isa::Family;
using isa::Word;

// From the target of a backward branch to one past the branch.
struct Loop {
  std::uint32_t first = 0, end = 0;
  std::vector<std::uint32_t> accesses{}; ///< accesses by which the loop may wait, outside inner loops
};

bool is_strong(const isa::Spelling& s) {
  return s.has(Word::w_volatile_) || s.has(Word::w_relaxed) || s.has(Word::w_acquire) || s.has(Word::w_mmio);
}

// Can another block see or have written the data that it accesses?
bool is_shared_by_blocks(const isa::Spelling& s) {
  constexpr Word kOwn[] = {Word::w_const_,      Word::w_local,          Word::w_param,
                           Word::w_param_entry, Word::w_param_func,     Word::w_shared,
                           Word::w_shared_cta,  Word::w_shared_cluster, Word::w_nc};
  return std::none_of(std::begin(kOwn), std::end(kOwn), [&](Word w) { return s.has(w); });
}

bool is_narrow(const isa::Spelling& s) { return s.has(Word::w_cta) || s.has(Word::w_cluster); }

class Search {
public:
  Search(const Module& module, const Function& function) : module_(module), function_(function) {}

  BlockDependence run() {
    find_loops();
    std::size_t next = 0;
    std::vector<Loop*> open;
    for (std::uint32_t i = 0; i < function_.instructions.size(); ++i) {
      while (!open.empty() && open.back()->end <= i) open.pop_back();
      for (; next < loops_.size() && loops_[next].first == i; ++next) open.push_back(&loops_[next]);
      look_at(i, open.empty() ? nullptr : open.back());
    }
    if (cancels_) return BlockDependence::waiting;
    visits_ = kVisits * function_.instructions.size();
    for (const Loop& loop : loops_)
      if (!loop.accesses.empty() && waits(loop)) return BlockDependence::waiting;
    return loads_strongly_ || uses_results() ? BlockDependence::order : BlockDependence::none;
  }

private:
  [[nodiscard]] const isa::Spelling* spelling(std::uint32_t i) const {
    const std::uint32_t form = function_.instructions[i].form;
    return form == kNone ? nullptr : &module_.spellings[form];
  }

  void find_loops() {
    for (std::uint32_t i = 0; i < function_.instructions.size(); ++i)
      if (const std::uint32_t target = target_of(i); target <= i) loops_.push_back({target, i + 1});
    std::sort(loops_.begin(), loops_.end(),
              [](const Loop& a, const Loop& b) { return a.first != b.first ? a.first < b.first : a.end > b.end; });
  }

  // kNone if the instruction is not a branch to a label.
  [[nodiscard]] std::uint32_t target_of(std::uint32_t i) const {
    const isa::Spelling* const s = spelling(i);
    if (s == nullptr || s->entry->family != Family::branch) return kNone;
    const Operand& to = function_.operands(function_.instructions[i])[0];
    return to.kind == OperandKind::label ? function_.labels[to.index].instruction : kNone;
  }

  void look_at(std::uint32_t i, Loop* loop) {
    const isa::Spelling* const s = spelling(i);
    cancels_ = cancels_ || (s != nullptr && s->has(Word::w_try_cancel));
    if (s == nullptr || !is_shared_by_blocks(*s) || is_narrow(*s)) return;
    const bool loads = s->entry->family == Family::load, takes_locks = s->has(Word::w_cas) || s->has(Word::w_exch);
    if (s->entry->family == Family::atomic)
      atomics_.push_back(i);
    else if (!loads)
      return;
    loads_strongly_ = loads_strongly_ || (loads && is_strong(*s));
    if (loop != nullptr && (loads || takes_locks)) loop->accesses.push_back(i);
  }

  const std::vector<Effect>& effects() {
    if (effects_.empty()) effects_ = ir::effects(module_, function_);
    return effects_;
  }

  bool uses_results() {
    if (atomics_.empty()) return false;
    std::vector<bool> read(function_.registers.size());
    for (const Effect& e : effects())
      for (const std::uint32_t r : e.reads) read[r] = true;
    return std::any_of(atomics_.begin(), atomics_.end(), [&](std::uint32_t i) {
      return std::any_of(effects()[i].writes.begin(), effects()[i].writes.end(),
                         [&](std::uint32_t r) { return read[r]; });
    });
  }

  // Does the loop repeat the same access? An attempt to take a lock is a wait. A load is a wait if its result decides
  // whether the loop continues.
  bool waits(const Loop& loop) {
    const std::uint64_t length = loop.end - loop.first;
    if (kPasses * length > visits_) return true; // does not occur in practice; such blocks run one by one
    visits_ -= kPasses * length;
    find_changing(loop);
    std::vector<bool> seen(function_.registers.size());
    bool polls = false;
    for (const std::uint32_t i : loop.accesses) {
      if (!is_invariant(i)) continue;
      if (spelling(i)->entry->family == Family::atomic) return true;
      for (const std::uint32_t r : effects()[i].writes) seen[r] = polls = true;
    }
    return polls && decides(loop, seen);
  }

  // The registers whose values change between iterations. Registers recomputed from unchanged values do not change.
  void find_changing(const Loop& loop) {
    changing_.assign(function_.registers.size(), false);
    std::vector<bool> written_twice(function_.registers.size());
    for (std::uint32_t i = loop.first; i < loop.end; ++i)
      for (const std::uint32_t r : effects()[i].writes) {
        written_twice[r] = written_twice[r] || changing_[r];
        changing_[r] = true;
      }
    for (std::uint32_t i = loop.first; i < loop.end; ++i) {
      const isa::Spelling* const s = spelling(i);
      const bool computes = s != nullptr && (s->entry->family == Family::lane ||
                                             (s->entry->family == Family::load && s->has(Word::w_param)));
      if (!computes || !effects()[i].certain || !is_invariant(i)) continue;
      for (const std::uint32_t r : effects()[i].writes) changing_[r] = written_twice[r];
    }
  }

  // Ignores the guard.
  bool is_invariant(std::uint32_t i) {
    const std::uint32_t guard = function_.instructions[i].guard;
    return std::none_of(effects()[i].reads.begin(), effects()[i].reads.end(),
                        [&](std::uint32_t r) { return r != guard && changing_[r]; });
  }

  bool decides(const Loop& loop, std::vector<bool>& seen) {
    const auto reads = [&](std::uint32_t i) {
      return std::any_of(effects()[i].reads.begin(), effects()[i].reads.end(),
                         [&](std::uint32_t r) { return seen[r]; });
    };
    for (int pass = 0; pass < kPasses; ++pass)
      for (std::uint32_t i = loop.first; i < loop.end; ++i)
        if (reads(i))
          for (const std::uint32_t r : effects()[i].writes) seen[r] = true;
    for (std::uint32_t i = loop.first; i < loop.end; ++i) {
      const std::uint32_t guard = function_.instructions[i].guard, target = target_of(i);
      if (guard == kNone || !seen[guard]) continue;
      const isa::Spelling* const s = spelling(i);
      const bool leaves = s != nullptr && (s->entry->family == Family::exit || s->entry->family == Family::ret);
      if (leaves || i + 1 == loop.end || (target != kNone && (target < loop.first || target >= loop.end))) return true;
    }
    return false;
  }

  static constexpr int kPasses = 3;
  static constexpr std::uint64_t kVisits = 64; // of each instruction, on average

  const Module& module_;
  const Function& function_;
  std::vector<Loop> loops_; ///< sorted by their beginning, longer ones first
  std::vector<std::uint32_t> atomics_;
  bool loads_strongly_ = false;
  bool cancels_ = false;
  std::vector<Effect> effects_;
  std::vector<bool> changing_; ///< by register
  std::uint64_t visits_ = 0;
};

} // namespace

BlockDependence block_dependence(const Module& module, const Function& function) {
  return Search(module, function).run();
}

bool reductions_commute(const Module& module, const Function& function) {
  const auto fine = [&](const Instruction& instruction) {
    if (instruction.form == kNone) return true;
    const isa::Spelling& s = module.spellings[instruction.form];
    if (s.entry->family == Family::bulk_copy || s.entry->family == Family::tensor_copy)
      return !s.has(Word::w_reduce) || s.has(Word::w_shared_cluster);
    if (s.entry->family != Family::atomic && s.entry->family != Family::reduction) return true;
    if (!is_shared_by_blocks(s) || is_narrow(s)) return true;
    const isa::Type type = s.form.type();
    const bool integer = isa::info(type).kind != isa::Class::floating && isa::bits(type) >= 32 && isa::bits(type) <= 64;
    return integer && !s.has(Word::w_cas) && !s.has(Word::w_exch) && !s.has(Word::w_inc) && !s.has(Word::w_dec);
  };
  return std::all_of(function.instructions.begin(), function.instructions.end(), fine);
}

namespace {

// An atomic operation: several of the same kind give the same result in any order.
std::pair<Word, isa::Type> kind_of(const isa::Spelling& s) {
  for (const Word w : {Word::w_min, Word::w_max})
    if (s.has(w)) return {w, s.form.type()};
  for (const Word w : {Word::w_add, Word::w_and_, Word::w_or_, Word::w_xor_})
    if (s.has(w)) return {w, isa::info(s.form.type()).kind == isa::Class::floating ? s.form.type() : isa::Type{}};
  return {};
}

} // namespace

std::string_view order_of_results(const Module& module, const Function& function) {
  bool sums = false, stores = false, mixes = false;
  std::optional<std::pair<Word, isa::Type>> first;
  for (const Instruction& instruction : function.instructions) {
    if (instruction.form == kNone) continue;
    const isa::Spelling& s = module.spellings[instruction.form];
    const Family family = s.entry->family;
    const bool copies = family == Family::bulk_copy || family == Family::tensor_copy;
    const bool reduces = copies && s.has(Word::w_reduce) && !s.has(Word::w_shared_cluster);
    if (!reduces && (!is_shared_by_blocks(s) || is_narrow(s))) continue;
    if (family == Family::store) stores = stores || is_strong(s) || s.has(Word::w_release);
    if (family != Family::atomic && family != Family::reduction && !reduces) continue;
    if (s.has(Word::w_cas) || s.has(Word::w_exch) || s.has(Word::w_inc) || s.has(Word::w_dec))
      return "its atomic operations (exch, cas, inc, dec) leave other values in another order";
    sums = sums || (s.has(Word::w_add) && isa::info(s.form.type()).kind == isa::Class::floating);
    mixes = mixes || (first && *first != kind_of(s));
    first = kind_of(s);
  }
  if (stores) return "several blocks may store to one word with .volatile, .relaxed or .release: the last value stays";
  if (mixes) return "atomic operations of several kinds on one word leave other values in another order";
  if (sums) return "floating-point atomics add in the order of the blocks: the last bits of the sums may differ";
  return {};
}

} // namespace warplens::ir
