// How many registers a function keeps alive at once: an estimate of what a compiler would give each thread, for the
// occupancy of kernels whose register count nobody names.
//
//   mov.u32 %r1, 1; ld.global.u64 %rd1, [%rd2]; add.u32 %r1, %r1, 1;   ->   %r1, %rd1: 3 registers of 32 bits
#pragma once

#include "emulator/ir/module.hpp"

namespace warplens::ir {

/// The largest number of live 32-bit registers over all instructions: a 64-bit register counts 2, a 128-bit one 4, a
/// predicate 0, everything narrower 1. Destinations are told by the instruction table, so check() comes first.
std::uint32_t register_pressure(const Module& module, const Function& function);

/// register_pressure() and kReservedRegisters, at least kFewestRegisters. An estimate: a real compiler orders
/// instructions anew, folds addresses, and keeps values in uniform registers or computes them twice.
std::uint32_t estimated_registers(const Module& module, const Function& function);

/// The registers that are read after each of `instructions` (calls) before they are written again.
std::vector<std::vector<std::uint32_t>> live_after(const Module& module, const Function& function,
                                                   const std::vector<std::uint32_t>& instructions);

/// Added for what PTX does not show: the stack pointer and one scratch register.
constexpr std::uint32_t kReservedRegisters = 2;
/// Compilers do not go below this.
constexpr std::uint32_t kFewestRegisters = 4;

} // namespace warplens::ir
