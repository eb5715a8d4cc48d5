// SPDX-License-Identifier: Apache-2.0
// The nodes of graphs, by kind; copies are in graph_copies.cpp.
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
CUDART cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t to, cudaGraphNode_t from) {
  return call([&] { return cuGraphKernelNodeCopyAttributes(to, from); });
}
CUDART cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID attribute,
                                                   cudaLaunchAttributeValue* value) {
  return call([&] { return cuGraphKernelNodeGetAttribute(node, attribute, value); });
}
CUDART cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID attribute,
                                                   const cudaLaunchAttributeValue* value) {
  return call([&] { return cuGraphKernelNodeSetAttribute(node, attribute, value); });
}

CUDART cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                          size_t count, const cudaMemsetParams* parameters) {
  return call([&] { return cuGraphAddMemsetNode(node, graph, dependencies, count, parameters, current_context()); });
}
CUDART cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams* parameters) {
  return call([&] { return cuGraphMemsetNodeGetParams(node, parameters); });
}
CUDART cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* parameters) {
  return call([&] { return cuGraphMemsetNodeSetParams(node, parameters); });
}
CUDART cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                    const cudaMemsetParams* parameters) {
  return call([&] { return cuGraphExecMemsetNodeSetParams(executable, node, parameters, current_context()); });
}

CUDART cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                        size_t count, const cudaHostNodeParams* parameters) {
  return call([&] { return cuGraphAddHostNode(node, graph, dependencies, count, parameters); });
}
CUDART cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams* parameters) {
  return call([&] { return cuGraphHostNodeGetParams(node, parameters); });
}
CUDART cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams* parameters) {
  return call([&] { return cuGraphHostNodeSetParams(node, parameters); });
}
CUDART cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                  const cudaHostNodeParams* parameters) {
  return call([&] { return cuGraphExecHostNodeSetParams(executable, node, parameters); });
}

CUDART cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                              const cudaGraphNode_t* dependencies, size_t count, cudaGraph_t child) {
  return call([&] { return cuGraphAddChildGraphNode(node, graph, dependencies, count, child); });
}
CUDART cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* graph) {
  return call([&] { return cuGraphChildGraphNodeGetGraph(node, graph); });
}
CUDART cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                        cudaGraph_t child) {
  return call([&] { return cuGraphExecChildGraphNodeSetParams(executable, node, child); });
}
CUDART cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                         size_t count) {
  return call([&] { return cuGraphAddEmptyNode(node, graph, dependencies, count); });
}

CUDART cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                               const cudaGraphNode_t* dependencies, size_t count, cudaEvent_t event) {
  return call([&] { return cuGraphAddEventRecordNode(node, graph, dependencies, count, event); });
}
CUDART cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  return call([&] { return cuGraphEventRecordNodeGetEvent(node, event); });
}
CUDART cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return call([&] { return cuGraphEventRecordNodeSetEvent(node, event); });
}
CUDART cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                        cudaEvent_t event) {
  return call([&] { return cuGraphExecEventRecordNodeSetEvent(executable, node, event); });
}
CUDART cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                             const cudaGraphNode_t* dependencies, size_t count, cudaEvent_t event) {
  return call([&] { return cuGraphAddEventWaitNode(node, graph, dependencies, count, event); });
}
CUDART cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  return call([&] { return cuGraphEventWaitNodeGetEvent(node, event); });
}
CUDART cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return call([&] { return cuGraphEventWaitNodeSetEvent(node, event); });
}
CUDART cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                      cudaEvent_t event) {
  return call([&] { return cuGraphExecEventWaitNodeSetEvent(executable, node, event); });
}

CUDART cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                            const cudaGraphNode_t* dependencies, size_t count,
                                            cudaMemAllocNodeParams* parameters) {
  return call([&] { return cuGraphAddMemAllocNode(node, graph, dependencies, count, parameters); });
}
CUDART cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, cudaMemAllocNodeParams* parameters) {
  return call([&] { return cuGraphMemAllocNodeGetParams(node, parameters); });
}
CUDART cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                           const cudaGraphNode_t* dependencies, size_t count, void* pointer) {
  return call([&] { return cuGraphAddMemFreeNode(node, graph, dependencies, count, address(pointer)); });
}
CUDART cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* pointer) {
  return call([&] { return cuGraphMemFreeNodeGetParams(node, static_cast<CUdeviceptr*>(pointer)); });
}

CUDART cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t executable, cudaGraphNode_t node, unsigned enabled) {
  return call([&] { return cuGraphNodeSetEnabled(executable, node, enabled); });
}
CUDART cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t executable, cudaGraphNode_t node, unsigned* enabled) {
  return call([&] { return cuGraphNodeGetEnabled(executable, node, enabled); });
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
