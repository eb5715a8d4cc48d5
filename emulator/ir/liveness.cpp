#include "emulator/ir/liveness.hpp"

#include "emulator/ir/calls.hpp"
#include "emulator/ir/control_flow.hpp"

#include <algorithm>
#include <bit>

namespace warplens::ir {

namespace {

class Bits {
public:
  explicit Bits(std::size_t n) : words_((n + 63) / 64) {}
  void set(std::size_t i) { words_[i / 64] |= std::uint64_t{1} << i % 64; }
  void clear(std::size_t i) { words_[i / 64] &= ~(std::uint64_t{1} << i % 64); }
  [[nodiscard]] bool test(std::size_t i) const { return (words_[i / 64] >> i % 64 & 1) != 0; }
  void add(const Bits& other) {
    for (std::size_t w = 0; w < words_.size(); ++w) words_[w] |= other.words_[w];
  }
  template <class Each> void for_each(Each&& each) const {
    for (std::size_t w = 0; w < words_.size(); ++w)
      for (std::uint64_t rest = words_[w]; rest != 0; rest &= rest - 1)
        each(w * 64 + static_cast<std::size_t>(std::countr_zero(rest)));
  }
  friend bool operator==(const Bits&, const Bits&) = default;

private:
  std::vector<std::uint64_t> words_;
};

/// The registers that an instruction reads and writes.
struct Effect {
  std::vector<std::uint32_t> reads, writes;
  bool certain = true; ///< false: the guard, or a part of a vector register, may leave the old value
};

class Liveness {
public:
  Liveness(const Module& module, const Function& function)
      : module_(module), function_(function), flow_(control_flow(function)) {
    for (const Register& r : function.registers) weights_.push_back(weight(r));
    for (const Instruction& i : function.instructions) effects_.push_back(effect(i));
  }

  std::uint32_t pressure() {
    if (function_.instructions.empty()) return 0;
    settle();
    std::uint32_t most = 0;
    for (std::uint32_t b = 0; b < flow_.blocks.size(); ++b) {
      Bits live = out_of(b);
      std::uint32_t now = 0;
      live.for_each([&](std::size_t r) { now += weights_[r]; });
      most = std::max(most, now);
      for (std::uint32_t i = flow_.blocks[b].end; i-- > flow_.blocks[b].first;)
        most = std::max(most, step(i, live, now));
    }
    return most;
  }

  std::vector<std::vector<std::uint32_t>> after(const std::vector<std::uint32_t>& instructions) {
    settle();
    std::vector<std::vector<std::uint32_t>> result;
    for (const std::uint32_t instruction : instructions) {
      const std::uint32_t block = flow_.block_of[instruction];
      Bits live = out_of(block);
      std::uint32_t ignored = 0;
      for (std::uint32_t i = flow_.blocks[block].end; --i > instruction;) step(i, live, ignored);
      live.for_each(
          [&, list = &result.emplace_back()](std::size_t r) { list->push_back(static_cast<std::uint32_t>(r)); });
    }
    return result;
  }

private:
  static std::uint32_t weight(const Register& r) {
    const auto bits = static_cast<std::uint32_t>(isa::bits(r.type));
    return r.type == Type::pred ? 0 : (bits + 31) / 32 * r.components;
  }

  // Which of the written operands are destinations. An unknown instruction is taken to write its first operand.
  [[nodiscard]] std::vector<bool> destinations(const Instruction& i) const {
    std::vector<bool> list;
    if (i.form == kNone) return {true};
    if (is_call(i)) return {!call_operands(function_, i).results.empty()};
    const isa::OperandList& operands = module_.spellings[i.form].entry->operands;
    for (int n = 0; n < operands.count; ++n)
      if (operands.items[n].is_written()) list.push_back(operands.items[n].destination);
    return list;
  }

  void collect(const Operand& o, bool writes, Effect& effect) const {
    switch (o.kind) {
    case OperandKind::reg:
      (writes ? effect.writes : effect.reads).push_back(o.index);
      if (writes && o.component != 0 && o.component < kByte0) effect.certain = false;
      break;
    case OperandKind::vector:
    case OperandKind::pair:
    case OperandKind::list:
      for (const Operand& element : function_.elements(o)) collect(element, writes, effect);
      break;
    case OperandKind::address:
    case OperandKind::indexed:
      for (const Operand& element : function_.elements(o)) collect(element, false, effect);
      break;
    default: break;
    }
  }

  [[nodiscard]] Effect effect(const Instruction& i) const {
    Effect result;
    const std::vector<bool> writes = destinations(i);
    const std::span<const Operand> operands = function_.operands(i);
    for (std::size_t n = 0; n < operands.size(); ++n) collect(operands[n], n < writes.size() && writes[n], result);
    if (i.guard != kNone) {
      result.reads.push_back(i.guard);
      result.certain = false;
    }
    return result;
  }

  [[nodiscard]] Bits out_of(std::uint32_t block) const {
    Bits live(weights_.size());
    for (const std::uint32_t s : flow_.blocks[block].successors) live.add(in_[s]);
    return live;
  }

  // From what is live after an instruction to what is live before it; returns the most while it runs.
  std::uint32_t step(std::uint32_t i, Bits& live, std::uint32_t& now) const {
    const Effect& e = effects_[i];
    std::uint32_t during = now;
    for (const std::uint32_t r : e.writes)
      if (!live.test(r)) during += weights_[r];
    if (e.certain)
      for (const std::uint32_t r : e.writes)
        if (live.test(r)) live.clear(r), now -= weights_[r];
    for (const std::uint32_t r : e.reads)
      if (!live.test(r)) live.set(r), now += weights_[r];
    return std::max(during, now);
  }

  // Backwards over the blocks until nothing changes.
  void settle() {
    in_.assign(flow_.blocks.size(), Bits(weights_.size()));
    for (bool changed = true; changed;) {
      changed = false;
      for (auto b = static_cast<std::uint32_t>(flow_.blocks.size()); b-- > 0;) {
        Bits live = out_of(b);
        std::uint32_t ignored = 0;
        for (std::uint32_t i = flow_.blocks[b].end; i-- > flow_.blocks[b].first;) step(i, live, ignored);
        if (live == in_[b]) continue;
        in_[b] = std::move(live);
        changed = true;
      }
    }
  }

  const Module& module_;
  const Function& function_;
  ControlFlow flow_;
  std::vector<std::uint32_t> weights_; ///< by register
  std::vector<Effect> effects_;        ///< by instruction
  std::vector<Bits> in_;               ///< live at the begin of each block
};

} // namespace

std::uint32_t register_pressure(const Module& module, const Function& function) {
  return Liveness(module, function).pressure();
}

std::vector<std::vector<std::uint32_t>> live_after(const Module& module, const Function& function,
                                                   const std::vector<std::uint32_t>& instructions) {
  return Liveness(module, function).after(instructions);
}

std::uint32_t estimated_registers(const Module& module, const Function& function) {
  return std::max(kFewestRegisters, register_pressure(module, function) + kReservedRegisters);
}

} // namespace warplens::ir
