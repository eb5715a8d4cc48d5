// SPDX-License-Identifier: Apache-2.0
#include "runtime/driver/graph/graph.hpp"

#include <algorithm>
#include <queue>

namespace warplens::runtime {

namespace {

void no_node_twice(std::vector<Node*> nodes) {
  std::sort(nodes.begin(), nodes.end());
  require(std::adjacent_find(nodes.begin(), nodes.end()) == nodes.end());
}

} // namespace

CUgraphNodeType Node::type() const {
  struct {
    CUgraphNodeType operator()(const Nothing&) const { return CU_GRAPH_NODE_TYPE_EMPTY; }
    CUgraphNodeType operator()(const KernelLaunch&) const { return CU_GRAPH_NODE_TYPE_KERNEL; }
    CUgraphNodeType operator()(const Copy&) const { return CU_GRAPH_NODE_TYPE_MEMCPY; }
    CUgraphNodeType operator()(const Fill&) const { return CU_GRAPH_NODE_TYPE_MEMSET; }
    CUgraphNodeType operator()(const HostCall&) const { return CU_GRAPH_NODE_TYPE_HOST; }
    CUgraphNodeType operator()(const EventRecord&) const { return CU_GRAPH_NODE_TYPE_EVENT_RECORD; }
    CUgraphNodeType operator()(const EventWait&) const { return CU_GRAPH_NODE_TYPE_WAIT_EVENT; }
    CUgraphNodeType operator()(const Work&) const { return CU_GRAPH_NODE_TYPE_HOST; }
    CUgraphNodeType operator()(const ChildGraph&) const { return CU_GRAPH_NODE_TYPE_GRAPH; }
    CUgraphNodeType operator()(const GraphMemory&) const { return CU_GRAPH_NODE_TYPE_MEM_ALLOC; }
    CUgraphNodeType operator()(const GraphFree&) const { return CU_GRAPH_NODE_TYPE_MEM_FREE; }
    CUgraphNodeType operator()(const ConditionalGraphs&) const { return CU_GRAPH_NODE_TYPE_CONDITIONAL; }
  } type_of;
  return std::visit(type_of, content);
}

Graph::~Graph() {
  Graphs& graphs = Graphs::instance();
  for (const std::shared_ptr<Node>& node : nodes_) {
    graphs.nodes.remove(Graphs::handle(*node));
    if (const auto* child = std::get_if<ChildGraph>(&node->content))
      graphs.graphs.remove(Graphs::handle(*child->graph));
    if (const auto* conditional = std::get_if<ConditionalGraphs>(&node->content))
      for (const std::shared_ptr<Graph>& body : conditional->bodies) graphs.graphs.remove(Graphs::handle(*body));
  }
}

std::shared_ptr<Graph> Graph::clone() const {
  auto copy = std::make_shared<Graph>();
  copy->conditions = conditions;
  std::map<const Node*, Node*> clones;
  for (const std::shared_ptr<Node>& node : nodes_) {
    Content content = node->content;
    if (auto* child = std::get_if<ChildGraph>(&content)) child->graph = child->graph->clone();
    if (auto* conditional = std::get_if<ConditionalGraphs>(&content))
      for (std::shared_ptr<Graph>& body : conditional->bodies) body = body->clone();
    Node& clone = copy->add(std::move(content), {});
    clone.original = node.get();
    clone.attributes = node->attributes;
    clones[node.get()] = &clone;
  }
  for (const std::shared_ptr<Node>& node : nodes_)
    for (const Node* before : node->after) clones[node.get()]->after.push_back(clones[before]);
  return copy;
}

Node& Graph::add(Content content, std::vector<Node*> after) {
  for (const Node* node : after) require(&node->graph == this);
  no_node_twice(after);
  nodes_.push_back(std::make_shared<Node>(*this, std::move(content), std::move(after)));
  Graphs::instance().nodes.add(nodes_.back());
  return *nodes_.back();
}

void Graph::remove(Node& node) {
  for (const std::shared_ptr<Node>& other : nodes_) std::erase(other->after, &node);
  Graphs::instance().nodes.remove(Graphs::handle(node));
  std::erase_if(nodes_, [&](const auto& n) { return n.get() == &node; });
}

void Graph::add_edge(Node& from, Node& to) {
  require(&from.graph == this && &to.graph == this && &from != &to);
  require(std::find(to.after.begin(), to.after.end(), &from) == to.after.end());
  to.after.push_back(&from);
}

void Graph::remove_edge(Node& from, Node& to) {
  require(&from.graph == this && &to.graph == this);
  require(std::erase(to.after, &from) == 1);
}

std::vector<Node*> Graph::nodes() const {
  std::vector<Node*> list;
  for (const std::shared_ptr<Node>& node : nodes_) list.push_back(node.get());
  return list;
}

std::vector<Node*> Graph::dependents(const Node& node) const {
  std::vector<Node*> list;
  for (const std::shared_ptr<Node>& other : nodes_)
    if (std::find(other->after.begin(), other->after.end(), &node) != other->after.end()) list.push_back(other.get());
  return list;
}

std::vector<Node*> Graph::ordered() const {
  std::map<const Node*, std::size_t> places;
  for (std::size_t i = 0; i < nodes_.size(); ++i) places[nodes_[i].get()] = i;
  std::vector<std::size_t> missing(nodes_.size());
  std::vector<std::vector<std::size_t>> next(nodes_.size());
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    missing[i] = nodes_[i]->after.size();
    for (const Node* before : nodes_[i]->after) next[places[before]].push_back(i);
    if (missing[i] == 0) ready.push(i);
  }
  std::vector<Node*> list;
  while (!ready.empty()) {
    const std::size_t i = ready.top();
    ready.pop();
    list.push_back(nodes_[i].get());
    for (const std::size_t n : next[i])
      if (--missing[n] == 0) ready.push(n);
  }
  if (list.size() != nodes_.size()) list.clear();
  return list;
}

std::size_t Graph::place(const Node& node) const {
  const auto found = std::find_if(nodes_.begin(), nodes_.end(), [&](const auto& n) { return n.get() == &node; });
  return static_cast<std::size_t>(found - nodes_.begin());
}

Graphs& Graphs::instance() {
  static Graphs& graphs = *new Graphs; // never destroyed: threads may use it at process exit
  return graphs;
}

std::shared_ptr<Graph> Graphs::graph(CUgraph handle) const {
  std::shared_ptr<Graph> found = graphs.find(handle);
  require(found != nullptr);
  return found;
}

std::shared_ptr<Node> Graphs::node(CUgraphNode handle) const {
  std::shared_ptr<Node> found = nodes.find(handle);
  require(found != nullptr);
  return found;
}

std::shared_ptr<Executable> Graphs::executable(CUgraphExec handle) const {
  std::shared_ptr<Executable> found = executables.find(handle);
  require(found != nullptr);
  return found;
}

std::vector<Node*> Graphs::list(const CUgraphNode* handles, std::size_t count) const {
  require(handles != nullptr || count == 0);
  std::vector<Node*> found;
  for (std::size_t i = 0; i < count; ++i) found.push_back(node(handles[i]).get());
  return found;
}

} // namespace warplens::runtime
