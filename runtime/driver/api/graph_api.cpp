// SPDX-License-Identifier: Apache-2.0
// Whole graphs: creation, cloning, queries, instantiation and update. Nodes are in graph_node_api.cpp, launches and
// captures in graph_stream_api.cpp.
#include "runtime/driver/graph/capture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

using namespace warplens::runtime;

namespace {

/// Returns a list: without space, only its length; surplus elements are set to null.
template <class Handle> CUresult give(const std::vector<Handle>& list, Handle* room, std::size_t* count) {
  require(count != nullptr);
  for (std::size_t i = 0; room != nullptr && i < *count; ++i) room[i] = i < list.size() ? list[i] : nullptr;
  *count = room == nullptr ? list.size() : std::min(*count, list.size());
  return CUDA_SUCCESS;
}

std::vector<CUgraphNode> handles(const std::vector<Node*>& nodes) {
  std::vector<CUgraphNode> list;
  list.reserve(nodes.size());
  for (const Node* node : nodes) list.push_back(Graphs::handle(*node));
  return list;
}

void no_edge_data(CUgraphEdgeData* edges, const std::size_t* count) {
  if (edges != nullptr && count != nullptr) std::fill_n(edges, *count, CUgraphEdgeData{});
}

CUresult change_edges(CUgraph handle, const CUgraphNode* from, const CUgraphNode* to, std::size_t count,
                      void (Graph::*change)(Node&, Node&), const char* function) {
  return serve_graphs(
      [&](Graphs& graphs) {
        const std::shared_ptr<Graph> graph = graphs.graph(handle);
        const std::vector<Node*> before = graphs.list(from, count), after = graphs.list(to, count);
        for (std::size_t i = 0; i < count; ++i) ((*graph).*change)(*before[i], *after[i]);
        return CUDA_SUCCESS;
      },
      function);
}

const char* word(CUgraphNodeType type) {
  constexpr const char* kWords[] = {"kernel",       "memcpy",      "memset",    "host",       "graph",
                                    "empty",        "wait",        "record",    "signal",     "semaphore wait",
                                    "memory alloc", "memory free", "memory op", "conditional"};
  return kWords[type];
}

} // namespace

extern "C" {

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  return serve_graphs([&](Graphs&) {
    require(mode != nullptr && *mode >= CU_STREAM_CAPTURE_MODE_GLOBAL && *mode <= CU_STREAM_CAPTURE_MODE_RELAXED);
    std::swap(*mode, thread_capture_mode());
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphCreate(CUgraph* graph, unsigned int flags) {
  return serve_graphs([&](Graphs& graphs) {
    require(graph != nullptr && flags == 0);
    *graph = graphs.graphs.add(std::make_shared<Graph>());
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphDestroy(CUgraph graph) {
  return serve_graphs([&](Graphs& graphs) {
    require(graphs.graphs.remove(graph) != nullptr);
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphClone(CUgraph* clone, CUgraph original) {
  return serve_graphs([&](Graphs& graphs) {
    require(clone != nullptr);
    *clone = graphs.graphs.add(graphs.graph(original)->clone());
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphNodeFindInClone(CUgraphNode* node, CUgraphNode original, CUgraph clone) {
  return serve_graphs([&](Graphs& graphs) {
    require(node != nullptr);
    const std::shared_ptr<Node> wanted = graphs.node(original);
    for (const Node* candidate : graphs.graph(clone)->nodes())
      if (candidate->original == wanted.get()) return *node = Graphs::handle(*candidate), CUDA_SUCCESS;
    return CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType* type) {
  return serve_graphs([&](Graphs& graphs) {
    require(type != nullptr);
    *type = graphs.node(node)->type();
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode* nodes, size_t* count) {
  return serve_graphs([&](Graphs& graphs) { return give(handles(graphs.graph(graph)->nodes()), nodes, count); });
}

CUresult cuGraphGetRootNodes(CUgraph graph, CUgraphNode* nodes, size_t* count) {
  return serve_graphs([&](Graphs& graphs) {
    std::vector<Node*> roots = graphs.graph(graph)->nodes();
    std::erase_if(roots, [](const Node* node) { return !node->after.empty(); });
    return give(handles(roots), nodes, count);
  });
}

CUresult cuGraphGetEdges_v2(CUgraph graph, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* edges, size_t* count) {
  return serve_graphs([&](Graphs& graphs) {
    require(count != nullptr && (from == nullptr) == (to == nullptr));
    std::vector<CUgraphNode> before, after;
    for (const Node* node : graphs.graph(graph)->nodes())
      for (const Node* dependency : node->after) {
        before.push_back(Graphs::handle(*dependency));
        after.push_back(Graphs::handle(*node));
      }
    std::size_t room = *count;
    give(before, from, &room);
    give(after, to, count);
    no_edge_data(edges, count);
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphNodeGetDependencies_v2(CUgraphNode node, CUgraphNode* nodes, CUgraphEdgeData* edges, size_t* count) {
  return serve_graphs([&](Graphs& graphs) {
    const CUresult result = give(handles(graphs.node(node)->after), nodes, count);
    no_edge_data(edges, count);
    return result;
  });
}

CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode handle, CUgraphNode* nodes, CUgraphEdgeData* edges,
                                         size_t* count) {
  return serve_graphs([&](Graphs& graphs) {
    const std::shared_ptr<Node> node = graphs.node(handle);
    const CUresult result = give(handles(node->graph.dependents(*node)), nodes, count);
    no_edge_data(edges, count);
    return result;
  });
}

CUresult cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                   const CUgraphEdgeData*, size_t count) {
  return change_edges(graph, from, to, count, &Graph::add_edge, "cuGraphAddDependencies");
}

CUresult cuGraphRemoveDependencies_v2(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                      const CUgraphEdgeData*, size_t count) {
  return change_edges(graph, from, to, count, &Graph::remove_edge, "cuGraphRemoveDependencies");
}

CUresult cuGraphDestroyNode(CUgraphNode handle) {
  return serve_graphs([&](Graphs& graphs) {
    const std::shared_ptr<Node> node = graphs.node(handle);
    node->graph.remove(*node);
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec* executable, CUgraph graph, unsigned long long flags) {
  return serve_graphs([&](Graphs& graphs, Context&) {
    constexpr unsigned long long kKnown = CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH |
                                          CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |
                                          CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
    require(executable != nullptr);
    if ((flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) != 0) return unsupported("launching graphs from kernels");
    require((flags & ~kKnown) == 0);
    *executable = graphs.executables.add(std::make_shared<Executable>(*graphs.graph(graph), flags));
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphExecGetFlags(CUgraphExec executable, cuuint64_t* flags) {
  return serve_graphs([&](Graphs& graphs) {
    require(flags != nullptr);
    *flags = graphs.executable(executable)->flags();
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphExecDestroy(CUgraphExec executable) {
  return serve_graphs([&](Graphs& graphs) {
    require(graphs.executables.remove(executable) != nullptr);
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphExecUpdate_v2(CUgraphExec executable, CUgraph graph, CUgraphExecUpdateResultInfo* result) {
  return serve_graphs([&](Graphs& graphs) {
    require(result != nullptr);
    *result = graphs.executable(executable)->update(*graphs.graph(graph));
    return result->result == CU_GRAPH_EXEC_UPDATE_SUCCESS ? CUDA_SUCCESS : CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
  });
}

CUresult cuGraphDebugDotPrint(CUgraph handle, const char* path, unsigned int) {
  return serve_graphs([&](Graphs& graphs) {
    require(path != nullptr);
    const std::shared_ptr<Graph> graph = graphs.graph(handle);
    std::ofstream out(path);
    out << "digraph cuda {\n";
    for (const Node* node : graph->nodes())
      out << fmt::format("  n{} [label=\"{}\"];\n", graph->place(*node), word(node->type()));
    for (const Node* node : graph->nodes())
      for (const Node* before : node->after)
        out << fmt::format("  n{} -> n{};\n", graph->place(*before), graph->place(*node));
    out << "}\n";
    out.close();
    return out ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM;
  });
}

// ---- earlier versions of the same functions

CUresult cuGraphInstantiate(CUgraphExec* executable, CUgraph graph, CUgraphNode* error_node, char*, size_t) {
  if (error_node != nullptr) *error_node = nullptr;
  return cuGraphInstantiateWithFlags(executable, graph, 0);
}
CUresult cuGraphInstantiate_v2(CUgraphExec* executable, CUgraph graph, CUgraphNode* error_node, char* log,
                               size_t size) {
  return cuGraphInstantiate(executable, graph, error_node, log, size);
}
CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to, size_t count) {
  return cuGraphAddDependencies_v2(graph, from, to, nullptr, count);
}
CUresult cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to, size_t count) {
  return cuGraphRemoveDependencies_v2(graph, from, to, nullptr, count);
}
CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode* from, CUgraphNode* to, size_t* count) {
  return cuGraphGetEdges_v2(graph, from, to, nullptr, count);
}
CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode* nodes, size_t* count) {
  return cuGraphNodeGetDependencies_v2(node, nodes, nullptr, count);
}
CUresult cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode* nodes, size_t* count) {
  return cuGraphNodeGetDependentNodes_v2(node, nodes, nullptr, count);
}
CUresult cuGraphExecUpdate(CUgraphExec executable, CUgraph graph, CUgraphNode* error_node,
                           CUgraphExecUpdateResult* why) {
  if (why == nullptr) return CUDA_ERROR_INVALID_VALUE;
  CUgraphExecUpdateResultInfo info{};
  const CUresult result = cuGraphExecUpdate_v2(executable, graph, &info);
  if (error_node != nullptr) *error_node = info.errorNode;
  *why = info.result;
  return result;
}

} // extern "C"
