// SPDX-License-Identifier: Apache-2.0
// The copy nodes of graphs: three-dimensional, one-dimensional, to and from symbols.
#include "runtime/cudart/convert.hpp"
#include "runtime/cudart/export.hpp"
#include "runtime/cudart/registration.hpp"

namespace warplens::cudart {
namespace {

/// `describe` fills in the copy, which is then added as a node or set in an existing one.
template <auto describe> struct CopyNode;
template <class... Parameter, cudaError_t (*describe)(CUDA_MEMCPY3D*, Parameter...)> struct CopyNode<describe> {
  static cudaError_t add(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                         std::size_t count, Parameter... parameter) {
    return call([&]() -> cudaError_t {
      CUDA_MEMCPY3D copy{};
      TRY(describe(&copy, parameter...));
      return to_error(cuGraphAddMemcpyNode(node, graph, dependencies, count, &copy, current_context()));
    });
  }
  static cudaError_t set(cudaGraphNode_t node, Parameter... parameter) {
    return call([&]() -> cudaError_t {
      CUDA_MEMCPY3D copy{};
      TRY(describe(&copy, parameter...));
      return to_error(cuGraphMemcpyNodeSetParams(node, &copy));
    });
  }
  static cudaError_t set_in(cudaGraphExec_t executable, cudaGraphNode_t node, Parameter... parameter) {
    return call([&]() -> cudaError_t {
      CUDA_MEMCPY3D copy{};
      TRY(describe(&copy, parameter...));
      return to_error(cuGraphExecMemcpyNodeSetParams(executable, node, &copy, current_context()));
    });
  }
};

cudaError_t box(CUDA_MEMCPY3D* copy, const cudaMemcpy3DParms* parameters) {
  return parameters ? driver_copy(*parameters, copy) : cudaErrorInvalidValue;
}
cudaError_t line(CUDA_MEMCPY3D* copy, void* to, const void* from, std::size_t size, cudaMemcpyKind kind) {
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
  *copy = rectangle(size, 1);
  set_source(copy, kind, from, size, 1);
  set_destination(copy, kind, to, size, 1);
  return cudaSuccess;
}
cudaError_t to_symbol(CUDA_MEMCPY3D* copy, const void* symbol, const void* from, std::size_t size, std::size_t offset,
                      cudaMemcpyKind kind) {
  void* to = nullptr;
  TRY(find_part(symbol, offset, size, &to));
  return line(copy, to, from, size, kind);
}
cudaError_t from_symbol(CUDA_MEMCPY3D* copy, void* to, const void* symbol, std::size_t size, std::size_t offset,
                        cudaMemcpyKind kind) {
  void* from = nullptr;
  TRY(find_part(symbol, offset, size, &from));
  return line(copy, to, from, size, kind);
}

} // namespace
} // namespace warplens::cudart

using namespace warplens::cudart;

#define COPY_NODE(form, describe)                                                                                      \
  EXPORT(cudaGraphAddMemcpyNode##form, CopyNode<describe>::add)                                                        \
  EXPORT(cudaGraphMemcpyNodeSetParams##form, CopyNode<describe>::set)                                                  \
  EXPORT(cudaGraphExecMemcpyNodeSetParams##form, CopyNode<describe>::set_in)
COPY_NODE(, box)
COPY_NODE(1D, line)
COPY_NODE(ToSymbol, to_symbol)
COPY_NODE(FromSymbol, from_symbol)

CUDART cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms* parameters) {
  return call([&]() -> cudaError_t {
    CUDA_MEMCPY3D copy{};
    TRY(cuGraphMemcpyNodeGetParams(node, &copy));
    return runtime_copy(copy, parameters);
  });
}
