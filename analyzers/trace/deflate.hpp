// SPDX-License-Identifier: Apache-2.0
// The HDF5 filters "shuffle" and "deflate" for a piece of a table, several times as fast: all first bytes of the rows,
// then all second bytes, and so on, compressed in zlib format.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace warplens::analyzers::trace {

std::vector<std::byte> compress(std::span<const std::byte> rows, std::size_t row_bytes);

/// Returns false if the bytes are damaged or do not give exactly this number of rows.
bool decompress(std::span<const std::byte> compressed, std::size_t row_bytes, std::span<std::byte> rows);

} // namespace warplens::analyzers::trace
