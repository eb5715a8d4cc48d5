// SPDX-License-Identifier: Apache-2.0
// The entry points that are specific to libcudart.so.13, the newest.
#include "runtime/cudart/export.hpp"
#include "runtime/cudart/order.hpp"
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

FORWARD(cudaGraphAddDependencies, cuGraphAddDependencies_v2)
FORWARD(cudaGraphRemoveDependencies, cuGraphRemoveDependencies_v2)
FORWARD(cudaGraphGetEdges, cuGraphGetEdges_v2)
FORWARD(cudaGraphNodeGetDependencies, cuGraphNodeGetDependencies_v2)
FORWARD(cudaGraphNodeGetDependentNodes, cuGraphNodeGetDependentNodes_v2)
FORWARD_PER_THREAD(cudaStreamUpdateCaptureDependencies, cuStreamUpdateCaptureDependencies_v2)
FORWARD(cudaMemAdvise, cuMemAdvise_v2)
FORWARD_PER_THREAD(cudaMemPrefetchAsync, cuMemPrefetchAsync_v2)

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

/// Attributes only say when a source may be read and where it probably is: stream order satisfies all of them.
CUDART cudaError_t cudaMemcpyBatchAsync(void* const* to, const void* const* from, const size_t* sizes, size_t count,
                                        const void*, const size_t*, size_t, cudaStream_t stream) {
  return call([&]() -> cudaError_t {
    for (size_t i = 0; i < count; ++i) TRY(copy_bytes(Order::in(stream), to[i], from[i], sizes[i], cudaMemcpyDefault));
    return cudaSuccess;
  });
}

PER_THREAD(cudaStreamGetCaptureInfo, _ptsz)
PER_THREAD(cudaMemcpyBatchAsync, _ptsz)
