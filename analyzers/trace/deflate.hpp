// What HDF5's filters "shuffle" and "deflate" do to a piece of a table, several times as fast: all first bytes of the
// rows, then all second ones, and so on; compressed as zlib does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace warplens::analyzers::trace {

std::vector<std::byte> compress(std::span<const std::byte> rows, std::size_t row_bytes);

/// False where the bytes are damaged or do not give exactly so many rows.
bool decompress(std::span<const std::byte> compressed, std::size_t row_bytes, std::span<std::byte> rows);

} // namespace warplens::analyzers::trace
