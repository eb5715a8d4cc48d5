// SPDX-License-Identifier: Apache-2.0
// The entry points that 11 and 12 share and 13 changed: graphs without edge data, locations as device numbers.
#include "runtime/cudart/export.hpp"
#include "runtime/cudart/version.hpp"

using namespace warplens::cudart;

/// In libcudart.so.12, programs built with CUDA 11 use this form.
CUDART cudaError_t cudaGetDeviceProperties(cudaDeviceProp_11* properties, int device) {
  return device_properties(properties, device);
}

FORWARD(cudaGraphAddDependencies, cuGraphAddDependencies)
FORWARD(cudaGraphRemoveDependencies, cuGraphRemoveDependencies)
FORWARD(cudaGraphGetEdges, cuGraphGetEdges)
FORWARD(cudaGraphNodeGetDependencies, cuGraphNodeGetDependencies)
FORWARD(cudaGraphNodeGetDependentNodes, cuGraphNodeGetDependentNodes)
FORWARD_PER_THREAD(cudaStreamUpdateCaptureDependencies, cuStreamUpdateCaptureDependencies)
FORWARD(cudaMemAdvise, cuMemAdvise)
FORWARD_PER_THREAD(cudaMemPrefetchAsync, cuMemPrefetchAsync)

CUDART cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                            unsigned long long* id) {
  return stream_get_capture_info(stream, status, id, nullptr, nullptr, nullptr, nullptr);
}
CUDART cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                               unsigned long long* id, cudaGraph_t* graph,
                                               const cudaGraphNode_t** dependencies, size_t* count) {
  return stream_get_capture_info(stream, status, id, graph, dependencies, nullptr, count);
}

PER_THREAD(cudaStreamGetCaptureInfo, _ptsz)
PER_THREAD(cudaStreamGetCaptureInfo_v2, _ptsz)

// The old names of the context functions, which CUDA 13 removed.
CUDART cudaError_t cudaThreadExit() { return cudaDeviceReset(); }
CUDART cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
CUDART cudaError_t cudaThreadSetLimit(cudaLimit limit, size_t value) { return cudaDeviceSetLimit(limit, value); }
CUDART cudaError_t cudaThreadGetLimit(size_t* value, cudaLimit limit) { return cudaDeviceGetLimit(value, limit); }
CUDART cudaError_t cudaThreadGetCacheConfig(cudaFuncCache* config) { return cudaDeviceGetCacheConfig(config); }
CUDART cudaError_t cudaThreadSetCacheConfig(cudaFuncCache config) { return cudaDeviceSetCacheConfig(config); }
// Devices without double precision are older than these versions: no conversion is needed.
CUDART cudaError_t cudaSetDoubleForDevice(double*) { return cudaSuccess; }
CUDART cudaError_t cudaSetDoubleForHost(double*) { return cudaSuccess; }

MISSING(cudaLaunchCooperativeKernelMultiDevice)
MISSING(cudaSignalExternalSemaphoresAsync_v2)
MISSING(cudaSignalExternalSemaphoresAsync_v2_ptsz)
MISSING(cudaWaitExternalSemaphoresAsync_v2)
MISSING(cudaWaitExternalSemaphoresAsync_v2_ptsz)
