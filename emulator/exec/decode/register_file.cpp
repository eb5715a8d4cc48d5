// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/decode/register_file.hpp"

#include <algorithm>

namespace warplens::exec {

RegisterFile::RegisterFile(const ir::Function& function) {
  always_ = take(0);
  constants_.push_back({always_, 0, kFullMask});
  carry_ = take(0);
  registers_.reserve(function.registers.size());
  for (const ir::Register& r : function.registers) {
    const int bytes = r.type == isa::Type::pred ? 0 : std::max(1, isa::bytes(r.type));
    Place place{0, 0, bytes};
    for (int c = 0; c < r.components; ++c) {
      const std::uint32_t offset = take(bytes);
      if (c == 0) place.offset = offset;
      if (c == 1) place.stride = offset - place.offset;
    }
    registers_.push_back(place);
  }
}

std::uint32_t RegisterFile::take(int lane_bytes) {
  if (lane_bytes == 0) { // predicates share a 64-byte row of sixteen
    if (predicates_left_ == 0) {
      next_predicate_ = take_bytes(64);
      predicates_left_ = 64 / sizeof(Mask);
    }
    --predicates_left_;
    const std::uint32_t offset = next_predicate_;
    next_predicate_ += sizeof(Mask);
    return offset;
  }
  return take_bytes(static_cast<std::uint32_t>(std::max(64, lane_bytes * kWarpSize)));
}

std::uint32_t RegisterFile::take_bytes(std::uint32_t bytes) {
  const std::optional<std::uint32_t> offset = size_.as<std::uint32_t>(), end = (size_ + bytes).as<std::uint32_t>();
  size_ = end ? size_ + bytes : Checked(0) - 1; // stays invalid
  return offset.value_or(0);
}

std::uint32_t RegisterFile::constant(int lane_bytes, std::uint64_t value, bool shared_address) {
  if (lane_bytes < 8) value &= (std::uint64_t{1} << (8 * lane_bytes)) - 1;
  if (2 * constants_.size() >= constant_slots_.size()) grow_constant_slots();
  ConstantRow wanted{0, static_cast<std::uint32_t>(lane_bytes), value, shared_address};
  std::uint32_t& slot = constant_slot(wanted);
  if (slot == 0) {
    wanted.offset = take(lane_bytes);
    constants_.push_back(wanted);
    slot = static_cast<std::uint32_t>(constants_.size());
  }
  return constants_[slot - 1].offset;
}

/// The slot of the constant, or a free slot for it.
std::uint32_t& RegisterFile::constant_slot(const ConstantRow& wanted) {
  const std::uint64_t mixed =
      (wanted.value + wanted.lane_bytes + (wanted.shared_address ? 16 : 0)) * 0x9e3779b97f4a7c15u;
  for (std::size_t i = mixed >> 32;; ++i) {
    std::uint32_t& slot = constant_slots_[i & (constant_slots_.size() - 1)];
    if (slot == 0) return slot;
    const ConstantRow& known = constants_[slot - 1];
    if (known.value == wanted.value && known.lane_bytes == wanted.lane_bytes &&
        known.shared_address == wanted.shared_address)
      return slot;
  }
}

void RegisterFile::grow_constant_slots() {
  constant_slots_.assign(std::max<std::size_t>(32, 2 * constant_slots_.size()), 0);
  for (std::uint32_t i = 0; i < constants_.size(); ++i) constant_slot(constants_[i]) = i + 1;
}

std::uint32_t RegisterFile::special(isa::Special special, int component, int lane_bytes) {
  for (const SpecialRow& row : specials_)
    if (row.special == special && row.component == component && row.lane_bytes == lane_bytes) return row.offset;
  specials_.push_back({take(lane_bytes), special, component, lane_bytes});
  return specials_.back().offset;
}

std::uint32_t RegisterFile::temporary(int lane_bytes) {
  auto& [rows, used] = temporaries_[static_cast<std::size_t>(std::bit_width(static_cast<unsigned>(lane_bytes)))];
  if (used == rows.size()) rows.push_back(take(lane_bytes));
  return rows[used++];
}

void RegisterFile::reset_temporaries() {
  for (Temporaries& t : temporaries_) t.used = 0;
}

void RegisterFile::finish(Program& program) {
  program.warp_bytes = size_.as<std::uint32_t>().value_or(0);
  program.constants = std::move(constants_);
  program.specials = std::move(specials_);
}

} // namespace warplens::exec
