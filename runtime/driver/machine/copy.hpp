// SPDX-License-Identifier: Apache-2.0
// Copies as the program requests them: source and destination, checked against the allocations, and synchronized with
// the host as CUDA specifies (CUDA Driver API reference, "API synchronization behavior").
//
//   Transfer transfer = linear_transfer(to, from, bytes);   // the addresses determine the direction
//   transfer_async(*stream, std::move(transfer));
#pragma once

#include "runtime/driver/machine/stream.hpp"

namespace warplens::runtime {

struct Transfer {
  Copy copy;
  bool host_to = false, host_from = false;         ///< host memory, pageable or not
  bool pageable_to = false, pageable_from = false; ///< host memory that is unknown to CUDA
};

/// The declared type of each side: `device` must be memory from CUDA, `host` can be any memory, for `unified` the
/// address decides.
enum class Side : std::uint8_t { device, host, unified };

/// Throws Failure CUDA_ERROR_INVALID_VALUE for a range that exceeds its allocation or is not device memory.
Transfer linear_transfer(std::uint64_t to, Side to_side, std::uint64_t from, Side from_side, std::uint64_t bytes);
/// Two or three dimensions; also arrays. Throws the same errors as linear_transfer, also for a pitch that is too small.
Transfer transfer_of(const CUDA_MEMCPY3D& parameters);
CUDA_MEMCPY3D widened(const CUDA_MEMCPY2D& parameters);

/// Returns when the host can use both sides again.
CUresult transfer_now(Stream& stream, Transfer transfer);
/// Returns at once, unless pageable memory is involved.
void transfer_async(Stream& stream, Transfer transfer);

/// Throws Failure CUDA_ERROR_INVALID_VALUE unless the box is inside one allocation; `what` is for the message.
void require_covered(const char* what, const Box& box, std::uint64_t width, std::uint64_t rows, std::uint64_t slices);

} // namespace warplens::runtime
