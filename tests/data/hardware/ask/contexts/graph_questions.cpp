// What is asked of graphs, and of the launches of before CUDA 4.
#include "tests/data/hardware/ask/contexts/world.hpp"

namespace contexts {

namespace {

const Question kGraphs[] = {
    ASK(cuGraphCreate, &w.graph, 0),
    ASK(cuGraphDestroy, w.graph),
    ASK(cuGraphClone, &w.graph, w.graph),
    ASK(cuGraphAddKernelNode_v2, &w.kernel_node, w.child, nullptr, 0, &w.kernel_parameters),
    ASK(cuGraphAddMemcpyNode, &w.memcpy_node, w.child, nullptr, 0, &w.copy_3d, w.context),
    ASK_WITH("no_context", cuGraphAddMemcpyNode, &w.memcpy_node, w.child, nullptr, 0, &w.copy_3d, nullptr),
    ASK(cuGraphAddMemsetNode, &w.memset_node, w.child, nullptr, 0, &w.memset_parameters, w.context),
    ASK_WITH("no_context", cuGraphAddMemsetNode, &w.memset_node, w.child, nullptr, 0, &w.memset_parameters, nullptr),
    ASK(cuGraphAddHostNode, &w.host_node, w.child, nullptr, 0, &w.host_parameters),
    ASK(cuGraphAddChildGraphNode, &w.child_node, w.graph, nullptr, 0, w.child),
    ASK(cuGraphAddEmptyNode, &w.empty_node, w.child, nullptr, 0),
    ASK(cuGraphAddEventRecordNode, &w.record_node, w.child, nullptr, 0, w.event),
    ASK(cuGraphAddEventWaitNode, &w.wait_node, w.child, nullptr, 0, w.event),
    ASK(cuGraphAddMemAllocNode, &w.alloc_node, w.alloc_graph, nullptr, 0, &w.alloc_parameters),
    ASK(cuGraphAddMemFreeNode, &w.empty_node, w.alloc_graph, &w.alloc_node, 1, w.alloc_parameters.dptr),
    ASK(cuGraphAddNode_v2, &w.host_node, w.child, nullptr, nullptr, 0, &w.node_parameters),
    ASK(cuGraphKernelNodeGetParams_v2, w.kernel_node, &w.kernel_parameters),
    ASK(cuGraphKernelNodeSetParams_v2, w.kernel_node, &w.kernel_parameters),
    ASK(cuGraphKernelNodeCopyAttributes, w.kernel_node, w.kernel_node),
    ASK(cuGraphKernelNodeGetAttribute, w.kernel_node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &w.attribute),
    ASK(cuGraphKernelNodeSetAttribute, w.kernel_node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &w.attribute),
    ASK(cuGraphMemcpyNodeGetParams, w.memcpy_node, &w.copy_3d),
    ASK(cuGraphMemcpyNodeSetParams, w.memcpy_node, &w.copy_3d),
    ASK(cuGraphMemsetNodeGetParams, w.memset_node, &w.memset_parameters),
    ASK(cuGraphMemsetNodeSetParams, w.memset_node, &w.memset_parameters),
    ASK(cuGraphHostNodeGetParams, w.host_node, &w.host_parameters),
    ASK(cuGraphHostNodeSetParams, w.host_node, &w.host_parameters),
    ASK(cuGraphChildGraphNodeGetGraph, w.child_node, &w.graph),
    ASK(cuGraphEventRecordNodeGetEvent, w.record_node, &w.event),
    ASK(cuGraphEventRecordNodeSetEvent, w.record_node, w.event),
    ASK(cuGraphEventWaitNodeGetEvent, w.wait_node, &w.event),
    ASK(cuGraphEventWaitNodeSetEvent, w.wait_node, w.event),
    ASK(cuGraphMemAllocNodeGetParams, w.alloc_node, &w.alloc_parameters),
    ASK(cuGraphNodeSetParams, w.host_node, &w.node_parameters),
    ASK(cuGraphNodeFindInClone, &w.empty_node, w.empty_node, w.child),
    ASK(cuGraphNodeGetType, w.empty_node, reinterpret_cast<CUgraphNodeType*>(&w.integer)),
    ASK(cuGraphGetNodes, w.graph, nullptr, &w.size),
    ASK(cuGraphGetRootNodes, w.graph, nullptr, &w.size),
    ASK(cuGraphGetEdges_v2, w.graph, nullptr, nullptr, nullptr, &w.size),
    ASK(cuGraphNodeGetDependencies_v2, w.second_empty_node, nullptr, nullptr, &w.size),
    ASK(cuGraphNodeGetDependentNodes_v2, w.empty_node, nullptr, nullptr, &w.size),
    ASK(cuGraphAddDependencies_v2, w.graph, &w.empty_node, &w.host_node, nullptr, 1),
    ASK(cuGraphRemoveDependencies_v2, w.graph, &w.empty_node, &w.second_empty_node, nullptr, 1),
    ASK(cuGraphDestroyNode, w.second_empty_node),
    ASK(cuGraphDebugDotPrint, w.graph, "/dev/null", 0),
    ASK(cuGraphConditionalHandleCreate, reinterpret_cast<CUgraphConditionalHandle*>(&w.id), w.child, w.context, 0, 0),
    ASK(cuGraphInstantiateWithFlags, &w.executable, w.graph, 0),
    ASK(cuGraphInstantiateWithParams, &w.executable, w.graph, &w.instantiate_parameters),
    ASK(cuGraphExecGetFlags, w.executable, reinterpret_cast<cuuint64_t*>(&w.id)),
    ASK(cuGraphExecKernelNodeSetParams_v2, w.executable, w.kernel_node, &w.kernel_parameters),
    ASK(cuGraphExecMemcpyNodeSetParams, w.executable, w.memcpy_node, &w.copy_3d, w.context),
    ASK(cuGraphExecMemsetNodeSetParams, w.executable, w.memset_node, &w.memset_parameters, w.context),
    ASK(cuGraphExecHostNodeSetParams, w.executable, w.host_node, &w.host_parameters),
    ASK(cuGraphExecChildGraphNodeSetParams, w.executable, w.child_node, w.child),
    ASK(cuGraphExecEventRecordNodeSetEvent, w.executable, w.record_node, w.event),
    ASK(cuGraphExecEventWaitNodeSetEvent, w.executable, w.wait_node, w.event),
    ASK(cuGraphExecNodeSetParams, w.executable, w.host_node, &w.node_parameters),
    ASK(cuGraphExecUpdate_v2, w.executable, w.graph, &w.update_result),
    ASK(cuGraphNodeSetEnabled, w.executable, w.kernel_node, 1),
    ASK(cuGraphNodeGetEnabled, w.executable, w.kernel_node, &w.number),
    ASK(cuGraphUpload, w.executable, w.stream),
    ASK(cuGraphLaunch, w.executable, w.stream),
    ASK_WITH("default", cuGraphLaunch, w.executable, nullptr),
    ASK(cuGraphExecDestroy, w.executable),
};

const Question kOldLaunches[] = {
    ASK(cuFuncSetBlockShape, w.function, 1, 1, 1),
    ASK(cuFuncSetSharedSize, w.function, 64),
    ASK(cuParamSetSize, w.function, 12),
    ASK(cuParamSeti, w.function, 8, 1),
    ASK(cuParamSetf, w.function, 8, 1),
    ASK(cuParamSetv, w.function, 0, &w.memory, 8),
    ASK(cuParamSetTexRef, w.function, -1, w.texture_reference),
    ASK(cuLaunch, w.function),
    ASK(cuLaunchGrid, w.function, 1, 1),
    ASK(cuLaunchGridAsync, w.function, 1, 1, w.stream),
    ASK(cuCtxAttach, &w.context_out, 0),
    ASK(cuCtxDetach, w.context),
};

} // namespace

void add_graph_questions(std::vector<Question>& list) {
  list.insert(list.end(), std::begin(kGraphs), std::end(kGraphs));
  list.insert(list.end(), std::begin(kOldLaunches), std::end(kOldLaunches));
}

} // namespace contexts
