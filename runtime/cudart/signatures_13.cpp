// SPDX-License-Identifier: Apache-2.0
// The entry points that are specific to libcudart.so.13, the newest.
#include "runtime/cudart/call.hpp"
#include "runtime/cudart/order.hpp"
#include "runtime/cudart/per_thread.hpp"
#include "runtime/cudart/version.hpp"

namespace warplens::cudart {
extern const Version version = {.number = 13000,
                                .function_attributes = sizeof(cudaFuncAttributes),
                                .pointer_attributes = sizeof(cudaPointerAttributes),
                                .resource_desc = sizeof(cudaResourceDesc),
                                .resource_view_desc = sizeof(cudaResourceViewDesc),
                                .texture_desc = sizeof(cudaTextureDesc)};
} // namespace warplens::cudart

using namespace warplens::cudart;

CUDART cudaError_t cudaGetDeviceProperties(cudaDeviceProp_13* properties, int device) {
  return device_properties(properties, device);
}

CUDART cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                            const cudaGraphEdgeData* edges, size_t count) {
  return graph_add_dependencies(graph, from, to, edges, count);
}
CUDART cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                               const cudaGraphNode_t* to, const cudaGraphEdgeData* edges,
                                               size_t count) {
  return graph_remove_dependencies(graph, from, to, edges, count);
}
CUDART cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                                     cudaGraphEdgeData* edges, size_t* count) {
  return graph_get_edges(graph, from, to, edges, count);
}
CUDART cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* nodes, cudaGraphEdgeData* edges,
                                                size_t* count) {
  return graph_node_get_dependencies(node, nodes, edges, count);
}
CUDART cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                                  cudaGraphEdgeData* edges, size_t* count) {
  return graph_node_get_dependent_nodes(node, nodes, edges, count);
}
CUDART cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                    const cudaGraphEdgeData* edges, size_t count, cudaGraphNodeParams* parameters) {
  return graph_add_node(node, graph, dependencies, edges, count, parameters);
}

CUDART cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                            unsigned long long* id, cudaGraph_t* graph,
                                            const cudaGraphNode_t** dependencies, const cudaGraphEdgeData** edges,
                                            size_t* count) {
  return stream_get_capture_info(stream, status, id, graph, dependencies, edges, count);
}
CUDART cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* dependencies,
                                                       const cudaGraphEdgeData* edges, size_t count, unsigned flags) {
  return stream_update_capture_dependencies(stream, dependencies, edges, count, flags);
}

CUDART cudaError_t cudaMemAdvise(const void* pointer, size_t size, cudaMemoryAdvise advice, cudaMemLocation location) {
  return memory_advise(pointer, size, advice, location);
}
CUDART cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t size, cudaMemLocation location, unsigned flags,
                                        cudaStream_t stream) {
  return memory_prefetch(pointer, size, location, flags, stream);
}

/// Attributes only say when a source may be read and where it probably is: stream order satisfies all of them.
CUDART cudaError_t cudaMemcpyBatchAsync(void* const* to, const void* const* from, const size_t* sizes, size_t count,
                                        const void*, const size_t*, size_t, cudaStream_t stream) {
  return call([&]() -> cudaError_t {
    for (size_t i = 0; i < count; ++i) TRY(copy_bytes(to[i], from[i], sizes[i], cudaMemcpyDefault, Order::in(stream)));
    return cudaSuccess;
  });
}

PER_THREAD(cudaStreamGetCaptureInfo, _ptsz)
PER_THREAD(cudaStreamUpdateCaptureDependencies, _ptsz)
PER_THREAD(cudaMemPrefetchAsync, _ptsz)
PER_THREAD(cudaMemcpyBatchAsync, _ptsz)
