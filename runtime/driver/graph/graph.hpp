// SPDX-License-Identifier: Apache-2.0
// Graphs: operations and their dependencies, stored for repeated launches.
//
//   auto graph = std::make_shared<Graph>();
//   Node& copy = graph->add(Copy{…}, {});   graph->add(KernelLaunch{…}, {&copy});
//   auto executable = std::make_shared<Executable>(*graph, 0);   executable->launch(stream);
//
// A launch submits the operations to the stream one after the other, in an order that satisfies all dependencies:
// branches do not run concurrently. The sources are the CUDA Driver API reference, "Graph Management", and the CUDA C++
// Programming Guide, "CUDA Graphs". All access is under Graphs::mutex (see serve_graphs()).
#pragma once

#include "runtime/driver/machine/registry.hpp"
#include "runtime/driver/machine/serve.hpp"

#include <map>

namespace warplens::runtime {

class Graph;

/// No operation: a point where branches join.
struct Nothing {};
/// A graph inside a graph: its own copy.
struct ChildGraph {
  std::shared_ptr<Graph> graph;
};
/// The address of memory is valid for programs from the creation of its node. A launch marks the memory as used, a free
/// as unused. It exists as long as a node or a launch refers to it.
class ReservedMemory {
public:
  explicit ReservedMemory(std::shared_ptr<api::Buffer> buffer);
  ~ReservedMemory();
  ReservedMemory(const ReservedMemory&) = delete;
  ReservedMemory& operator=(const ReservedMemory&) = delete;
  /// False: it is already in use.
  bool take();
  /// False: not the memory of a graph, or not in use.
  static bool release(CUdeviceptr address);

private:
  void add() const; ///< to the table of addresses that the program can use
  std::shared_ptr<api::Buffer> buffer_;
};
struct GraphMemory {
  CUDA_MEM_ALLOC_NODE_PARAMS parameters{};
  std::shared_ptr<ReservedMemory> memory = {};
};
struct GraphFree {
  CUdeviceptr address = 0;
};

/// The condition of conditional nodes: a word that kernels write (cudaGraphSetConditional). Its address is the handle.
struct Condition {
  std::shared_ptr<api::Buffer> word;
  unsigned first = 0;         ///< its value …
  bool set_at_launch = false; ///< … at the start of each launch
  [[nodiscard]] unsigned& value() const { return *reinterpret_cast<unsigned*>(word->bytes().data()); }
};
/// Graphs that run once or repeatedly, depending on the condition when the node is reached.
struct ConditionalGraphs {
  CUgraphConditionalNodeType type{};
  std::shared_ptr<const Condition> condition;
  std::vector<std::shared_ptr<Graph>> bodies; ///< own copies
  std::vector<CUgraph> handles = {};          ///< of the bodies, as returned to the program
};

using Content = std::variant<Nothing, KernelLaunch, Copy, Fill, HostCall, EventRecord, EventWait, Work, ChildGraph,
                             GraphMemory, GraphFree, ConditionalGraphs>;

class Node {
public:
  Node(Graph& owner, Content does, std::vector<Node*> dependencies)
      : graph(owner), content(std::move(does)), after(std::move(dependencies)) {}
  [[nodiscard]] CUgraphNodeType type() const;

  Graph& graph;
  Content content;
  std::vector<Node*> after;                                            ///< the dependencies, without duplicates
  const Node* original = nullptr;                                      ///< the node that it was cloned from
  std::map<CUkernelNodeAttrID, CUkernelNodeAttrValue> attributes = {}; ///< as set; only those without effect here
  std::vector<void*> shown = {};                                       ///< targets of cuGraphKernelNodeGetParams()
};

class Graph {
public:
  Graph() = default;
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  [[nodiscard]] std::shared_ptr<Graph> clone() const;

  /// Throws Failure CUDA_ERROR_INVALID_VALUE if a dependency is not a node of this graph, or is a duplicate.
  Node& add(Content content, std::vector<Node*> after);
  void remove(Node& node);
  /// Throw Failure CUDA_ERROR_INVALID_VALUE if the edge exists already, does not exist, or leads to itself.
  void add_edge(Node& from, Node& to);
  void remove_edge(Node& from, Node& to);

  /// In order of creation.
  [[nodiscard]] std::vector<Node*> nodes() const;
  [[nodiscard]] std::vector<Node*> dependents(const Node& node) const;
  /// In topological order, otherwise in order of creation. Empty if there is a cycle.
  [[nodiscard]] std::vector<Node*> ordered() const;
  [[nodiscard]] std::size_t place(const Node& node) const; ///< the index in nodes()

  std::vector<std::shared_ptr<const Condition>> conditions; ///< created for nodes of this graph and inner graphs

private:
  std::vector<std::shared_ptr<Node>> nodes_;
};

/// An instantiated graph. It identifies its nodes by the nodes of the source graph.
class Executable {
public:
  /// Throws Failure CUDA_ERROR_INVALID_VALUE if there is a cycle.
  Executable(const Graph& graph, unsigned long long flags);

  /// Throws Failure CUDA_ERROR_INVALID_VALUE if memory of an earlier launch has not been freed.
  void launch(Stream& stream);
  /// Copies the parameters of a graph of the same shape, all or none; returns the difference if the shape differs.
  CUgraphExecUpdateResultInfo update(const Graph& graph);
  /// Changes the operation of a node. Throws Failure CUDA_ERROR_INVALID_VALUE for an unknown node or another type.
  void set(const Node& node, Content content);
  void set_enabled(const Node& node, bool enabled);
  [[nodiscard]] bool enabled(const Node& node);
  [[nodiscard]] const Content& content(const Node& node);
  [[nodiscard]] unsigned long long flags() const { return flags_; }
  /// A graph of the same shape, with the current parameters.
  [[nodiscard]] std::shared_ptr<Graph> current() const;
  using Edges = std::map<const Node*, std::vector<const void*>>;

private:
  struct Step {
    const Node* node;
    Content content;
    bool enabled = true;
  };
  Step& step(const Node& node);

  [[nodiscard]] static Content copy(const Content& content);

  std::shared_ptr<Graph> shape_; ///< as instantiated, with the original parameters
  std::vector<Step> steps_;      ///< child graphs are flattened
  unsigned long long flags_;
  Edges edges_; ///< for racecheck: what each node waits for; children are flattened
};

/// All graphs of the process, by handle.
struct Graphs {
  static Graphs& instance();
  std::map<CUgraphConditionalHandle, std::weak_ptr<const Condition>> conditions;
  std::recursive_mutex mutex; ///< for all graphs and captures
  Registry<Graph, CUgraph> graphs;
  Registry<Node, CUgraphNode> nodes;
  Registry<Executable, CUgraphExec> executables;

  /// Throw Failure CUDA_ERROR_INVALID_VALUE.
  std::shared_ptr<Graph> graph(CUgraph handle) const;
  std::shared_ptr<Node> node(CUgraphNode handle) const;
  std::shared_ptr<Executable> executable(CUgraphExec handle) const;
  /// The nodes for a list of handles.
  std::vector<Node*> list(const CUgraphNode* handles, std::size_t count) const;
  static CUgraphNode handle(const Node& node) { return Registry<Node, CUgraphNode>::handle(&node); }
  static CUgraph handle(const Graph& graph) { return Registry<Graph, CUgraph>::handle(&graph); }
};

/// serve() for graph functions. Graphs belong to no context; a body that takes a context gets the current one.
template <class Body> CUresult serve_graphs(Body&& body, const char* function = __builtin_FUNCTION()) noexcept {
  if constexpr (std::is_invocable_v<Body, Graphs&>)
    return serve(
        [&](Machine&) {
          const std::lock_guard lock(Graphs::instance().mutex);
          return body(Graphs::instance());
        },
        function);
  else
    return serve(
        [&](Context& context) {
          const std::lock_guard lock(Graphs::instance().mutex);
          return body(Graphs::instance(), context);
        },
        function);
}
/// The same, with the context of a stream.
template <class Body>
CUresult serve_graphs_for(CUstream stream, Body&& body, const char* function = __builtin_FUNCTION()) noexcept {
  return serve_for(
      stream,
      [&](Context& context) {
        const std::lock_guard lock(Graphs::instance().mutex);
        return body(Graphs::instance(), context);
      },
      function);
}

} // namespace warplens::runtime
