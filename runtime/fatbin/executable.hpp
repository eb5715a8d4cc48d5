// SPDX-License-Identifier: Apache-2.0
// Fat binaries inside an executable, a shared library or an object file.
//
//   Expected<std::vector<Embedded>> embedded = containers_in(bytes);   read_container((*embedded)[0].container)
//
// nvcc and clang put them into the sections .nv_fatbin and, compiled with -rdc=true, __nv_relfatbin
// (fatbinary_section.h); one section holds the containers of all objects, 8-byte aligned.
#pragma once

#include "api/session/session.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace warplens::fatbin {

/// True for an ELF file for 64-bit little-endian machines, the only kind that containers_in() reads.
bool is_elf(std::span<const std::byte> bytes);

struct Embedded {
  std::span<const std::byte> container; ///< for read_container()
  bool is_part = false;                 ///< of a program built with nvcc -rdc=true: to be linked with the other parts
};

/// The containers of an ELF file, in file order; empty if it has no device code.
/// Errors: an ELF file whose headers point outside it. Reads nothing outside `bytes`.
Expected<std::vector<Embedded>> containers_in(std::span<const std::byte> bytes);

} // namespace warplens::fatbin
