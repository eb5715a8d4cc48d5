#include "emulator/exec/register_file.hpp"

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

std::uint32_t RegisterFile::constant(int lane_bytes, std::uint64_t value) {
  if (lane_bytes < 8) value &= (std::uint64_t{1} << (8 * lane_bytes)) - 1;
  const auto [found, fresh] = constant_index_.try_emplace({lane_bytes, value}, 0);
  if (fresh) {
    found->second = take(lane_bytes);
    constants_.push_back({found->second, static_cast<std::uint32_t>(lane_bytes), value});
  }
  return found->second;
}

std::uint32_t RegisterFile::special(isa::Special special, int component, int lane_bytes) {
  for (const SpecialRow& row : specials_)
    if (row.special == special && row.component == component && row.lane_bytes == lane_bytes) return row.offset;
  specials_.push_back({take(lane_bytes), special, component, lane_bytes});
  return specials_.back().offset;
}

std::uint32_t RegisterFile::temporary(int lane_bytes) {
  std::vector<std::uint32_t>& rows = temporaries_[lane_bytes];
  std::size_t& used = temporaries_used_[lane_bytes];
  if (used == rows.size()) rows.push_back(take(lane_bytes));
  return rows[used++];
}

void RegisterFile::reset_temporaries() { temporaries_used_.clear(); }

void RegisterFile::finish(Program& program) {
  program.warp_bytes = size_.as<std::uint32_t>().value_or(0);
  program.constants = std::move(constants_);
  program.specials = std::move(specials_);
}

} // namespace warplens::exec
