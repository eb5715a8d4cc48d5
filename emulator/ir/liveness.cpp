// SPDX-License-Identifier: Apache-2.0
#include "emulator/ir/liveness.hpp"

#include "emulator/base/limits.hpp"
#include "emulator/ir/calls.hpp"
#include "emulator/ir/control_flow.hpp"
#include "emulator/ir/effects.hpp"

#include <algorithm>
#include <set>
#include <span>
#include <utility>

namespace warplens::ir {

namespace {

class Liveness {
public:
  Liveness(const Module& module, const Function& function)
      : function_(function), flow_(control_flow(function)), effects_(effects(module, function)) {
    for (const Register& r : function.registers) weights_.push_back(weight(r));
  }

  /// From now on, values that are the same for all threads of a block and known when it starts need no registers:
  /// parameters, %ctaid and similar, numbers, addresses of variables. The compiler reads them where they are needed.
  void leave_out_constants() {
    const std::vector<bool> constant = constants();
    for (std::size_t r = 0; r < constant.size(); ++r)
      if (constant[r]) weights_[r] = 0;
  }

  /// From now on, 64-bit integers take one register, because they are 32-bit addresses.
  void shorten_addresses() {
    for (std::size_t r = 0; r < weights_.size(); ++r)
      if (isa::bits(function_.registers[r].type) == 64 && function_.registers[r].type != Type::f64) weights_[r] /= 2;
  }

  [[nodiscard]] bool calls() const {
    return std::any_of(function_.instructions.begin(), function_.instructions.end(),
                       [](const Instruction& i) { return is_call(i); });
  }

  std::uint32_t pressure() {
    find_occurrences();
    if (!spread([&](std::uint32_t r) { return weights_[r] != 0; }, [](std::uint32_t, std::uint32_t) {}))
      return kMostExact;
    std::uint32_t most = 0;
    for (std::uint32_t b = 0; b < flow_.blocks.size(); ++b) {
      std::uint32_t now = weight_out_[b];
      most = std::max(most, now);
      for (const Occurrence& o : in_block(b)) live_[o.reg] = o.live_out;
      for (std::uint32_t i = flow_.blocks[b].end; i-- > flow_.blocks[b].first;) most = std::max(most, step(i, now));
    }
    return most;
  }

  std::optional<std::vector<std::vector<std::uint32_t>>> after(const std::vector<std::uint32_t>& instructions) {
    std::vector<std::vector<std::size_t>> asked(flow_.blocks.size()); // positions in `instructions`
    for (std::size_t q = 0; q < instructions.size(); ++q) asked[flow_.block_of[instructions[q]]].push_back(q);
    std::vector<std::vector<std::uint32_t>> out(flow_.blocks.size());
    std::size_t total = 0;
    find_occurrences();
    const auto leaves = [&](std::uint32_t b, std::uint32_t r) {
      if (asked[b].empty()) return;
      out[b].push_back(r);
      ++total;
    };
    if (!spread([](std::uint32_t) { return true; }, leaves) || !limits::kSavedRegisters.admits(total))
      return std::nullopt;
    std::vector<std::vector<std::uint32_t>> result(instructions.size());
    total = 0;
    for (std::uint32_t b = 0; b < asked.size(); ++b) {
      if (asked[b].empty()) continue;
      std::sort(asked[b].begin(), asked[b].end(),
                [&](std::size_t x, std::size_t y) { return instructions[x] > instructions[y]; });
      std::set<std::uint32_t> live(out[b].begin(), out[b].end());
      std::uint32_t i = flow_.blocks[b].end;
      for (const std::size_t q : asked[b]) {
        while (--i > instructions[q]) step_back(i, live);
        ++i; // still to be stepped over
        result[q].assign(live.begin(), live.end());
        if (!limits::kSavedRegisters.admits(total += live.size())) return std::nullopt;
      }
    }
    return result;
  }

private:
  // Finds registers with a single definition, which moves a constant or loads a parameter.
  [[nodiscard]] std::vector<bool> constants() const {
    std::vector<std::uint32_t> definitions(function_.registers.size());
    for (const Effect& e : effects_)
      for (const std::uint32_t r : e.writes) ++definitions[r];
    std::vector<bool> constant(function_.registers.size());
    for (std::size_t i = 0; i < effects_.size(); ++i) { // a source of a move is defined earlier
      const Effect& e = effects_[i];
      const bool moves = copies_a_constant(function_.instructions[i]) &&
                         std::all_of(e.reads.begin(), e.reads.end(), [&](std::uint32_t r) { return constant[r]; });
      for (const std::uint32_t r : e.writes) constant[r] = moves && e.certain && definitions[r] == 1;
    }
    return constant;
  }

  // Assumes that the registers it reads are constants.
  [[nodiscard]] bool copies_a_constant(const Instruction& i) const {
    const std::string_view head = i.head();
    if (head == "ld") return i.opcode.starts_with("ld.param");
    if (head != "mov" && head != "cvta") return false;
    for (const Operand& o : function_.operands(i)) {
      const auto special = static_cast<isa::Special>(o.index);
      if (o.kind == OperandKind::special && special != isa::Special::ctaid && special != isa::Special::ntid &&
          special != isa::Special::nctaid)
        return false;
    }
    return true;
  }

  static std::uint32_t weight(const Register& r) {
    const auto bits = static_cast<std::uint32_t>(isa::bits(r.type));
    return r.type == Type::pred ? 0 : (bits + 31) / 32 * r.components;
  }

  /// A register in a block that mentions it.
  struct Occurrence {
    std::uint32_t block = 0, reg = 0;
    bool exposed = false; ///< read before it is written
    bool kills = false;   ///< written with certainty
    bool live_out = false;
    std::size_t earlier = kNowhere; ///< the previous occurrence of this register
  };
  static constexpr std::size_t kNowhere = ~std::size_t{0};

  [[nodiscard]] std::span<const Occurrence> in_block(std::uint32_t b) const {
    return std::span(occurrences_).subspan(block_begin_[b], block_begin_[b + 1] - block_begin_[b]);
  }

  // Which registers each block mentions, and which blocks mention each register.
  void find_occurrences() {
    const auto blocks = static_cast<std::uint32_t>(flow_.blocks.size());
    live_.assign(weights_.size(), false);
    last_.assign(weights_.size(), kNowhere);
    const auto occurrence = [&](std::uint32_t b, std::uint32_t r) -> Occurrence& {
      if (last_[r] == kNowhere || occurrences_[last_[r]].block != b) {
        occurrences_.push_back({.block = b, .reg = r, .earlier = last_[r]});
        last_[r] = occurrences_.size() - 1;
      }
      return occurrences_[last_[r]];
    };
    for (std::uint32_t b = 0; b < blocks; ++b) {
      block_begin_.push_back(occurrences_.size());
      for (std::uint32_t i = flow_.blocks[b].end; i-- > flow_.blocks[b].first;) {
        const Effect& e = effects_[i];
        for (const std::uint32_t r : e.writes) {
          Occurrence& o = occurrence(b, r);
          if (e.certain) o.exposed = false, o.kills = true;
        }
        for (const std::uint32_t r : e.reads) occurrence(b, r).exposed = true;
      }
    }
    block_begin_.push_back(occurrences_.size());
  }

  // For each register: from the blocks that read it back to those that write it. The work depends on how long registers
  // stay live; returns false if it exceeds kMostExact registers in every block.
  template <class Wanted, class Leaves> bool spread(Wanted wanted, Leaves leaves) {
    const std::size_t blocks = flow_.blocks.size();
    std::vector<std::vector<std::uint32_t>> into(blocks);
    std::size_t edges = 0;
    for (std::uint32_t b = 0; b < blocks; ++b)
      for (const std::uint32_t s : flow_.blocks[b].successors) into[s].push_back(b), ++edges;
    // By block: the last register, plus one, that is live into it, live out of it, written in it.
    std::vector<std::uint32_t> in(blocks, 0), out(blocks, 0), killed(blocks, 0), work;
    std::size_t left = kMostExact * (blocks + edges);
    weight_out_.assign(blocks, 0);
    for (std::uint32_t r = 0; r < weights_.size(); ++r) {
      if (!wanted(r)) continue;
      for (std::size_t o = last_[r]; o != kNowhere; o = occurrences_[o].earlier) {
        const Occurrence& here = occurrences_[o];
        if (here.kills) killed[here.block] = r + 1;
        if (here.exposed) in[here.block] = r + 1, work.push_back(here.block);
      }
      while (!work.empty()) {
        const std::uint32_t b = work.back();
        work.pop_back();
        if (left < into[b].size() + 1) return false;
        left -= into[b].size() + 1;
        for (const std::uint32_t p : into[b]) {
          if (std::exchange(out[p], r + 1) == r + 1) continue;
          weight_out_[p] += weights_[r];
          leaves(p, r);
          if (killed[p] != r + 1 && std::exchange(in[p], r + 1) != r + 1) work.push_back(p);
        }
      }
      for (std::size_t o = last_[r]; o != kNowhere; o = occurrences_[o].earlier)
        occurrences_[o].live_out = out[occurrences_[o].block] == r + 1;
    }
    return true;
  }

  // From the registers live after an instruction to those live before it; returns the maximum during the instruction.
  std::uint32_t step(std::uint32_t i, std::uint32_t& now) {
    const Effect& e = effects_[i];
    std::uint32_t during = now;
    for (const std::uint32_t r : e.writes)
      if (!live_[r]) during += weights_[r];
    if (e.certain)
      for (const std::uint32_t r : e.writes)
        if (live_[r]) live_[r] = false, now -= weights_[r];
    for (const std::uint32_t r : e.reads)
      if (!live_[r]) live_[r] = true, now += weights_[r];
    return std::max(during, now);
  }

  void step_back(std::uint32_t i, std::set<std::uint32_t>& live) const {
    const Effect& e = effects_[i];
    if (e.certain)
      for (const std::uint32_t r : e.writes) live.erase(r);
    live.insert(e.reads.begin(), e.reads.end());
  }

  const Function& function_;
  ControlFlow flow_;
  std::vector<Effect> effects_;        ///< by instruction
  std::vector<std::uint32_t> weights_; ///< by register
  std::vector<Occurrence> occurrences_;
  std::vector<std::size_t> block_begin_;  ///< in occurrences_
  std::vector<std::size_t> last_;         ///< occurrence, by register
  std::vector<std::uint32_t> weight_out_; ///< by block: of the registers that are live at its end
  std::vector<bool> live_;                ///< by register, for those in the current block
};

} // namespace

std::uint32_t register_pressure(const Module& module, const Function& function) {
  return Liveness(module, function).pressure();
}

std::optional<std::vector<std::vector<std::uint32_t>>> live_after(const Module& module, const Function& function,
                                                                  const std::vector<std::uint32_t>& instructions) {
  return Liveness(module, function).after(instructions);
}

std::uint32_t estimated_registers(const Module& module, const Function& function, int address_bits) {
  Liveness liveness(module, function);
  if (address_bits == 32) liveness.shorten_addresses();
  liveness.leave_out_constants();
  const std::uint32_t needed = liveness.pressure() + kRoom;
  return liveness.calls() ? std::max(needed, kFewestOfCallers) : needed;
}

} // namespace warplens::ir
