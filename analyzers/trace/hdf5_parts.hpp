// SPDX-License-Identifier: Apache-2.0
// A trace whose tables lie in several files, one of each process that recorded it: virtual tables of HDF5.
//
//   join_files("t.h5", creator, joined);                      // every row of a virtual table is one of a part
//   const auto parts = parts_of(data, info(Table::warp));     // {"t.rank0.h5", 65536}, {"t.rank1.h5", 131072}
//
// HDF5 itself reads zeros, or a fill value, where a file is missing: so the reader opens the parts itself.
#pragma once

#include "analyzers/trace/hdf5_handles.hpp"

namespace warplens::analyzers::trace {

bool is_virtual(hid_t data);

/// Rows that a virtual table takes from a part: all rows of the table there.
struct PartRows {
  std::string file; ///< in the folder of the trace
  std::uint64_t rows = 0;
};
/// The parts of a virtual table, in the order of its rows; nothing if it is not made of whole tables of the same name.
std::optional<std::vector<PartRows>> parts_of(hid_t data, const TableInfo& table);

Expected<void> join_files(const std::filesystem::path& path, std::string_view creator, const Joined& joined);

} // namespace warplens::analyzers::trace
