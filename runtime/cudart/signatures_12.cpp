// SPDX-License-Identifier: Apache-2.0
// The entry points that are specific to libcudart.so.12: the newer functions in addition to the older, as name_v2.
#include "runtime/cudart/call.hpp"
#include "runtime/cudart/order.hpp"
#include "runtime/cudart/per_thread.hpp"
#include "runtime/cudart/version.hpp"

#include <cstddef>
#include <cstdint>

namespace warplens::cudart {
extern const Version version = {.number = 12090,
                                .function_attributes = sizeof(cudaFuncAttributes),
                                .pointer_attributes = offsetof(cudaPointerAttributes, reserved),
                                .resource_desc = 64, // without the reserved bytes and flags of 13
                                .resource_view_desc = offsetof(cudaResourceViewDesc, reserved),
                                .texture_desc = sizeof(cudaTextureDesc)};
} // namespace warplens::cudart

using namespace warplens::cudart;

CUDART cudaError_t cudaGetDeviceProperties_v2(cudaDeviceProp_12* properties, int device) {
  return device_properties(properties, device);
}
CUDART cudaError_t cudaEventElapsedTime_v2(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return cudaEventElapsedTime(milliseconds, start, end);
}

CUDART cudaError_t cudaGraphAddDependencies_v2(cudaGraph_t graph, const cudaGraphNode_t* from,
                                               const cudaGraphNode_t* to, const cudaGraphEdgeData* edges,
                                               size_t count) {
  return graph_add_dependencies(graph, from, to, edges, count);
}
CUDART cudaError_t cudaGraphRemoveDependencies_v2(cudaGraph_t graph, const cudaGraphNode_t* from,
                                                  const cudaGraphNode_t* to, const cudaGraphEdgeData* edges,
                                                  size_t count) {
  return graph_remove_dependencies(graph, from, to, edges, count);
}
CUDART cudaError_t cudaGraphGetEdges_v2(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                                        cudaGraphEdgeData* edges, size_t* count) {
  return graph_get_edges(graph, from, to, edges, count);
}
CUDART cudaError_t cudaGraphNodeGetDependencies_v2(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                                   cudaGraphEdgeData* edges, size_t* count) {
  return graph_node_get_dependencies(node, nodes, edges, count);
}
CUDART cudaError_t cudaGraphNodeGetDependentNodes_v2(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                                     cudaGraphEdgeData* edges, size_t* count) {
  return graph_node_get_dependent_nodes(node, nodes, edges, count);
}
CUDART cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                    size_t count, cudaGraphNodeParams* parameters) {
  return graph_add_node(node, graph, dependencies, nullptr, count, parameters);
}
CUDART cudaError_t cudaGraphAddNode_v2(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                       const cudaGraphEdgeData* edges, size_t count, cudaGraphNodeParams* parameters) {
  return graph_add_node(node, graph, dependencies, edges, count, parameters);
}

CUDART cudaError_t cudaStreamGetCaptureInfo_v3(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                               unsigned long long* id, cudaGraph_t* graph,
                                               const cudaGraphNode_t** dependencies, const cudaGraphEdgeData** edges,
                                               size_t* count) {
  return stream_get_capture_info(stream, status, id, graph, dependencies, edges, count);
}
CUDART cudaError_t cudaStreamUpdateCaptureDependencies_v2(cudaStream_t stream, cudaGraphNode_t* dependencies,
                                                          const cudaGraphEdgeData* edges, size_t count,
                                                          unsigned flags) {
  return stream_update_capture_dependencies(stream, dependencies, edges, count, flags);
}

CUDART cudaError_t cudaMemAdvise_v2(const void* pointer, size_t size, cudaMemoryAdvise advice,
                                    cudaMemLocation location) {
  return memory_advise(pointer, size, advice, location);
}
CUDART cudaError_t cudaMemPrefetchAsync_v2(const void* pointer, size_t size, cudaMemLocation location, unsigned flags,
                                           cudaStream_t stream) {
  return memory_prefetch(pointer, size, location, flags, stream);
}

/// The same as cudaMemcpyBatchAsync of 13, except for the index of the copy that failed.
CUDART cudaError_t cudaMemcpyBatchAsync(void** to, void** from, size_t* sizes, size_t count, void*, size_t*, size_t,
                                        size_t* failed, cudaStream_t stream) {
  return call([&]() -> cudaError_t {
    for (size_t i = 0; i < count; ++i) {
      if (failed) *failed = i;
      TRY(copy_bytes(to[i], from[i], sizes[i], cudaMemcpyDefault, Order::in(stream)));
    }
    if (failed) *failed = SIZE_MAX;
    return cudaSuccess;
  });
}

PER_THREAD(cudaMemcpyBatchAsync, _ptsz)
PER_THREAD(cudaStreamGetCaptureInfo_v3, _ptsz)
PER_THREAD(cudaStreamUpdateCaptureDependencies_v2, _ptsz)
PER_THREAD(cudaMemPrefetchAsync_v2, _ptsz)
