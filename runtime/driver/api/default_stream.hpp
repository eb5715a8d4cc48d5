// SPDX-License-Identifier: Apache-2.0
// For files whose functions exist twice: the null handle means the legacy default stream for cuLaunchKernel, but the
// per-thread default stream for cuLaunchKernel_ptsz. CMake compiles these files twice, the second time with
// WARPLENS_PER_THREAD_DEFAULT_STREAM.
//
//   CUresult PTSZ(cuLaunchKernel)(…, CUstream handle, …) { serve_for(handle, … find_stream(context, handle) …) }
//
// PTDS is for functions without a stream parameter. Everything else in such a file is in an unnamed namespace.
#pragma once

#include "runtime/driver/machine/serve.hpp"

#ifdef WARPLENS_PER_THREAD_DEFAULT_STREAM
#define PTDS(name) name##_ptds
#define PTSZ(name) name##_ptsz
#else
#define PTDS(name) name
#define PTSZ(name) name
#endif

namespace warplens::runtime {

namespace {

[[maybe_unused]] std::shared_ptr<Stream> default_stream(Context& context) {
#ifdef WARPLENS_PER_THREAD_DEFAULT_STREAM
  return context.per_thread_stream().shared_from_this();
#else
  return context.legacy_stream().shared_from_this();
#endif
}

/// Throws Failure: CUDA_ERROR_INVALID_HANDLE, CUDA_ERROR_CONTEXT_IS_DESTROYED.
[[maybe_unused]] std::shared_ptr<Stream> find_stream(Context& context, CUstream handle) {
  if (handle == nullptr) return default_stream(context);
  if (handle == CU_STREAM_LEGACY) return context.legacy_stream().shared_from_this();
  if (handle == CU_STREAM_PER_THREAD) return context.per_thread_stream().shared_from_this();
  return object_of(Machine::instance().streams, handle);
}

} // namespace

} // namespace warplens::runtime
