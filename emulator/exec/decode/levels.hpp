// SPDX-License-Identifier: Apache-2.0
// The handlers are compiled once per x86-64 level (v2, v3, v4) and once for other machines. The best level that the
// processor supports is chosen at start; DecodeOptions::level selects another.
#pragma once

#include "emulator/exec/access/memory_handlers.hpp"
#include "emulator/exec/lanes/handler_row.hpp"
#include "emulator/exec/lanes/row_tables.hpp"
#include "emulator/exec/lanes/warp_handlers.hpp"
#include "emulator/exec/matrix/matrix_handlers.hpp"
#include "emulator/exec/state/program.hpp"
#include "emulator/exec/texture/texture_rows.hpp"
#include "emulator/isa/table.hpp"

#include <span>
#include <string_view>
#include <vector>

namespace warplens::exec {

/// By entry.
using HandlerRows = std::vector<HandlerRow>;

struct Level {
  std::string_view name; ///< "x86-64-v3"
  const HandlerRows& (*lanes)();
  Handler (*memory)(const MemoryHandlerKey&);
  ResolveAccess resolve;
  Handler (*vector_move)(int total_bytes, int element_bytes, bool pack);
  Handler (*warp)(const WarpHandlerKey&);
  Handler (*matrix)(MatrixHandler);
  SampleRowsFunction sample;
  FetchSequences fetch_sequences;
  StoreSequences store_sequences;
};

/// The compiled levels that this processor supports, best first; never empty.
std::span<const Level> levels();

} // namespace warplens::exec
