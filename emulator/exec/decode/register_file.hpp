// SPDX-License-Identifier: Apache-2.0
// Lays out a warp's register file at decode time: registers, constants, special registers and temporaries, each a row.
//
//   RegisterFile file(function);  file.reg(3) -> offset of register 3;  file.constant(4, 7) -> a row of sevens
#pragma once

#include "emulator/base/checked.hpp"
#include "emulator/exec/state/program.hpp"

#include <array>

namespace warplens::exec {

class RegisterFile {
public:
  explicit RegisterFile(const ir::Function& function);

  /// Offset of a register's row; for a vector, of one component.
  [[nodiscard]] std::uint32_t reg(std::uint32_t index, int component = 0) const {
    return registers_[index].offset + static_cast<std::uint32_t>(component) * registers_[index].stride;
  }
  /// Bytes per lane of a register; 0 for a predicate.
  [[nodiscard]] int lane_bytes(std::uint32_t index) const { return registers_[index].lane_bytes; }

  std::uint32_t constant(int lane_bytes, std::uint64_t value, bool shared_address = false);
  std::uint32_t special(isa::Special special, int component, int lane_bytes);
  /// The predicate that is true in all lanes, and the thread's carry flag.
  [[nodiscard]] std::uint32_t always() const { return always_; }
  [[nodiscard]] std::uint32_t carry() const { return carry_; }
  /// A temporary row for one instruction; reset_temporaries() frees all of them.
  std::uint32_t temporary(int lane_bytes);
  void reset_temporaries();
  /// A row that is not shared.
  std::uint32_t hidden(int lane_bytes) { return take(lane_bytes); }

  /// Bytes per warp; invalid if offsets exceed 32 bits: then no row may be used.
  [[nodiscard]] Checked size() const { return size_; }
  /// Moves the collected rows into the program. size() must be valid.
  void finish(Program& program);

private:
  std::uint32_t take(int lane_bytes);
  std::uint32_t& constant_slot(const ConstantRow& wanted);
  void grow_constant_slots();
  std::uint32_t take_bytes(std::uint32_t bytes);
  struct Place {
    std::uint32_t offset, stride;
    int lane_bytes;
  };
  std::vector<Place> registers_;
  std::vector<ConstantRow> constants_;
  std::vector<std::uint32_t> constant_slots_; ///< a hash table: positions in constants_, plus one; 0: free
  std::vector<SpecialRow> specials_;
  struct Temporaries {
    std::vector<std::uint32_t> rows;
    std::size_t used = 0;
  };
  std::array<Temporaries, 6> temporaries_; ///< by the width of their lanes: 0, 1, 2, 4, 8, 16 bytes
  Checked size_ = kRegisterFile;
  std::uint32_t next_predicate_ = 0, predicates_left_ = 0;
  std::uint32_t always_ = 0, carry_ = 0;
};

} // namespace warplens::exec
