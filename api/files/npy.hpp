// SPDX-License-Identifier: Apache-2.0
// NumPy's array files (.npy, format versions 1.0 and 2.0): little endian, C order, one element type.
//
//   Expected<Array> a = read_npy("c.npy", Type::f32);   a->count == 20011
//   write_npy("out.npy", Type::f32, bytes);             shape (20011,)
#pragma once

#include "api/files/values.hpp"

#include <filesystem>

namespace warplens::api {

struct Array {
  std::uint64_t count = 0;      ///< elements in all dimensions
  std::vector<std::byte> bytes; ///< count * size of the type, last dimension fastest
};

/// Reads an array whose elements fit `type`: same kind and width; a b type takes any kind of its width. Errors: no such
/// file, not an .npy file, truncated, Fortran order, big endian, another element type.
Expected<Array> read_npy(const std::filesystem::path& file, Type type);
/// The same for bytes in memory; messages use `name`.
Expected<Array> decode_npy(std::string_view content, Type type, std::string_view name);

/// Writes a flat array. b types become unsigned ones. Error: the file cannot be written.
Expected<void> write_npy(const std::filesystem::path& file, Type type, std::span<const std::byte> bytes);
std::string encode_npy(Type type, std::span<const std::byte> bytes);

} // namespace warplens::api
