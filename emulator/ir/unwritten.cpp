// SPDX-License-Identifier: Apache-2.0
#include "emulator/ir/unwritten.hpp"

#include "emulator/ir/calls.hpp"
#include "emulator/ir/control_flow.hpp"
#include "emulator/ir/effects.hpp"

#include <algorithm>

namespace warplens::ir {

namespace {

using Bits = std::vector<std::uint64_t>;

void set(Bits& bits, std::uint32_t i) { bits[i / 64] |= std::uint64_t{1} << i % 64; }
bool has(const Bits& bits, std::uint32_t i) { return (bits[i / 64] >> i % 64 & 1) != 0; }

/// Where the values of an instruction go, if it only moves them: the operands from `first` to `last` into the first
/// operand. Compilers move values that they do not need.
struct Move {
  std::size_t first = 0, last = 0; ///< last < first: it does more than that
};

Move move_of(const Instruction& i) {
  const std::string_view head = i.head();
  if (head == "mov" || head == "cvta" || head == "shfl") return {1, 1};
  if (head == "cvt") return {1, 2};
  if (head == "selp" || head == "prmt" || head == "bfi") return {1, 2};
  return {1, 0};
}

class Analysis {
public:
  Analysis(const Module& module, const Function& function)
      : module_(module), function_(function), effects_(effects(module, function)), flow_(control_flow(function)),
        number_(function.registers.size(), kNone) {}

  Unwritten run() {
    find_unread();
    result_.part.resize(std::max<std::size_t>(1, function_.parts.size()));
    if (flow_.blocks.empty()) return std::move(result_);
    std::vector<std::uint32_t> found = live_at_entries();
    add_copies(found);
    std::sort(found.begin(), found.end());
    result_.registers = std::move(found);
    for (std::uint32_t n = 0; n < result_.registers.size(); ++n) number_[result_.registers[n]] = n;
    if (!result_.registers.empty())
      for (std::uint32_t i = 0; i < function_.instructions.size(); ++i) add_use(i);
    list_by_part();
    return std::move(result_);
  }

private:
  [[nodiscard]] std::size_t part_of(std::uint32_t instruction) const {
    for (std::size_t p = 0; p < function_.parts.size(); ++p)
      if (instruction >= function_.parts[p].first && instruction < function_.parts[p].end) return p;
    return 0;
  }

  void find_unread() {
    std::vector<bool> read(function_.registers.size());
    for (const Effect& e : effects_)
      for (const std::uint32_t r : e.reads) read[r] = true;
    for (const Part& part : function_.parts) // a result is read by the return
      for (const Formal& f : part.results)
        if (f.reg != kNone) read[f.reg] = true;
    result_.unread.resize(function_.instructions.size());
    for (std::size_t i = 0; i < function_.instructions.size(); ++i) {
      const auto operands = function_.operands(function_.instructions[i]);
      if (operands.empty()) continue;
      const auto elements = function_.each_of(operands[0]);
      for (std::size_t e = 0; e < elements.size() && e < 8; ++e) {
        const Operand& o = elements[e];
        const bool unread = o.kind == OperandKind::sink || (o.kind == OperandKind::reg && !read[o.index]);
        if (unread) result_.unread[i] = static_cast<std::uint8_t>(result_.unread[i] | 1u << e);
      }
    }
  }

  // Those that initcheck can follow.
  std::vector<bool> followed() const {
    std::vector<bool> list(function_.registers.size());
    for (std::size_t r = 0; r < list.size(); ++r)
      list[r] = function_.registers[r].components == 1 && function_.registers[r].shared == kNone;
    for (const Part& part : function_.parts) {
      for (const std::vector<Formal>* formals : {&part.params, &part.results})
        for (const Formal& f : *formals)
          if (f.reg != kNone) list[f.reg] = false;
      if (part.cycle == kNone) continue;
      for (std::uint32_t i = part.first; i < part.end; ++i)
        for (const auto* both : {&effects_[i].reads, &effects_[i].writes})
          for (const std::uint32_t r : *both) list[r] = false;
    }
    return list;
  }

  // Registers that some path from the entry of their part reads before it writes them.
  std::vector<std::uint32_t> live_at_entries() {
    followed_ = followed();
    const std::size_t blocks = flow_.blocks.size();
    // Only those that some block reads before it writes them matter.
    std::vector<std::uint32_t> candidates, position(function_.registers.size(), kNone);
    std::vector<std::vector<std::uint32_t>> exposed(blocks), killed(blocks);
    std::vector<std::uint32_t> seen(function_.registers.size(), kNone); // the last block that writes it
    for (std::uint32_t b = 0; b < blocks; ++b) {
      for (std::uint32_t i = flow_.blocks[b].first; i < flow_.blocks[b].end; ++i) {
        for (const std::uint32_t r : effects_[i].reads) {
          if (!followed_[r] || seen[r] == b) continue;
          exposed[b].push_back(r);
          if (position[r] == kNone)
            position[r] = static_cast<std::uint32_t>(candidates.size()), candidates.push_back(r);
        }
        if (!effects_[i].certain) continue;
        for (const std::uint32_t r : effects_[i].writes)
          if (seen[r] != b) seen[r] = b, killed[b].push_back(r);
      }
    }
    if (candidates.empty()) return {};
    std::vector<std::vector<std::uint32_t>> before(blocks);
    for (std::uint32_t b = 0; b < blocks; ++b)
      for (const std::uint32_t s : flow_.blocks[b].successors) before[s].push_back(b);
    const std::size_t words = (candidates.size() + 63) / 64;
    std::vector<Bits> in(blocks, Bits(words)), written(blocks, Bits(words));
    std::vector<std::uint32_t> work;
    for (std::uint32_t b = 0; b < blocks; ++b) {
      for (const std::uint32_t r : exposed[b]) set(in[b], position[r]);
      for (const std::uint32_t r : killed[b])
        if (position[r] != kNone) set(written[b], position[r]);
      work.push_back(b);
    }
    while (!work.empty()) {
      const std::uint32_t b = work.back();
      work.pop_back();
      for (const std::uint32_t p : before[b]) {
        std::uint64_t grown = 0;
        for (std::size_t w = 0; w < words; ++w) {
          const std::uint64_t fresh = in[b][w] & ~written[p][w] & ~in[p][w];
          in[p][w] |= fresh;
          grown |= fresh;
        }
        if (grown != 0) work.push_back(p);
      }
    }
    Bits all(words);
    const auto enter = [&](std::uint32_t b) {
      for (std::size_t w = 0; w < words; ++w) all[w] |= in[b][w];
    };
    enter(0);
    for (const Part& part : function_.parts)
      if (part.first != part.end) enter(flow_.block_of[part.first]);
    std::vector<std::uint32_t> list;
    for (std::uint32_t c = 0; c < candidates.size(); ++c)
      if (has(all, c)) list.push_back(candidates[c]);
    return list;
  }

  /// Calls `take(to, sources)` for each register that a move writes.
  template <class Take> void each_move(const Instruction& i, Take take) const {
    const Move move = move_of(i);
    const auto operands = function_.operands(i);
    if (move.last < move.first || operands.size() <= move.first) return;
    std::vector<const Operand*> sources;
    for (std::size_t n = move.first; n <= move.last && n < operands.size(); ++n)
      for (const Operand& o : function_.each_of(operands[n])) sources.push_back(&o);
    const Operand* value = &operands[0];
    if (value->kind == OperandKind::pair) value = &function_.elements(*value)[0]; // of shfl
    for (const Operand& o : function_.each_of(*value))
      if (o.kind == OperandKind::reg) take(o.index, sources);
  }

  // What is moved from a register that may be unwritten may be unwritten, too.
  void add_copies(std::vector<std::uint32_t>& found) {
    std::vector<bool> known(function_.registers.size());
    for (const std::uint32_t r : found) known[r] = true;
    for (bool again = !found.empty(); again;) {
      again = false;
      for (const Instruction& i : function_.instructions) {
        if (i.form == kNone || i.head() == "shfl") continue;
        each_move(i, [&](std::uint32_t to, const std::vector<const Operand*>& from) {
          const bool all = std::all_of(from.begin(), from.end(), [&](const Operand* o) {
            return o->kind == OperandKind::reg && known[o->index];
          });
          if (!all || known[to] || !followed_[to]) return;
          known[to] = again = true;
          found.push_back(to);
        });
      }
    }
  }

  void add_use(std::uint32_t index) {
    const Instruction& i = function_.instructions[index];
    if (i.form == kNone) return;
    UnwrittenUse use;
    if (i.guard != kNone) use.guard = number_[i.guard];
    std::vector<std::uint32_t> moved; // read by moves only
    each_move(i, [&](std::uint32_t to, const std::vector<const Operand*>& from) {
      UnwrittenUse::Copy copy{number_[to], {}};
      bool all = i.head() != "shfl"; // the value of another lane
      for (const Operand* o : from) {
        const std::uint32_t n = o->kind == OperandKind::reg ? number_[o->index] : kNone;
        if (o->kind == OperandKind::reg) moved.push_back(o->index);
        all = all && n != kNone;
        copy.from.push_back(n);
      }
      if (copy.to == kNone) return;
      if (!all) copy.from.clear();
      use.copies.push_back(std::move(copy));
    });
    if (is_call(i)) moved = effects_[index].reads; // passed on
    if (i.head() == "st") add_stored(i, use, moved);
    const auto is_moved = [&](std::uint32_t r) {
      const auto count = [&](const std::vector<std::uint32_t>& list) {
        return std::count(list.begin(), list.end(), r);
      };
      return count(moved) != 0 && count(effects_[index].reads) <= count(moved);
    };
    for (const std::uint32_t r : effects_[index].reads)
      if (number_[r] != kNone && r != i.guard && !is_moved(r)) use.uses.push_back(number_[r]);
    for (const std::uint32_t r : effects_[index].writes) {
      const std::uint32_t n = number_[r];
      const bool copied =
          std::any_of(use.copies.begin(), use.copies.end(), [&](const UnwrittenUse::Copy& c) { return c.to == n; });
      if (n != kNone && !copied) use.writes.push_back(n);
    }
    if (!use.empty()) result_.uses[index] = std::move(use);
  }

  void add_stored(const Instruction& i, UnwrittenUse& use, std::vector<std::uint32_t>& moved) const {
    const auto operands = function_.operands(i);
    if (operands.size() < 2) return;
    bool any = false;
    for (const Operand& o : function_.each_of(operands[1])) {
      const std::uint32_t n = o.kind == OperandKind::reg ? number_[o.index] : kNone;
      if (o.kind == OperandKind::reg) moved.push_back(o.index);
      use.stored.push_back(n);
      any = any || n != kNone;
    }
    if (!any) use.stored.clear();
  }

  void list_by_part() {
    for (auto& [index, use] : result_.uses) {
      std::vector<std::uint32_t>& list = result_.part[part_of(index)];
      if (use.guard != kNone) list.push_back(use.guard);
      list.insert(list.end(), use.uses.begin(), use.uses.end());
      list.insert(list.end(), use.writes.begin(), use.writes.end());
      for (const std::uint32_t n : use.stored)
        if (n != kNone) list.push_back(n);
      for (const UnwrittenUse::Copy& c : use.copies) {
        list.push_back(c.to);
        list.insert(list.end(), c.from.begin(), c.from.end());
      }
    }
    for (std::vector<std::uint32_t>& list : result_.part) {
      std::sort(list.begin(), list.end());
      list.erase(std::unique(list.begin(), list.end()), list.end());
    }
  }

  const Module& module_;
  const Function& function_;
  std::vector<Effect> effects_;
  ControlFlow flow_;
  std::vector<std::uint32_t> number_; ///< in the result, by register
  std::vector<bool> followed_;
  Unwritten result_;
};

} // namespace

Unwritten unwritten(const Module& module, const Function& function) { return Analysis(module, function).run(); }

} // namespace warplens::ir
