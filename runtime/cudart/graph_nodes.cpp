// SPDX-License-Identifier: Apache-2.0
// Graphs and their nodes, by kind; copies are in graph_copies.cpp.
#include "runtime/cudart/call.hpp"
#include "runtime/cudart/registration.hpp"
#include "runtime/cudart/version.hpp"

namespace warplens::cudart {
namespace {

cudaError_t driver_kernel(const cudaKernelNodeParams* parameters, CUDA_KERNEL_NODE_PARAMS* driver) {
  if (!parameters) return cudaErrorInvalidValue;
  *driver = {};
  TRY(find_function(parameters->func, &driver->func));
  driver->gridDimX = parameters->gridDim.x;
  driver->gridDimY = parameters->gridDim.y;
  driver->gridDimZ = parameters->gridDim.z;
  driver->blockDimX = parameters->blockDim.x;
  driver->blockDimY = parameters->blockDim.y;
  driver->blockDimZ = parameters->blockDim.z;
  driver->sharedMemBytes = parameters->sharedMemBytes;
  driver->kernelParams = parameters->kernelParams;
  driver->extra = parameters->extra;
  return cudaSuccess;
}

/// `use` adds the parameters as a new node, or sets them in an existing one.
template <class Use> cudaError_t with_kernel(const cudaKernelNodeParams* parameters, Use&& use) {
  return call([&]() -> cudaError_t {
    CUDA_KERNEL_NODE_PARAMS driver{};
    TRY(driver_kernel(parameters, &driver));
    return to_error(use(&driver));
  });
}

} // namespace
} // namespace warplens::cudart

using namespace warplens::cudart;

CUDART cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t executable, unsigned long long* flags) {
  return call([&] {
    cuuint64_t bits = 0;
    const CUresult result = cuGraphExecGetFlags(executable, &bits);
    *flags = bits;
    return result;
  });
}

CUDART cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                          size_t count, const cudaKernelNodeParams* parameters) {
  return with_kernel(parameters,
                     [&](auto* driver) { return cuGraphAddKernelNode_v2(node, graph, dependencies, count, driver); });
}
CUDART cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* parameters) {
  return call([&]() -> cudaError_t {
    CUDA_KERNEL_NODE_PARAMS driver{};
    TRY(cuGraphKernelNodeGetParams_v2(node, &driver));
    *parameters = {host_function_of(driver.func, driver.kern),
                   {driver.gridDimX, driver.gridDimY, driver.gridDimZ},
                   {driver.blockDimX, driver.blockDimY, driver.blockDimZ},
                   driver.sharedMemBytes,
                   driver.kernelParams,
                   driver.extra};
    return cudaSuccess;
  });
}
CUDART cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams* parameters) {
  return with_kernel(parameters, [&](auto* driver) { return cuGraphKernelNodeSetParams_v2(node, driver); });
}
CUDART cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                    const cudaKernelNodeParams* parameters) {
  return with_kernel(parameters,
                     [&](auto* driver) { return cuGraphExecKernelNodeSetParams_v2(executable, node, driver); });
}

CUDART cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                          size_t count, const cudaMemsetParams* parameters) {
  return call([&] { return cuGraphAddMemsetNode(node, graph, dependencies, count, parameters, current_context()); });
}
CUDART cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                    const cudaMemsetParams* parameters) {
  return call([&] { return cuGraphExecMemsetNodeSetParams(executable, node, parameters, current_context()); });
}

CUDART cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                           const cudaGraphNode_t* dependencies, size_t count, void* pointer) {
  return call([&] { return cuGraphAddMemFreeNode(node, graph, dependencies, count, address(pointer)); });
}
CUDART cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* pointer) {
  return call([&] { return cuGraphMemFreeNodeGetParams(node, static_cast<CUdeviceptr*>(pointer)); });
}

namespace warplens::cudart {

/// Adds a node of any type with one of the functions above.
cudaError_t graph_add_node(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                           const cudaGraphEdgeData* edges, std::size_t count, cudaGraphNodeParams* parameters) {
  if (!parameters) return record(cudaErrorInvalidValue);
  if (edges) return not_supported("cudaGraphAddNode with edge data");
  switch (parameters->type) {
  case CU_GRAPH_NODE_TYPE_KERNEL: return cudaGraphAddKernelNode(node, graph, dependencies, count, &parameters->kernel);
  case CU_GRAPH_NODE_TYPE_MEMCPY:
    return cudaGraphAddMemcpyNode(node, graph, dependencies, count, &parameters->memcpy.copyParams);
  case CU_GRAPH_NODE_TYPE_MEMSET: return cudaGraphAddMemsetNode(node, graph, dependencies, count, &parameters->memset);
  case CU_GRAPH_NODE_TYPE_HOST: return cudaGraphAddHostNode(node, graph, dependencies, count, &parameters->host);
  case CU_GRAPH_NODE_TYPE_GRAPH: return cudaGraphAddChildGraphNode(node, graph, dependencies, count, parameters->graph);
  case CU_GRAPH_NODE_TYPE_EMPTY: return cudaGraphAddEmptyNode(node, graph, dependencies, count);
  case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
    return cudaGraphAddEventWaitNode(node, graph, dependencies, count, parameters->event);
  case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
    return cudaGraphAddEventRecordNode(node, graph, dependencies, count, parameters->event);
  case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
    return cudaGraphAddMemAllocNode(node, graph, dependencies, count, &parameters->alloc);
  case CU_GRAPH_NODE_TYPE_MEM_FREE: return cudaGraphAddMemFreeNode(node, graph, dependencies, count, parameters->free);
  case CU_GRAPH_NODE_TYPE_CONDITIONAL:
    return call([&]() -> cudaError_t {
      CUgraphNodeParams driver{};
      driver.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
      driver.conditional = parameters->conditional;
      TRY(cuGraphAddNode(node, graph, dependencies, count, &driver));
      parameters->conditional.phGraph_out = driver.conditional.phGraph_out;
      return cudaSuccess;
    });
  default: return not_supported("cudaGraphAddNode with this node type");
  }
}

} // namespace warplens::cudart

CUDART cudaError_t cudaGraphConditionalHandleCreate(CUgraphConditionalHandle* handle, cudaGraph_t graph, unsigned first,
                                                    unsigned flags) {
  return call([&] { return cuGraphConditionalHandleCreate(handle, graph, current_context(), first, flags); });
}

CUDART cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, cudaGraphNodeParams* parameters) {
  if (!parameters) return record(cudaErrorInvalidValue);
  switch (parameters->type) {
  case CU_GRAPH_NODE_TYPE_KERNEL: return cudaGraphKernelNodeSetParams(node, &parameters->kernel);
  case CU_GRAPH_NODE_TYPE_MEMCPY: return cudaGraphMemcpyNodeSetParams(node, &parameters->memcpy.copyParams);
  case CU_GRAPH_NODE_TYPE_MEMSET: return cudaGraphMemsetNodeSetParams(node, &parameters->memset);
  case CU_GRAPH_NODE_TYPE_HOST: return cudaGraphHostNodeSetParams(node, &parameters->host);
  case CU_GRAPH_NODE_TYPE_WAIT_EVENT: return cudaGraphEventWaitNodeSetEvent(node, parameters->event);
  case CU_GRAPH_NODE_TYPE_EVENT_RECORD: return cudaGraphEventRecordNodeSetEvent(node, parameters->event);
  default: return record(cudaErrorInvalidValue);
  }
}
CUDART cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                              cudaGraphNodeParams* parameters) {
  if (!parameters) return record(cudaErrorInvalidValue);
  switch (parameters->type) {
  case CU_GRAPH_NODE_TYPE_KERNEL: return cudaGraphExecKernelNodeSetParams(executable, node, &parameters->kernel);
  case CU_GRAPH_NODE_TYPE_MEMCPY:
    return cudaGraphExecMemcpyNodeSetParams(executable, node, &parameters->memcpy.copyParams);
  case CU_GRAPH_NODE_TYPE_MEMSET: return cudaGraphExecMemsetNodeSetParams(executable, node, &parameters->memset);
  case CU_GRAPH_NODE_TYPE_HOST: return cudaGraphExecHostNodeSetParams(executable, node, &parameters->host);
  case CU_GRAPH_NODE_TYPE_GRAPH: return cudaGraphExecChildGraphNodeSetParams(executable, node, parameters->graph);
  case CU_GRAPH_NODE_TYPE_WAIT_EVENT: return cudaGraphExecEventWaitNodeSetEvent(executable, node, parameters->event);
  case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
    return cudaGraphExecEventRecordNodeSetEvent(executable, node, parameters->event);
  default: return record(cudaErrorInvalidValue);
  }
}
