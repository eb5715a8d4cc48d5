// SPDX-License-Identifier: Apache-2.0
// Whole graphs: construction, topology, instantiation, launch. Their nodes are in graph_nodes.cpp and graph_copies.cpp.
#include "runtime/cudart/call.hpp"
#include "runtime/cudart/version.hpp"

namespace warplens::cudart {

cudaError_t graph_add_dependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                   const cudaGraphEdgeData* edges, std::size_t count) {
  return call([&] { return cuGraphAddDependencies_v2(graph, from, to, edges, count); });
}
cudaError_t graph_remove_dependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                      const cudaGraphEdgeData* edges, std::size_t count) {
  return call([&] { return cuGraphRemoveDependencies_v2(graph, from, to, edges, count); });
}
cudaError_t graph_get_edges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, cudaGraphEdgeData* edges,
                            std::size_t* count) {
  return call([&] { return cuGraphGetEdges_v2(graph, from, to, edges, count); });
}
cudaError_t graph_node_get_dependencies(cudaGraphNode_t node, cudaGraphNode_t* nodes, cudaGraphEdgeData* edges,
                                        std::size_t* count) {
  return call([&] { return cuGraphNodeGetDependencies_v2(node, nodes, edges, count); });
}
cudaError_t graph_node_get_dependent_nodes(cudaGraphNode_t node, cudaGraphNode_t* nodes, cudaGraphEdgeData* edges,
                                           std::size_t* count) {
  return call([&] { return cuGraphNodeGetDependentNodes_v2(node, nodes, edges, count); });
}
cudaError_t graph_instantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long flags) {
  return call([&] { return cuGraphInstantiateWithFlags(executable, graph, flags); });
}
cudaError_t graph_exec_update(cudaGraphExec_t executable, cudaGraph_t graph, cudaGraphExecUpdateResultInfo* result) {
  return call([&] { return cuGraphExecUpdate_v2(executable, graph, result); });
}

} // namespace warplens::cudart

using namespace warplens::cudart;

CUDART cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags) {
  return call([&] { return cuGraphCreate(graph, flags); });
}
CUDART cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return call([&] { return cuGraphDestroy(graph); });
}
CUDART cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t graph) {
  return call([&] { return cuGraphClone(clone, graph); });
}
CUDART cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* node, cudaGraphNode_t original, cudaGraph_t clone) {
  return call([&] { return cuGraphNodeFindInClone(node, original, clone); });
}
CUDART cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  return call([&] { return cuGraphGetNodes(graph, nodes, count); });
}
CUDART cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  return call([&] { return cuGraphGetRootNodes(graph, nodes, count); });
}
CUDART cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  return call([&] { return cuGraphNodeGetType(node, type); });
}
CUDART cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) {
  return call([&] { return cuGraphDestroyNode(node); });
}
CUDART cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned flags) {
  return call([&] { return cuGraphDebugDotPrint(graph, path, flags); });
}

CUDART cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* executable, cudaGraph_t graph,
                                                 unsigned long long flags) {
  return graph_instantiate(executable, graph, flags);
}
CUDART cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t* executable, cudaGraph_t graph,
                                                  cudaGraphInstantiateParams* parameters) {
  return call([&] { return cuGraphInstantiateWithParams(executable, graph, parameters); });
}
CUDART cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t executable, unsigned long long* flags) {
  return call([&] {
    cuuint64_t bits = 0;
    const CUresult result = cuGraphExecGetFlags(executable, &bits);
    *flags = bits;
    return result;
  });
}
CUDART cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  return call([&] { return cuGraphExecDestroy(executable); });
}
CUDART cudaError_t cudaGraphUpload(cudaGraphExec_t executable, cudaStream_t stream) {
  return call([&] { return cuGraphUpload(executable, stream); });
}
CUDART cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  return call([&] { return cuGraphLaunch(executable, stream); });
}

CUDART cudaError_t cudaDeviceGraphMemTrim(int device) {
  return call([&] { return cuDeviceGraphMemTrim(device); });
}
CUDART cudaError_t cudaDeviceGetGraphMemAttribute(int device, CUgraphMem_attribute attribute, void* value) {
  return call([&] { return cuDeviceGetGraphMemAttribute(device, attribute, value); });
}
CUDART cudaError_t cudaDeviceSetGraphMemAttribute(int device, CUgraphMem_attribute attribute, void* value) {
  return call([&] { return cuDeviceSetGraphMemAttribute(device, attribute, value); });
}

CUDART cudaError_t cudaUserObjectCreate(cudaUserObject_t* object, void* pointer, cudaHostFn_t destroy,
                                        unsigned references, unsigned flags) {
  return call([&] { return cuUserObjectCreate(object, pointer, destroy, references, flags); });
}
CUDART cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned count) {
  return call([&] { return cuUserObjectRetain(object, count); });
}
CUDART cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned count) {
  return call([&] { return cuUserObjectRelease(object, count); });
}
CUDART cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count,
                                             unsigned flags) {
  return call([&] { return cuGraphRetainUserObject(graph, object, count, flags); });
}
CUDART cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count) {
  return call([&] { return cuGraphReleaseUserObject(graph, object, count); });
}
