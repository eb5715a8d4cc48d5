// SPDX-License-Identifier: Apache-2.0
// Instantiated graphs.
#include "runtime/driver/graph/graph.hpp"
#include "runtime/driver/machine/event.hpp"
#include "runtime/driver/machine/host_checks.hpp"
#include "runtime/driver/machine/operation_log.hpp"

#include <algorithm>

namespace warplens::runtime {

namespace {

/// In launch order; child graphs are flattened. The order is the same for graphs of the same shape.
std::vector<Node*> flattened(const Graph& graph) {
  std::vector<Node*> list;
  const std::vector<Node*> ordered = graph.ordered();
  require(!ordered.empty() || graph.nodes().empty(), CUDA_ERROR_INVALID_VALUE,
          [] { return "the graph has a cycle: no order satisfies all dependencies"; });
  for (Node* node : ordered) {
    if (const auto* child = std::get_if<ChildGraph>(&node->content)) {
      const std::vector<Node*> inside = flattened(*child->graph);
      list.insert(list.end(), inside.begin(), inside.end());
    } else {
      list.push_back(node);
    }
  }
  return list;
}

/// What each node waits for. The nodes of a child graph wait for what it waits for, and whoever waits for it waits for
/// all of them.
using Edges = Executable::Edges;

void collect_edges(const Graph& graph, const std::vector<const void*>& outside, Edges& edges) {
  for (const Node* node : graph.ordered()) {
    std::vector<const void*> after = outside;
    for (const Node* before : node->after) {
      const auto* child = std::get_if<ChildGraph>(&before->content);
      if (child == nullptr) {
        after.push_back(before);
        continue;
      }
      for (const Node* inside : flattened(*child->graph)) after.push_back(inside);
      const std::vector<const void*>& around = edges[before]; // for children without nodes
      after.insert(after.end(), around.begin(), around.end());
    }
    if (const auto* child = std::get_if<ChildGraph>(&node->content)) collect_edges(*child->graph, after, edges);
    edges[node] = std::move(after);
  }
}

} // namespace

Executable::Executable(const Graph& graph, unsigned long long flags) : shape_(graph.clone()), flags_(flags) {
  for (const Node* node : flattened(graph)) steps_.push_back({node, copy(node->content)});
  if (host_checks() != nullptr || operation_log() != nullptr) collect_edges(graph, {}, edges_);
}

/// Later changes to the graph do not affect the executable.
Content Executable::copy(const Content& content) {
  Content own = content;
  if (auto* conditional = std::get_if<ConditionalGraphs>(&own))
    for (std::shared_ptr<Graph>& body : conditional->bodies) body = body->clone();
  return own;
}

std::shared_ptr<Graph> Executable::current() const {
  std::shared_ptr<Graph> copy = shape_->clone();
  const std::vector<Node*> nodes = flattened(*copy);
  for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i]->content = steps_[i].content;
  return copy;
}

Executable::Step& Executable::step(const Node& node) {
  const auto found = std::find_if(steps_.begin(), steps_.end(), [&](const Step& s) { return s.node == &node; });
  require(found != steps_.end());
  return *found;
}

const Content& Executable::content(const Node& node) { return step(node).content; }

void Executable::set(const Node& node, Content content) {
  if (const auto* child = std::get_if<ChildGraph>(&content)) {
    const auto* old = std::get_if<ChildGraph>(&node.content);
    require(old != nullptr);
    const std::vector<Node*> before = flattened(*old->graph), now = flattened(*child->graph);
    require(before.size() == now.size());
    for (std::size_t i = 0; i < now.size(); ++i) {
      require(before[i]->content.index() == now[i]->content.index());
      step(*before[i]).content = now[i]->content;
    }
    return;
  }
  Step& changed = step(node);
  require(changed.content.index() == content.index());
  changed.content = std::move(content);
}

void Executable::set_enabled(const Node& node, bool enabled) {
  Step& changed = step(node);
  const bool possible = std::holds_alternative<KernelLaunch>(changed.content) ||
                        std::holds_alternative<Copy>(changed.content) || std::holds_alternative<Fill>(changed.content);
  require(possible);
  changed.enabled = enabled;
}

bool Executable::enabled(const Node& node) { return step(node).enabled; }

namespace {

/// The reason why `now` cannot replace `before`.
CUgraphExecUpdateResultInfo difference(const Graph& before, const Graph& now) {
  const std::vector<Node*> old_nodes = before.nodes(), new_nodes = now.nodes();
  if (old_nodes.size() != new_nodes.size()) return {CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, nullptr, nullptr};
  for (std::size_t i = 0; i < old_nodes.size(); ++i) {
    const Node &a = *old_nodes[i], &b = *new_nodes[i];
    const auto differs = [&](CUgraphExecUpdateResult why) {
      return CUgraphExecUpdateResultInfo{why, Graphs::handle(b), nullptr};
    };
    if (a.type() != b.type()) return differs(CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED);
    std::vector<std::size_t> old_places, new_places;
    for (const Node* n : a.after) old_places.push_back(before.place(*n));
    for (const Node* n : b.after) new_places.push_back(now.place(*n));
    std::sort(old_places.begin(), old_places.end());
    std::sort(new_places.begin(), new_places.end());
    if (old_places != new_places) return differs(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
    // The address belongs to the node: a replacement would change the memory that the program knows.
    if (a.type() == CU_GRAPH_NODE_TYPE_MEM_ALLOC) return differs(CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED);
    if (const auto* child = std::get_if<ChildGraph>(&a.content)) {
      const auto inside = difference(*child->graph, *std::get<ChildGraph>(b.content).graph);
      if (inside.result != CU_GRAPH_EXEC_UPDATE_SUCCESS) return inside;
    }
    if (const auto* conditional = std::get_if<ConditionalGraphs>(&a.content)) {
      const auto& other = std::get<ConditionalGraphs>(b.content);
      if (conditional->type != other.type || conditional->condition != other.condition ||
          conditional->bodies.size() != other.bodies.size())
        return differs(CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED);
      for (std::size_t body = 0; body < other.bodies.size(); ++body) {
        const auto inside = difference(*conditional->bodies[body], *other.bodies[body]);
        if (inside.result != CU_GRAPH_EXEC_UPDATE_SUCCESS) return inside;
      }
    }
  }
  return {CU_GRAPH_EXEC_UPDATE_SUCCESS, nullptr, nullptr};
}

} // namespace

CUgraphExecUpdateResultInfo Executable::update(const Graph& graph) {
  const CUgraphExecUpdateResultInfo result = difference(*shape_, graph);
  if (result.result != CU_GRAPH_EXEC_UPDATE_SUCCESS) return result;
  const std::vector<Node*> fresh = flattened(graph);
  for (std::size_t i = 0; i < steps_.size(); ++i) steps_[i].content = copy(fresh[i]->content);
  return result;
}

namespace {

/// The operation that a launch submits for a node, created for each launch; nothing if there is nothing to do.
class Submission {
public:
  explicit Submission(Context& context) : context_(context) {}

  std::optional<Operation> operator()(const EventRecord& record) const {
    return EventRecord{record.event, find(record.event)->next_mark()};
  }
  /// After the operation was submitted: if the stream refused it, nobody would reach its mark.
  static void set_mark(const std::optional<EventRecord>& record) {
    if (!record) return;
    if (const std::shared_ptr<Event> event = Machine::instance().events.find(record->event))
      event->set_mark(record->mark);
  }
  static std::optional<EventRecord> record_in(const Operation& operation) {
    const auto* record = std::get_if<EventRecord>(&operation);
    return record == nullptr ? std::nullopt : std::optional(*record);
  }
  std::optional<Operation> operator()(const EventWait& wait) const {
    return EventWait{wait.event, find(wait.event)->mark()};
  }
  // Later operations of the stream may take the memory again. The stream frees memory that belongs to no graph.
  std::optional<Operation> operator()(const GraphFree& free) const {
    if (ReservedMemory::release(free.address) ||
        !Machine::instance().memory().begin_free(free.address, Allocation::Kind::pool))
      return std::nullopt;
    return PoolFree{free.address};
  }
  std::optional<Operation> operator()(const ConditionalGraphs& graphs) const {
    return Work{[&context = context_, graphs] { run(graphs, context); }};
  }
  template <class T> std::optional<Operation> operator()(const T& content) const {
    if constexpr (std::is_constructible_v<Operation, const T&>)
      return content;
    else
      return std::nullopt;
  }

private:
  static std::shared_ptr<Event> find(CUevent handle) {
    std::shared_ptr<Event> event = Machine::instance().events.find(handle);
    require(event != nullptr, CUDA_ERROR_INVALID_HANDLE);
    return event;
  }

  // Runs in the thread of the stream, when the node is reached.
  static void run(const ConditionalGraphs& graphs, Context& context) {
    const unsigned& value = graphs.condition->value();
    const auto do_body = [&](std::size_t body) {
      if (body >= graphs.bodies.size()) return;
      for (const Node* node : flattened(*graphs.bodies[body]))
        if (const std::optional<Operation> operation = std::visit(Submission(context), node->content)) {
          perform(*operation, context);
          set_mark(record_in(*operation));
        }
    };
    switch (graphs.type) {
    case CU_GRAPH_COND_TYPE_IF: return do_body(value != 0 ? 0 : 1);
    case CU_GRAPH_COND_TYPE_SWITCH: return do_body(value);
    case CU_GRAPH_COND_TYPE_WHILE:
      while (value != 0 && context.fault() == CUDA_SUCCESS) do_body(0);
    }
  }

  Context& context_;
};

} // namespace

void Executable::launch(Stream& stream) {
  for (const Step& s : steps_)
    if (const auto* allocated = std::get_if<GraphMemory>(&s.content))
      require(allocated->memory->take() || (flags_ & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH) != 0,
              CUDA_ERROR_INVALID_VALUE,
              [] { return "memory that an earlier launch of the graph allocated is not yet freed"; });
  for (const std::shared_ptr<const Condition>& condition : shape_->conditions)
    if (condition->set_at_launch) stream.submit(Work{[condition] { condition->value() = condition->first; }});
  const Submission submission(stream.context());
  std::optional<HostChecks::Graph> order;
  if (host_checks() != nullptr && !stream.capture()) order.emplace(stream, stream.waits_for());
  std::optional<OperationLog::GraphLaunch> logged;
  if (operation_log() != nullptr && !stream.capture())
    logged.emplace(*operation_log(), stream.id(), stream.waits_for());
  for (const Step& s : steps_) {
    if (order) order->begin(s.node, edges_[s.node]);
    if (logged) logged->begin(s.node, edges_[s.node]);
    if (s.enabled)
      if (std::optional<Operation> operation = std::visit(submission, s.content)) {
        const std::optional<EventRecord> record = Submission::record_in(*operation);
        stream.submit(std::move(*operation));
        Submission::set_mark(record);
      }
    if (order) order->end(s.node);
    if (logged) logged->end(s.node);
  }
}

} // namespace warplens::runtime
