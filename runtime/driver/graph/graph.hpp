// Graphs: operations, and which of them come after which, kept to be done again and again.
//
//   auto graph = std::make_shared<Graph>();
//   Node& copy = graph->add(Copy{…}, {});   graph->add(KernelLaunch{…}, {&copy});
//   auto executable = std::make_shared<Executable>(*graph, 0);   executable->launch(stream);
//
// A launch submits the operations to the stream one after the other, in an order that keeps all dependencies: branches
// do not run at the same time. The sources are the CUDA Driver API reference, "Graph Management", and the CUDA C++
// Programming Guide, "CUDA Graphs". All of this is used under Graphs::mutex (see serve_graphs()).
#pragma once

#include "runtime/driver/machine/registry.hpp"
#include "runtime/driver/machine/serve.hpp"

#include <map>

namespace warplens::runtime {

class Graph;

/// Does nothing: a point where branches meet.
struct Nothing {};
/// A graph in a graph: a copy of its own.
struct ChildGraph {
  std::shared_ptr<Graph> graph;
};
/// Memory has its address from the time its node is made, and may be named from then on; a launch takes it into use, a
/// free out of use. It is there as long as a node or a launch wants it.
class ReservedMemory {
public:
  explicit ReservedMemory(std::shared_ptr<api::Buffer> buffer);
  ~ReservedMemory();
  ReservedMemory(const ReservedMemory&) = delete;
  ReservedMemory& operator=(const ReservedMemory&) = delete;
  /// False: it is in use already.
  bool take();
  /// False: no memory of a graph that is in use.
  static bool release(CUdeviceptr address);

private:
  void add() const; ///< to what the program may name
  std::shared_ptr<api::Buffer> buffer_;
};
struct GraphMemory {
  CUDA_MEM_ALLOC_NODE_PARAMS parameters{};
  std::shared_ptr<ReservedMemory> memory = {};
};
struct GraphFree {
  CUdeviceptr address = 0;
};

/// What decides about conditional nodes: a word that kernels write (cudaGraphSetConditional); its address is the
/// handle.
struct Condition {
  std::shared_ptr<api::Buffer> word;
  unsigned first = 0;         ///< its value …
  bool set_at_launch = false; ///< … at the start of each launch
  [[nodiscard]] unsigned& value() const { return *reinterpret_cast<unsigned*>(word->bytes().data()); }
};
/// Graphs that are done, or done again and again, as the condition says when their turn comes.
struct ConditionalGraphs {
  CUgraphConditionalNodeType type{};
  std::shared_ptr<const Condition> condition;
  std::vector<std::shared_ptr<Graph>> bodies; ///< copies of its own
  std::vector<CUgraph> handles = {};          ///< of those: what the program was given
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
  std::vector<Node*> after;                                            ///< what has to end first; no node twice
  const Node* original = nullptr;                                      ///< what it was cloned from
  std::map<CUkernelNodeAttrID, CUkernelNodeAttrValue> attributes = {}; ///< those that change nothing here, as set
  std::vector<void*> shown = {};                                       ///< what cuGraphKernelNodeGetParams() points to
};

class Graph {
public:
  Graph() = default;
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  [[nodiscard]] std::shared_ptr<Graph> clone() const;

  /// Throws Failure CUDA_ERROR_INVALID_VALUE: a dependency that is no node of this graph, or given twice.
  Node& add(Content content, std::vector<Node*> after);
  void remove(Node& node);
  /// Throw Failure CUDA_ERROR_INVALID_VALUE: an edge that is there already, or is not there, or leads to itself.
  void add_edge(Node& from, Node& to);
  void remove_edge(Node& from, Node& to);

  /// In the order in which they were added.
  [[nodiscard]] std::vector<Node*> nodes() const;
  [[nodiscard]] std::vector<Node*> dependents(const Node& node) const;
  /// Each after all that it depends on, otherwise as added. Empty where there is a cycle.
  [[nodiscard]] std::vector<Node*> ordered() const;
  [[nodiscard]] std::size_t place(const Node& node) const; ///< in nodes()

  std::vector<std::shared_ptr<const Condition>> conditions; ///< made for nodes of this graph, and of those inside

private:
  std::vector<std::shared_ptr<Node>> nodes_;
};

/// An instantiated graph. It knows its nodes by those of the graph that it was made from.
class Executable {
public:
  /// Throws Failure CUDA_ERROR_INVALID_VALUE: a cycle.
  Executable(const Graph& graph, unsigned long long flags);

  /// Throws Failure CUDA_ERROR_INVALID_VALUE: memory of an earlier launch has not been freed.
  void launch(Stream& stream);
  /// Takes the parameters of a graph of the same shape, all or none; says what differs otherwise.
  CUgraphExecUpdateResultInfo update(const Graph& graph);
  /// Changes what one node does. Throws Failure CUDA_ERROR_INVALID_VALUE: it is none of the nodes, or of another type.
  void set(const Node& node, Content content);
  void set_enabled(const Node& node, bool enabled);
  [[nodiscard]] bool enabled(const Node& node);
  [[nodiscard]] const Content& content(const Node& node);
  [[nodiscard]] unsigned long long flags() const { return flags_; }
  /// A graph of the same shape, with the parameters of now.
  [[nodiscard]] std::shared_ptr<Graph> current() const;

private:
  struct Step {
    const Node* node;
    Content content;
    bool enabled = true;
  };
  Step& step(const Node& node);

  [[nodiscard]] static Content copy(const Content& content);

  std::shared_ptr<Graph> shape_; ///< as instantiated, with the parameters of then
  std::vector<Step> steps_;      ///< child graphs are spread out
  unsigned long long flags_;
};

/// All graphs of the process, by handle.
struct Graphs {
  static Graphs& instance();
  std::map<CUgraphConditionalHandle, std::weak_ptr<const Condition>> conditions;
  std::recursive_mutex mutex; ///< of all graphs, and of captures
  Registry<Graph, CUgraph> graphs;
  Registry<Node, CUgraphNode> nodes;
  Registry<Executable, CUgraphExec> executables;

  /// Throw Failure CUDA_ERROR_INVALID_VALUE.
  std::shared_ptr<Graph> graph(CUgraph handle) const;
  std::shared_ptr<Node> node(CUgraphNode handle) const;
  std::shared_ptr<Executable> executable(CUgraphExec handle) const;
  /// The nodes of a list of handles.
  std::vector<Node*> list(const CUgraphNode* handles, std::size_t count) const;
  static CUgraphNode handle(const Node& node) { return Registry<Node, CUgraphNode>::handle(&node); }
  static CUgraph handle(const Graph& graph) { return Registry<Graph, CUgraph>::handle(&graph); }
};

/// serve() for functions of graphs.
/// Graphs belong to no context; a body that takes one gets the current one.
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
/// The same with the context of a stream.
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
