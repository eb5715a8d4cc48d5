// SPDX-License-Identifier: Apache-2.0
// Values that were loaded from bytes that nobody has written, while they are in registers: which of their bytes, and
// the load to report if something depends on them.
//
//   UndefinedRegisters registers;   registers[3].set(7, {0x0f, &load});   registers.at(3).lanes == 1u << 7
#pragma once

#include "emulator/exec/state/tool_finding.hpp"
#include "emulator/exec/state/warp.hpp"
#include "emulator/ir/module.hpp"

#include <unordered_map>

namespace warplens::exec::init {

/// A load of bytes that nobody has written, by one thread.
struct UnwrittenLoad {
  ToolFinding finding;
  bool reported = false;
};

/// A bit for each undefined byte of a value of at most 8 bytes; a predicate is one byte.
struct Undefined {
  std::uint8_t bytes = 0;
  UnwrittenLoad* load = nullptr;
};

struct UndefinedRow {
  Mask lanes = 0; ///< those with an undefined byte
  Undefined of[kWarpSize];

  void set(int lane, Undefined value) {
    lanes |= Mask{1} << lane;
    of[lane] = value;
  }
};

/// By index in ir::Function::registers; only those with an undefined byte.
using UndefinedRegisters = std::unordered_map<std::uint32_t, UndefinedRow>;

/// Registers as bits, by index modulo 64: most instructions have none in common with those of a warp.
using RegisterBits = std::uint64_t;
constexpr RegisterBits bit_of(std::uint32_t reg) { return RegisterBits{1} << reg % 64; }

} // namespace warplens::exec::init
