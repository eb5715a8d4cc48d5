// SPDX-License-Identifier: Apache-2.0
// The per-thread forms of all functions that the versions share; the others are next to the functions that differ.
#include "runtime/cudart/per_thread.hpp"

namespace warplens::cudart {
namespace {
thread_local unsigned per_thread_calls = 0; ///< a counter, because entry points can call each other
} // namespace

PerThreadDefault::PerThreadDefault() { ++per_thread_calls; }
PerThreadDefault::~PerThreadDefault() { --per_thread_calls; }

CUstream default_stream() { return per_thread_calls ? CU_STREAM_PER_THREAD : nullptr; }

} // namespace warplens::cudart

PER_THREAD(__cudaLaunchKernel, _ptsz)
PER_THREAD(cudaEventRecordWithFlags, _ptsz)
PER_THREAD(cudaEventRecord, _ptsz)
PER_THREAD(cudaFreeAsync, _ptsz)
PER_THREAD(cudaGraphInstantiateWithParams, _ptsz)
PER_THREAD(cudaGraphLaunch, _ptsz)
PER_THREAD(cudaGraphUpload, _ptsz)
PER_THREAD(cudaLaunchCooperativeKernel, _ptsz)
PER_THREAD(cudaLaunchHostFunc, _ptsz)
PER_THREAD(cudaLaunchKernelExC, _ptsz)
PER_THREAD(cudaLaunchKernel, _ptsz)
PER_THREAD(cudaMallocAsync, _ptsz)
PER_THREAD(cudaMallocFromPoolAsync, _ptsz)
PER_THREAD(cudaMemcpy2DArrayToArray, _ptds)
PER_THREAD(cudaMemcpy2DAsync, _ptsz)
PER_THREAD(cudaMemcpy2DFromArrayAsync, _ptsz)
PER_THREAD(cudaMemcpy2DFromArray, _ptds)
PER_THREAD(cudaMemcpy2DToArrayAsync, _ptsz)
PER_THREAD(cudaMemcpy2DToArray, _ptds)
PER_THREAD(cudaMemcpy2D, _ptds)
PER_THREAD(cudaMemcpy3DAsync, _ptsz)
PER_THREAD(cudaMemcpy3DPeerAsync, _ptsz)
PER_THREAD(cudaMemcpy3DPeer, _ptds)
PER_THREAD(cudaMemcpy3D, _ptds)
PER_THREAD(cudaMemcpyArrayToArray, _ptds)
PER_THREAD(cudaMemcpyAsync, _ptsz)
PER_THREAD(cudaMemcpyFromArrayAsync, _ptsz)
PER_THREAD(cudaMemcpyFromArray, _ptds)
PER_THREAD(cudaMemcpyFromSymbolAsync, _ptsz)
PER_THREAD(cudaMemcpyFromSymbol, _ptds)
PER_THREAD(cudaMemcpyToArrayAsync, _ptsz)
PER_THREAD(cudaMemcpyToArray, _ptds)
PER_THREAD(cudaMemcpyToSymbolAsync, _ptsz)
PER_THREAD(cudaMemcpyToSymbol, _ptds)
PER_THREAD(cudaMemcpy, _ptds)
PER_THREAD(cudaMemset2DAsync, _ptsz)
PER_THREAD(cudaMemset2D, _ptds)
PER_THREAD(cudaMemset3DAsync, _ptsz)
PER_THREAD(cudaMemset3D, _ptds)
PER_THREAD(cudaMemsetAsync, _ptsz)
PER_THREAD(cudaMemset, _ptds)
PER_THREAD(cudaStreamAddCallback, _ptsz)
PER_THREAD(cudaStreamAttachMemAsync, _ptsz)
PER_THREAD(cudaStreamBeginCaptureToGraph, _ptsz)
PER_THREAD(cudaStreamBeginCapture, _ptsz)
PER_THREAD(cudaStreamCopyAttributes, _ptsz)
PER_THREAD(cudaStreamEndCapture, _ptsz)
PER_THREAD(cudaStreamGetAttribute, _ptsz)
PER_THREAD(cudaStreamGetDevice, _ptsz)
PER_THREAD(cudaStreamGetFlags, _ptsz)
PER_THREAD(cudaStreamGetId, _ptsz)
PER_THREAD(cudaStreamGetPriority, _ptsz)
PER_THREAD(cudaStreamIsCapturing, _ptsz)
PER_THREAD(cudaStreamQuery, _ptsz)
PER_THREAD(cudaStreamSetAttribute, _ptsz)
PER_THREAD(cudaStreamSynchronize, _ptsz)
PER_THREAD(cudaStreamWaitEvent, _ptsz)
