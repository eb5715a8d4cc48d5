// SPDX-License-Identifier: Apache-2.0
#include "analyzers/edge_counts.hpp"

#include <algorithm>

namespace warplens::analyzers {

namespace {

struct Edge {
  std::uint32_t from, to;
  double times = 0;
  bool known = false;
};

/// The edges of a block on one of its sides.
struct Side {
  std::vector<std::uint32_t> edges;
  double known = 0; ///< sum of those that are known
  std::size_t unknown = 0;
};

class Balance {
public:
  Balance(const std::vector<std::vector<std::uint32_t>>& successors, const std::vector<double>& visits)
      : visits_(visits), in_(visits.size()), out_(visits.size()) {
    for (std::uint32_t from = 0; from < successors.size(); ++from)
      for (const std::uint32_t to : successors[from])
        if (visits[from] > 0 && visits[to] > 0) add({from, to});
  }

  std::vector<std::vector<EdgeInto>> solve() {
    std::vector<std::uint32_t> changed;
    // Edges that alone lead to their block, or away from it, are known even where warps diverge.
    for (std::uint32_t b = 1; b < in_.size(); ++b)
      if (in_[b].edges.size() == 1) complete(in_[b], visits_[b], changed);
    for (std::uint32_t b = 0; b < out_.size(); ++b)
      if (out_[b].edges.size() == 1) complete(out_[b], visits_[b], changed);
    while (!changed.empty()) {
      const std::uint32_t b = changed.back();
      changed.pop_back();
      if (b != 0) complete(in_[b], visits_[b], changed); // the first block is also entered from outside
      complete(out_[b], visits_[b], changed);
    }
    for (Edge& e : edges_)
      if (!e.known) e.times = std::min(visits_[e.from], visits_[e.to]);
    for (std::uint32_t b = 0; b < visits_.size(); ++b) follow_both_sides(b);
    std::vector<std::vector<EdgeInto>> result(visits_.size());
    for (const Edge& e : edges_)
      if (e.times > 0) result[e.to].push_back({e.from, e.times});
    return result;
  }

private:
  void add(const Edge& edge) {
    const auto index = static_cast<std::uint32_t>(edges_.size());
    edges_.push_back(edge);
    out_[edge.from].edges.push_back(index), ++out_[edge.from].unknown;
    in_[edge.to].edges.push_back(index), ++in_[edge.to].unknown;
  }

  /// If one edge of the side is not known, it is taken as often as the others leave over.
  void complete(const Side& side, double visits, std::vector<std::uint32_t>& changed) {
    if (side.unknown != 1) return;
    Edge& edge = edges_[*std::find_if(side.edges.begin(), side.edges.end(), [&](auto e) { return !edges_[e].known; })];
    edge.known = true;
    edge.times = std::max(0.0, visits - side.known);
    for (Side* one : {&out_[edge.from], &in_[edge.to]}) --one->unknown, one->known += edge.times;
    changed.push_back(edge.from);
    changed.push_back(edge.to);
  }

  /// Warps that diverge at the end of the block do not pass from it to the second side, but from the end of the first
  /// one, and so not from there to the block where the sides join.
  void follow_both_sides(std::uint32_t block) {
    double passed = 0;
    std::uint32_t second = 0; ///< an edge, to the side that is last in the text
    for (const std::uint32_t e : out_[block].edges) {
      passed += edges_[e].times;
      if (e == out_[block].edges.front() || edges_[e].to > edges_[second].to) second = e;
    }
    const double both = passed - visits_[block];
    const std::uint32_t to = both > 0 ? edges_[second].to : 0;
    std::uint32_t end = to;
    while (end > block && (end == to || visits_[end] == 0)) --end;
    if (end <= block || out_[end].edges.empty()) return;
    const auto by_times = [&](std::uint32_t a, std::uint32_t b) { return edges_[a].times < edges_[b].times; };
    Edge& join = edges_[*std::max_element(out_[end].edges.begin(), out_[end].edges.end(), by_times)];
    const double times = std::min({both, edges_[second].times, join.times});
    edges_[second].times -= times;
    join.times -= times;
    out_[end].edges.push_back(static_cast<std::uint32_t>(edges_.size()));
    edges_.push_back({end, to, times, true});
  }

  const std::vector<double>& visits_;
  std::vector<Edge> edges_;
  std::vector<Side> in_, out_; ///< by block
};

} // namespace

std::vector<std::vector<EdgeInto>> edges_taken(const std::vector<std::vector<std::uint32_t>>& successors,
                                               const std::vector<double>& visits) {
  return Balance(successors, visits).solve();
}

} // namespace warplens::analyzers
