// SPDX-License-Identifier: Apache-2.0
// Rows of the operands of an instruction.
#include "emulator/exec/decode/decoder.hpp"

#include "emulator/exec/block/control.hpp"
#include "emulator/exec/memory/memory.hpp"

#include <fmt/format.h>

#include <bit>

namespace warplens::exec {

using ir::OperandKind;

std::uint32_t Decoder::register_row(const ir::Operand& operand, int* lane_bytes) const {
  *lane_bytes = file_.lane_bytes(operand.index);
  const bool of_vector = operand.component != 0 && operand.component < ir::kByte0;
  return file_.reg(operand.index, of_vector ? operand.component - 1 : 0);
}

std::uint64_t Decoder::address_of(std::uint32_t variable) const {
  const std::uint32_t position = ir::variable_position(variable);
  switch (ir::variable_owner(variable)) {
  case ir::VariableOwner::parameter: return program_->param_offsets[position];
  case ir::VariableOwner::local: return local_offsets_[position];
  default: break;
  }
  const isa::Space space = module_.variables[position].space;
  const bool in_kernel = space == isa::Space::shared || space == isa::Space::local;
  return in_kernel ? shared_offsets_[position] : variables_[position];
}

bool Decoder::is_shared_address(const ir::Operand& operand) const {
  return operand.kind == OperandKind::variable && ir::variable_owner(operand.index) != ir::VariableOwner::parameter &&
         module_.variable(function_, operand.index).space == isa::Space::shared;
}

// The bits of a constant operand as a value of `type`.
std::uint64_t Decoder::constant_value(const ir::Operand& operand, isa::Type type) const {
  const auto raw = static_cast<std::uint64_t>(operand.value);
  switch (operand.kind) {
  case OperandKind::variable: return address_of(operand.index) + raw;
  case OperandKind::function:
    return function_address(callees().index().definition_of(operand.index), module_.address_size);
  case OperandKind::warp_size: return kWarpSize;
  case OperandKind::real64:
    if (type == isa::Type::f32 || (isa::bits(type) == 32))
      return std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(raw)));
    return raw;
  case OperandKind::real32:
    if (type == isa::Type::f64)
      return std::bit_cast<std::uint64_t>(static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(raw))));
    return raw;
  default: return raw;
  }
}

// %clock and similar registers change while a warp runs, so they are read where they are used.
std::uint32_t Decoder::special_row(const ir::Operand& operand, int lane_bytes) {
  const auto special = static_cast<isa::Special>(operand.index);
  switch (special) {
  case isa::Special::clock:
  case isa::Special::clock_hi:
  case isa::Special::clock64:
  case isa::Special::globaltimer:
  case isa::Special::globaltimer_lo:
  case isa::Special::globaltimer_hi: {
    const std::uint32_t row = file_.temporary(lane_bytes < 8 ? 4 : 8);
    Op& op = emit(read_special, {row});
    op.extra = operand.index;
    op.imm = lane_bytes < 8 ? 4 : 8;
    return lane_bytes < 4 ? resized(row, 4, lane_bytes, false) : row;
  }
  default: return file_.special(special, operand.component == 0 ? 0 : operand.component - 1, lane_bytes);
  }
}

// A row of another width, by the cvt of the table.
void Decoder::convert(const Resizing& r) {
  const char sign = r.is_signed ? 's' : 'u';
  lane_as(fmt::format("cvt.{0}{1}.{0}{2}", sign, 8 * r.to_bytes, 8 * r.from_bytes), {r.target}, {r.row});
}

std::uint32_t Decoder::resized(std::uint32_t row, int from_bytes, int to_bytes, bool is_signed) {
  if (from_bytes == to_bytes) return row;
  const std::uint32_t result = file_.temporary(to_bytes);
  convert({row, result, from_bytes, to_bytes, is_signed});
  return result;
}

std::uint32_t Decoder::source(const ir::Operand& operand, isa::Type type, bool relaxed) {
  if (type == isa::Type::pred) return source_predicate(operand);
  const int bytes = isa::bytes(type);
  switch (operand.kind) {
  case OperandKind::reg: {
    int lane_bytes = 0;
    const std::uint32_t row = register_row(operand, &lane_bytes);
    return relaxed ? resized(row, lane_bytes, bytes, isa::is_signed(type)) : row;
  }
  case OperandKind::special: return special_row(operand, bytes);
  case OperandKind::indexed: {
    const Address a = indexed_address(operand, 0);
    return resized(a.row, a.is_32_bit ? 4 : 8, bytes, false);
  }
  case OperandKind::variable: // the address of a parameter that is a texture is the texture's handle
    if (in_moving_frame(operand.index)) return frame_address(constant_value(operand, type), bytes);
    if (ir::variable_owner(operand.index) == ir::VariableOwner::parameter &&
        isa::info(module_.variable(function_, operand.index).type).kind == isa::Class::opaque)
      return opaque_parameter(address_of(operand.index));
    [[fallthrough]];
  default: return file_.constant(bytes, constant_value(operand, type), is_shared_address(operand));
  }
}

std::uint32_t Decoder::source_predicate(const ir::Operand& operand) {
  if (operand.kind != OperandKind::reg && operand.kind != OperandKind::special) {
    const bool truth =
        operand.kind == OperandKind::warp_size || (operand.kind == OperandKind::integer && operand.value != 0);
    if (truth) return file_.always();
    const std::uint32_t row = file_.temporary(0);
    emit(predicate_xor, {row}, {file_.always(), file_.always()});
    return row;
  }
  const std::uint32_t row = operand.kind == OperandKind::special
                                ? file_.special(static_cast<isa::Special>(operand.index), 0, 0)
                                : file_.reg(operand.index);
  if (!operand.negated) return row;
  const std::uint32_t flipped = file_.temporary(0);
  emit(predicate_and, {flipped}, {row, file_.always()}).extra = kFullMask;
  return flipped;
}

std::uint32_t Decoder::destination(const ir::Operand& operand, isa::Type type, bool relaxed) {
  const int bytes = type == isa::Type::pred ? 0 : isa::bytes(type);
  if (operand.kind == OperandKind::sink) return file_.temporary(bytes);
  int lane_bytes = 0;
  const std::uint32_t row = register_row(operand, &lane_bytes);
  if (!relaxed || lane_bytes == bytes) return row;
  const std::uint32_t narrow = file_.temporary(bytes);
  pending_.push_back({narrow, row, bytes, lane_bytes, isa::is_signed(type)});
  return narrow;
}

void Decoder::finish_destinations() {
  for (const Resizing& r : pending_) convert(r);
  pending_.clear();
}

} // namespace warplens::exec
