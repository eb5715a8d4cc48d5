// Copies as the program asks for them: from where to where, checked against the memory that there is, and in the order
// with the host that CUDA promises (CUDA Driver API reference, "API synchronization behavior").
//
//   Transfer transfer = linear_transfer(to, from, bytes);   // directions are told by the addresses
//   transfer_async(*stream, std::move(transfer));
#pragma once

#include "runtime/driver/machine/stream.hpp"

namespace warplens::runtime {

struct Transfer {
  Copy copy;
  bool host_to = false, host_from = false;         ///< memory of the host, of either kind
  bool pageable_to = false, pageable_from = false; ///< memory of the host that CUDA knows nothing of
};

/// What the program says of each side: `device` must be memory from CUDA, `host` may be any, `unified` is told by the
/// address.
enum class Side : std::uint8_t { device, host, unified };

/// Throws Failure CUDA_ERROR_INVALID_VALUE: a range that leaves its allocation; device memory that is none.
Transfer linear_transfer(std::uint64_t to, Side to_side, std::uint64_t from, Side from_side, std::uint64_t bytes);
/// Two or three dimensions; also arrays. Throws like linear_transfer, and for pitches that are too small.
Transfer transfer_of(const CUDA_MEMCPY3D& parameters);
CUDA_MEMCPY3D widened(const CUDA_MEMCPY2D& parameters);

/// Returns when the host may use both sides again.
CUresult transfer_now(Stream& stream, Transfer transfer);
/// Returns at once, except where pageable memory takes part.
void transfer_async(Stream& stream, Transfer transfer);

/// Throws Failure CUDA_ERROR_INVALID_VALUE unless the box lies in one allocation; `what` is for the message.
void require_covered(const char* what, const Box& box, std::uint64_t width, std::uint64_t rows, std::uint64_t slices);

} // namespace warplens::runtime
