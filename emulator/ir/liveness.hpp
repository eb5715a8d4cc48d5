// SPDX-License-Identifier: Apache-2.0
// The number of registers that are live at once in a function. It estimates how many registers a compiler would
// allocate per thread, for the occupancy of kernels without a given register count.
//
//   mov.u32 %r1, 1; ld.global.u64 %rd1, [%rd2]; add.u32 %r1, %r1, 1;   ->   %r1, %rd1: 3 registers of 32 bits
#pragma once

#include "emulator/ir/module.hpp"

namespace warplens::ir {

/// The largest number of live 32-bit registers over all instructions: a 64-bit register counts 2, a 128-bit one 4, a
/// predicate 0, everything narrower 1; see kMostExact. Requires check(), because the instruction table identifies the
/// destinations.
std::uint32_t register_pressure(const Module& module, const Function& function);

/// Estimates how many registers ptxas allocates per thread: the pressure without constants (parameters, %ctaid and
/// numbers need no register until they are used), plus kRoom; at least kFewestOfCallers if the function calls others.
/// A real compiler also unrolls loops, moves loads up, folds addresses, and keeps values in uniform registers or
/// recomputes them. tests/ir/registers_test.cpp states the error of the estimate. `address_bits` is 32 for devices
/// before compute capability 2.0: they have at most 4 GB and keep an address in one register even if it has 64 bits in
/// the PTX. In this case, 64-bit integers are assumed to be addresses.
std::uint32_t estimated_registers(const Module& module, const Function& function, int address_bits = 64);

/// The registers that are read after each of `instructions` (calls) before they are written again, in the order of
/// their numbers. Empty if their total exceeds limits::kSavedRegisters.
std::optional<std::vector<std::vector<std::uint32_t>>> live_after(const Module& module, const Function& function,
                                                                  const std::vector<std::uint32_t>& instructions);

/// The largest exact pressure: if on average more registers than this are live across block boundaries, counting stops
/// and this number is the result. No processor gives a thread more than 255 registers.
constexpr std::uint32_t kMostExact = 1024;

/// Registers that ptxas adds for addresses and to keep several loads in flight: the median over the kernels of the
/// test.
constexpr std::uint32_t kRoom = 9;
/// The calling convention reserves registers 0 to 23 for called functions.
constexpr std::uint32_t kFewestOfCallers = 24;

} // namespace warplens::ir
