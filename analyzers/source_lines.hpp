// SPDX-License-Identifier: Apache-2.0
// The CUDA line of an instruction.
//
//   set_source(row, instruction.source, module, files);   // row.source_file, row.source_line, row.inlined
#pragma once

#include "analyzers/profile.hpp"
#include "emulator/ir/module.hpp"

#include <map>
#include <string_view>

namespace warplens::analyzers {

/// Sets the CUDA line of a row and its chain of inlined calls. `files`: the names of the module's files, by number.
void set_source(InstructionRow& row, const ir::SourcePosition& source, const ir::Module& module,
                const std::map<std::uint32_t, std::string_view>& files);

} // namespace warplens::analyzers
