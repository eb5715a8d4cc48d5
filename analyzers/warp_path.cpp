// SPDX-License-Identifier: Apache-2.0
#include "analyzers/warp_path.hpp"

#include "analyzers/compiled_loops.hpp"
#include "analyzers/edge_counts.hpp"
#include "analyzers/machine_code.hpp"
#include "emulator/ir/opcode_parts.hpp"

#include <algorithm>
#include <cmath>

namespace warplens::analyzers {

namespace {

using ir::of_doubles, ir::of_wide_integers, ir::rounds;
using isa::InstructionClass;

enum class StepKind : std::uint8_t { other, load, constant_load, store, barrier };

/// What the walk needs of an instruction.
struct Step {
  StepKind kind = StepKind::other;
  bool shared = false; ///< accesses shared memory
  bool alone = false;  ///< nothing else starts before its result is there
  double latency = 0;
  double doubling = 0; ///< cycles in addition for each doubling of the loads in flight
  double issue = 0;    ///< cycles in which it issues: one for each machine instruction
  double branch = 0;   ///< cycles after it until the next block starts
};

bool accesses_memory(InstructionClass which) {
  return which == InstructionClass::global || which == InstructionClass::local || which == InstructionClass::generic ||
         which == InstructionClass::texture || which == InstructionClass::atomic || which == InstructionClass::shared;
}

StepKind kind_of(const ir::Instruction& instruction, const ir::Effect& effect, InstructionClass which) {
  if (which == InstructionClass::barrier || which == InstructionClass::fence) return StepKind::barrier;
  if (!accesses_memory(which)) return StepKind::other;
  if (effect.writes.empty() || which == InstructionClass::atomic) return StepKind::store;
  return which == InstructionClass::texture || ir::has_part(instruction, "nc") ? StepKind::constant_load
                                                                               : StepKind::load;
}

double latency_of_conversion(const ir::Instruction& i, const PathLatencies& l) {
  const bool floats = ir::has_any_part(i, {"f16", "bf16", "f16x2", "bf16x2", "tf32", "f32", "f64"});
  if (!floats) return l.results[static_cast<std::size_t>(InstructionClass::integer)];
  return of_doubles(i) || of_wide_integers(i) ? l.wide_conversion : l.conversion;
}

/// Of what does not access memory. `computed`: the address of a load of constants.
double latency_of_result(const ir::Instruction& i, const PathLatencies& l, bool computed) {
  const auto of = [&](InstructionClass which) { return l.results[static_cast<std::size_t>(which)]; };
  const std::string_view head = i.head();
  const InstructionClass which = machine_class(i);
  switch (which) {
  case InstructionClass::integer_divide: return of_wide_integers(i) ? l.wide_division : l.integer_division;
  case InstructionClass::square_root:
    if (of_doubles(i)) return l.double_root;
    return rounds(i) ? l.root : of(InstructionClass::reciprocal_root) + of(InstructionClass::f32);
  case InstructionClass::reciprocal:
    if (!rounds(i)) return of(InstructionClass::exponential);
    return of_doubles(i) ? l.double_reciprocal : of(InstructionClass::reciprocal);
  case InstructionClass::sine: return of(InstructionClass::sine) + of(InstructionClass::f32);
  case InstructionClass::integer_multiply:
  case InstructionClass::integer_multiply_add:
    return of_wide_integers(i) && !ir::has_part(i, "wide") ? l.wide_multiplication : of(which);
  case InstructionClass::conversion: return latency_of_conversion(i, l);
  case InstructionClass::matrix: return l.matrix;
  case InstructionClass::constant:
  case InstructionClass::param: return computed && l.constant_load > 0 ? l.constant_load : of(which);
  default: break;
  }
  if (head == "setp") return l.predicate;
  if (head == "popc" || head == "clz" || head == "bfind") return of(InstructionClass::exponential);
  if (head == "vote" || head == "match" || head == "redux" || head == "activemask") return l.vote;
  return of(which);
}

/// So many registers the compiler lets wait for loads of one basic block, as machine code of ptxas 13.0 shows.
constexpr std::size_t kLoadsInFlight = 20;

class Walk {
public:
  Walk(const ir::Module& module, const ir::Function& function, double barrier)
      : flow_(ir::control_flow(function)), effects_(ir::effects(module, function)),
        code_(compiled_code(function, flow_)), barrier_(barrier), visits_(code_.blocks.size()),
        share_(function.instructions.size(), 1), registers_(function.registers.size()) {
    mark_unrolled(code_, function, effects_);
    for (const CompiledBlock& block : code_.blocks) successors_.push_back(block.successors);
  }

  /// How often each instruction ran, in the walks that follow.
  void follow(const std::vector<std::uint64_t>& times) {
    for (std::size_t b = 0; b < code_.blocks.size(); ++b) {
      const std::vector<std::uint32_t>& all = code_.blocks[b].instructions;
      if (all.empty()) continue;
      visits_[b] = static_cast<double>(times[all.front()]);
      for (const std::uint32_t i : all)
        share_[i] = visits_[b] > 0 ? std::min(1.0, static_cast<double>(times[i]) / visits_[b]) : 0;
    }
    before_ = edges_taken(successors_, visits_);
  }

  /// Of all warps that ran so often.
  double cycles(const std::vector<Step>& steps) {
    double sum = 0;
    for (std::uint32_t b = 0; b < code_.blocks.size(); ++b) {
      if (visits_[b] == 0) continue;
      const std::uint32_t back = most_frequent(b, [&](std::uint32_t p) { return p >= b; });
      const std::uint32_t forward = most_frequent(b, [&](std::uint32_t p) { return p < b; });
      double entered = back == ir::kNone ? visits_[b] : 0;
      if (back != ir::kNone && forward != ir::kNone) entered = times_entered(b);
      if (code_.blocks[b].unrolled && entered > 0 && entered < visits_[b]) {
        sum += entered * cost_of_turns(b, forward, visits_[b] / entered, steps);
        continue;
      }
      sum += entered * cost_of_first_turn(b, steps);
      if (entered < visits_[b]) sum += (visits_[b] - entered) * cost(b, {back, 1}, 1, steps);
    }
    return sum;
  }

  [[nodiscard]] const ir::Effect& effect(std::size_t instruction) const { return effects_[instruction]; }
  /// Whether the instruction, a branch, leads to later blocks only.
  [[nodiscard]] bool forward(std::size_t instruction) const {
    const std::uint32_t block = flow_.block_of[instruction];
    const std::vector<std::uint32_t>& next = flow_.blocks[block].successors;
    return std::all_of(next.begin(), next.end(), [&](std::uint32_t to) { return to > block; });
  }

private:
  /// When a register can be read; of this walk, if `walk` is current.
  struct Ready {
    std::uint64_t walk = 0;
    double at = 0;
  };

  /// A block that is followed once, or several turns of a loop that ptxas made one block.
  struct Stretch {
    std::uint32_t block = ir::kNone; ///< none: the entry
    std::uint32_t turns = 1;
  };

  template <class Which> [[nodiscard]] std::uint32_t most_frequent(std::uint32_t block, Which&& which) const {
    EdgeInto best{ir::kNone, 0};
    for (const EdgeInto& edge : before_[block])
      if (which(edge.from) && edge.times > best.times) best = edge;
    return best.from;
  }

  /// Cycles of a block that is entered from a block before it, on average over these.
  double cost_of_first_turn(std::uint32_t block, const std::vector<Step>& steps) {
    double sum = 0, times = 0;
    for (const EdgeInto& edge : before_[block]) {
      if (edge.from >= block) continue;
      sum += edge.times * cost(block, {edge.from, 1}, 1, steps);
      times += edge.times;
    }
    return times > 0 ? sum / times : cost(block, {}, 1, steps);
  }

  /// Of a loop: how often it is entered from a block before it.
  [[nodiscard]] double times_entered(std::uint32_t block) const {
    double times = 0;
    for (const EdgeInto& edge : before_[block]) times += edge.from < block ? edge.times : 0;
    return times < visits_[block] ? times : visits_[block] / 2;
  }

  /// Cycles from the end of `from` to the end of `turns` turns of `block`.
  double cost(std::uint32_t block, const Stretch& from, std::uint32_t turns, const std::vector<Step>& steps) {
    ++walk_;
    now_ = fence_ = stored_[0] = stored_[1] = 0;
    if (from.block != ir::kNone) {
      const std::uint32_t first = most_frequent(from.block, [](std::uint32_t) { return true; });
      if (first != ir::kNone) pass(first, first == from.block ? from.turns : 1, steps);
      pass(from.block, from.turns, steps);
    }
    const double start = now_;
    pass(block, turns, steps);
    return now_ - start;
  }

  /// Of a loop that ptxas unrolls: most turns are four at a time, what is left are two and one.
  double cost_of_turns(std::uint32_t block, std::uint32_t from, double turns, const std::vector<Step>& steps) {
    constexpr std::uint32_t kTogether = 4;
    const double fours = std::floor(turns / kTogether);
    double left = turns - fours * kTogether;
    double sum = 0;
    Stretch before{from, 1};
    if (fours > 0) {
      sum += cost(block, before, kTogether, steps);
      before = {block, kTogether};
      if (fours > 1) sum += (fours - 1) * cost(block, before, kTogether, steps);
    }
    if (left >= 2) {
      sum += cost(block, before, 2, steps);
      before = {block, 2};
      left -= 2;
    }
    return left > 0 ? sum + left * cost(block, before, 1, steps) : sum;
  }

  void pass(std::uint32_t block, std::uint32_t turns, const std::vector<Step>& steps) {
    const double start = now_;
    stretch_ = {start, start, start};
    in_flight_.clear();
    const std::vector<std::uint32_t>& all = code_.blocks[block].instructions;
    for (std::uint32_t turn = 0; turn < turns; ++turn)
      for (const std::uint32_t i : all)
        if (!code_.removed[i]) execute(i, steps[i]);
    now_ = std::max(stretch_.issued, stretch_.last + 1);
    if (!all.empty()) now_ += steps[all.back()].branch;
  }

  void execute(std::uint32_t i, const Step& step) {
    stretch_.issued += step.issue;
    double at = std::max(stretch_.floor, fence_);
    const auto wait_for_one = [&](std::uint32_t r) {
      if (registers_[r].walk == walk_) at = std::max(at, registers_[r].at);
    };
    const auto wait_for = [&](const std::vector<std::uint32_t>& list) {
      for (const std::uint32_t r : list) wait_for_one(r);
    };
    wait_for(effects_[i].reads);
    const std::uint32_t predicate = code_.predicate_of[i];
    if (predicate != ir::kNone) wait_for_one(predicate);
    if (!effects_[i].certain || predicate != ir::kNone) wait_for(effects_[i].writes);
    double& stored = stored_[step.shared ? 1 : 0];
    if (step.kind == StepKind::load) at = std::max(at, stored);
    // What a predicate switches off takes no time.
    double latency = predicate == ir::kNone ? step.latency : std::max(1.0, step.latency * share_[i]);
    const bool far = !step.shared && (step.kind == StepKind::load || step.kind == StepKind::constant_load);
    if (far && in_flight_.size() >= kLoadsInFlight) at = std::max(at, in_flight_[in_flight_.size() - kLoadsInFlight]);
    if (far) {
      if (step.doubling > 0) {
        const auto first = in_flight_.end() - static_cast<std::ptrdiff_t>(std::min(in_flight_.size(), kLoadsInFlight));
        const auto waiting = std::count_if(first, in_flight_.end(), [&](double done) { return done > at; });
        latency += step.doubling * std::log2(1 + static_cast<double>(waiting));
      }
      in_flight_.push_back(at + latency);
    }
    if (step.kind == StepKind::store) stored = std::max(stored, at);
    if (step.kind == StepKind::barrier) {
      at = std::max(at, stretch_.last);
      fence_ = at + barrier_;
    }
    if (step.alone) {
      at = std::max(at, stretch_.last);
      stretch_.floor = stretch_.last = at + latency;
    }
    for (const std::uint32_t r : effects_[i].writes) registers_[r] = {walk_, at + latency};
    stretch_.last = std::max(stretch_.last, at);
  }

  ir::ControlFlow flow_;
  std::vector<ir::Effect> effects_;
  CompiledCode code_;
  double barrier_;
  std::vector<double> visits_;                         ///< by block
  std::vector<std::vector<std::uint32_t>> successors_; ///< by block
  std::vector<std::vector<EdgeInto>> before_;          ///< by block
  std::vector<double> share_;                          ///< by instruction: of the visits of its block
  std::vector<Ready> registers_;
  /// Of the stretch that is followed.
  struct {
    double last;   ///< the start of the instruction that starts last
    double floor;  ///< before which no further instruction starts
    double issued; ///< cycles in which instructions issue
  } stretch_{};
  std::uint64_t walk_ = 0;
  double now_ = 0, fence_ = 0;
  double stored_[2]{};            ///< the last store to memory, and to shared memory
  std::vector<double> in_flight_; ///< when the loads of the block are there, in the order in which they start
};

/// What misses the first-level cache.
struct Misses {
  double latency;
  double doubling; ///< PathLatencies::memory_doubling where they come from device memory
  /// Hit rate in percent of all loads whose accesses were simulated, for those that only blocks execute whose accesses
  /// were not; null: not known.
  const Metric* usual_hits;
  const Metric* usual_in_flight; ///< likewise, of those that hit what is fetched for another warp
};

const Metric* of_row(const InstructionRow* row, MetricId metric) {
  return row != nullptr ? row->metrics.find(metric) : nullptr;
}

/// What a request needs on average.
struct Parts {
  double lines = 1;
  double fetches = 1; ///< from device memory, which delivers pairs of sectors
};

/// One of each where it is not known.
Parts parts_of_request(const InstructionRow* row) {
  if (row == nullptr) return {};
  const auto of = [&](MetricId metric) { return static_cast<double>(row->metrics.integer(metric)); };
  const double requests = of(MetricId::global_requests_ld);
  if (requests == 0) return {};
  const double fetches = (of(MetricId::global_sectors_ld) + of(MetricId::global_lone_sectors)) / 2;
  return {of(MetricId::global_lines) / requests, fetches / requests};
}

/// Over the banks of shared memory.
double passes_of_load(const InstructionRow* row) {
  if (row == nullptr) return 1;
  const auto of = [&](MetricId metric) { return static_cast<double>(row->metrics.integer(metric)); };
  const double requests = of(MetricId::shared_requests_ld);
  return requests > 0 ? of(MetricId::shared_passes_ld) / requests : 1;
}

void set_latency_of_access(Step& step, InstructionClass which, const InstructionRow* row, const PathLatencies& l,
                           const Misses& misses) {
  const double shared = l.results[static_cast<std::size_t>(InstructionClass::shared)];
  const bool atomic = which == InstructionClass::atomic;
  if (step.shared || atomic) {
    step.latency = !step.shared ? l.atomic : atomic ? 2 * shared : shared; // atomics load and store
    if (step.shared) step.latency += l.shared_pass * std::max(0.0, passes_of_load(row) - 1);
    return;
  }
  const Metric* hits = of_row(row, MetricId::l1_hit_rate);
  if (hits == nullptr && which != InstructionClass::texture) hits = misses.usual_hits;
  const Metric* const late =
      hits == misses.usual_hits ? misses.usual_in_flight : of_row(row, MetricId::l1_in_flight_rate);
  const double share = hits != nullptr ? (hits->number() - (late != nullptr ? late->number() : 0)) / 100 : 0;
  step.latency = share * l.l1 + (1 - share) * misses.latency;
  step.doubling = (1 - share) * misses.doubling;
  const Parts parts = parts_of_request(row);
  if (parts.lines > 1) step.latency += l.line * (parts.lines - 1);
  if (parts.fetches > 1) step.latency += step.doubling * std::log2(parts.fetches);
}

double cycles_of_branch(const ir::Instruction& i, const InstructionRow* row, bool forward, const PathLatencies& l) {
  if (i.head() != "bra" || i.guard == ir::kNone) return 0;
  const double executed = row != nullptr ? static_cast<double>(row->metrics.integer(MetricId::warp_instructions)) : 0;
  const double divergent = row != nullptr ? static_cast<double>(row->metrics.integer(MetricId::divergent_branches)) : 0;
  return l.branch + (forward ? l.reconvergence : 0) + (executed > 0 ? l.divergence * divergent / executed : 0);
}

/// Whether a load has its address in a register. Constants at other addresses are operands of machine instructions.
bool computes_address(const ir::Function& function, const ir::Instruction& i) {
  const auto operands = function.operands(i);
  return i.head() == "ld" && operands.size() > 1 && operands[1].count != 0 &&
         function.elements(operands[1])[0].kind == ir::OperandKind::reg;
}

/// What the subroutine for special operands takes, times the share of the warps that call it.
double cycles_of_special(const ir::Instruction& i, const InstructionRow* row, const PathLatencies& l) {
  const auto of = [&](MetricId id) { return row == nullptr ? 0 : static_cast<double>(row->metrics.integer(id)); };
  const double calls = of(MetricId::special_operands);
  if (calls == 0) return 0;
  const bool divides = i.head() == "div";
  return calls / of(MetricId::warp_instructions) *
         (!divides        ? l.special_root
          : of_doubles(i) ? l.special_double_division
                          : l.special_division);
}

std::vector<Step> steps_of(const ir::Function& function, const std::vector<MachineWork>& work, const Walk& walk,
                           const std::vector<InstructionRow>& rows, const PathLatencies& latency,
                           const Misses& misses) {
  std::vector<Step> steps(function.instructions.size());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const ir::Instruction& instruction = function.instructions[i];
    const InstructionClass which = isa::info(instruction.instruction_class).counted_as;
    Step& step = steps[i];
    step.kind = kind_of(instruction, walk.effect(i), which);
    step.shared = which == InstructionClass::shared || ir::has_part(instruction, "shared");
    step.alone = has_branch_inside(instruction);
    step.issue = work[i].instructions;
    const InstructionRow* const row = i < rows.size() ? &rows[i] : nullptr;
    step.branch = cycles_of_branch(instruction, row, walk.forward(i), latency);
    if (step.kind == StepKind::other && work[i].joined)
      step.latency = 0;
    else if (step.kind == StepKind::other || step.kind == StepKind::barrier)
      step.latency = latency_of_result(instruction, latency, computes_address(function, instruction)) +
                     cycles_of_special(instruction, row, latency);
    else
      set_latency_of_access(step, which, row, latency, misses);
  }
  return steps;
}

} // namespace

void WarpPath::report(Metrics& launch, std::vector<InstructionRow>& rows) const {
  const std::size_t size = function_.instructions.size();
  if (!latency_ || size == 0 || counts_.size() < size) return;
  const double barrier = latency_->barrier + latency_->barrier_of_warp * shape_.warps();
  Walk walk(module_, function_, barrier);
  const Metric *const hits = launch.find(MetricId::l1_hit_rate), *const late = launch.find(MetricId::l1_in_flight_rate);
  const std::vector<MachineWork> work = machine_code(module_, function_);
  const auto steps = [&](double latency, double doubling) {
    return steps_of(function_, work, walk, rows, *latency_, {latency, doubling, hits, late});
  };
  const std::vector<Step> near = steps(latency_->l2, 0), far = steps(latency_->memory, latency_->memory_doubling);
  struct Sum {
    double l2 = 0, memory = 0, warps = 1;
  };
  const auto along = [&](const std::vector<std::uint64_t>& times, std::uint64_t warps) {
    walk.follow(times);
    return Sum{walk.cycles(near), walk.cycles(far), static_cast<double>(warps)};
  };
  const auto add = [&](MetricId l2, MetricId memory, const Sum& sum) {
    launch.add_ratio(l2, sum.l2, sum.warps);
    launch.add_ratio(memory, sum.memory, sum.warps);
  };
  std::vector<std::uint64_t> times(size);
  for (std::size_t i = 0; i < size; ++i) times[i] = counts_[i].warps;
  const std::uint64_t warps = shape_.ctas() * shape_.warps();
  const Sum all = along(times, warps);
  add(MetricId::path_l2, MetricId::path_memory, all);
  if (!longest_ || longest_->launch_times.size() < size || longest_->cta_times.size() < size) return;
  // Most launches have warps that all do the same.
  const auto of = [&](const std::vector<std::uint64_t>& some, std::uint64_t count) {
    for (std::size_t i = 0; i < size; ++i)
      if (some[i] * (warps / count) != times[i]) return along(some, count);
    return all;
  };
  add(MetricId::path_of_blocks_l2, MetricId::path_of_blocks_memory, of(longest_->cta_times, shape_.ctas()));
  add(MetricId::path_longest_l2, MetricId::path_longest_memory, of(longest_->launch_times, 1));
}

} // namespace warplens::analyzers
