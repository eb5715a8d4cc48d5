// SPDX-License-Identifier: Apache-2.0
#include "analyzers/compiled_atomics.hpp"

#include "analyzers/sorted_lanes.hpp"
#include "emulator/ir/effects.hpp"
#include "emulator/isa/special_registers.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <string>

namespace warplens::analyzers {

namespace {

// Before, the compiler had no instructions that combine the lanes of a warp.
constexpr int kFirstArchitecture = 70;

bool spells(const ir::Instruction& i, std::string_view part) {
  return (std::string(i.opcode) + ".").find("." + std::string(part) + ".") != std::string::npos;
}

bool is_atomic_instruction(const ir::Instruction& i) { return i.head() == "atom" || i.head() == "red"; }

/// Finds registers that hold the same value in all lanes, as far as a compiler can tell.
class Uniformity {
public:
  Uniformity(const ir::Function& function, const std::vector<ir::Effect>& effects)
      : function_(function), effects_(effects) {
    for (std::size_t i = 0; i < effects.size(); ++i)
      for (const std::uint32_t written : effects[i].writes) writers_[written].push_back(i);
  }

  /// Of all registers that the instruction reads for its address.
  [[nodiscard]] bool of_address(const ir::Instruction& instruction) const {
    for (const ir::Operand& o : function_.operands(instruction)) {
      if (o.kind != ir::OperandKind::address) continue;
      for (std::uint32_t k = 0; k < o.count; ++k) {
        const ir::Operand& part = function_.operand_pool[o.index + k];
        if (part.kind == ir::OperandKind::reg && !of_register(part.index)) return false;
      }
      return true;
    }
    return false;
  }

private:
  [[nodiscard]] bool of_register(std::uint32_t reg) const {
    std::set<std::uint32_t> seen{reg};
    std::vector<std::uint32_t> open{reg};
    while (!open.empty()) {
      const std::uint32_t next = open.back();
      open.pop_back();
      const auto writers = writers_.find(next);
      if (writers == writers_.end()) continue;
      for (const std::size_t i : writers->second) {
        if (differs(function_.instructions[i])) return false;
        for (const std::uint32_t read : effects_[i].reads)
          if (seen.insert(read).second) open.push_back(read);
      }
    }
    return true;
  }

  [[nodiscard]] bool differs(const ir::Instruction& i) const {
    const std::string_view head = i.head();
    if (is_atomic_instruction(i) || head == "shfl" || head == "tex" || head == "call" || head == "match" ||
        spells(i, "local"))
      return true;
    for (const ir::Operand& o : function_.operands(i)) {
      if (o.kind != ir::OperandKind::special) continue;
      const auto special = static_cast<isa::Special>(o.index);
      if (special == isa::Special::tid || special == isa::Special::laneid) return true;
    }
    return false;
  }

  const ir::Function& function_;
  const std::vector<ir::Effect>& effects_;
  std::map<std::uint32_t, std::vector<std::size_t>> writers_;
};

bool is_one(const ir::Function& function, const ir::Instruction& i) {
  const auto operands = function.operands(i);
  return !operands.empty() && operands.back().kind == ir::OperandKind::integer && operands.back().value == 1;
}

bool have_one_address(const exec::Access& access) {
  const std::uint64_t first = access.addresses[std::countr_zero(access.mask)];
  for (exec::Mask rest = access.mask; rest; rest &= rest - 1)
    if (access.addresses[std::countr_zero(rest)] != first) return false;
  return true;
}

} // namespace

CompiledAtomics::CompiledAtomics(const ir::Module& module, const ir::Function& function) {
  const auto& all = function.instructions;
  if (module.sm < kFirstArchitecture || std::none_of(all.begin(), all.end(), is_atomic_instruction)) return;
  const std::vector<ir::Effect> effects = ir::effects(module, function);
  std::set<std::uint32_t> read;
  for (const ir::Effect& one : effects) read.insert(one.reads.begin(), one.reads.end());
  const Uniformity uniform(function, effects);
  ways_.resize(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!is_atomic_instruction(all[i])) continue;
    const bool exchange = spells(all[i], "exch") || spells(all[i], "cas");
    const bool integer = spells(all[i], "u32") || spells(all[i], "s32") || spells(all[i], "b32");
    const bool adds = integer && spells(all[i], "add");
    bool combines = false;
    for (const std::string_view how : {"min", "max", "and", "or", "xor"}) combines = combines || spells(all[i], how);
    const auto& written = effects[i].writes;
    const bool unused = std::none_of(written.begin(), written.end(), [&](std::uint32_t r) { return read.count(r); });
    Way& way = ways_[i];
    way.reduction = unused && !exchange;
    way.one_lane = (adds || (integer && combines && unused)) && uniform.of_address(all[i]);
    way.counts = adds && unused && is_one(function, all[i]);
  }
}

exec::Access CompiledAtomics::changed(exec::Access access) const {
  const Way& way = ways_[access.instruction];
  if (way.reduction) access.kind = exec::AccessKind::reduction;
  exec::Mask kept = access.mask;
  if (way.counts && access.space == isa::Space::shared)
    kept = first_lanes(access.addresses, access.mask);
  else if (way.one_lane && have_one_address(access)) // otherwise, the compiler knows less than assumed
    kept = access.mask & (~access.mask + 1);
  if (kept != access.mask) {
    access.mask = kept;
    access.halves = nullptr;
    access.shape = exec::Shape::irregular;
    access.stride = 0;
  }
  return access;
}

} // namespace warplens::analyzers
