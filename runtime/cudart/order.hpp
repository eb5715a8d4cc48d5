// SPDX-License-Identifier: Apache-2.0
/// @file
/// When a copy or a fill runs: asynchronously in a stream, or synchronously, which queues it and waits. Functions with
/// both forms are written once.
///
///     cudaError_t fill(void* pointer, int value, std::size_t size, Order order);
///     cudaMemset      -> fill(pointer, value, size, Order::now())
///     cudaMemsetAsync -> fill(pointer, value, size, Order::in(stream))
#pragma once

#include "runtime/cudart/call.hpp"

namespace warplens::cudart {

struct Order {
  CUstream stream;
  bool wait;

  static Order now() { return {default_stream(), true}; }
  static Order in(CUstream stream) { return {stream, false}; }

  /// Whether the driver's synchronous function is used: it works in the legacy default stream.
  bool immediate() const { return wait && stream == nullptr; }

  /// Queues with `queue(stream)`, or calls `at_once()` where the driver has a synchronous function.
  template <class AtOnce, class Queue> cudaError_t run(AtOnce&& at_once, Queue&& queue) const {
    if (immediate()) return to_error(at_once());
    TRY(queue(stream));
    return wait ? to_error(cuStreamSynchronize(stream)) : cudaSuccess;
  }
};

// Shared by the files that copy; call these inside a call().
cudaError_t copy_bytes(void* to, const void* from, std::size_t size, cudaMemcpyKind kind, Order order);
cudaError_t copy_box(const CUDA_MEMCPY3D& copy, Order order);

} // namespace warplens::cudart
