// SPDX-License-Identifier: Apache-2.0
// The memory of a block that is addressed by offsets: registers, shared and local memory. It ends at a guard page, so
// that a handler with a wrong offset stops the process instead of overwriting other data.
//
//   AlignedBytes registers = aligned_bytes(warps * warp_bytes);   // zeros
//
// A launch has thousands of blocks: freed memory is kept for the next block and cleared on reuse.
#pragma once

#include <cstddef>
#include <memory>

namespace warplens::exec {

/// The page size of this system, a power of two: 4 KiB on x86-64, up to 64 KiB on Arm.
std::size_t system_page_bytes();

struct GiveBackAligned {
  std::byte* room = nullptr; ///< between the guard pages
  std::size_t room_bytes = 0;
  void operator()(std::byte*) const;
};
using AlignedBytes = std::unique_ptr<std::byte[], GiveBackAligned>;

/// Zeroed memory, 64-byte aligned. Throws std::bad_alloc.
AlignedBytes aligned_bytes(std::size_t size);

} // namespace warplens::exec
