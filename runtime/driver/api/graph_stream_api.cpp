// SPDX-License-Identifier: Apache-2.0
// Graphs and streams: launch and capture. Compiled twice: see default_stream.hpp.
#include "runtime/driver/api/default_stream.hpp"
#include "runtime/driver/graph/capture.hpp"

#include <algorithm>

using namespace warplens::runtime;

namespace {

CUresult begin(CUstream handle, CUgraph into, const CUgraphNode* after, std::size_t count, CUstreamCaptureMode mode,
               const char* function) {
  return serve_graphs_for(
      handle,
      [&](Graphs& graphs, Context& context) {
        require(mode >= CU_STREAM_CAPTURE_MODE_GLOBAL && mode <= CU_STREAM_CAPTURE_MODE_RELAXED);
        const std::shared_ptr<Stream> stream = find_stream(context, handle);
        require(stream->kind() != Stream::Kind::legacy, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        require(!stream->capture(), CUDA_ERROR_ILLEGAL_STATE);
        auto graph = into == nullptr ? std::make_shared<Graph>() : graphs.graph(into);
        stream->set_capture(std::make_shared<GraphCapture>(*stream, mode, std::move(graph), graphs.list(after, count)));
        return CUDA_SUCCESS;
      },
      function);
}

CUresult info(CUstream handle, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph, const CUgraphNode** nodes,
              const CUgraphEdgeData** edges, std::size_t* count, const char* function) {
  return serve_graphs_for(
      handle,
      [&](Graphs& graphs, Context& context) {
        require(status != nullptr);
        const std::shared_ptr<Stream> stream = find_stream(context, handle);
        const std::shared_ptr<GraphCapture> capture = capture_of(*stream);
        *status = !capture           ? CU_STREAM_CAPTURE_STATUS_NONE
                  : capture->valid() ? CU_STREAM_CAPTURE_STATUS_ACTIVE
                                     : CU_STREAM_CAPTURE_STATUS_INVALIDATED;
        if (*status != CU_STREAM_CAPTURE_STATUS_ACTIVE) return CUDA_SUCCESS;
        capture->shown.clear();
        for (const Node* node : capture->last_nodes(*stream)) capture->shown.push_back(Graphs::handle(*node));
        if (id != nullptr) *id = capture->id();
        if (graph != nullptr) {
          graphs.graphs.add(capture->graph());
          *graph = Graphs::handle(*capture->graph());
        }
        if (nodes != nullptr) *nodes = capture->shown.data();
        if (edges != nullptr) *edges = nullptr; // all edge data are zeros
        if (count != nullptr) *count = capture->shown.size();
        return CUDA_SUCCESS;
      },
      function);
}

CUresult update_dependencies(CUstream handle, const CUgraphNode* nodes, std::size_t count, unsigned flags,
                             const char* function) {
  return serve_graphs_for(
      handle,
      [&](Graphs& graphs, Context& context) {
        require(flags <= CU_STREAM_SET_CAPTURE_DEPENDENCIES);
        const std::shared_ptr<Stream> stream = find_stream(context, handle);
        const std::shared_ptr<GraphCapture> capture = capture_of(*stream);
        require(capture != nullptr, CUDA_ERROR_ILLEGAL_STATE);
        capture->require_valid();
        std::vector<Node*> list = graphs.list(nodes, count);
        for (const Node* node : list) require(&node->graph == capture->graph().get());
        std::vector<Node*>& last = capture->last_nodes(*stream);
        if (flags == CU_STREAM_ADD_CAPTURE_DEPENDENCIES)
          for (Node* node : last)
            if (std::find(list.begin(), list.end(), node) == list.end()) list.push_back(node);
        last = std::move(list);
        return CUDA_SUCCESS;
      },
      function);
}

} // namespace

extern "C" {

CUresult PTSZ(cuStreamBeginCapture_v2)(CUstream stream, CUstreamCaptureMode mode) {
  return begin(stream, nullptr, nullptr, 0, mode, "cuStreamBeginCapture");
}

CUresult PTSZ(cuStreamBeginCapture)(CUstream stream) {
  return begin(stream, nullptr, nullptr, 0, CU_STREAM_CAPTURE_MODE_GLOBAL, "cuStreamBeginCapture");
}

CUresult PTSZ(cuStreamBeginCaptureToGraph)(CUstream stream, CUgraph graph, const CUgraphNode* after,
                                           const CUgraphEdgeData*, size_t count, CUstreamCaptureMode mode) {
  if (graph == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return begin(stream, graph, after, count, mode, "cuStreamBeginCaptureToGraph");
}

CUresult PTSZ(cuStreamEndCapture)(CUstream handle, CUgraph* graph) {
  return serve_graphs_for(handle, [&](Graphs& graphs, Context& context) {
    if (graph != nullptr) *graph = nullptr;
    const std::shared_ptr<Stream> stream = find_stream(context, handle);
    const std::shared_ptr<GraphCapture> capture = capture_of(*stream);
    require(capture != nullptr, CUDA_ERROR_ILLEGAL_STATE);
    const std::shared_ptr<Graph> made = capture->end(*stream);
    // If the capture went into a graph of the program, the program need not request it.
    require(graph != nullptr || graphs.graphs.find(Graphs::handle(*made)) != nullptr);
    graphs.graphs.add(made);
    if (graph != nullptr) *graph = Graphs::handle(*made);
    return CUDA_SUCCESS;
  });
}

CUresult PTSZ(cuStreamIsCapturing)(CUstream stream, CUstreamCaptureStatus* status) {
  return info(stream, status, nullptr, nullptr, nullptr, nullptr, nullptr, "cuStreamIsCapturing");
}

CUresult PTSZ(cuStreamGetCaptureInfo)(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id) {
  return info(stream, status, id, nullptr, nullptr, nullptr, nullptr, "cuStreamGetCaptureInfo");
}

CUresult PTSZ(cuStreamGetCaptureInfo_v2)(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph,
                                         const CUgraphNode** nodes, size_t* count) {
  return info(stream, status, id, graph, nodes, nullptr, count, "cuStreamGetCaptureInfo");
}

CUresult PTSZ(cuStreamGetCaptureInfo_v3)(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph,
                                         const CUgraphNode** nodes, const CUgraphEdgeData** edges, size_t* count) {
  return info(stream, status, id, graph, nodes, edges, count, "cuStreamGetCaptureInfo");
}

CUresult PTSZ(cuStreamUpdateCaptureDependencies)(CUstream stream, CUgraphNode* nodes, size_t count, unsigned flags) {
  return update_dependencies(stream, nodes, count, flags, "cuStreamUpdateCaptureDependencies");
}

CUresult PTSZ(cuStreamUpdateCaptureDependencies_v2)(CUstream stream, CUgraphNode* nodes, const CUgraphEdgeData*,
                                                    size_t count, unsigned flags) {
  return update_dependencies(stream, nodes, count, flags, "cuStreamUpdateCaptureDependencies");
}

CUresult PTSZ(cuGraphInstantiateWithParams)(CUgraphExec* executable, CUgraph graph,
                                            CUDA_GRAPH_INSTANTIATE_PARAMS* parameters) {
  if (parameters == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const CUresult result = cuGraphInstantiateWithFlags(executable, graph, parameters->flags);
  parameters->hErrNode_out = nullptr;
  parameters->result_out = result == CUDA_SUCCESS ? CUDA_GRAPH_INSTANTIATE_SUCCESS : CUDA_GRAPH_INSTANTIATE_ERROR;
  return result;
}

// There is nothing to upload.
CUresult PTSZ(cuGraphUpload)(CUgraphExec executable, CUstream stream) {
  return serve_graphs_for(stream, [&](Graphs& graphs, Context& context) {
    graphs.executable(executable);
    find_stream(context, stream);
    return CUDA_SUCCESS;
  });
}

CUresult PTSZ(cuGraphLaunch)(CUgraphExec handle, CUstream stream_handle) {
  return serve_graphs_for(stream_handle, [&](Graphs& graphs, Context& context) {
    const std::shared_ptr<Executable> executable = graphs.executable(handle);
    const std::shared_ptr<Stream> stream = find_stream(context, stream_handle);
    context.flush_printed();
    if (const std::shared_ptr<GraphCapture> capture = capture_of(*stream))
      capture->add_node(*stream, ChildGraph{executable->current()});
    else
      executable->launch(*stream);
    return CUDA_SUCCESS;
  });
}

} // extern "C"
