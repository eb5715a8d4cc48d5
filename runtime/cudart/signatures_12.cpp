// SPDX-License-Identifier: Apache-2.0
// The entry points that are specific to libcudart.so.12: the newer functions in addition to the older, as name_v2.
#include "runtime/cudart/export.hpp"
#include "runtime/cudart/order.hpp"
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
FORWARD(cudaEventElapsedTime_v2, cuEventElapsedTime_v2)

FORWARD(cudaGraphAddDependencies_v2, cuGraphAddDependencies_v2)
FORWARD(cudaGraphRemoveDependencies_v2, cuGraphRemoveDependencies_v2)
FORWARD(cudaGraphGetEdges_v2, cuGraphGetEdges_v2)
FORWARD(cudaGraphNodeGetDependencies_v2, cuGraphNodeGetDependencies_v2)
FORWARD(cudaGraphNodeGetDependentNodes_v2, cuGraphNodeGetDependentNodes_v2)
FORWARD_PER_THREAD(cudaStreamUpdateCaptureDependencies_v2, cuStreamUpdateCaptureDependencies_v2)
FORWARD(cudaMemAdvise_v2, cuMemAdvise_v2)
FORWARD_PER_THREAD(cudaMemPrefetchAsync_v2, cuMemPrefetchAsync_v2)

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

/// The same as cudaMemcpyBatchAsync of 13, except for the index of the copy that failed.
CUDART cudaError_t cudaMemcpyBatchAsync(void** to, void** from, size_t* sizes, size_t count, void*, size_t*, size_t,
                                        size_t* failed, cudaStream_t stream) {
  return call([&]() -> cudaError_t {
    for (size_t i = 0; i < count; ++i) {
      if (failed) *failed = i;
      TRY(copy_bytes(Order::in(stream), to[i], from[i], sizes[i], cudaMemcpyDefault));
    }
    if (failed) *failed = SIZE_MAX;
    return cudaSuccess;
  });
}

PER_THREAD(cudaMemcpyBatchAsync, _ptsz)
PER_THREAD(cudaStreamGetCaptureInfo_v3, _ptsz)
