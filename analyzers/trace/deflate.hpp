// What HDF5's filters "shuffle" and "deflate" do to a piece of a table, several times as fast: all first bytes of the
// rows, then all second ones, and so on; compressed as zlib does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace warplens::analyzers::trace {

std::vector<std::byte> compress(std::span<const std::byte> rows, std::size_t row_bytes);

/// Nothing where the bytes are damaged or do not give exactly `size`.
std::optional<std::vector<std::byte>> decompress(std::span<const std::byte> compressed, std::size_t size,
                                                 std::size_t row_bytes);

} // namespace warplens::analyzers::trace
