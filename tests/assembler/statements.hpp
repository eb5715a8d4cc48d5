// Statements of PTX for the table's spellings, and what Warplens says to a list of statements: both sides of the
// comparison with the assembler's answers in tests/data/assembler.
//
//   spellings(entry of add.sat.s32)  ->  {"add.sat.s32", "add.sat.s32 %s32_0, %s32_1, %s32_2;"}
//   refusals({"add.f32 %s32_0, %f32_1, %f32_2;"}, 90, "sm_90")  ->  {"'add.f32' wants …"}
#pragma once

#include "emulator/isa/table.hpp"

#include <string>
#include <vector>

namespace warplens::assembler {

struct Statement {
  std::string spelling;
  std::string text; ///< with operands of exactly the types of the table's notation, and a semicolon
};

/// Are the operands of a line of the table such as spellings() writes? Those of textures and asynchronous copies
/// are not.
inline bool is_spelt(const isa::Entry& entry) { return entry.file != "async" && entry.file != "texture"; }

/// A statement for every spelling of a line of the table, the decoder's words included. Operands that may be left out
/// are, but for the policy of .L2::cache_hint.
std::vector<Statement> spellings(const isa::Entry& entry);

/// What the checker or the decoder has against each statement; empty where it can run. The statements stand in the
/// kernel of tests/data/assembler/context.ptx. `ptx`: version times ten.
std::vector<std::string> refusals(const std::vector<std::string>& statements, int ptx, const std::string& target);

} // namespace warplens::assembler
