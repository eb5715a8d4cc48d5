// SPDX-License-Identifier: Apache-2.0
#include "emulator/ir/unwritten.hpp"

#include "emulator/ir/calls.hpp"
#include "emulator/ir/control_flow.hpp"
#include "emulator/ir/effects.hpp"

#include <algorithm>

namespace warplens::ir {

Dependence dependence_of(const Module& module, const Instruction& i) {
  const std::string_view head = i.head();
  if (head == "shfl") return Dependence::other_lanes;
  const isa::Family family = module.spellings[i.form].entry->family;
  if (head == "mov" || head == "cvt" || head == "cvta" || head == "selp" || head == "prmt" || head == "bfi")
    return Dependence::moves;
  if (head == "and" || head == "or" || head == "lop3") return Dependence::either;
  const bool computes =
      family == isa::Family::lane || family == isa::Family::set || family == isa::Family::logic_predicate;
  return computes ? Dependence::every : Dependence::none;
}

namespace {

using Bits = std::vector<std::uint64_t>;

void set(Bits& bits, std::uint32_t i) { bits[i / 64] |= std::uint64_t{1} << i % 64; }
bool has(const Bits& bits, std::uint32_t i) { return (bits[i / 64] >> i % 64 & 1) != 0; }

/// Of a move: the operands that the result is made of. The others, such as the predicate of selp, choose.
constexpr std::size_t kLastMoved = 2;

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
    result_.followed = followed_;
    add_results(found);
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

  static void add_registers(const Function& function, const Operand& o, std::vector<std::uint32_t>& list) {
    if (o.kind == OperandKind::reg) list.push_back(o.index);
    if (o.kind == OperandKind::vector || o.kind == OperandKind::pair)
      for (const Operand& element : function.elements(o)) add_registers(function, element, list);
  }

  /// The registers that the result is made of, and those that choose among them, …
  struct Sources {
    std::vector<std::uint32_t> made_of, choosing;
    bool others = false; ///< … and whether it is also made of something else than registers, where this matters
  };
  Sources sources_of(std::uint32_t index, Dependence dependence) const {
    const Instruction& i = function_.instructions[index];
    Sources s;
    if (dependence != Dependence::moves) {
      s.made_of = effects_[index].reads;
      if (i.guard != kNone) std::erase(s.made_of, i.guard);
      return s;
    }
    const auto operands = function_.operands(i);
    for (std::size_t n = 1; n < operands.size(); ++n) {
      add_registers(function_, operands[n], n <= kLastMoved ? s.made_of : s.choosing);
      for (const Operand& o : function_.each_of(operands[n]))
        s.others = s.others || (n <= kLastMoved && o.kind != OperandKind::reg);
    }
    return s;
  }

  // What is moved or computed from a register that may be unwritten may be unwritten, too.
  void add_results(std::vector<std::uint32_t>& found) {
    std::vector<bool> known(function_.registers.size());
    for (const std::uint32_t r : found) known[r] = true;
    const auto is_known = [&](std::uint32_t r) { return known[r]; };
    for (bool again = !found.empty(); again;) {
      again = false;
      for (std::uint32_t n = 0; n < function_.instructions.size(); ++n) {
        if (function_.instructions[n].form == kNone) continue;
        const Dependence dependence = dependence_of(module_, function_.instructions[n]);
        if (dependence == Dependence::none || dependence == Dependence::other_lanes) continue;
        const Sources s = sources_of(n, dependence);
        const bool all = !s.others && !s.made_of.empty() && std::all_of(s.made_of.begin(), s.made_of.end(), is_known);
        const bool any = dependence == Dependence::every && std::any_of(s.made_of.begin(), s.made_of.end(), is_known);
        const bool chosen = std::any_of(s.choosing.begin(), s.choosing.end(), is_known);
        if (!all && !any && !chosen) continue;
        for (const std::uint32_t to : effects_[n].writes) {
          if (known[to] || !followed_[to]) continue;
          known[to] = again = true;
          found.push_back(to);
        }
      }
    }
  }

  std::vector<std::uint32_t> numbers(const std::vector<std::uint32_t>& registers) const {
    std::vector<std::uint32_t> list;
    for (const std::uint32_t r : registers)
      if (number_[r] != kNone) list.push_back(number_[r]);
    return list;
  }

  void add_flows(std::uint32_t index, Dependence dependence, UnwrittenUse& use) const {
    const Sources s = sources_of(index, dependence);
    const std::vector<std::uint32_t> made_of = numbers(s.made_of), choosing = numbers(s.choosing);
    const bool any = dependence == Dependence::every;
    const bool flows = any ? !made_of.empty() : !s.others && !made_of.empty() && made_of.size() == s.made_of.size();
    for (const std::uint32_t r : effects_[index].writes) {
      const std::uint32_t to = number_[r];
      if (to == kNone) continue;
      if (flows) use.flows.push_back({to, made_of, any, dependence != Dependence::moves});
      if (!choosing.empty()) use.flows.push_back({to, choosing, true, true});
      if (!flows && choosing.empty()) use.writes.push_back(to);
    }
  }

  void add_use(std::uint32_t index) {
    const Instruction& i = function_.instructions[index];
    if (i.form == kNone) return;
    UnwrittenUse use;
    if (i.guard != kNone) use.guard = number_[i.guard];
    const Dependence dependence = dependence_of(module_, i);
    if (dependence != Dependence::none && dependence != Dependence::other_lanes) {
      add_flows(index, dependence, use);
    } else {
      std::vector<std::uint32_t> moved; // passed on
      if (is_call(i)) moved = effects_[index].reads;
      if (dependence == Dependence::other_lanes) add_registers(function_, function_.operands(i)[1], moved);
      if (i.head() == "st") add_stored(i, use, moved);
      std::vector<std::uint32_t> reads = effects_[index].reads;
      if (i.guard != kNone) std::erase(reads, i.guard);
      for (const std::uint32_t r : moved)
        if (const auto at = std::find(reads.begin(), reads.end(), r); at != reads.end()) reads.erase(at);
      use.needs = numbers(reads);
      use.writes = numbers(effects_[index].writes);
    }
    if (!use.empty()) result_.uses[index] = std::move(use);
  }

  // What goes to shared and local memory may not be needed: libraries exchange the values of whole blocks there.
  void add_stored(const Instruction& i, UnwrittenUse& use, std::vector<std::uint32_t>& moved) const {
    const auto operands = function_.operands(i);
    if (operands.size() < 2) return;
    std::vector<std::uint32_t> values;
    for (const Operand& o : function_.each_of(operands[1])) add_registers(function_, o, values);
    moved.insert(moved.end(), values.begin(), values.end());
    const Space space = module_.spellings[i.form].form.space();
    if (space == Space::global || space == Space::generic) use.stored = numbers(values);
  }

  void list_by_part() {
    for (auto& [index, use] : result_.uses) {
      std::vector<std::uint32_t>& list = result_.part[part_of(index)];
      if (use.guard != kNone) list.push_back(use.guard);
      list.insert(list.end(), use.needs.begin(), use.needs.end());
      list.insert(list.end(), use.writes.begin(), use.writes.end());
      list.insert(list.end(), use.stored.begin(), use.stored.end());
      for (const UnwrittenUse::Flow& f : use.flows) {
        list.push_back(f.to);
        list.insert(list.end(), f.from.begin(), f.from.end());
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
