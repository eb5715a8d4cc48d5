// SPDX-License-Identifier: Apache-2.0
// The functions that use the per-thread default stream, as libcuda.so.1 exports them (CUDA Driver API reference;
// version 13). The names are those that cuda.h maps to: cuMemAlloc is cuMemAlloc_v2.
#pragma once

#include "runtime/abi/driver_graphs.hpp"

// Exported, whatever the visibility of the other code is.
#pragma GCC visibility push(default)
extern "C" {
CUresult cuMemcpy_ptds(CUdeviceptr, CUdeviceptr, size_t);
CUresult cuMemcpyPeer_ptds(CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, size_t);
CUresult cuMemcpyHtoD_v2_ptds(CUdeviceptr, const void*, size_t);
CUresult cuMemcpyDtoH_v2_ptds(void*, CUdeviceptr, size_t);
CUresult cuMemcpyDtoD_v2_ptds(CUdeviceptr, CUdeviceptr, size_t);
CUresult cuMemcpyDtoA_v2_ptds(CUarray, size_t, CUdeviceptr, size_t);
CUresult cuMemcpyAtoD_v2_ptds(CUdeviceptr, CUarray, size_t, size_t);
CUresult cuMemcpyHtoA_v2_ptds(CUarray, size_t, const void*, size_t);
CUresult cuMemcpyAtoH_v2_ptds(void*, CUarray, size_t, size_t);
CUresult cuMemcpyAtoA_v2_ptds(CUarray, size_t, CUarray, size_t, size_t);
CUresult cuMemcpy2D_v2_ptds(const CUDA_MEMCPY2D*);
CUresult cuMemcpy2DUnaligned_v2_ptds(const CUDA_MEMCPY2D*);
CUresult cuMemcpy3D_v2_ptds(const CUDA_MEMCPY3D*);
CUresult cuMemcpy3DPeer_ptds(const CUDA_MEMCPY3D_PEER*);
CUresult cuMemcpyAsync_ptsz(CUdeviceptr, CUdeviceptr, size_t, CUstream);
CUresult cuMemcpyPeerAsync_ptsz(CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, size_t, CUstream);
CUresult cuMemcpyHtoDAsync_v2_ptsz(CUdeviceptr, const void*, size_t, CUstream);
CUresult cuMemcpyDtoHAsync_v2_ptsz(void*, CUdeviceptr, size_t, CUstream);
CUresult cuMemcpyDtoDAsync_v2_ptsz(CUdeviceptr, CUdeviceptr, size_t, CUstream);
CUresult cuMemcpyHtoAAsync_v2_ptsz(CUarray, size_t, const void*, size_t, CUstream);
CUresult cuMemcpyAtoHAsync_v2_ptsz(void*, CUarray, size_t, size_t, CUstream);
CUresult cuMemcpy2DAsync_v2_ptsz(const CUDA_MEMCPY2D*, CUstream);
CUresult cuMemcpy3DAsync_v2_ptsz(const CUDA_MEMCPY3D*, CUstream);
CUresult cuMemcpy3DPeerAsync_ptsz(const CUDA_MEMCPY3D_PEER*, CUstream);
CUresult cuMemcpyBatchAsync_v2_ptsz(CUdeviceptr*, CUdeviceptr*, size_t*, size_t, CUmemcpyAttributes*, size_t*, size_t,
                                    CUstream);
CUresult cuMemcpy3DBatchAsync_v2_ptsz(size_t, CUDA_MEMCPY3D_BATCH_OP*, unsigned long long, CUstream);
CUresult cuMemsetD8_v2_ptds(CUdeviceptr, unsigned char, size_t);
CUresult cuMemsetD16_v2_ptds(CUdeviceptr, unsigned short, size_t);
CUresult cuMemsetD32_v2_ptds(CUdeviceptr, unsigned int, size_t);
CUresult cuMemsetD2D8_v2_ptds(CUdeviceptr, size_t, unsigned char, size_t, size_t);
CUresult cuMemsetD2D16_v2_ptds(CUdeviceptr, size_t, unsigned short, size_t, size_t);
CUresult cuMemsetD2D32_v2_ptds(CUdeviceptr, size_t, unsigned int, size_t, size_t);
CUresult cuMemsetD8Async_ptsz(CUdeviceptr, unsigned char, size_t, CUstream);
CUresult cuMemsetD16Async_ptsz(CUdeviceptr, unsigned short, size_t, CUstream);
CUresult cuMemsetD32Async_ptsz(CUdeviceptr, unsigned int, size_t, CUstream);
CUresult cuMemsetD2D8Async_ptsz(CUdeviceptr, size_t, unsigned char, size_t, size_t, CUstream);
CUresult cuMemsetD2D16Async_ptsz(CUdeviceptr, size_t, unsigned short, size_t, size_t, CUstream);
CUresult cuMemsetD2D32Async_ptsz(CUdeviceptr, size_t, unsigned int, size_t, size_t, CUstream);
CUresult cuMemFreeAsync_ptsz(CUdeviceptr, CUstream);
CUresult cuMemAllocAsync_ptsz(CUdeviceptr*, size_t, CUstream);
CUresult cuMemAllocFromPoolAsync_ptsz(CUdeviceptr*, size_t, CUmemoryPool, CUstream);
CUresult cuMemPrefetchAsync_v2_ptsz(CUdeviceptr, size_t, CUmemLocation, unsigned int, CUstream);
CUresult cuMemPrefetchBatchAsync_ptsz(CUdeviceptr*, size_t*, size_t, CUmemLocation*, size_t*, size_t,
                                      unsigned long long, CUstream);
CUresult cuMemDiscardBatchAsync_ptsz(CUdeviceptr*, size_t*, size_t, unsigned long long, CUstream);
CUresult cuMemDiscardAndPrefetchBatchAsync_ptsz(CUdeviceptr*, size_t*, size_t, CUmemLocation*, size_t*, size_t,
                                                unsigned long long, CUstream);
CUresult cuStreamGetPriority_ptsz(CUstream, int*);
CUresult cuStreamGetDevice_ptsz(CUstream, CUdevice*);
CUresult cuStreamGetFlags_ptsz(CUstream, unsigned int*);
CUresult cuStreamGetId_ptsz(CUstream, unsigned long long*);
CUresult cuStreamGetCtx_ptsz(CUstream, CUcontext*);
CUresult cuStreamWaitEvent_ptsz(CUstream, CUevent, unsigned int);
CUresult cuStreamAddCallback_ptsz(CUstream, CUstreamCallback, void*, unsigned int);
CUresult cuStreamBeginCapture_v2_ptsz(CUstream, CUstreamCaptureMode);
CUresult cuStreamBeginCaptureToGraph_ptsz(CUstream, CUgraph, const CUgraphNode*, const CUgraphEdgeData*, size_t,
                                          CUstreamCaptureMode);
CUresult cuStreamEndCapture_ptsz(CUstream, CUgraph*);
CUresult cuStreamIsCapturing_ptsz(CUstream, CUstreamCaptureStatus*);
CUresult cuStreamGetCaptureInfo_v3_ptsz(CUstream, CUstreamCaptureStatus*, cuuint64_t*, CUgraph*, const CUgraphNode**,
                                        const CUgraphEdgeData**, size_t*);
CUresult cuStreamUpdateCaptureDependencies_v2_ptsz(CUstream, CUgraphNode*, const CUgraphEdgeData*, size_t,
                                                   unsigned int);
CUresult cuStreamAttachMemAsync_ptsz(CUstream, CUdeviceptr, size_t, unsigned int);
CUresult cuStreamQuery_ptsz(CUstream);
CUresult cuStreamSynchronize_ptsz(CUstream);
CUresult cuStreamCopyAttributes_ptsz(CUstream, CUstream);
CUresult cuStreamGetAttribute_ptsz(CUstream, CUstreamAttrID, CUstreamAttrValue*);
CUresult cuStreamSetAttribute_ptsz(CUstream, CUstreamAttrID, const CUstreamAttrValue*);
CUresult cuEventRecord_ptsz(CUevent, CUstream);
CUresult cuEventRecordWithFlags_ptsz(CUevent, CUstream, unsigned int);
CUresult cuStreamWaitValue32_v2_ptsz(CUstream, CUdeviceptr, cuuint32_t, unsigned int);
CUresult cuStreamWaitValue64_v2_ptsz(CUstream, CUdeviceptr, cuuint64_t, unsigned int);
CUresult cuStreamWriteValue32_v2_ptsz(CUstream, CUdeviceptr, cuuint32_t, unsigned int);
CUresult cuStreamWriteValue64_v2_ptsz(CUstream, CUdeviceptr, cuuint64_t, unsigned int);
CUresult cuStreamBatchMemOp_v2_ptsz(CUstream, unsigned int, CUstreamBatchMemOpParams*, unsigned int);
CUresult cuLaunchKernel_ptsz(CUfunction, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int,
                             unsigned int, unsigned int, CUstream, void**, void**);
CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig*, CUfunction, void**, void**);
CUresult cuLaunchCooperativeKernel_ptsz(CUfunction, unsigned int, unsigned int, unsigned int, unsigned int,
                                        unsigned int, unsigned int, unsigned int, CUstream, void**);
CUresult cuLaunchHostFunc_ptsz(CUstream, CUhostFn, void*);
CUresult cuGraphInstantiateWithParams_ptsz(CUgraphExec*, CUgraph, CUDA_GRAPH_INSTANTIATE_PARAMS*);
CUresult cuGraphUpload_ptsz(CUgraphExec, CUstream);
CUresult cuGraphLaunch_ptsz(CUgraphExec, CUstream);
CUresult cuMemPrefetchAsync_ptsz(CUdeviceptr, size_t, CUdevice, CUstream);
CUresult cuStreamBeginCapture_ptsz(CUstream);
CUresult cuStreamGetCaptureInfo_ptsz(CUstream, CUstreamCaptureStatus*, cuuint64_t*);
CUresult cuStreamGetCaptureInfo_v2_ptsz(CUstream, CUstreamCaptureStatus*, cuuint64_t*, CUgraph*, const CUgraphNode**,
                                        size_t*);
CUresult cuStreamUpdateCaptureDependencies_ptsz(CUstream, CUgraphNode*, size_t, unsigned int);
} // extern "C"
#pragma GCC visibility pop
