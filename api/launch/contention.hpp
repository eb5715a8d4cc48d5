// SPDX-License-Identifier: Apache-2.0
// How often atomics update the 32 bytes, the 64 bytes and the kilobyte of global memory that they update most often:
// the memory does these updates one after the other, apart from different words of one request. And how often atomics
// that are loops of compare-and-swap update the word of a block's shared memory that they update most often: each swap
// follows the one before.
//
//   Contention contention;
//   contention.add(row, instruction, sectors);          // of each instruction that updates global memory
//   contention.add_shared(row, instruction, lanes);     // of each instruction
//   contention.put_into(statistics);             // statistics.half_line_updates == 1048576
//
// The share of an address is that in the recorded accesses, which are of the first and of the last block: the smaller
// of the two, so that those that belong to one block do not count. Contention for addresses that neither block updates,
// or only one, is not seen.
#pragma once

#include "analyzers/profile.hpp"
#include "emulator/ir/module.hpp"
#include "model/statistics.hpp"

#include <cstdint>
#include <map>

namespace warplens::api {

class Contention {
public:
  /// `sectors`: that the memory updates for the instruction, once for each lane of a word that several update.
  void add(const analyzers::InstructionRow& row, const ir::Instruction& instruction, double sectors);
  /// `lanes`: that execute the instruction, of an average block.
  void add_shared(const analyzers::InstructionRow& row, const ir::Instruction& instruction, double lanes);
  void put_into(model::KernelStatistics& statistics) const;

private:
  using Updates = std::map<std::uint64_t, double>; ///< by address
  Updates half_lines_, float_sectors_, quarters_;  ///< of integers, of floating-point numbers; of kilobytes, of all
  Updates shared_swaps_;                           ///< of a block
};

} // namespace warplens::api
