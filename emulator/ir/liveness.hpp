// How many registers a function keeps alive at once: an estimate of what a compiler would give each thread, for the
// occupancy of kernels whose register count nobody names.
//
//   mov.u32 %r1, 1; ld.global.u64 %rd1, [%rd2]; add.u32 %r1, %r1, 1;   ->   %r1, %rd1: 3 registers of 32 bits
#pragma once

#include "emulator/ir/module.hpp"

namespace warplens::ir {

/// The largest number of live 32-bit registers over all instructions: a 64-bit register counts 2, a 128-bit one 4, a
/// predicate 0, everything narrower 1; see kMostExact. Destinations are told by the instruction table, so check() comes
/// first.
std::uint32_t register_pressure(const Module& module, const Function& function);

/// What ptxas is likely to give each thread: the pressure without constants (parameters, %ctaid, numbers: they need no
/// register until they are used), and kRoom; at least kFewestOfCallers where functions are called. An estimate: a real
/// compiler unrolls loops, moves loads up, folds addresses, and keeps values in uniform registers or computes them
/// twice. How far off it is, tests/ir/registers_test.cpp says. `address_bits` is 32 for devices before compute
/// capability 2.0: they have 4 GB at most, and keep addresses in one register even where the PTX's have 64 bits;
/// integers of 64 bits are taken to be addresses then.
std::uint32_t estimated_registers(const Module& module, const Function& function, int address_bits = 64);

/// The registers that are read after each of `instructions` (calls) before they are written again, in the order of
/// their numbers. Nothing where those are more in all than limits::kSavedRegisters.
std::optional<std::vector<std::vector<std::uint32_t>>> live_after(const Module& module, const Function& function,
                                                                  const std::vector<std::uint32_t>& instructions);

/// How much may be live: where on average more registers than this cross the borders of blocks, the pressure is given
/// as this number without being counted to the end. No processor gives a thread more than 255.
constexpr std::uint32_t kMostExact = 1024;

/// What ptxas takes on top, to have several loads in flight and for addresses: the median over the kernels of the test.
constexpr std::uint32_t kRoom = 9;
/// The calling convention: registers 0 to 23 belong to the functions that are called.
constexpr std::uint32_t kFewestOfCallers = 24;

} // namespace warplens::ir
