// SPDX-License-Identifier: Apache-2.0
/// @file
/// When a copy or a fill runs: asynchronously in a stream, or synchronously, which queues it and waits. Functions with
/// both forms are written once.
///
///     cudaError_t fill(Order order, void* pointer, int value, std::size_t size);
///     ORDERED(cudaMemset, fill)   // cudaMemset, cudaMemsetAsync, and those for the per-thread default stream
#pragma once

#include "runtime/cudart/export.hpp"

namespace warplens::cudart {

struct Order {
  CUstream stream;
  bool wait;

  static Order now() { return {default_stream(), true}; }
  static Order in(CUstream stream) { return {stream, false}; }

  /// Calls `queue(argument..., stream)`, or the driver's synchronous function, which works in the legacy default
  /// stream.
  template <class AtOnce, class Queue, class... Argument>
  cudaError_t run(AtOnce at_once, Queue queue, Argument... argument) const {
    if (wait && stream == nullptr) return to_error(at_once(argument...));
    TRY(queue(argument..., stream));
    return wait ? to_error(cuStreamSynchronize(stream)) : cudaSuccess;
  }
};

/// The two forms of `work`.
template <auto work> struct Ordered;
template <class... Parameter, cudaError_t (*work)(Order, Parameter...)> struct Ordered<work> {
  static cudaError_t now(Parameter... parameter) {
    return call([&] { return work(Order::now(), parameter...); });
  }
  static cudaError_t in_stream(Parameter... parameter, cudaStream_t stream) {
    return call([&] { return work(Order::in(stream), parameter...); });
  }
};

// Shared by the files that copy; call these inside a call().
cudaError_t copy_bytes(Order order, void* to, const void* from, std::size_t size, cudaMemcpyKind kind);
cudaError_t copy_box(Order order, const CUDA_MEMCPY3D& copy);

} // namespace warplens::cudart

#define ORDERED(name, work)                                                                                            \
  EXPORT(name, Ordered<work>::now)                                                                                     \
  EXPORT(name##Async, Ordered<work>::in_stream)                                                                        \
  PER_THREAD(name, _ptds)                                                                                              \
  PER_THREAD(name##Async, _ptsz)
