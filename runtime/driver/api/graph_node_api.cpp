// SPDX-License-Identifier: Apache-2.0
// Nodes of graphs: adds, queries and changes them, in graphs and in executables.
#include "runtime/driver/graph/graph.hpp"
#include "runtime/driver/machine/copy.hpp"
#include "runtime/driver/machine/launch.hpp"
#include "runtime/driver/machine/module.hpp"

#include <fmt/format.h>

using namespace warplens::runtime;

namespace {

// ---- from parameters to the content of a node

template <class Parameters> Content kernel(const Parameters& p, CUfunction function) {
  KernelLaunch launch{.function = find_function(Machine::instance(), function),
                      .grid = {p.gridDimX, p.gridDimY, p.gridDimZ},
                      .block = {p.blockDimX, p.blockDimY, p.blockDimZ},
                      .shared_bytes = p.sharedMemBytes};
  check(launch);
  set_arguments(launch, p.kernelParams, p.extra);
  return launch;
}
Content content_of(const CUDA_KERNEL_NODE_PARAMS& p) {
  return kernel(p, p.func != nullptr ? p.func : reinterpret_cast<CUfunction>(p.kern));
}
Content content_of(const CUDA_KERNEL_NODE_PARAMS_v1& p) { return kernel(p, p.func); }
Content content_of(const CUDA_KERNEL_NODE_PARAMS_v3& p) {
  return kernel(p, p.func != nullptr ? p.func : reinterpret_cast<CUfunction>(p.kern));
}

Content content_of(const CUDA_MEMCPY3D& p) { return transfer_of(p).copy; }

template <class Parameters> Content memset_content(const Parameters& p) {
  require(p.elementSize == 1 || p.elementSize == 2 || p.elementSize == 4);
  require(p.width != 0 && p.height != 0 && p.dst % p.elementSize == 0);
  const std::size_t bytes = p.width * p.elementSize;
  require(p.height == 1 || p.pitch >= bytes);
  const Fill fill{{p.dst, p.pitch, 0}, p.value, p.elementSize, p.width, p.height};
  require_covered("destination", fill.to, bytes, p.height, 1);
  return fill;
}
Content content_of(const CUDA_MEMSET_NODE_PARAMS& p) { return memset_content(p); }
Content content_of(const CUDA_MEMSET_NODE_PARAMS_v2& p) { return memset_content(p); }

Content host_call(CUhostFn function, void* data) {
  require(function != nullptr);
  return HostCall{function, data};
}
Content content_of(const CUDA_HOST_NODE_PARAMS& p) { return host_call(p.fn, p.userData); }
Content content_of(const CUDA_HOST_NODE_PARAMS_v2& p) { return host_call(p.fn, p.userData); }

void require_event(CUevent event) {
  require(Machine::instance().events.find(event) != nullptr, CUDA_ERROR_INVALID_HANDLE);
}
Content record(CUevent event) {
  require_event(event);
  return EventRecord{event, nullptr};
}
Content wait(CUevent event) {
  require_event(event);
  return EventWait{event, nullptr};
}

Content child(Graphs& graphs, CUgraph graph) { return ChildGraph{graphs.graph(graph)->clone()}; }

template <class Parameters> Content allocate(Parameters& p) {
  require(p.bytesize != 0);
  const auto buffer = warplens::api::Buffer::allocate(Machine::instance().api(), p.bytesize, "graph memory");
  require(static_cast<bool>(buffer), CUDA_ERROR_OUT_OF_MEMORY);
  p.dptr = (*buffer)->address();
  return GraphMemory{{p.poolProps, nullptr, 0, p.bytesize, p.dptr}, std::make_shared<ReservedMemory>(*buffer)};
}

Content free_memory(CUdeviceptr address) {
  require(address != 0);
  return GraphFree{address};
}

/// The bodies are empty graphs, which the program fills.
Content conditional(Graphs& graphs, CUDA_CONDITIONAL_NODE_PARAMS& p) {
  const auto found = graphs.conditions.find(p.handle);
  const std::shared_ptr<const Condition> condition = found == graphs.conditions.end() ? nullptr : found->second.lock();
  require(condition != nullptr);
  require(p.type == CU_GRAPH_COND_TYPE_SWITCH || p.size == 1 || (p.type == CU_GRAPH_COND_TYPE_IF && p.size == 2));
  require(p.size != 0 && p.type <= CU_GRAPH_COND_TYPE_SWITCH);
  ConditionalGraphs content{p.type, condition, {}, {}};
  for (unsigned i = 0; i < p.size; ++i) {
    content.bodies.push_back(std::make_shared<Graph>());
    content.handles.push_back(graphs.graphs.add(content.bodies.back()));
  }
  return content;
}

/// The contents of nodes for cuGraphAddNode(). Memory is handled where a node is added, which returns its address.
Content content_of(Graphs& graphs, CUgraphNodeParams& p) {
  switch (p.type) {
  case CU_GRAPH_NODE_TYPE_KERNEL: return content_of(p.kernel);
  case CU_GRAPH_NODE_TYPE_MEMCPY: return content_of(p.memcpy.copyParams);
  case CU_GRAPH_NODE_TYPE_MEMSET: return content_of(p.memset);
  case CU_GRAPH_NODE_TYPE_HOST: return content_of(p.host);
  case CU_GRAPH_NODE_TYPE_GRAPH: return child(graphs, p.graph.graph);
  case CU_GRAPH_NODE_TYPE_EMPTY: return Nothing{};
  case CU_GRAPH_NODE_TYPE_WAIT_EVENT: return wait(p.eventWait.event);
  case CU_GRAPH_NODE_TYPE_EVENT_RECORD: return record(p.eventRecord.event);
  case CU_GRAPH_NODE_TYPE_MEM_ALLOC: return allocate(p.alloc);
  case CU_GRAPH_NODE_TYPE_MEM_FREE: return free_memory(p.free.dptr);
  case CU_GRAPH_NODE_TYPE_CONDITIONAL: return conditional(graphs, p.conditional);
  default: throw Failure{unsupported(fmt::format("a graph node of type {}", static_cast<int>(p.type)).c_str()), {}};
  }
}

// ---- the three operations on it

template <class Make>
CUresult add(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, std::size_t count, Make&& make,
             const char* function = __builtin_FUNCTION()) {
  return serve_graphs(
      [&](Graphs& graphs) {
        require(node != nullptr);
        const std::shared_ptr<Graph> into = graphs.graph(graph);
        *node = Graphs::handle(into->add(make(graphs), graphs.list(after, count)));
        return CUDA_SUCCESS;
      },
      function);
}

/// The same with the parameters that the program gave.
template <class Parameters>
CUresult add(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, std::size_t count, const Parameters* p,
             const char* function = __builtin_FUNCTION()) {
  if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return add(
      node, graph, after, count, [&](Graphs&) { return content_of(*p); }, function);
}

/// Fixed properties are set when the node is created and cannot be changed.
bool is_fixed(const CUgraphNodeParams* p) {
  return p == nullptr || p->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || p->type == CU_GRAPH_NODE_TYPE_CONDITIONAL;
}

/// The new content has the same type. A kernel keeps its attributes.
Content replacing(const Content& old, Content content) {
  require(old.index() == content.index());
  if (auto* launch = std::get_if<KernelLaunch>(&content)) {
    launch->cooperative = std::get<KernelLaunch>(old).cooperative;
    launch->cluster = std::get<KernelLaunch>(old).cluster;
  }
  return content;
}

template <class Make> CUresult set(CUgraphNode handle, Make&& make, const char* function = __builtin_FUNCTION()) {
  return serve_graphs(
      [&](Graphs& graphs) {
        const std::shared_ptr<Node> node = graphs.node(handle);
        node->content = replacing(node->content, make(graphs));
        return CUDA_SUCCESS;
      },
      function);
}

template <class Make>
CUresult set(CUgraphExec executable, CUgraphNode handle, Make&& make, const char* function = __builtin_FUNCTION()) {
  return serve_graphs(
      [&](Graphs& graphs) {
        const std::shared_ptr<Node> node = graphs.node(handle);
        graphs.executable(executable)->set(*node, replacing(node->content, make(graphs)));
        return CUDA_SUCCESS;
      },
      function);
}

template <class Parameters>
CUresult set(CUgraphNode node, const Parameters* p, const char* function = __builtin_FUNCTION()) {
  if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return set(
      node, [&](Graphs&) { return content_of(*p); }, function);
}

template <class Parameters>
CUresult set(CUgraphExec executable, CUgraphNode node, const Parameters* p,
             const char* function = __builtin_FUNCTION()) {
  if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return set(
      executable, node, [&](Graphs&) { return content_of(*p); }, function);
}

/// `answer`: where the program wants it.
template <class T, class Show>
CUresult get(CUgraphNode handle, const void* answer, Show&& show, const char* function = __builtin_FUNCTION()) {
  if (answer == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return serve_graphs(
      [&](Graphs& graphs) {
        const std::shared_ptr<Node> node = graphs.node(handle);
        T* const content = std::get_if<T>(&node->content);
        require(content != nullptr);
        show(*node, *content);
        return CUDA_SUCCESS;
      },
      function);
}

/// Parameters for a later cuGraphKernelNodeSetParams(): the pointers are valid until the node changes.
template <class Parameters> CUresult show_kernel(CUgraphNode handle, Parameters* p, const char* function) {
  return get<KernelLaunch>(
      handle, p,
      [&](Node& node, KernelLaunch& launch) {
        node.shown.clear();
        for (const Function::Parameter& parameter : launch.function->parameters())
          node.shown.push_back(&launch.parameters[parameter.offset]);
        *p = {};
        p->func = Registry<Function, CUfunction>::handle(launch.function.get());
        p->gridDimX = static_cast<unsigned>(launch.grid[0]);
        p->gridDimY = static_cast<unsigned>(launch.grid[1]);
        p->gridDimZ = static_cast<unsigned>(launch.grid[2]);
        p->blockDimX = static_cast<unsigned>(launch.block[0]);
        p->blockDimY = static_cast<unsigned>(launch.block[1]);
        p->blockDimZ = static_cast<unsigned>(launch.block[2]);
        p->sharedMemBytes = static_cast<unsigned>(launch.shared_bytes);
        p->kernelParams = node.shown.data();
      },
      function);
}

} // namespace

extern "C" {

CUresult cuGraphAddKernelNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, size_t count,
                                 const CUDA_KERNEL_NODE_PARAMS* p) {
  return add(node, graph, after, count, p);
}
CUresult cuGraphAddKernelNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, size_t count,
                              const CUDA_KERNEL_NODE_PARAMS_v1* p) {
  return add(node, graph, after, count, p);
}
CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS* p) {
  return show_kernel(node, p, "cuGraphKernelNodeGetParams");
}
CUresult cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v1* p) {
  return show_kernel(node, p, "cuGraphKernelNodeGetParams");
}
CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS* p) { return set(node, p); }
CUresult cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1* p) { return set(node, p); }
CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec executable, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS* p) {
  return set(executable, node, p);
}
CUresult cuGraphExecKernelNodeSetParams(CUgraphExec executable, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1* p) {
  return set(executable, node, p);
}

CUresult cuGraphKernelNodeSetAttribute(CUgraphNode node, CUkernelNodeAttrID id, const CUkernelNodeAttrValue* value) {
  return get<KernelLaunch>(node, value, [&](Node& n, KernelLaunch& launch) {
    const auto& size = value->clusterDim;
    if (id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
      launch.cooperative = value->cooperative != 0;
    else if (id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
      launch.cluster = {size.x, size.y, size.z};
    n.attributes[id] = *value;
  });
}
CUresult cuGraphKernelNodeGetAttribute(CUgraphNode node, CUkernelNodeAttrID id, CUkernelNodeAttrValue* value) {
  return get<KernelLaunch>(node, value, [&](Node& n, KernelLaunch& launch) {
    *value = n.attributes.contains(id) ? n.attributes[id] : CUkernelNodeAttrValue{};
    if (id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) value->cooperative = launch.cooperative ? 1 : 0;
    if (id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION && launch.cluster) {
      const auto& c = *launch.cluster;
      value->clusterDim = {static_cast<unsigned>(c[0]), static_cast<unsigned>(c[1]), static_cast<unsigned>(c[2])};
    }
  });
}
CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode to, CUgraphNode from) {
  return get<KernelLaunch>(from, &to, [&](Node& source, KernelLaunch& original) {
    const std::shared_ptr<Node> node = Graphs::instance().node(to);
    auto* const launch = std::get_if<KernelLaunch>(&node->content);
    require(launch != nullptr);
    node->attributes = source.attributes;
    launch->cooperative = original.cooperative;
    launch->cluster = original.cluster;
  });
}

CUresult cuGraphAddMemcpyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, size_t count,
                              const CUDA_MEMCPY3D* p, CUcontext) {
  return add(node, graph, after, count, p);
}
CUresult cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D* p) {
  return get<Copy>(node, p, [&](Node&, const Copy& copy) {
    *p = {};
    p->srcMemoryType = p->dstMemoryType = CU_MEMORYTYPE_UNIFIED;
    p->srcDevice = copy.from.address, p->dstDevice = copy.to.address;
    p->srcPitch = copy.from.pitch, p->dstPitch = copy.to.pitch;
    p->srcHeight = copy.from.pitch != 0 ? copy.from.slice / copy.from.pitch : 0;
    p->dstHeight = copy.to.pitch != 0 ? copy.to.slice / copy.to.pitch : 0;
    p->WidthInBytes = copy.width, p->Height = copy.rows, p->Depth = copy.slices;
  });
}
CUresult cuGraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D* p) { return set(node, p); }
CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec executable, CUgraphNode node, const CUDA_MEMCPY3D* p, CUcontext) {
  return set(executable, node, p);
}

CUresult cuGraphAddMemsetNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, size_t count,
                              const CUDA_MEMSET_NODE_PARAMS* p, CUcontext) {
  return add(node, graph, after, count, p);
}
CUresult cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS* p) {
  return get<Fill>(node, p, [&](Node&, const Fill& fill) {
    *p = {fill.to.address, fill.to.pitch, fill.value, fill.element, fill.width, fill.rows};
  });
}
CUresult cuGraphMemsetNodeSetParams(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS* p) { return set(node, p); }
CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec executable, CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS* p,
                                        CUcontext) {
  return set(executable, node, p);
}

CUresult cuGraphAddHostNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, size_t count,
                            const CUDA_HOST_NODE_PARAMS* p) {
  return add(node, graph, after, count, p);
}
CUresult cuGraphHostNodeGetParams(CUgraphNode node, CUDA_HOST_NODE_PARAMS* p) {
  return get<HostCall>(node, p, [&](Node&, const HostCall& call) { *p = {call.function, call.data}; });
}
CUresult cuGraphHostNodeSetParams(CUgraphNode node, const CUDA_HOST_NODE_PARAMS* p) { return set(node, p); }
CUresult cuGraphExecHostNodeSetParams(CUgraphExec executable, CUgraphNode node, const CUDA_HOST_NODE_PARAMS* p) {
  return set(executable, node, p);
}

CUresult cuGraphAddChildGraphNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, size_t count,
                                  CUgraph inside) {
  return add(node, graph, after, count, [&](Graphs& graphs) { return child(graphs, inside); });
}
CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph* graph) {
  return get<ChildGraph>(
      node, graph, [&](Node&, const ChildGraph& inside) { *graph = Graphs::instance().graphs.add(inside.graph); });
}
CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec executable, CUgraphNode node, CUgraph graph) {
  return set(executable, node, [&](Graphs& graphs) { return child(graphs, graph); });
}

CUresult cuGraphAddEmptyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, size_t count) {
  return add(node, graph, after, count, [](Graphs&) { return Nothing{}; });
}

CUresult cuGraphAddEventRecordNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, size_t count,
                                   CUevent event) {
  return add(node, graph, after, count, [&](Graphs&) { return record(event); });
}
CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode node, CUevent* event) {
  return get<EventRecord>(node, event, [&](Node&, const EventRecord& r) { *event = r.event; });
}
CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode node, CUevent event) {
  return set(node, [&](Graphs&) { return record(event); });
}
CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec executable, CUgraphNode node, CUevent event) {
  return set(executable, node, [&](Graphs&) { return record(event); });
}
CUresult cuGraphAddEventWaitNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, size_t count,
                                 CUevent event) {
  return add(node, graph, after, count, [&](Graphs&) { return wait(event); });
}
CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode node, CUevent* event) {
  return get<EventWait>(node, event, [&](Node&, const EventWait& w) { *event = w.event; });
}
CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode node, CUevent event) {
  return set(node, [&](Graphs&) { return wait(event); });
}
CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec executable, CUgraphNode node, CUevent event) {
  return set(executable, node, [&](Graphs&) { return wait(event); });
}

CUresult cuGraphAddMemAllocNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, size_t count,
                                CUDA_MEM_ALLOC_NODE_PARAMS* p) {
  if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return add(node, graph, after, count, [&](Graphs&) { return allocate(*p); });
}
CUresult cuGraphMemAllocNodeGetParams(CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS* p) {
  return get<GraphMemory>(node, p, [&](Node&, const GraphMemory& memory) { *p = memory.parameters; });
}
CUresult cuGraphAddMemFreeNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, size_t count,
                               CUdeviceptr address) {
  return add(node, graph, after, count, [&](Graphs&) { return free_memory(address); });
}
CUresult cuGraphMemFreeNodeGetParams(CUgraphNode node, CUdeviceptr* address) {
  return get<GraphFree>(node, address, [&](Node&, const GraphFree& freed) { *address = freed.address; });
}

CUresult cuGraphAddNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, const CUgraphEdgeData*,
                           size_t count, CUgraphNodeParams* p) {
  if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const CUresult result = add(node, graph, after, count, [&](Graphs& graphs) { return content_of(graphs, *p); });
  if (result != CUDA_SUCCESS || p->type != CU_GRAPH_NODE_TYPE_CONDITIONAL) return result;
  // The list exists as long as the node.
  return get<ConditionalGraphs>(
      *node, p, [&](Node&, ConditionalGraphs& content) { p->conditional.phGraph_out = content.handles.data(); });
}
CUresult cuGraphAddNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, size_t count,
                        CUgraphNodeParams* p) {
  return cuGraphAddNode_v2(node, graph, after, nullptr, count, p);
}
CUresult cuGraphNodeSetParams(CUgraphNode node, CUgraphNodeParams* p) {
  if (is_fixed(p)) return CUDA_ERROR_INVALID_VALUE;
  return set(node, [&](Graphs& graphs) { return content_of(graphs, *p); });
}
CUresult cuGraphExecNodeSetParams(CUgraphExec executable, CUgraphNode node, CUgraphNodeParams* p) {
  if (is_fixed(p)) return CUDA_ERROR_INVALID_VALUE;
  return set(executable, node, [&](Graphs& graphs) { return content_of(graphs, *p); });
}

CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle* handle, CUgraph graph, CUcontext, unsigned int first,
                                        unsigned int flags) {
  return serve_graphs([&](Graphs& graphs) {
    require(handle != nullptr && (flags & ~CU_GRAPH_COND_ASSIGN_DEFAULT) == 0);
    const auto word = warplens::api::Buffer::allocate(Machine::instance().api(), sizeof(unsigned), "graph condition");
    require(static_cast<bool>(word), CUDA_ERROR_OUT_OF_MEMORY);
    const auto condition =
        std::make_shared<const Condition>(Condition{*word, first, (flags & CU_GRAPH_COND_ASSIGN_DEFAULT) != 0});
    graphs.graph(graph)->conditions.push_back(condition);
    *handle = (*word)->address();
    graphs.conditions[*handle] = condition;
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphNodeSetEnabled(CUgraphExec executable, CUgraphNode node, unsigned int enabled) {
  return serve_graphs([&](Graphs& graphs) {
    graphs.executable(executable)->set_enabled(*graphs.node(node), enabled != 0);
    return CUDA_SUCCESS;
  });
}
CUresult cuGraphNodeGetEnabled(CUgraphExec executable, CUgraphNode node, unsigned int* enabled) {
  return serve_graphs([&](Graphs& graphs) {
    require(enabled != nullptr);
    *enabled = graphs.executable(executable)->enabled(*graphs.node(node)) ? 1 : 0;
    return CUDA_SUCCESS;
  });
}

} // extern "C"
