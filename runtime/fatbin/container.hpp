// Fat binaries: what nvcc puts into a program, code of one module for several architectures.
//
//   Expected<std::vector<Image>> images = read_container(bytes);     // PTX for compute_75 and compute_90, code for
//   sm_90 Expected<std::string> text = contents((*images)[0]);             // decompressed
//
// A container is a header of 16 bytes (magic 0xBA55ED50, version 1, size of the header, size of what follows) and, one
// after the other, entries: a header (64 bytes, then what its version adds: identifier, options) and its payload,
// padded to 8 bytes. NVIDIA documents the container's header (fatbinary.h of CUDA 4 to 10) and the wrapper
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
/// "compute_90a", "sm_90a": `kind` is what stands before the underscore.
std::string name(CodeTarget target, std::string_view kind = "compute");

enum class Kind : std::uint16_t {
  ptx = 1,
  elf = 2,      ///< machine code
  old_code = 4, ///< machine code as before CUDA 3
  lto = 8,      ///< NVIDIA's intermediate language, from code=lto_90
};

enum class Compression : std::uint8_t { none, lz4, zstd };

/// One entry. The spans point into the bytes that were read.
struct Image {
  Kind kind{}; ///< may have values without a name
  CodeTarget target;
  std::uint16_t version_major = 0, version_minor = 0; ///< of PTX: 9.0
  bool is_debug = false;                              ///< nvcc -G
  Compression compression{};
  std::uint64_t size = 0; ///< of the contents, bytes
  std::span<const std::byte> payload{};
  std::string_view identifier{}; ///< the source file's name, where nvcc was told to write it; may be empty
  std::string_view options{};    ///< for ptxas; may be empty
};

/// The bytes begin with the magic number of a container.
bool is_container(std::span<const std::byte> bytes);

/// The size of a container, with its header, that begins at `header` (kContainerHeader bytes are read).
/// Errors: no container; a version that is not known; a size that no container has.
Expected<std::uint64_t> container_size(const std::byte* header);

/// All entries. What follows the container in `bytes` is left alone.
/// Errors: as container_size(); an entry that reaches past the end, with its place. Reads nothing outside `bytes`.
Expected<std::vector<Image>> read_container(std::span<const std::byte> bytes);

/// What an entry holds, decompressed; of PTX without the padding behind it.
/// Errors: data that do not decompress to the size that the entry's header says.
Expected<std::string> contents(const Image& image);

} // namespace warplens::fatbin
