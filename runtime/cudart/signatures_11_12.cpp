// SPDX-License-Identifier: Apache-2.0
// The entry points that 11 and 12 share and 13 changed: graphs without edge data, locations as device numbers.
#include "runtime/cudart/call.hpp"
#include "runtime/cudart/missing.hpp"
#include "runtime/cudart/per_thread.hpp"
#include "runtime/cudart/version.hpp"

using namespace warplens::cudart;

namespace {
/// A device given by number; -1 is the host (cudaCpuDeviceId).
cudaMemLocation location_of(int device) {
  cudaMemLocation location{};
  location.type = device < 0 ? CU_MEM_LOCATION_TYPE_HOST : CU_MEM_LOCATION_TYPE_DEVICE;
  location.id = device < 0 ? 0 : device;
  return location;
}
} // namespace

/// In libcudart.so.12, programs built with CUDA 11 use this form.
CUDART cudaError_t cudaGetDeviceProperties(cudaDeviceProp_11* properties, int device) {
  return device_properties(properties, device);
}

CUDART cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                            size_t count) {
  return graph_add_dependencies(graph, from, to, nullptr, count);
}
CUDART cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                               const cudaGraphNode_t* to, size_t count) {
  return graph_remove_dependencies(graph, from, to, nullptr, count);
}
CUDART cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, size_t* count) {
  return graph_get_edges(graph, from, to, nullptr, count);
}
CUDART cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* nodes, size_t* count) {
  return graph_node_get_dependencies(node, nodes, nullptr, count);
}
CUDART cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* nodes, size_t* count) {
  return graph_node_get_dependent_nodes(node, nodes, nullptr, count);
}

CUDART cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                            unsigned long long* id) {
  return stream_get_capture_info(stream, status, id, nullptr, nullptr, nullptr, nullptr);
}
CUDART cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                               unsigned long long* id, cudaGraph_t* graph,
                                               const cudaGraphNode_t** dependencies, size_t* count) {
  return stream_get_capture_info(stream, status, id, graph, dependencies, nullptr, count);
}
CUDART cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* dependencies, size_t count,
                                                       unsigned flags) {
  return stream_update_capture_dependencies(stream, dependencies, nullptr, count, flags);
}

CUDART cudaError_t cudaMemAdvise(const void* pointer, size_t size, cudaMemoryAdvise advice, int device) {
  return memory_advise(pointer, size, advice, location_of(device));
}
CUDART cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t size, int device, cudaStream_t stream) {
  return memory_prefetch(pointer, size, location_of(device), 0, stream);
}

PER_THREAD(cudaStreamGetCaptureInfo, _ptsz)
PER_THREAD(cudaStreamGetCaptureInfo_v2, _ptsz)
PER_THREAD(cudaStreamUpdateCaptureDependencies, _ptsz)
PER_THREAD(cudaMemPrefetchAsync, _ptsz)

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
