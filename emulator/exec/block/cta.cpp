// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/block/cta.hpp"
#include "emulator/exec/block/tensor_faults.hpp"
#include "emulator/exec/state/schedule.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <new>

namespace warplens::exec {

namespace {

// A warp yields after about this many instructions, so that warps that wait for each other in loops make progress.
constexpr std::int64_t kTurn = 20'000;

// Turns are shorter for warps that repeat themselves, and for the paths of a warp that has been diverged for this many
// turns.
constexpr std::uint32_t kLongTurns = 8;
constexpr std::int64_t kShortTurn = 500;

// Entering and leaving the code of a pair takes as long as two warps save in about so many instructions. After some
// turns in which they part sooner, a block lets each warp run by itself.
constexpr std::int64_t kShortPair = 100;
constexpr std::uint32_t kMostShortPairs = 16;

// The turns vary in length. Otherwise, a loop that takes and releases a lock might hold it at the end of each turn.
constexpr std::int64_t kStagger[] = {0, 1, 3, 7, 17, 41, 97};

template <class T> void fill(Warp& warp, std::uint32_t offset, std::uint64_t value) {
  T* const lanes = row<T>(&warp, offset);
  for (int i = 0; i < kWarpSize; ++i) lanes[i] = static_cast<T>(value);
}

void fill(Warp& warp, std::uint32_t offset, int lane_bytes, std::uint64_t value) {
  switch (lane_bytes) {
  case 0: predicate(&warp, offset) = static_cast<Mask>(value); break;
  case 1: fill<std::uint8_t>(warp, offset, value); break;
  case 2: fill<std::uint16_t>(warp, offset, value); break;
  case 4: fill<std::uint32_t>(warp, offset, value); break;
  case 16: fill<unsigned __int128>(warp, offset, value); break;
  default: fill<std::uint64_t>(warp, offset, value); break;
  }
}

// The granularity of shared memory (manual, %total_smem_size). None of it is reserved for the system here.
std::uint64_t allocated(std::uint64_t bytes, int sm) {
  const std::uint64_t piece = sm >= 30 && sm < 80 ? 256 : 128;
  return (bytes + piece - 1) / piece * piece;
}

void set_lane(Warp& warp, const SpecialRow& special, int lane, std::uint32_t value) {
  switch (special.lane_bytes) {
  case 1: row<std::uint8_t>(&warp, special.offset)[lane] = static_cast<std::uint8_t>(value); break;
  case 2: row<std::uint16_t>(&warp, special.offset)[lane] = static_cast<std::uint16_t>(value); break;
  case 8: row<std::uint64_t>(&warp, special.offset)[lane] = value; break;
  default: row<std::uint32_t>(&warp, special.offset)[lane] = value; break;
  }
}

} // namespace

Cta::Cta(Worker& w)
    : worker(w), program(*w.launch.program), independent(program.module->sm >= 70),
      quick_barriers_(!w.launch.tools.synccheck && w.launch.schedule_seed == 0) {
  const LaunchShape& shape = worker.launch.shape;
  warp_count_ = shape.warps();
  warp_stride_ = program.warp_bytes;
  warps_ = aligned_bytes(warp_count_ * warp_stride_);
  paths_.resize(warp_count_);
  repetitions_.resize(warp_count_);
  lengths_.resize(warp_count_);
  visits_.resize(warp_count_ * program.blocks.size());
  groups.resize((warp_count_ + kGroupWarps - 1) / kGroupWarps);
  shared_bytes = shape.shared_static + shape.shared_dynamic;
  shared_memory_ = aligned_bytes(shared_bytes);
  shared = shared_memory_.get();
  set_local(program.local_bytes);
  for (const SpecialRow& s : program.specials)
    if (value_in_cta(s)) by_cta_.push_back({s, std::nullopt});
  if (program.uses_tensor_memory) tensor_memory = std::make_unique<TensorMemory>();
  for (std::uint32_t i = 0; i < warp_count_; ++i) {
    Warp* const slot = new (warps_.get() + i * warp_stride_) Warp();
    slot->cta = this;
    slot->worker = &worker;
    slot->index = i;
    slot->paths = &paths_[i];
    slot->visits = visits_.data() + i * program.blocks.size();
    for (const ConstantRow& c : program.constants) fill(*slot, c.offset, static_cast<int>(c.lane_bytes), c.value);
  }
}

void Cta::join(Cluster& of, std::uint32_t as) {
  cluster = &of;
  rank = as;
  shared_begin = rank * kClusterStride;
  for (std::uint32_t i = 0; shared_begin != 0 && i < warp_count_; ++i)
    for (const ConstantRow& c : program.constants)
      if (c.shared_address) fill(warp(i), c.offset, static_cast<int>(c.lane_bytes), c.value + shared_begin);
}

namespace {
// The distance between the local memories of consecutive threads. Large distances are not a power of two: otherwise,
// the simultaneous accesses of a warp would map to the same cache sets.
std::uint64_t apart(std::uint64_t bytes) {
  constexpr std::uint64_t kLine = 64, kLarge = 512;
  return bytes < kLarge ? bytes : (((bytes + kLine - 1) / kLine) | 1) * kLine;
}
} // namespace

// If the existing memory is large enough, the threads' parts move within it. With new memory for each CTA whose stacks
// grow, the system would have to clear it page by page.
void Cta::set_local(std::uint64_t bytes) {
  const std::size_t threads = std::size_t{warp_count_} * kWarpSize;
  const std::uint64_t stride = apart(bytes), kept = std::min(bytes, local_bytes);
  if (local == nullptr || threads * stride > local_room_) {
    AlignedBytes fresh = aligned_bytes(threads * stride);
    for (std::size_t t = 0; kept != 0 && t < threads; ++t)
      std::memcpy(fresh.get() + t * stride, local + t * local_stride, kept);
    local_memory_ = std::move(fresh);
    local_room_ = threads * stride;
    local = local_memory_.get();
  } else {
    const auto move = [&](std::size_t t) {
      std::memmove(local + t * stride, local + t * local_stride, kept);
      std::memset(local + t * stride + kept, 0, bytes - kept);
    };
    if (stride <= local_stride)
      for (std::size_t t = 0; t < threads; ++t) move(t);
    else
      for (std::size_t t = threads; t-- > 0;) move(t);
  }
  local_bytes = bytes;
  local_stride = stride;
}

bool Cta::grow_local(std::uint64_t bytes) {
  constexpr std::uint64_t kPiece = 64;
  try {
    set_local((std::max(bytes, std::min(2 * local_bytes, program.stack_limit)) + kPiece - 1) / kPiece * kPiece +
              kPiece);
  } catch (const std::bad_alloc&) {
    return false;
  }
  return true;
}

// Without divisions where the grid has one row: they take as long as a warp of a small block.
void Cta::set_position(std::uint64_t n) {
  const std::uint32_t* const grid = worker.launch.shape.grid;
  const bool one_row = n < grid[0];
  const std::uint64_t row = one_row ? 0 : n / grid[0];
  const bool one_plane = row < grid[1];
  const std::uint64_t plane = one_plane ? 0 : row / grid[1];
  position[0] = static_cast<std::uint32_t>(n - row * grid[0]);
  position[1] = static_cast<std::uint32_t>(row - plane * grid[1]);
  position[2] = static_cast<std::uint32_t>(plane);
}

void Cta::start(std::uint64_t n) {
  number = n;
  exited = false;
  done_warps = 0;
  mbarriers.clear();
  if (tensor_memory) tensor_memory->reset();
  std::fill(groups.begin(), groups.end(), WarpGroup{});
  const LaunchShape& shape = worker.launch.shape;
  set_position(n);
  // The C library stores no bytes at a null pointer by a masked instruction, which takes 300 ns there.
  if (shared_bytes != 0) std::memset(shared, 0, shared_bytes);
  if (local_bytes != program.local_bytes) set_local(program.local_bytes); // undoes the growth of a previous CTA
  for (; used_barriers_ != 0; used_barriers_ &= used_barriers_ - 1) {
    const int used = std::countr_zero(used_barriers_);
    barriers_[used] = {};
    arrived_[used].clear();
  }
  std::fill(visits_.begin(), visits_.end(), 0);
  const std::uint32_t threads = shape.threads();
  const bool told_each = worker.shard && worker.watch && worker.shard->begin_cta(number);
  for (const auto& checker : worker.checkers) checker->begin_cta(number);
  for (std::uint32_t i = 0; i < warp_count_; ++i) {
    Warp& w = warp(i);
    const std::uint32_t lanes = std::min<std::uint32_t>(kWarpSize, threads - i * kWarpSize);
    w.live = lanes == kWarpSize ? kFullMask : (Mask{1} << lanes) - 1;
    activate(&w, w.live);
    w.paths->clear();
    repetitions_[i] = {};
    // Short turns show what a block of a cluster does before another one is there, or after it has exited.
    lengths_[i] = worker.launch.tools.any() && shape.cluster_ctas() > 1 ? kShortTurn : kTurn;
    w.next = program.ops.data();
    w.state = WarpState::ready;
    w.steps = 0;
    w.told_each = told_each;
    w.followed = false;
    w.told_spaces = told_each ? worker.watch->wanted().spaces & worker.shard->each_spaces({number, i}) : 0;
    w.counted = 0;
    w.left_for = nullptr;
    if (!started_before_) write_special_rows(w);
  }
  started_before_ = true;
  write_rows_of_cta();
}

// Most values are those of the CTA that had the slot before.
void Cta::write_rows_of_cta() {
  for (auto& [special, written] : by_cta_) {
    const std::uint64_t value = *value_in_cta(special);
    if (written == value) continue;
    written = value;
    for (std::uint32_t i = 0; i < warp_count_; ++i) fill(warp(i), special.offset, special.lane_bytes, value);
  }
}

std::uint64_t Cta::place_in_cluster(const SpecialRow& s) const {
  if (s.special == isa::Special::cluster_ctarank) return rank;
  if (s.component >= 3) return 0;
  const std::uint32_t extent = worker.launch.shape.cluster[s.component];
  return s.special == isa::Special::clusterid ? position[s.component] / extent : position[s.component] % extent;
}

std::optional<std::uint64_t> Cta::value_in_cta(const SpecialRow& s) const {
  using isa::Special;
  const Launch& launch = worker.launch;
  switch (s.special) {
  case Special::ctaid: return s.component < 3 ? position[s.component] : 0;
  case Special::clusterid:
  case Special::cluster_ctaid:
  case Special::cluster_ctarank: return place_in_cluster(s);
  case Special::smid: return number % launch.machine.sms;
  case Special::gridid: return launch.grid_id;
  case Special::envreg1: return launch.grid_workspace >> 32; // where cooperative groups read it
  case Special::envreg2: return launch.grid_workspace;
  default: return std::nullopt;
  }
}

// Rows that do not depend on the CTA, once per slot.
void Cta::write_special_rows(Warp& warp) {
  using isa::Special;
  const Launch& launch = worker.launch;
  const LaunchShape& shape = launch.shape;
  for (const SpecialRow& s : program.specials) {
    const auto all = [&](std::uint64_t value) { fill(warp, s.offset, s.lane_bytes, value); };
    const auto component = [&](const std::uint32_t* xyz) { return s.component < 3 ? xyz[s.component] : 0; };
    if (value_in_cta(s)) continue;
    switch (s.special) {
    case Special::tid:
      for (int lane = 0; lane < kWarpSize; ++lane) {
        const std::uint32_t t = warp.index * kWarpSize + static_cast<std::uint32_t>(lane);
        const std::uint32_t xyz[] = {t % shape.block[0], t / shape.block[0] % shape.block[1],
                                     t / shape.block[0] / shape.block[1]};
        set_lane(warp, s, lane, component(xyz));
      }
      break;
    case Special::ntid: all(component(shape.block)); break;
    case Special::nctaid: all(component(shape.grid)); break;
    case Special::warpid: all(warp.index); break;
    case Special::nwarpid: all(launch.machine.max_warps_per_sm); break;
    case Special::nsmid: all(launch.machine.sms); break;
    case Special::total_smem_size:
    case Special::aggr_smem_size: all(allocated(shared_bytes, program.module->sm)); break;
    case Special::dynamic_smem_size: all(shape.shared_dynamic); break;
    case Special::nclusterid: all(s.component < 3 ? shape.grid[s.component] / shape.cluster[s.component] : 0); break;
    case Special::cluster_nctaid: all(component(shape.cluster)); break;
    case Special::cluster_nctarank: all(shape.cluster_ctas()); break;
    case Special::is_explicit_cluster: all(shape.explicit_cluster ? kFullMask : 0); break;
    case Special::laneid:
    case Special::lanemask_eq:
    case Special::lanemask_le:
    case Special::lanemask_lt:
    case Special::lanemask_ge:
    case Special::lanemask_gt:
      for (int lane = 0; lane < kWarpSize; ++lane) {
        const Mask one = Mask{1} << lane, below = one - 1;
        const Mask value = s.special == Special::laneid        ? static_cast<Mask>(lane)
                           : s.special == Special::lanemask_eq ? one
                           : s.special == Special::lanemask_lt ? below
                           : s.special == Special::lanemask_le ? below | one
                           : s.special == Special::lanemask_ge ? ~below
                                                               : ~(below | one);
        set_lane(warp, s, lane, value);
      }
      break;
    default: all(0); break; // envreg, pm: not set
    }
  }
}

// The first thread that could still run, and where it is.
void Cta::where(Trap& trap) {
  for (std::uint32_t i = 0; i < warp_count_; ++i) {
    Warp& w = warp(i);
    if (w.state != WarpState::ready) continue;
    trap.instruction = w.next->instruction;
    trap.thread = i * kWarpSize + static_cast<std::uint32_t>(__builtin_ctz(w.active | 0x80000000u));
    return;
  }
}

namespace {

template <bool checked> inline const Op* run_op(const Op* op, Warp& warp) {
  if constexpr (checked)
    if (warp.followed) [[unlikely]]
      for (const auto& checker : warp.worker->checkers) checker->next_op(warp, *op);
  return op->run(op, &warp);
}

template <bool checked> void run_alone(Warp& a) {
  for (const Op* op = a.next; op != nullptr;) op = run_op<checked>(op, a);
}

// Two warps take turns instruction by instruction: while one waits for the result of its last instruction, the
// processor works on the other. Worth a third on long chains of dependent arithmetic.
template <bool checked> void run_together(Warp& a, Warp& b) {
  const Op* x = a.next;
  const Op* y = b.next;
  while (x != nullptr && y != nullptr) {
    x = run_op<checked>(x, a);
    y = run_op<checked>(y, b);
  }
  while (x != nullptr) x = run_op<checked>(x, a);
  while (y != nullptr) y = run_op<checked>(y, b);
}

} // namespace

void Cta::begin_turn(Warp& w) { w.budget = w.turn = lengths_[w.index]; }

// Records how much of its turn the warp used, and returns it.
std::int64_t Cta::end_turn(Warp& w) {
  const std::int64_t used = w.turn - w.budget;
  w.steps += static_cast<std::uint64_t>(used);
  worker.steps += static_cast<std::uint64_t>(used);
  if (w.state == WarpState::done)
    for (std::uint32_t waiting = used_barriers_; waiting != 0; waiting &= waiting - 1)
      release_if_complete(static_cast<std::uint8_t>(std::countr_zero(waiting)));
  Repetition& repetition = repetitions_[w.index];
  if (repetition.due(used, program.warp_bytes)) repetition.look(w, program.warp_bytes);
  if (w.budget <= 0 && w.state == WarpState::ready) turn_is_over(w);
  return used;
}

// Another path of the warp gets the next turn.
void Cta::turn_is_over(Warp& w) {
  Paths& paths = *w.paths;
  Repetition& repetition = repetitions_[w.index];
  if (paths.waiting.empty()) {
    paths.turns = 0;
  } else if (independent) {
    paths.impatient = paths.impatient || repetition.repeats();
    change_path(&w);
  }
  const std::int64_t turn = paths.turns < kLongTurns && !repetition.repeats() ? kTurn : kShortTurn;
  lengths_[w.index] = turn + kStagger[++repetition.turns % std::size(kStagger)];
}

bool Cta::quiet() {
  bool all = true;
  for (std::uint32_t i = 0; i < warp_count_; ++i) all = repetitions_[i].quiet(warp(i)) && all;
  return all;
}

bool Cta::looked_at() {
  for (std::uint32_t i = 0; i < warp_count_; ++i)
    if (!repetitions_[i].looked_at(warp(i))) return false;
  return true;
}

std::uint64_t Cta::memory_digest() const {
  const std::size_t of_all_threads = std::size_t{warp_count_} * kWarpSize * local_stride;
  const std::uint64_t tensors = tensor_memory ? digest(tensor_memory->bytes()) : 0;
  return digest({local, of_all_threads}, digest({shared, static_cast<std::size_t>(shared_bytes)}, tensors));
}

// Not inlined: next_ready() runs for each turn of a warp, and in the usual order needs few registers.
[[gnu::noinline]] Warp* Cta::next_ready_by_seed(std::uint32_t& from) {
  while (from < warp_count_) {
    Warp& w = warp(static_cast<std::uint32_t>(scheduled(from++, warp_count_, worker.launch.schedule_seed)));
    if (w.state == WarpState::ready) return &w;
  }
  return nullptr;
}

// Inlined in both places, because short turns end often.
[[gnu::always_inline]] inline Warp* Cta::next_ready(std::uint32_t& from) {
  if (worker.launch.schedule_seed != 0) [[unlikely]]
    return next_ready_by_seed(from);
  for (; from < warp_count_; ++from)
    if (warp(from).state == WarpState::ready) return &warp(from++);
  return nullptr;
}

// The warp after `a`, if both are to run together now: `a` has come to its turn, and the other one's would be the next.
inline Warp* Cta::partner_of(const Warp& a, const PairHandler* pairs) {
  if (pairs == nullptr || pairs[a.next - program.ops.data()] == nullptr || a.index + 1 >= warp_count_) return nullptr;
  Warp& b = warp(a.index + 1);
  const bool alike = b.state == WarpState::ready && b.next == a.next && b.active == a.active;
  return alike && a.active == a.live && b.active == b.live ? &b : nullptr;
}

// Each does what it would do if `a` ran to the end of its turn before `b` begins its own. Returns false if a trap stops
// the CTA.
bool Cta::run_pair(Warp& a, Warp& b, const PairHandler* pairs, std::int64_t& budget) {
  begin_turn(a);
  begin_turn(b);
  const Op* const op = a.next;
  if (const Op* const next = pairs[op - program.ops.data()](op, &a, &b)) {
    a.next = b.next = next;
    ++worker.paired_turns;
  }
  short_pairs_ = a.turn - a.budget < kShortPair ? short_pairs_ + 1 : short_pairs_ / 2;
  for (Warp* const w : {&a, &b}) {
    run_alone<false>(*w);
    budget -= end_turn(*w);
    if (w->state == WarpState::trapped) return false;
  }
  return true;
}

void Cta::count_longest() {
  std::uint32_t longest = 0;
  for (std::uint32_t i = 1; i < warp_count_; ++i)
    if (warp(i).counted > warp(longest).counted) longest = i;
  const std::size_t blocks = program.blocks.size();
  worker.longest.add(number, warp(longest).counted, std::span(visits_).subspan(longest * blocks, blocks));
}

Cta::Progress Cta::run(std::int64_t budget) {
  // Other orders are to show what this one hides: one warp then runs as far as it can.
  const bool pairs = program.takes_turns && worker.launch.schedule_seed == 0 && !worker.compiled;
  const auto together = worker.checkers.empty() ? run_together<false> : run_together<true>;
  const auto alone = worker.checkers.empty() ? run_alone<false> : run_alone<true>;
  const PairHandler* const compiled_pairs = worker.compiled && short_pairs_ < kMostShortPairs
                                                ? program.code->first_pair.load(std::memory_order_acquire)
                                                : nullptr;
  while (budget > 0) {
    bool ran = false;
    std::uint32_t from = 0;
    while (Warp* const a = next_ready(from)) {
      ran = true;
      if (Warp* const next = partner_of(*a, compiled_pairs)) {
        if (!run_pair(*a, *next, compiled_pairs, budget)) return Progress::trapped;
        from = next->index + 1;
        continue;
      }
      Warp* const b = pairs ? next_ready(from) : nullptr;
      begin_turn(*a);
      if (b != nullptr) {
        begin_turn(*b);
        together(*a, *b);
        budget -= end_turn(*b);
      } else {
        alone(*a);
      }
      budget -= end_turn(*a);
      if (a->state == WarpState::trapped || (b != nullptr && b->state == WarpState::trapped)) return Progress::trapped;
    }
    if (ran) continue;
    for (std::uint32_t i = 0; i < warp_count_; ++i)
      if (warp(i).state != WarpState::done) {
        report_deadlock();
        return Progress::trapped;
      }
    if (stop_at_leak(*this)) return Progress::trapped;
    exited = true;
    if (worker.launch.tools.synccheck) check_arrivals();
    if (worker.shard) {
      count_longest();
      if (worker.classes) worker.classes->add(digest(std::as_bytes(std::span(visits_))), worker.watch.has_value());
      worker.shard->end_cta(number);
    }
    for (const auto& checker : worker.checkers) checker->end_cta(number);
    return Progress::done;
  }
  return Progress::paused;
}

} // namespace warplens::exec
