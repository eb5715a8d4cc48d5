// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/checks/race/stored_values.hpp"

#include "emulator/exec/block/cluster.hpp"

#include <cstring>

namespace warplens::exec::race {

std::vector<std::byte> StoredValues::of(int lane) const {
  const Program& program = access_.warp->cta->program;
  const ir::Function& function = *program.function;
  const ir::Instruction& instruction = function.instructions[access_.site->instruction];
  const isa::Spelling& spelling = program.module->spellings[instruction.form];
  if (op_ == nullptr || spelling.entry->family != isa::Family::store) return {};
  const isa::Type type = spelling.form.type();
  const auto values = function.each_of(function.operands(instruction)[1]);
  const auto bytes = static_cast<std::size_t>(isa::bytes(type));
  std::size_t wide = bytes; // of the registers
  for (const ir::Operand& value : values)
    if (value.kind == ir::OperandKind::reg)
      wide = std::max(wide, static_cast<std::size_t>(isa::bytes(function.registers[value.index].type)));
  const std::uint32_t few[] = {op_->src[1], op_->src[2], op_->src[3], op_->dst[0]};
  std::vector<std::byte> result(bytes * values.size());
  for (std::size_t e = 0; e < values.size(); ++e) {
    const std::uint32_t row_of = values.size() > 4 ? access_.site->from[e] : few[e];
    const auto* const from = reinterpret_cast<const std::byte*>(access_.warp) + row_of;
    std::memcpy(result.data() + e * bytes, from + static_cast<std::size_t>(lane) * wide, bytes);
  }
  return result;
}

const std::byte* StoredValues::memory(int lane) const {
  const std::uint64_t address = access_.address(lane);
  if (access_.space == isa::Space::global) return reinterpret_cast<const std::byte*>(address);
  const Cta& cta = *access_.warp->cta;
  return cta.cluster->shared(cta, address, access_.site->lane_bytes, true);
}

bool StoredValues::stores_what_is_there(int lane) const {
  const std::vector<std::byte> value = of(lane);
  const std::byte* const there = memory(lane);
  return !value.empty() && there != nullptr && std::memcmp(value.data(), there, value.size()) == 0;
}

bool StoredValues::same(int lane, int other) const {
  const std::vector<std::byte> value = of(lane);
  return !value.empty() && value == of(other);
}

} // namespace warplens::exec::race
