// SPDX-License-Identifier: Apache-2.0
// Streams and events.
#include "runtime/cudart/call.hpp"
#include "runtime/cudart/version.hpp"

using namespace warplens::cudart;

CUDART cudaError_t cudaStreamCreate(cudaStream_t* stream) { return cudaStreamCreateWithFlags(stream, 0); }
CUDART cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data,
                                         unsigned flags) {
  // The driver passes a CUresult, which has the numbers of cudaError_t.
  return call([&] { return cuStreamAddCallback(stream, reinterpret_cast<CUstreamCallback>(callback), data, flags); });
}

CUDART cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, 0); }

cudaError_t warplens::cudart::stream_get_capture_info(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                                      unsigned long long* id, cudaGraph_t* graph,
                                                      const cudaGraphNode_t** dependencies,
                                                      const cudaGraphEdgeData** edges, std::size_t* count) {
  return call([&] {
    cuuint64_t number = 0;
    const CUresult result = cuStreamGetCaptureInfo_v3(stream, status, &number, graph, dependencies, edges, count);
    if (id) *id = number;
    return result;
  });
}
