// SPDX-License-Identifier: Apache-2.0
// The per-thread forms of all functions that the versions share; the others are next to the functions that differ.
#include "runtime/cudart/export.hpp"

namespace warplens::cudart {
namespace {
thread_local unsigned per_thread_calls = 0; ///< a counter, because entry points can call each other
} // namespace

PerThreadDefault::PerThreadDefault() { ++per_thread_calls; }
PerThreadDefault::~PerThreadDefault() { --per_thread_calls; }

CUstream default_stream() { return per_thread_calls ? CU_STREAM_PER_THREAD : nullptr; }

} // namespace warplens::cudart

PER_THREAD(__cudaLaunchKernel, _ptsz)
PER_THREAD(cudaFreeAsync, _ptsz)
PER_THREAD(cudaLaunchCooperativeKernel, _ptsz)
PER_THREAD(cudaLaunchKernelExC, _ptsz)
PER_THREAD(cudaLaunchKernel, _ptsz)
PER_THREAD(cudaMallocAsync, _ptsz)
PER_THREAD(cudaMallocFromPoolAsync, _ptsz)
PER_THREAD(cudaStreamAddCallback, _ptsz)
PER_THREAD(cudaStreamAttachMemAsync, _ptsz)
