// SPDX-License-Identifier: Apache-2.0
#include "analyzers/independent_loads.hpp"

#include "emulator/ir/calls.hpp"
#include "emulator/ir/control_flow.hpp"
#include "emulator/ir/effects.hpp"

#include <cmath>
#include <map>
#include <set>

namespace warplens::analyzers {

namespace {

bool is_far_load(const ir::Instruction& instruction, const ir::Effect& effect) {
  if (effect.writes.empty()) return false;
  using isa::InstructionClass;
  switch (isa::info(instruction.instruction_class).counted_as) {
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

enum class Order : std::uint8_t { loads_moved_up, of_the_ptx };

class PathWalk {
public:
  PathWalk(const ir::Module& module, const ir::Function& function, const std::vector<BranchWays>& ways,
           const std::vector<exec::InstructionCount>& counts, std::uint64_t warps, Order order)
      : order_(order), module_(module), function_(function), flow_(ir::control_flow(function)),
        effects_(ir::effects(module, function)), entries_(flow_.blocks.size()), total_(flow_.blocks.size()),
        into_(flow_.blocks.size()), after_(flow_.blocks.size()), entering_(static_cast<double>(warps)) {
    for (std::size_t i = 0; i < function.instructions.size(); ++i)
      loads_.push_back(is_far_load(function.instructions[i], effects_[i]));
    for (std::size_t b = 0; b < flow_.blocks.size(); ++b) {
      const std::uint32_t first = flow_.blocks[b].first;
      if (first < flow_.blocks[b].end) total_[b] = static_cast<double>(counts[first].warps);
    }
    for (std::uint32_t b = 0; b < flow_.blocks.size(); ++b) find_edges(b, ways);
  }

  /// Until the shares of the sets no longer change.
  void settle() {
    // The sets converge after a few rounds. Ages of loads that stay in flight during a whole loop converge more slowly;
    // for loops with some hundred iterations, and in very long kernels, the computed ages are too low.
    constexpr std::size_t kMostRounds = 200, kMostVisits = 100'000;
    const std::size_t rounds = std::clamp<std::size_t>(kMostVisits / (entries_.size() + 1), 10, kMostRounds);
    for (std::size_t round = 0; round < rounds; ++round) {
      bool changed = false;
      for (std::uint32_t b = 0; b < entries_.size(); ++b) changed = enter(b) || changed;
      if (!changed) break;
    }
  }

  /// `on_wait(instruction, loads in flight, sum of the instructions since each of them, times)`; `times` covers the
  /// whole launch.
  template <class OnWait> void waits(OnWait&& on_wait) {
    for (std::uint32_t b = 0; b < flow_.blocks.size(); ++b)
      for (const auto& known : entries_[b]) {
        const auto& in_flight = known.first;
        const auto& entry = known.second;
        bool first = true;
        pass(b, in_flight, [&](std::uint32_t at, const InFlight& loads) {
          double distance = 0;
          for (const std::uint32_t load : loads) distance += age(b, in_flight, entry, load, at, first);
          on_wait(at, loads.size(), distance, entry.share * total_[b]);
          first = false;
        });
      }
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
    std::uint32_t from;
    double times;
  };
  /// Executions of a block that begin with the same loads in flight.
  struct Entry {
    double share = 0;         ///< of all
    std::vector<double> ages; ///< instructions since each load was issued, averages
  };
  using Entries = std::map<InFlight, Entry>; // ordered, so that sums are reproducible

  /// How often each edge out of a block was taken.
  void find_edges(std::uint32_t from, const std::vector<BranchWays>& ways) {
    const ir::Block& block = flow_.blocks[from];
    const std::vector<std::uint32_t>& to = block.successors;
    if (to.empty() || block.first == block.end) return;
    const std::uint32_t last = block.end - 1;
    const BranchWays& way = ways[last];
    const auto add = [&](std::uint32_t target, double times) {
      if (times > 0) into_[target].push_back({from, times});
    };
    if (to.size() == 2 && function_.instructions[last].guard != ir::kNone && way.taken + way.passed != 0) {
      // The target is the successor that is not the next block.
      const bool first_is_next = flow_.blocks[to[0]].first == block.end;
      const auto taken = static_cast<double>(way.taken), passed = static_cast<double>(way.passed);
      add(to[0], first_is_next ? passed : taken);
      add(to[1], first_is_next ? taken : passed);
      return;
    }
    double all = 0;
    for (const std::uint32_t s : to) all += total_[s];
    for (const std::uint32_t s : to) add(s, all > 0 ? total_[from] * total_[s] / all : 0);
  }

  /// Runs a block that begins with `in_flight`; returns what is in flight at its end.
  template <class OnWait> InFlight pass(std::uint32_t block, InFlight in_flight, OnWait&& on_wait) const {
    const ir::Block& b = flow_.blocks[block];
    std::set<std::uint32_t> early; // later loads that are already in flight
    const auto wait = [&](std::uint32_t at) {
      if (in_flight.empty()) return;
      if (order_ == Order::loads_moved_up)
        for (const std::uint32_t load : moved_up(at, b.end, in_flight))
          if (early.insert(load).second) in_flight.push_back(load);
      on_wait(at, in_flight);
      in_flight.clear();
    };
    for (std::uint32_t i = b.first; i < b.end; ++i) {
      if (ir::is_call(function_.instructions[i]) || needs(i, in_flight)) wait(i);
      if (loads_[i] && !early.contains(i)) in_flight.insert(std::lower_bound(in_flight.begin(), in_flight.end(), i), i);
    }
    if (b.exits && b.end > b.first) wait(b.end - 1);
    return in_flight;
  }

  /// The loads from `at` to the end of its block that a compiler moves up before the wait there: their results are used
  /// in the block, they do not depend on awaited results, and no store or barrier lies between.
  [[nodiscard]] std::set<std::uint32_t> moved_up(std::uint32_t at, std::uint32_t end, const InFlight& in_flight) const {
    std::map<std::uint32_t, std::uint32_t> late; // awaited registers, and the instructions that write them
    for (const std::uint32_t load : in_flight)
      for (const std::uint32_t r : effects_[load].writes) late[r] = load;
    std::set<std::uint32_t> movable, moved;
    constexpr std::uint32_t kFarthest = 2000; // otherwise, the time would grow with the square of a block's length
    for (std::uint32_t i = at; i < std::min(end, at + kFarthest) && !holds_loads_back(function_.instructions[i]); ++i) {
      bool waits = false;
      for (const std::uint32_t r : effects_[i].reads) {
        const auto found = late.find(r);
        if (found == late.end()) continue;
        waits = true;
        if (movable.contains(found->second)) moved.insert(found->second);
      }
      if (loads_[i] && !waits) movable.insert(i);
      for (const std::uint32_t r : effects_[i].writes)
        if (loads_[i] || waits)
          late[r] = i;
        else
          late.erase(r);
    }
    return moved;
  }

  // Loads are not moved across memory operations that could affect them, or that they could affect.
  [[nodiscard]] bool holds_loads_back(const ir::Instruction& instruction) const {
    using isa::Family;
    using isa::InstructionClass;
    const InstructionClass kind = instruction.instruction_class;
    if (kind == InstructionClass::barrier || kind == InstructionClass::fence || kind == InstructionClass::atomic)
      return true;
    if (instruction.form == ir::kNone) return false;
    const isa::Entry& entry = *module_.spellings[instruction.form].entry;
    switch (entry.family) {
    case Family::store:
    case Family::call:
    case Family::async_copy:
    case Family::bulk_copy:
    case Family::async_store:
    case Family::bulk_store: return true;
    case Family::matrix_transfer:
    case Family::fragment_transfer: return entry.operands.items[0].kind == isa::OperandClass::address; // they store
    default: return false;
    }
  }

  /// The loads that pass() leaves in flight, and whether it waited.
  struct After {
    InFlight in_flight;
    bool waited = false;
  };
  const After& after(std::uint32_t block, const InFlight& in_flight) {
    const auto [known, is_new] = after_[block].try_emplace(in_flight);
    After& found = known->second;
    if (is_new) found.in_flight = pass(block, in_flight, [&](std::uint32_t, const InFlight&) { found.waited = true; });
    return found;
  }

  /// Instructions from a load to `at`, in a block that began with `in_flight`. `since_begin`: the block has not waited
  /// yet, so the load may precede it.
  [[nodiscard]] double age(std::uint32_t block, const InFlight& in_flight, const Entry& entry, std::uint32_t load,
                           std::uint32_t at, bool since_begin) const {
    const auto place = std::lower_bound(in_flight.begin(), in_flight.end(), load);
    const bool older = since_begin && place != in_flight.end() && *place == load;
    if (!older) return load < at ? static_cast<double>(at - load - 1) : 0;
    return entry.ages[static_cast<std::size_t>(place - in_flight.begin())] +
           static_cast<double>(at - flow_.blocks[block].first);
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

  /// Computes the sets at the beginning of a block from its predecessors; returns whether they have changed.
  bool enter(std::uint32_t block) {
    constexpr std::size_t kMostSets = 64; // further sets are assumed to wait at the end of the preceding block
    Entries next;
    double sum = 0;
    if (block == 0) next[{}].share = sum = entering_;
    for (const Edge& edge : into_[block])
      for (const auto& [in_flight, entry] : entries_[edge.from]) {
        const After& out = after(edge.from, in_flight);
        const bool room = next.size() < kMostSets || next.contains(out.in_flight);
        const InFlight& loads = room ? out.in_flight : InFlight{};
        const double weight = entry.share * edge.times;
        Entry& target = next[loads];
        target.ages.resize(loads.size());
        target.share += weight;
        sum += weight;
        for (std::size_t l = 0; l < loads.size(); ++l)
          target.ages[l] +=
              weight * age(edge.from, in_flight, entry, loads[l], flow_.blocks[edge.from].end, !out.waited);
      }
    if (sum == 0 && total_[block] > 0) { // the beginning of a called function
      sum = 1;
      next[{}].share = 1;
    }
    for (auto& [in_flight, entry] : next) {
      for (double& a : entry.ages) a /= entry.share;
      entry.share /= sum;
    }
    const bool changed = !same(next, entries_[block]);
    entries_[block] = std::move(next);
    return changed;
  }

  static bool same(const Entries& a, const Entries& b) {
    constexpr double kSame = 1e-12;
    const auto close = [](double x, double y) { return std::abs(x - y) <= kSame * std::max(1.0, std::abs(x)); };
    return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [&](const auto& x, const auto& y) {
             return x.first == y.first && close(x.second.share, y.second.share) &&
                    std::equal(x.second.ages.begin(), x.second.ages.end(), y.second.ages.begin(), close);
           });
  }

  Order order_;
  const ir::Module& module_;
  const ir::Function& function_;
  ir::ControlFlow flow_;
  std::vector<ir::Effect> effects_;
  std::vector<bool> loads_;      ///< by instruction
  std::vector<Entries> entries_; ///< by block
  std::vector<double> total_;    ///< by block: how often it ran
  std::vector<std::vector<Edge>> into_;
  std::vector<std::map<InFlight, After>> after_; ///< by block: what pass() has returned
  double entering_;                              ///< warps
};

} // namespace

void IndependentLoads::conclude(const std::vector<exec::InstructionCount>& counts) {
  waits_.assign(function_.instructions.size(), {});
  if (counts.size() < function_.instructions.size() || counts.empty()) return;
  PathWalk walk(module_, function_, rows_, counts, warps_, Order::loads_moved_up);
  if (walk.loads() == 0) return;
  walk.settle();
  walk.waits([&](std::uint32_t at, std::size_t in_flight, double distance, double times) {
    waits_[at].waits += times;
    waits_[at].in_flight += times * static_cast<double>(in_flight);
    waits_[at].distance += times * distance;
  });
  PathWalk in_order(module_, function_, rows_, counts, warps_, Order::of_the_ptx);
  in_order.settle();
  in_order.waits([&](std::uint32_t, std::size_t, double, double times) { waits_in_order_ += times; });
}

void IndependentLoads::report(Metrics& launch, std::vector<InstructionRow>& rows) const {
  Waits total;
  for (std::size_t i = 0; i < waits_.size() && i < rows.size(); ++i) {
    if (waits_[i].waits <= 0) continue;
    total.waits += waits_[i].waits;
    total.in_flight += waits_[i].in_flight;
    total.distance += waits_[i].distance;
    rows[i].metrics.add_ratio(MetricId::load_waits, waits_[i].waits, static_cast<double>(warps_));
    rows[i].metrics.add_ratio(MetricId::independent_loads, waits_[i].in_flight, waits_[i].waits);
    rows[i].metrics.add_ratio(MetricId::load_use_distance, waits_[i].distance, waits_[i].in_flight);
  }
  launch.add_ratio(MetricId::independent_loads, total.in_flight, total.waits);
  launch.add_ratio(MetricId::load_waits, total.waits, static_cast<double>(warps_));
  launch.add_ratio(MetricId::load_waits_in_order, waits_in_order_, static_cast<double>(warps_));
  launch.add_ratio(MetricId::load_use_distance, total.distance, total.in_flight);
}

} // namespace warplens::analyzers
