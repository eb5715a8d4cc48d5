// SPDX-License-Identifier: Apache-2.0
// PTX statements for the table's spellings, and Warplens' verdicts on a list of statements, for the comparison with the
// ptxas results in tests/data/assembler.
//
//   spellings(entry of add.sat.s32)  ->  {"add.sat.s32", "add.sat.s32 %s32_0, %s32_1, %s32_2;"}
//   refusals({"add.f32 %s32_0, %f32_1, %f32_2;"}, 90, "sm_90")  ->  {"'add.f32' expects …"}
#pragma once

#include "emulator/isa/table.hpp"

#include <string>
#include <vector>

namespace warplens::assembler {

struct Statement {
  std::string spelling;
  std::string text; ///< with operands of exactly the types of the table's notation, and a semicolon
};

/// Whether spellings() supports the operands of a table entry. It does not support those of textures and asynchronous
/// copies.
inline bool is_spelt(const isa::Entry& entry) { return entry.file != "async" && entry.file != "texture"; }

/// A statement for every spelling of a table entry, including the decoder's words. Optional operands are omitted,
/// except the policy of .L2::cache_hint; with `all`, none is.
std::vector<Statement> spellings(const isa::Entry& entry, bool all = false);

/// The checker's or the decoder's objection to each statement; empty if it can run. The statements are placed in the
/// kernel of tests/data/assembler/context.ptx. `ptx`: version times ten.
std::vector<std::string> refusals(const std::vector<std::string>& statements, int ptx, const std::string& target);

} // namespace warplens::assembler
