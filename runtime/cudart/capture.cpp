// SPDX-License-Identifier: Apache-2.0
// Stream capture into graphs.
#include "runtime/cudart/call.hpp"
#include "runtime/cudart/version.hpp"

namespace warplens::cudart {

cudaError_t stream_get_capture_info(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
                                    cudaGraph_t* graph, const cudaGraphNode_t** dependencies,
                                    const cudaGraphEdgeData** edges, std::size_t* count) {
  return call([&] {
    cuuint64_t number = 0;
    const CUresult result = cuStreamGetCaptureInfo_v3(stream, status, &number, graph, dependencies, edges, count);
    if (id) *id = number;
    return result;
  });
}
cudaError_t stream_update_capture_dependencies(cudaStream_t stream, cudaGraphNode_t* dependencies,
                                               const cudaGraphEdgeData* edges, std::size_t count, unsigned flags) {
  return call([&] { return cuStreamUpdateCaptureDependencies_v2(stream, dependencies, edges, count, flags); });
}

} // namespace warplens::cudart

using namespace warplens::cudart;

CUDART cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return call([&] { return cuStreamBeginCapture_v2(stream, mode); });
}
CUDART cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                                 const cudaGraphNode_t* dependencies, const cudaGraphEdgeData* edges,
                                                 size_t count, cudaStreamCaptureMode mode) {
  return call([&] { return cuStreamBeginCaptureToGraph(stream, graph, dependencies, edges, count, mode); });
}
CUDART cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return call([&] { return cuStreamEndCapture(stream, graph); });
}
CUDART cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return call([&] { return cuStreamIsCapturing(stream, status); });
}
CUDART cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return call([&] { return cuThreadExchangeStreamCaptureMode(mode); });
}
