// SPDX-License-Identifier: Apache-2.0
// Which bytes of a result are undefined, by the bytes of the sources that are.
//
//   selp.f32 %f3, %f2, %f1, %p1     those of %f2 or %f1, whichever %p1 selects
//   and.b32 %r2, %r1, 255           the lowest one at most
//   add.f32 %f4, %f3, %f2           all if any is in %f3 or %f2
#pragma once

#include "emulator/exec/checks/init/undefined.hpp"
#include "emulator/exec/state/program.hpp"

#include <optional>

namespace warplens::exec::init {

enum class ValueRule : std::uint8_t {
  unknown,
  needs,    ///< every value that it reads
  shuffles, ///< the same, but for the value that other lanes read
  stores,   ///< the same, but for the value
  computes,
  moves, ///< the bytes of the sources, in their order
  converts,
  selects,
  ands,
  ors,
  bitwise,
  shifts,
  permutes,
  extracts,
  inserts,
  compares ///< with a predicate as well
};

ValueRule value_rule(const Program& program, std::uint32_t instruction);

/// Bytes of a register; 1 for a predicate.
int register_bytes(const Program& program, std::uint32_t reg);
/// The undefined bytes of a value of `bytes` bytes in a register that may be wider.
Undefined undefined(const UndefinedRegisters& registers, std::uint32_t reg, int lane, int bytes = 8);
/// A value of `from` bytes in `to` bytes: extended with zeros, or copies of its sign.
std::uint8_t extended(std::uint8_t bytes, int from, int to, bool is_signed);

/// An instruction that runs next, for one lane.
struct ValueStep {
  const Program& program;
  std::uint32_t index;
  const Warp& warp;
  const UndefinedRegisters& registers;
  int lane;

  /// Of an element of the first operand. Only for rules from `computes` on.
  [[nodiscard]] Undefined result(ValueRule rule, std::size_t element) const;

private:
  [[nodiscard]] const isa::Spelling& spelling() const;
  [[nodiscard]] std::span<const ir::Operand> operands() const;
  [[nodiscard]] int bytes_of(std::size_t operand) const;
  [[nodiscard]] Undefined source(const ir::Operand& operand, int bytes) const;
  [[nodiscard]] Undefined source(std::size_t operand) const;
  [[nodiscard]] std::optional<std::uint64_t> value(std::size_t operand) const;
  [[nodiscard]] std::optional<unsigned> number(std::size_t operand) const;
  [[nodiscard]] Undefined all_if_any() const;
  [[nodiscard]] Undefined moved(std::size_t element) const;
  [[nodiscard]] Undefined converted() const;
  [[nodiscard]] Undefined selected() const;
  [[nodiscard]] Undefined masked(std::uint8_t absorbing) const;
  [[nodiscard]] Undefined bitwise() const;
  [[nodiscard]] Undefined shifted() const;
  [[nodiscard]] Undefined permuted() const;
  [[nodiscard]] Undefined extracted() const;
  [[nodiscard]] Undefined inserted() const;
  [[nodiscard]] Undefined compared() const;
};

} // namespace warplens::exec::init
