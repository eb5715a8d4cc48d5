// SPDX-License-Identifier: Apache-2.0
// The copy nodes of graphs: three-dimensional, one-dimensional, to and from symbols.
#include "runtime/cudart/call.hpp"
#include "runtime/cudart/convert.hpp"
#include "runtime/cudart/registration.hpp"

using namespace warplens::cudart;

namespace {

/// `describe(&copy)` fills in the copy, which is then added as a node or set in an existing one.
template <class Describe>
cudaError_t add(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies, size_t count,
                Describe&& describe) {
  return call([&]() -> cudaError_t {
    CUDA_MEMCPY3D copy{};
    TRY(describe(&copy));
    return to_error(cuGraphAddMemcpyNode(node, graph, dependencies, count, &copy, current_context()));
  });
}
template <class Describe> cudaError_t set(cudaGraphNode_t node, Describe&& describe) {
  return call([&]() -> cudaError_t {
    CUDA_MEMCPY3D copy{};
    TRY(describe(&copy));
    return to_error(cuGraphMemcpyNodeSetParams(node, &copy));
  });
}
template <class Describe> cudaError_t set(cudaGraphExec_t executable, cudaGraphNode_t node, Describe&& describe) {
  return call([&]() -> cudaError_t {
    CUDA_MEMCPY3D copy{};
    TRY(describe(&copy));
    return to_error(cuGraphExecMemcpyNodeSetParams(executable, node, &copy, current_context()));
  });
}

auto box(const cudaMemcpy3DParms* parameters) {
  return [=](CUDA_MEMCPY3D* copy) { return parameters ? driver_copy(*parameters, copy) : cudaErrorInvalidValue; };
}
auto line(void* to, const void* from, size_t size, cudaMemcpyKind kind) {
  return [=](CUDA_MEMCPY3D* copy) {
    if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
    set_source(copy, kind, from, size, 1);
    set_destination(copy, kind, to, size, 1);
    copy->WidthInBytes = size;
    copy->Height = copy->Depth = 1;
    return cudaSuccess;
  };
}
auto to_symbol(const void* symbol, const void* from, size_t size, size_t offset, cudaMemcpyKind kind) {
  return [=](CUDA_MEMCPY3D* copy) -> cudaError_t {
    void* to = nullptr;
    TRY(find_part(symbol, offset, size, &to));
    return line(to, from, size, kind)(copy);
  };
}
auto from_symbol(void* to, const void* symbol, size_t size, size_t offset, cudaMemcpyKind kind) {
  return [=](CUDA_MEMCPY3D* copy) -> cudaError_t {
    void* from = nullptr;
    TRY(find_part(symbol, offset, size, &from));
    return line(to, from, size, kind)(copy);
  };
}

} // namespace

CUDART cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                          size_t count, const cudaMemcpy3DParms* parameters) {
  return add(node, graph, dependencies, count, box(parameters));
}
CUDART cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms* parameters) {
  return call([&]() -> cudaError_t {
    CUDA_MEMCPY3D copy{};
    TRY(cuGraphMemcpyNodeGetParams(node, &copy));
    return runtime_copy(copy, parameters);
  });
}
CUDART cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const cudaMemcpy3DParms* parameters) {
  return set(node, box(parameters));
}
CUDART cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                    const cudaMemcpy3DParms* parameters) {
  return set(executable, node, box(parameters));
}

CUDART cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph,
                                            const cudaGraphNode_t* dependencies, size_t count, void* to,
                                            const void* from, size_t size, cudaMemcpyKind kind) {
  return add(node, graph, dependencies, count, line(to, from, size, kind));
}
CUDART cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* to, const void* from, size_t size,
                                                  cudaMemcpyKind kind) {
  return set(node, line(to, from, size, kind));
}
CUDART cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t executable, cudaGraphNode_t node, void* to,
                                                      const void* from, size_t size, cudaMemcpyKind kind) {
  return set(executable, node, line(to, from, size, kind));
}

CUDART cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                                  const cudaGraphNode_t* dependencies, size_t count, const void* symbol,
                                                  const void* from, size_t size, size_t offset, cudaMemcpyKind kind) {
  return add(node, graph, dependencies, count, to_symbol(symbol, from, size, offset, kind));
}
CUDART cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void* symbol, const void* from,
                                                        size_t size, size_t offset, cudaMemcpyKind kind) {
  return set(node, to_symbol(symbol, from, size, offset, kind));
}
CUDART cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                            const void* symbol, const void* from, size_t size,
                                                            size_t offset, cudaMemcpyKind kind) {
  return set(executable, node, to_symbol(symbol, from, size, offset, kind));
}
CUDART cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                                    const cudaGraphNode_t* dependencies, size_t count, void* to,
                                                    const void* symbol, size_t size, size_t offset,
                                                    cudaMemcpyKind kind) {
  return add(node, graph, dependencies, count, from_symbol(to, symbol, size, offset, kind));
}
CUDART cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void* to, const void* symbol,
                                                          size_t size, size_t offset, cudaMemcpyKind kind) {
  return set(node, from_symbol(to, symbol, size, offset, kind));
}
CUDART cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                              void* to, const void* symbol, size_t size, size_t offset,
                                                              cudaMemcpyKind kind) {
  return set(executable, node, from_symbol(to, symbol, size, offset, kind));
}
