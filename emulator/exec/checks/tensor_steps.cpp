// SPDX-License-Identifier: Apache-2.0
// CopyChecker: copies by tensor map, whose accesses are told while they run, and tcgen05, which reads shared memory
// through the asynchronous proxy, and tensor memory, until it is waited for.
#include "emulator/exec/access/mbarrier.hpp"
#include "emulator/exec/block/paths.hpp"
#include "emulator/exec/checks/cluster_place.hpp"
#include "emulator/exec/checks/completions.hpp"
#include "emulator/exec/checks/copy_checker.hpp"

#include <algorithm>
#include <cstring>

namespace warplens::exec {

using Kind = ToolFinding::Kind;

// ---- copies by tensor map

// One thread issues such a copy; if several do, what they access stands for the first of them.
void CopyChecker::begin_by_map(const WarpStep& step) {
  const TensorSite& site = program_.tensors[step.op->extra];
  const int first = __builtin_ctz(step.mask);
  Running& running = running_[{step.of.cta, step.of.warp, step.instruction}];
  running = {};
  running.several = site.multicast;
  running.in_pair = site.in_pair;
  PendingCopy& copy = running.copy;
  copy.cta = step.of.cta;
  copy.warp = step.of.warp;
  copy.instruction = step.instruction;
  copy.calls = calls_of(*step.warp, first);
  copy.lanes = Mask{1} << first;
  const bool loads = site.action == TensorSite::Action::load;
  copy.ends = loads ? PendingCopy::Ends::at_object : PendingCopy::Ends::with_bulk_group;
  copy.group = block_of(step.of.cta).groups[step.of.warp].bulk[static_cast<std::size_t>(first)];
  if (!loads) return;
  for (const int lane : EachLane(step.mask)) add_phases(step, lane, copy);
}

namespace {

// What a multicast writes in a block is complete with the mbarrier there, or in its pair.
void keep_phases_of(const Cta& owner, bool in_pair, const std::vector<Cta*>& ctas,
                    std::vector<PendingCopy::Phase>& phases) {
  const unsigned same = in_pair ? ~1u : ~0u;
  std::erase_if(phases, [&](const PendingCopy::Phase& phase) {
    return std::none_of(ctas.begin(), ctas.end(), [&](const Cta* cta) {
      return cta->number == phase.object.cta && (cta->rank & same) == (owner.rank & same);
    });
  });
}

} // namespace

// A part of what the copy reads or writes.
void CopyChecker::add_piece(const WarpAccess& a, Running& running) {
  const std::vector<Cta*>& ctas = a.warp->cta->cluster->ctas;
  const bool shared = a.space == isa::Space::shared;
  const std::uint64_t bytes = static_cast<std::uint64_t>(__builtin_popcount(a.mask)) * a.site->lane_bytes;
  // Often a whole warp issues one copy; it is pending once.
  running.repeated = running.repeated || (shared && running.base == a.lanes.base);
  if (running.repeated) return;
  if (shared && !running.base) running.base = a.lanes.base;
  const auto [owner, address] =
      shared ? cluster_place(*a.warp->cta, a.lanes.base) : ClusterPlace{a.warp->cta, a.lanes.base};
  const auto block = owner != nullptr ? blocks_.find(owner->number) : blocks_.end();
  if (block == blocks_.end()) return; // it has exited: memcheck's
  const auto lane = static_cast<std::size_t>(__builtin_ctz(running.copy.lanes));
  if (shared && a.site->kind != AccessKind::load) block->second.proxies.forget(address, bytes);
  if (const auto before = shared && a.site->kind == AccessKind::load && !running.told
                              ? block->second.proxies.unfenced(address, bytes)
                              : std::nullopt) {
    running.told = true;
    const WarpStep step{a.warp, a.of, a.site->instruction, running.copy.lanes, false, nullptr};
    tell_unfenced(step, static_cast<int>(lane), {&block->second, owner->number, address, nullptr}, bytes, *before,
                  "no fence.proxy.async between the store and the copy that reads it");
  }
  const auto same = [&, number = owner->number](const Begun& b) {
    return b.owner == number && b.copy.space == a.space && b.copy.kind == a.site->kind;
  };
  auto side = std::find_if(running.sides.begin(), running.sides.end(), same);
  if (side == running.sides.end()) {
    side = running.sides.insert(side, {owner->number, running.copy});
    side->copy.space = a.space;
    side->copy.kind = a.site->kind;
    side->copy.address[lane] = address;
    if (running.several && shared) keep_phases_of(*owner, running.in_pair, ctas, side->copy.phases);
  }
  side->copy.bytes += bytes;
  std::vector<Extent>& parts = side->copy.parts;
  if (!parts.empty() && parts.back().end == address)
    parts.back().end += bytes;
  else
    parts.push_back({address, address + bytes});
}

// ---- tcgen05

CopyChecker::TensorStep CopyChecker::tensor_step_of(const isa::Spelling& s) {
  using isa::Word;
  switch (s.entry->family) {
  case isa::Family::tensor_multiply:
  case isa::Family::tensor_copy_shared:
  case isa::Family::tensor_shift: return TensorStep::work;
  case isa::Family::tensor_transfer: return s.has(Word::w_ld) ? TensorStep::load : TensorStep::store;
  case isa::Family::tensor_order:
    return s.has(Word::w_wait_ld)   ? TensorStep::wait_loads
           : s.has(Word::w_wait_st) ? TensorStep::wait_stores
                                    : TensorStep::fence;
  default: return TensorStep::none;
  }
}

const char* CopyChecker::why_uncommitted(bool uncommitted) {
  return uncommitted ? "no tcgen05.commit follows it: no thread can wait for it yet"
                     : "no thread has waited for the mbarrier at which tcgen05.commit arrives";
}

void CopyChecker::tensor_step(const WarpStep& step, Block& block) {
  if (!step.after) return; // the instruction is valid
  using Ends = PendingTensor::Ends;
  const TensorStep what = tensor_steps_[step.instruction];
  if (what == TensorStep::fence) {
    const ir::Instruction& i = program_.function->instructions[step.instruction];
    const bool before = program_.module->spellings[i.form].has(isa::Word::w_fence_before_thread_sync);
    return before ? release_tensors(step.of, step.mask, true) : acquire_tensors(step.of, step.mask);
  }
  if (what == TensorStep::wait_loads || what == TensorStep::wait_stores)
    return block.tensors.complete_transfers(
        step.of.cta, step.of.warp,
        what == TensorStep::wait_loads ? Ends::with_wait_for_loads : Ends::with_wait_for_stores, ++time_);
  const bool of_warp = what != TensorStep::work;
  for (const int lane : EachLane(of_warp ? step.mask & -step.mask : step.mask))
    for (const TensorWork& work : work_of(step, lane)) {
      const auto owner = blocks_.find(work.cta->number);
      if (owner == blocks_.end()) continue;
      read_matrices(step, lane, owner->second, work);
      look_at_tensors(step, lane, owner->second, work);
      for (const TensorRectangle& where : work.columns)
        owner->second.tensors.add({.cta = step.of.cta,
                                   .warp = step.of.warp,
                                   .lane = lane,
                                   .instruction = step.instruction,
                                   .calls = calls_of(*step.warp, lane),
                                   .ends = what == TensorStep::work   ? Ends::with_commit
                                           : what == TensorStep::load ? Ends::with_wait_for_loads
                                                                      : Ends::with_wait_for_stores,
                                   .where = where,
                                   .phases = {}});
    }
}

void CopyChecker::read_matrices(const WarpStep& step, int lane, Block& block, const TensorWork& work) {
  for (const Extent& e : work.reads)
    if (const auto before = block.proxies.unfenced(e.first, e.end - e.first)) {
      tell_unfenced(step, lane, {&block, work.cta->number, e.first, nullptr}, e.end - e.first, *before,
                    "no fence.proxy.async between the store and the instruction of tcgen05 that reads it");
      break;
    }
  PendingCopy read = reading(step, lane, work.reads);
  read.ends = PendingCopy::Ends::with_commit;
  block.shared.add(std::move(read));
}

namespace {

ThreadAccess access_to(ThreadAccess at, const TensorRectangle& where) {
  std::uint32_t lane = 0;
  while (lane + 1 < TensorMemory::kLanes && !where.lanes.test(lane)) ++lane;
  at.access = where.writes ? AccessKind::store : AccessKind::load;
  at.bytes = where.lanes.count() * (where.end - where.first) * sizeof(std::uint32_t);
  at.address = std::uint64_t{lane} << 16 | where.first;
  return at;
}

} // namespace

// What a thread issues runs in its order, and the loads and stores of a warp do not overtake those of their own kind
// (9.7.16.6.2): what remains is between the two, and between loads and stores. Null: there is no hazard.
const char* CopyChecker::too_early(const WarpStep& step, const PendingTensor& one) const {
  using Ends = PendingTensor::Ends;
  const TensorStep what = tensor_steps_[step.instruction];
  const Ends own = what == TensorStep::work   ? Ends::with_commit
                   : what == TensorStep::load ? Ends::with_wait_for_loads
                                              : Ends::with_wait_for_stores;
  if (!one.pending() || one.ends == own) return nullptr;
  return one.ends == Ends::with_commit           ? why_uncommitted(one.phases.empty())
         : one.ends == Ends::with_wait_for_loads ? "no tcgen05.wait::ld follows the load"
                                                 : "no tcgen05.wait::st follows the store";
}

// Between threads, the fences of tcgen05 order its instructions, and so does release and acquire, but relaxed
// operations do not (9.7.16.6.3 and 9.7.16.6.4). tcgen05.commit releases what it waits for. The work of two threads is
// in order without a wait if there are fences.
const char* CopyChecker::unfenced(const WarpStep& step, int lane, const PendingTensor& one) {
  using Ends = PendingTensor::Ends;
  const bool work = tensor_steps_[step.instruction] == TensorStep::work, of_work = one.ends == Ends::with_commit;
  const bool same_warp = one.cta == step.of.cta && one.warp == step.of.warp;
  if (work && of_work && same_warp && one.lane == lane) return nullptr; // in the order of their thread
  if (one.pending() ? !work || !of_work : !of_work && same_warp) return nullptr;
  const std::uint64_t since = of_work && !one.pending() ? one.done : one.released;
  if (since == 0)
    return of_work ? "no tcgen05.fence::before_thread_sync, tcgen05.commit or wait follows what the other thread issued"
                   : "no tcgen05.fence::before_thread_sync or release follows the wait of the other warp";
  const auto& acquired = block_of(step.of.cta).acquired[step.of.warp];
  std::uint64_t last = 0;
  for (const int i : EachLane(work ? Mask{1} << lane : step.mask))
    last = std::max(last, acquired[static_cast<std::size_t>(i)]);
  return last > since ? nullptr : "no tcgen05.fence::after_thread_sync or acquire precedes the instruction";
}

void CopyChecker::look_at_tensors(const WarpStep& step, int lane, Block& block, const TensorWork& work) {
  for (const TensorRectangle& where : work.columns) {
    const char* why = nullptr;
    const PendingTensor* found = block.tensors.conflict(
        where, [&](const PendingTensor& one) { return (why = too_early(step, one)) != nullptr; });
    const Kind kind = found != nullptr ? Kind::tensor_wait : Kind::tensor_fence;
    if (found == nullptr)
      found = block.tensors.conflict(
          where, [&](const PendingTensor& one) { return (why = unfenced(step, lane, one)) != nullptr; });
    if (found == nullptr) continue;
    const ThreadAccess other{.instruction = found->instruction,
                             .cta = found->cta,
                             .thread = found->warp * kWarpSize + static_cast<std::uint32_t>(found->lane),
                             .calls = found->calls};
    findings_.add({.kind = kind,
                   .at = access_to(thread_at(*step.warp, step.instruction, lane), where),
                   .other = access_to(other, found->where),
                   .detail = why});
    return;
  }
}

// An instruction that releases or acquires by itself: barriers do both.
void CopyChecker::order_tensors(const WarpStep& step, const race::Meaning& meaning) {
  using race::Step;
  const bool barrier = meaning.step == Step::barrier || meaning.step == Step::warp_barrier;
  if (!step.after) {
    const bool commits = meaning.step == Step::mbarrier_commit;
    if (barrier || meaning.step == Step::barrier_arrive || meaning.releases)
      release_tensors(step.of, step.mask, commits);
    return;
  }
  Mask lanes = step.mask;
  if (meaning.step == Step::mbarrier_wait) lanes &= predicate(const_cast<Warp*>(step.warp), step.op->dst[0]);
  if (barrier || meaning.acquires) acquire_tensors(step.of, lanes);
}

void CopyChecker::release_tensors(const WarpId& of, Mask lanes, bool issued) {
  ++time_;
  for (auto& [number, block] : blocks_) block.tensors.release(of.cta, of.warp, lanes, issued, time_);
}

void CopyChecker::acquire_tensors(const WarpId& of, Mask lanes) {
  ++time_;
  auto& acquired = block_of(of.cta).acquired[of.warp];
  for (const int lane : EachLane(lanes)) acquired[static_cast<std::size_t>(lane)] = time_;
}

// Everything that the thread has issued before is complete when the mbarrier is.
void CopyChecker::commit_tensors(const WarpStep& step) {
  for (const int lane : EachLane(step.mask)) {
    const Mask bit = Mask{1} << lane;
    for (const Completion& c : completions_of(step, lane)) {
      std::uint64_t object;
      std::memcpy(&object, c.place, sizeof object);
      const PendingCopy::Phase phase{{c.cta->number, c.offset}, Mbarrier(object).odd_phase(), bit};
      for (const Cta* const cta : step.warp->cta->cluster->ctas) {
        const auto block = blocks_.find(cta->number);
        if (block == blocks_.end()) continue;
        for (PendingCopy& copy : block->second.shared.all())
          if (copy.ends == PendingCopy::Ends::with_commit && copy.cta == step.of.cta && copy.warp == step.of.warp &&
              copy.lanes == bit)
            copy.phases.push_back(phase);
        for (PendingTensor& one : block->second.tensors.all())
          if (one.ends == PendingTensor::Ends::with_commit && one.cta == step.of.cta && one.warp == step.of.warp &&
              one.lane == lane)
            one.phases.push_back(phase);
      }
    }
  }
}

} // namespace warplens::exec
