#include "analyzers/independent_loads.hpp"

#include "analyzers/instruction_mix.hpp"
#include "emulator/ir/calls.hpp"
#include "emulator/ir/control_flow.hpp"
#include "emulator/ir/effects.hpp"

#include <cmath>
#include <map>

namespace warplens::analyzers {

namespace {

constexpr MetricInfo kMetrics[] = {
    {"independent_loads", "loads/wait", "loads in flight when a warp waits for one of them, average"},
    {"load_waits_per_warp", "waits", "how often a warp waits for loads"},
};

constexpr AnalyzerInfo kInfo = {"independent_loads", "Independent loads",
                                "loads in flight before the first use, from the data flow along the executed paths",
                                kMetrics};

bool is_far_load(const ir::Instruction& instruction, const ir::Effect& effect) {
  if (effect.writes.empty()) return false;
  switch (classify(instruction.opcode)) {
  case InstructionClass::global:
  case InstructionClass::local:
  case InstructionClass::generic:
  case InstructionClass::texture:
  case InstructionClass::atomic: return true;
  default: return false;
  }
}

/// Loads in flight: instructions, ascending.
using InFlight = std::vector<std::uint32_t>;

class PathWalk {
public:
  PathWalk(const ir::Module& module, const ir::Function& function, const std::vector<IndependentLoads::Ways>& ways,
           const std::vector<exec::InstructionCount>& counts, std::uint64_t warps)
      : function_(function), flow_(ir::control_flow(function)), effects_(ir::effects(module, function)),
        shares_(flow_.blocks.size()), total_(flow_.blocks.size()), edges_(flow_.blocks.size()),
        after_(flow_.blocks.size()) {
    for (std::size_t i = 0; i < function.instructions.size(); ++i)
      loads_.push_back(is_far_load(function.instructions[i], effects_[i]));
    for (std::size_t b = 0; b < flow_.blocks.size(); ++b) {
      const std::uint32_t first = flow_.blocks[b].first;
      if (first < flow_.blocks[b].end) total_[b] = static_cast<double>(counts[first].warps);
    }
    for (std::size_t b = 0; b < flow_.blocks.size(); ++b) edges_[b] = edges(flow_.blocks[b], total_[b], ways);
    entering_ = static_cast<double>(warps);
  }

  /// Until the shares of the sets no longer change.
  void settle() {
    constexpr int kRounds = 200;
    for (int round = 0; round < kRounds; ++round)
      if (!spread()) break;
  }

  /// `on_wait(instruction, in flight, times)`; times are those of the whole launch.
  template <class OnWait> void waits(OnWait&& on_wait) {
    for (std::uint32_t b = 0; b < flow_.blocks.size(); ++b)
      for (const auto& [in_flight, share] : shares_[b])
        pass(b, in_flight, [&](std::uint32_t at, std::size_t loads) { on_wait(at, loads, share * total_[b]); });
  }

  [[nodiscard]] double loads() const {
    double sum = 0;
    for (std::size_t b = 0; b < flow_.blocks.size(); ++b)
      for (std::uint32_t i = flow_.blocks[b].first; i < flow_.blocks[b].end; ++i)
        if (loads_[i]) sum += total_[b];
    return sum;
  }

private:
  struct Edge {
    std::uint32_t to;
    double times;
  };
  using Shares = std::map<InFlight, double>; // ordered, so that sums are the same in each run

  /// How often each edge out of a block was taken.
  [[nodiscard]] std::vector<Edge> edges(const ir::Block& block, double times,
                                        const std::vector<IndependentLoads::Ways>& ways) const {
    std::vector<Edge> list;
    const std::vector<std::uint32_t>& to = block.successors;
    if (to.empty() || block.first == block.end) return list;
    const std::uint32_t last = block.end - 1;
    const IndependentLoads::Ways& way = ways[last];
    const ir::Instruction& branch = function_.instructions[last];
    if (to.size() == 2 && branch.guard != ir::kNone && way.taken + way.passed != 0) {
      // The one that is not the next block is the target.
      const bool first_is_next = flow_.blocks[to[0]].first == block.end;
      const auto taken = static_cast<double>(way.taken), passed = static_cast<double>(way.passed);
      return {{to[0], first_is_next ? passed : taken}, {to[1], first_is_next ? taken : passed}};
    }
    double all = 0;
    for (const std::uint32_t s : to) all += total_[s];
    for (const std::uint32_t s : to) list.push_back({s, all > 0 ? times * total_[s] / all : 0});
    return list;
  }

  /// Runs a block that begins with `in_flight`; returns what is in flight at its end.
  template <class OnWait> InFlight pass(std::uint32_t block, InFlight in_flight, OnWait&& on_wait) const {
    const auto wait = [&](std::uint32_t at) {
      if (!in_flight.empty()) on_wait(at, in_flight.size());
      in_flight.clear();
    };
    const ir::Block& b = flow_.blocks[block];
    for (std::uint32_t i = b.first; i < b.end; ++i) {
      if (ir::is_call(function_.instructions[i]) || needs(i, in_flight)) wait(i);
      if (loads_[i]) in_flight.insert(std::lower_bound(in_flight.begin(), in_flight.end(), i), i);
    }
    if (b.exits && b.end > b.first) wait(b.end - 1);
    return in_flight;
  }

  const InFlight& after(std::uint32_t block, const InFlight& in_flight) {
    const auto known = after_[block].find(in_flight);
    if (known != after_[block].end()) return known->second;
    return after_[block].emplace(in_flight, pass(block, in_flight, [](std::uint32_t, std::size_t) {})).first->second;
  }

  [[nodiscard]] bool needs(std::uint32_t instruction, const InFlight& in_flight) const {
    const ir::Effect& e = effects_[instruction];
    for (const std::uint32_t load : in_flight)
      for (const std::uint32_t r : effects_[load].writes)
        if (std::find(e.reads.begin(), e.reads.end(), r) != e.reads.end() ||
            std::find(e.writes.begin(), e.writes.end(), r) != e.writes.end())
          return true;
    return false;
  }

  /// One round over all blocks; whether any share changed.
  bool spread() {
    constexpr double kSame = 1e-12;
    constexpr std::size_t kMostSets = 64; // of a block; further ones are taken to wait at the end of the block before
    std::vector<Shares> next(shares_.size());
    if (!next.empty()) next[0][{}] = entering_;
    for (std::uint32_t b = 0; b < shares_.size(); ++b) {
      for (const auto& [in_flight, share] : shares_[b]) {
        const InFlight& out = after(b, in_flight);
        for (const Edge& edge : edges_[b]) {
          if (edge.times <= 0) continue;
          Shares& target = next[edge.to];
          const bool room = target.size() < kMostSets || target.contains(out);
          target[room ? out : InFlight{}] += share * edge.times;
        }
      }
    }
    bool changed = false;
    for (std::size_t b = 0; b < next.size(); ++b) {
      double sum = 0;
      for (const auto& [in_flight, weight] : next[b]) sum += weight;
      if (sum > 0)
        for (auto& [in_flight, weight] : next[b]) weight /= sum;
      else if (total_[b] > 0) // the begin of a function that is called
        next[b] = {{InFlight{}, 1.0}};
      changed = changed || next[b].size() != shares_[b].size() ||
                !std::equal(next[b].begin(), next[b].end(), shares_[b].begin(), [&](const auto& x, const auto& y) {
                  return x.first == y.first && std::abs(x.second - y.second) <= kSame;
                });
    }
    shares_ = std::move(next);
    return changed;
  }

  const ir::Function& function_;
  ir::ControlFlow flow_;
  std::vector<ir::Effect> effects_;
  std::vector<bool> loads_;    ///< by instruction
  std::vector<Shares> shares_; ///< by block: of its executions, by what is in flight at its begin
  std::vector<double> total_;  ///< by block: how often it ran
  std::vector<std::vector<Edge>> edges_;
  std::vector<std::map<InFlight, InFlight>> after_; ///< by block: what pass() has returned
  double entering_ = 0;                             ///< warps
};

} // namespace

const AnalyzerInfo& IndependentLoads::info() const { return kInfo; }

std::unique_ptr<exec::Shard> IndependentLoads::make_shard() { return std::make_unique<Shard>(ways_.size()); }

void IndependentLoads::absorb(exec::Shard& shard) {
  const std::vector<Ways>& other = static_cast<const Shard&>(shard).ways();
  for (std::size_t i = 0; i < ways_.size(); ++i) {
    ways_[i].taken += other[i].taken;
    ways_[i].passed += other[i].passed;
  }
}

void IndependentLoads::conclude(const std::vector<exec::InstructionCount>& counts) {
  waits_.assign(function_.instructions.size(), {});
  if (counts.size() < function_.instructions.size() || counts.empty()) return;
  PathWalk walk(module_, function_, ways_, counts, warps_);
  loads_ = walk.loads();
  if (loads_ == 0) return;
  walk.settle();
  walk.waits([&](std::uint32_t at, std::size_t in_flight, double times) {
    waits_[at].waits += times;
    waits_[at].in_flight += times * static_cast<double>(in_flight);
  });
}

void IndependentLoads::report(Metrics& launch, std::vector<InstructionRow>& rows) const {
  Waits total;
  for (std::size_t i = 0; i < waits_.size() && i < rows.size(); ++i) {
    if (waits_[i].waits <= 0) continue;
    total.waits += waits_[i].waits;
    total.in_flight += waits_[i].in_flight;
    rows[i].metrics.add_ratio("load_waits_per_warp", waits_[i].waits, static_cast<double>(warps_));
    rows[i].metrics.add_ratio("independent_loads", waits_[i].in_flight, waits_[i].waits);
  }
  launch.add_ratio("independent_loads", total.in_flight, total.waits);
  launch.add_ratio("load_waits_per_warp", total.waits, static_cast<double>(warps_));
}

} // namespace warplens::analyzers
