// SPDX-License-Identifier: Apache-2.0
// Fat binaries: the code of one module for several architectures, as nvcc puts it into a program.
//
//   Expected<std::vector<Image>> images = read_container(bytes);   // PTX for compute_75, code for sm_90
//   Expected<std::string> text = contents((*images)[0]);           // decompressed
//
// A container is a header of 16 bytes (magic 0xBA55ED50, version 1, size of the header, size of the rest) followed by
// entries. An entry is a header (64 bytes, then version-dependent fields: identifier, options) and its payload, padded
// to 8 bytes. NVIDIA documents the container's header (fatbinary.h of CUDA 4 to 10) and the wrapper
// (fatbinary_section.h); the entries' fields are as fatbinary of CUDA 13 writes them.
#pragma once

#include "api/session/session.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warplens::fatbin {

constexpr std::uint32_t kContainerMagic = 0xBA55ED50;
constexpr std::size_t kContainerHeader = 16; ///< bytes

/// compute_90, compute_90a (only on 9.0), compute_100f (on 10.0 and later 10.x).
struct CodeTarget {
  unsigned architecture = 0; ///< 90
  char suffix = 0;           ///< 'a', 'f' or none
  friend bool operator==(const CodeTarget&, const CodeTarget&) = default;
};
/// "compute_90a", "sm_90a": `kind` is the part before the underscore.
std::string name(CodeTarget target, std::string_view kind = "compute");

enum class Kind : std::uint16_t {
  ptx = 1,
  elf = 2,      ///< machine code
  old_code = 4, ///< machine code from before CUDA 3
  lto = 8,      ///< NVIDIA's intermediate language, from code=lto_90
};

enum class Compression : std::uint8_t { none, lz4, zstd };

/// One entry. The spans point into the bytes passed to read_container().
struct Image {
  Kind kind{}; ///< unnamed values can occur
  CodeTarget target;
  Compression compression{};
  std::uint64_t size = 0; ///< of the contents, bytes
  std::span<const std::byte> payload{};
  std::string_view identifier{}; ///< the name of the source file, if nvcc was told to store it; can be empty
  std::string_view options{};    ///< for ptxas; can be empty
};

/// The bytes begin with the magic number of a container.
bool is_container(std::span<const std::byte> bytes);

/// The size of the container at `header`, with its header (kContainerHeader bytes are read).
/// Errors: not a container; an unknown version; an invalid size.
Expected<std::uint64_t> container_size(const std::byte* header);

/// All entries. Ignores the bytes after the container.
/// Errors: those of container_size(); an entry past the end, with its offset. Reads nothing outside `bytes`.
Expected<std::vector<Image>> read_container(std::span<const std::byte> bytes);

/// The decompressed contents of an entry; for PTX, without the padding at the end.
/// Errors: data that do not decompress to the size in the entry's header.
Expected<std::string> contents(const Image& image);

} // namespace warplens::fatbin
