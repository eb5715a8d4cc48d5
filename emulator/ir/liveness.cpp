#include "emulator/ir/liveness.hpp"

#include "emulator/ir/calls.hpp"
#include "emulator/ir/control_flow.hpp"
#include "emulator/ir/effects.hpp"

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

class Liveness {
public:
  Liveness(const Module& module, const Function& function)
      : function_(function), flow_(control_flow(function)), effects_(effects(module, function)) {
    for (const Register& r : function.registers) weights_.push_back(weight(r));
  }

  /// From now on, values that are the same for all threads of a block, and known when it starts, take no registers:
  /// parameters, %ctaid and its kind, numbers, addresses of variables. The compiler reads them where they are needed.
  void leave_out_constants() {
    const std::vector<bool> constant = constants();
    for (std::size_t r = 0; r < constant.size(); ++r)
      if (constant[r]) weights_[r] = 0;
  }

  /// From now on, integers of 64 bits take one register, for they are addresses of 32 bits.
  void shorten_addresses() {
    for (std::size_t r = 0; r < weights_.size(); ++r)
      if (isa::bits(function_.registers[r].type) == 64 && function_.registers[r].type != Type::f64) weights_[r] /= 2;
  }

  [[nodiscard]] bool calls() const {
    return std::any_of(function_.instructions.begin(), function_.instructions.end(),
                       [](const Instruction& i) { return is_call(i); });
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
  // Registers with a single definition, which moves a constant or loads a parameter.
  [[nodiscard]] std::vector<bool> constants() const {
    std::vector<std::uint32_t> definitions(function_.registers.size());
    for (const Effect& e : effects_)
      for (const std::uint32_t r : e.writes) ++definitions[r];
    std::vector<bool> constant(function_.registers.size());
    for (std::size_t i = 0; i < effects_.size(); ++i) { // what is moved on has been defined before
      const Effect& e = effects_[i];
      const bool moves = copies_a_constant(function_.instructions[i]) &&
                         std::all_of(e.reads.begin(), e.reads.end(), [&](std::uint32_t r) { return constant[r]; });
      for (const std::uint32_t r : e.writes) constant[r] = moves && e.certain && definitions[r] == 1;
    }
    return constant;
  }

  // Provided that the registers it reads are constants.
  [[nodiscard]] bool copies_a_constant(const Instruction& i) const {
    const std::string_view head = i.opcode.substr(0, i.opcode.find('.'));
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

  const Function& function_;
  ControlFlow flow_;
  std::vector<Effect> effects_;        ///< by instruction
  std::vector<std::uint32_t> weights_; ///< by register
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

std::uint32_t estimated_registers(const Module& module, const Function& function, int address_bits) {
  Liveness liveness(module, function);
  if (address_bits == 32) liveness.shorten_addresses();
  liveness.leave_out_constants();
  const std::uint32_t needed = liveness.pressure() + kRoom;
  return liveness.calls() ? std::max(needed, kFewestOfCallers) : needed;
}

} // namespace warplens::ir
