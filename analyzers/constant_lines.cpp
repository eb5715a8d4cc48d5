// SPDX-License-Identifier: Apache-2.0
#include "analyzers/constant_lines.hpp"

#include "emulator/ir/parameter_layout.hpp"

#include <algorithm>

namespace warplens::analyzers {

namespace {

using Numbers = std::vector<std::uint64_t>;

/// Few lines are read again and again.
void insert(Numbers& sorted, std::uint64_t number) {
  const auto place = std::lower_bound(sorted.begin(), sorted.end(), number);
  if (place == sorted.end() || *place != number) sorted.insert(place, number);
}

void insert_all(Numbers& sorted, const Numbers& others) {
  for (const std::uint64_t number : others) insert(sorted, number);
}

std::uint64_t segments_of(const Numbers& lines) {
  constexpr std::uint64_t kLines = ConstantLines::kSegmentBytes / ConstantLines::kLineBytes;
  std::uint64_t count = 0, last = ~std::uint64_t{0};
  for (const std::uint64_t line : lines) {
    count += line / kLines != last ? 1 : 0;
    last = line / kLines;
  }
  return count;
}

/// The parameter that a load names, or null.
const ir::Operand* named_parameter(const ir::Function& function, const ir::Instruction& instruction) {
  if (instruction.instruction_class != isa::InstructionClass::param || instruction.head() != "ld") return nullptr;
  const auto operands = function.operands(instruction);
  if (operands.size() < 2 || operands[1].count == 0) return nullptr;
  const ir::Operand& base = function.elements(operands[1])[0];
  const bool named =
      base.kind == ir::OperandKind::variable && ir::variable_owner(base.index) == ir::VariableOwner::parameter;
  return named ? &base : nullptr;
}

} // namespace

void ConstantLines::Shard::each_access(const exec::WarpId& id, const exec::Access& access) {
  if (!records(id.cta)) return;
  const bool constant = access.space == isa::Space::constant;
  if (!constant && access.space != isa::Space::param) return;
  Lines& lines = of_[id.cta == 0 ? 0 : 1];
  Numbers& numbers = constant ? lines.constants : lines.parameters;
  const std::uint64_t bytes = std::max<std::uint64_t>(access.lane_bytes, 1);
  for (const int lane : exec::EachLane(access.mask)) {
    const std::uint64_t first = access.addresses[lane] / kLineBytes;
    for (std::uint64_t line = first; line <= (access.addresses[lane] + bytes - 1) / kLineBytes; ++line)
      insert(numbers, line);
    if (access.shape == exec::Shape::broadcast) break;
  }
}

void ConstantLines::absorb(Shard& shard) {
  for (std::size_t block = 0; block < of_.size(); ++block) {
    insert_all(of_[block].constants, shard.of_[block].constants);
    insert_all(of_[block].parameters, shard.of_[block].parameters);
  }
}

void ConstantLines::conclude(const std::vector<exec::InstructionCount>& counts) {
  const std::vector<std::uint32_t> offsets = ir::parameter_layout(function_);
  for (std::size_t i = 0; i < std::min(counts.size(), function_.instructions.size()); ++i) {
    if (counts[i].warps == 0) continue;
    const ir::Instruction& instruction = function_.instructions[i];
    const ir::Operand* const parameter = named_parameter(function_, instruction);
    if (parameter == nullptr) continue;
    const std::int64_t added = function_.operands(instruction)[1].value;
    insert(named_, (offsets[ir::variable_position(parameter->index)] + static_cast<std::uint64_t>(added)) / kLineBytes);
  }
}

void ConstantLines::report(Metrics& launch) const {
  const Numbers &first = of_[0].constants, &last = of_[1].constants;
  const Numbers& constants = first.size() >= last.size() ? first : last;
  Numbers parameters = of_[0].parameters.size() >= of_[1].parameters.size() ? of_[0].parameters : of_[1].parameters;
  insert_all(parameters, named_);
  const auto farther = std::lower_bound(parameters.begin(), parameters.end(), kParametersThere / kLineBytes);
  if (!constants.empty()) {
    launch.add(MetricId::constant_lines, constants.size());
    launch.add(MetricId::constant_segments, segments_of(constants));
  }
  if (farther != parameters.end())
    launch.add(MetricId::parameter_lines, static_cast<std::uint64_t>(parameters.end() - farther));
}

} // namespace warplens::analyzers
