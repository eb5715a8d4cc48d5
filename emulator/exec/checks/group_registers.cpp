// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/checks/group_registers.hpp"

namespace warplens::exec {

std::optional<GroupRegisters::Hazard> GroupRegisters::begin(std::uint32_t instruction) {
  const ir::GroupProduct& product = known_->products.at(instruction);
  std::optional<Hazard> hazard;
  const auto take = [&](std::uint32_t reg, bool is_result) {
    State& s = states_[reg];
    if (s.writer && !hazard) hazard = Hazard{reg, *s.writer, is_result};
    s = {instruction, next_group_, is_result, {}};
  };
  for (const std::uint32_t reg : product.d) take(reg, true);
  for (const std::uint32_t reg : product.a) take(reg, false);
  return hazard;
}

std::optional<GroupRegisters::Hazard> GroupRegisters::use(std::uint32_t instruction, bool all) {
  const ir::GroupUse& use = known_->uses.at(instruction);
  if (use.moves) {
    const auto from = states_.find(use.reads[0]);
    move(from != states_.end() ? &from->second : nullptr, use.writes[0], all);
    return std::nullopt;
  }
  std::optional<Hazard> hazard;
  const auto look = [&](std::uint32_t reg, bool writes) {
    const auto found = states_.find(reg);
    if (hazard || found == states_.end() || !found->second.product) return;
    const State& s = found->second;
    if (s.is_result || writes) hazard = Hazard{reg, *s.product, writes, s.group < next_group_};
  };
  for (const std::uint32_t reg : use.reads) look(reg, false);
  for (const std::uint32_t reg : use.writes) look(reg, true);
  for (const std::uint32_t reg : use.writes)
    states_[reg] = {{}, 0, false, use.constant ? std::nullopt : std::optional(instruction)};
  return hazard;
}

// With only some lanes, the others keep what they have.
void GroupRegisters::move(const State* from, std::uint32_t to, bool all) {
  if (from != nullptr && (all || from->product || from->writer))
    states_[to] = State(*from);
  else if (all)
    states_.erase(to);
}

void GroupRegisters::fence() {
  fenced_ = true;
  for (auto& [reg, state] : states_) state.writer.reset();
}

void GroupRegisters::wait(std::uint64_t running) {
  for (auto& [reg, state] : states_)
    if (state.product && state.group + running < next_group_) state.product.reset();
}

} // namespace warplens::exec
