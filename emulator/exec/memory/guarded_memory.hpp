// The memory that a block's kernels address by offsets: registers, shared and local memory. It ends at a guard page, so
// that a handler which computes a wrong offset stops the process instead of changing what belongs to somebody else.
//
//   AlignedBytes registers = aligned_bytes(warps * warp_bytes);   // zeros
//
// Blocks of a launch come and go by the thousand: what is given back is kept for the next one, and cleared then.
#pragma once

#include <cstddef>
#include <memory>

namespace warplens::exec {

struct GiveBackAligned {
  std::byte* room = nullptr; ///< between the guard pages
  std::size_t room_bytes = 0;
  void operator()(std::byte*) const;
};
using AlignedBytes = std::unique_ptr<std::byte[], GiveBackAligned>;

/// Zeros, at a multiple of 64. Throws std::bad_alloc.
AlignedBytes aligned_bytes(std::size_t size);

} // namespace warplens::exec
