// SPDX-License-Identifier: Apache-2.0
#include "emulator/ir/swap_updates.hpp"

#include "emulator/ir/effects.hpp"
#include "emulator/ir/opcode_parts.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace warplens::ir {

namespace {

bool compares_and_swaps(const Instruction& i) { return i.head() == "atom" && has_part(i, "cas"); }

bool chooses(const Instruction& i) {
  constexpr std::array<std::string_view, 7> kHeads = {"max", "min", "selp", "set", "setp", "slct", "testp"};
  return std::find(kHeads.begin(), kHeads.end(), i.head()) != kHeads.end();
}

class Finder {
public:
  Finder(const Module& module, const Function& function)
      : function_(function), effects_(effects(module, function)), writers_(function.registers.size()) {
    for (std::size_t i = 0; i < effects_.size(); ++i)
      for (const std::uint32_t written : effects_[i].writes) writers_[written].push_back(i);
  }

  /// Follows the value that `swap` writes back to what it found, through all instructions but loads.
  [[nodiscard]] bool updates(std::size_t swap) const {
    const Operand& value = function_.operands(function_.instructions[swap]).back();
    if (value.kind != OperandKind::reg) return false;
    std::vector<bool> seen(writers_.size());
    std::vector<std::uint32_t> open{value.index};
    bool found = false;
    while (!open.empty()) {
      const std::uint32_t next = open.back();
      open.pop_back();
      if (seen[next]) continue;
      seen[next] = true;
      for (const std::size_t i : writers_[next]) {
        const Instruction& writer = function_.instructions[i];
        if (chooses(writer)) return false;
        found = found || i == swap;
        if (i != swap && writer.head() != "ld")
          open.insert(open.end(), effects_[i].reads.begin(), effects_[i].reads.end());
      }
    }
    return found;
  }

private:
  const Function& function_;
  std::vector<Effect> effects_;
  std::vector<std::vector<std::size_t>> writers_; ///< by register
};

} // namespace

std::vector<bool> swap_updates(const Module& module, const Function& function) {
  const auto& all = function.instructions;
  std::vector<bool> result(all.size());
  if (std::none_of(all.begin(), all.end(), compares_and_swaps)) return result;
  const Finder finder(module, function);
  for (std::size_t i = 0; i < all.size(); ++i) result[i] = compares_and_swaps(all[i]) && finder.updates(i);
  return result;
}

} // namespace warplens::ir
