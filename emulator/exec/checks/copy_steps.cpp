// SPDX-License-Identifier: Apache-2.0
// CopyChecker: the instructions that begin copies, complete them, and order the proxies.
#include "emulator/exec/access/async_copy.hpp"
#include "emulator/exec/access/launch_control.hpp"
#include "emulator/exec/access/mbarrier.hpp"
#include "emulator/exec/access/tensor_copy.hpp"
#include "emulator/exec/block/cluster.hpp"
#include "emulator/exec/block/paths.hpp"
#include "emulator/exec/checks/completions.hpp"
#include "emulator/exec/checks/copy_checker.hpp"
#include "emulator/exec/memory/memory.hpp"

#include <algorithm>
#include <cstring>

namespace warplens::exec {

namespace {

constexpr std::uint16_t kObjectBytes = 8;

bool odd_phase(const std::byte* object) {
  std::uint64_t bits;
  std::memcpy(&bits, object, sizeof bits);
  return Mbarrier(bits).odd_phase();
}

// The operand of a wait for groups.
std::uint32_t running_groups(const Program& program, std::uint32_t instruction) {
  const ir::Function& function = *program.function;
  const auto operands = function.operands(function.instructions[instruction]);
  return operands.empty() ? 0 : static_cast<std::uint32_t>(operands[0].value);
}

// cp.async.bulk.wait_group.read waits until the sources have been read.
bool waits_for_reads_only(const Program& program, std::uint32_t instruction) {
  return program.module->spellings[program.function->instructions[instruction].form].has(isa::Word::w_read);
}

} // namespace

// Without the checks of an access, which the instruction itself makes.
CopyChecker::Located CopyChecker::locate(const WarpStep& step, const Op* op, int lane, std::uint16_t bytes) {
  auto* const warp = const_cast<Warp*>(step.warp); // its rows are read only
  const MemorySite& site = *op->site;
  const std::uint64_t window = site.space != isa::Space::generic ? 0 : site.address32 ? kSharedWindow32 : kSharedWindow;
  const std::uint64_t size = site.address32 ? kWindowSize32 : kWindowSize;
  Located at;
  at.address = address_in(op, warp, lane);
  const bool shared =
      site.space == isa::Space::shared || (site.space == isa::Space::generic && at.address - window < size);
  if (!shared) {
    at.host = reinterpret_cast<const std::byte*>(at.address);
    return at;
  }
  const Cluster& cluster = *warp->cta->cluster;
  const std::uint64_t place = cluster.place(*warp->cta, at.address - window);
  const std::byte* const host = cluster.shared(*warp->cta, place, bytes, site.cluster);
  const Cta* const owner = host != nullptr ? cluster.owner(host) : nullptr;
  const auto block = owner != nullptr ? blocks_.find(owner->number) : blocks_.end();
  if (block == blocks_.end()) return at; // memcheck's
  at = {&block->second, owner->number, static_cast<std::uint64_t>(host - owner->shared), host};
  return at;
}

void CopyChecker::step(const WarpStep& step) {
  const race::Meaning& meaning = meanings_[step.instruction];
  Block& block = block_of(step.of.cta);
  if (group_steps_[step.instruction] != GroupStep::none) return group_step(step, block);
  if (tensor_steps_[step.instruction] != TensorStep::none) return tensor_step(step, block);
  step.after ? after(step, block, meaning) : before(step, block, meaning);
  if (tensors_) order_tensors(step, meaning);
}

void CopyChecker::before(const WarpStep& step, Block& block, const race::Meaning& meaning) {
  run_lane_ = __builtin_ctz(step.mask);
  if (const Fence fence = fences_[step.instruction]; fence != Fence::none)
    for (const int lane : EachLane(step.mask))
      block.proxies.fence(step.of.warp * kWarpSize + static_cast<std::uint32_t>(lane), fence == Fence::objects);
  switch (meaning.step) {
  case race::Step::copy_commit: return commit(step, block, false);
  case race::Step::bulk_commit: return commit(step, block, true);
  case race::Step::mbarrier_copies_arrive: return attach_arrival(step, block);
  case race::Step::mbarrier_commit: return commit_tensors(step);
  case race::Step::mbarrier_init:
    for (const int lane : EachLane(step.mask))
      if (const Located at = locate(step, step.op, lane, kObjectBytes); at.block == &block)
        block.proxies.init(at.address, {step.of.warp * kWarpSize + static_cast<std::uint32_t>(lane), step.instruction});
    return;
  case race::Step::bulk_copy:
  case race::Step::completing_copy: {
    if (handler_of(step.op, step.warp) == tensor_copy) return begin_by_map(step);
    std::vector<Begun>& begun = begun_[{step.of.cta, step.of.warp, step.instruction}];
    begun.clear();
    for (const int lane : EachLane(step.mask)) begin_copy(step, lane, begun);
    return;
  }
  default: return;
  }
}

void CopyChecker::after(const WarpStep& step, Block& block, const race::Meaning& meaning) {
  switch (meaning.step) {
  case race::Step::barrier:
  case race::Step::warp_barrier:
  case race::Step::cluster_wait: return block.proxies.passed(step.of.warp);
  case race::Step::mbarrier_wait: return wait_for_phase(step, block);
  case race::Step::copy_wait: return wait_for_groups(step, block, false, running_groups(program_, step.instruction));
  case race::Step::bulk_wait: return wait_for_groups(step, block, true, running_groups(program_, step.instruction));
  case race::Step::copy_wait_all: commit(step, block, false); return wait_for_groups(step, block, false, 0);
  case race::Step::bulk_copy:
  case race::Step::completing_copy: {
    const Place place{step.of.cta, step.of.warp, step.instruction};
    if (const auto found = begun_.find(place); found != begun_.end()) {
      add_all(found->second);
      begun_.erase(found);
    } else if (const auto by_map = running_.find(place); by_map != running_.end()) {
      add_all(by_map->second.sides);
      running_.erase(by_map);
    }
    return;
  }
  default: return;
  }
}

void CopyChecker::add_all(std::vector<Begun>& begun) {
  for (Begun& one : begun) {
    const auto owner = blocks_.find(one.owner);
    if (owner == blocks_.end()) continue;
    const bool shared = one.copy.space == isa::Space::shared;
    (shared ? owner->second.shared : owner->second.global).add(std::move(one.copy));
  }
}

// ---- copies that begin

// The phases in which the copy of a lane completes: of one mbarrier, or of one in each CTA of a multicast.
void CopyChecker::add_phases(const WarpStep& step, int lane, PendingCopy& copy) {
  const bool through_async_proxy =
      handler_of(step.op, step.warp) == bulk_copy || handler_of(step.op, step.warp) == tensor_copy;
  for (const Completion& c : completions_of(step, lane)) {
    const auto block = blocks_.find(c.cta->number);
    if (block == blocks_.end()) continue; // it has exited: memcheck's
    copy.phases.push_back({{c.cta->number, c.offset}, odd_phase(c.place), copy.lanes});
    if (!through_async_proxy) continue;
    if (const auto before = block->second.proxies.take_unfenced_object(c.offset))
      tell_unfenced(step, lane, {&block->second, c.cta->number, c.offset, c.place}, kObjectBytes, *before,
                    "no fence.mbarrier_init or fence.proxy.async between the initialisation of the mbarrier and the "
                    "copy that completes at it");
  }
}

void CopyChecker::begin_side(const WarpStep& step, const Located& at, PendingCopy copy, std::vector<Begun>& begun) {
  const int lane = __builtin_ctz(copy.lanes);
  copy.space = at.block != nullptr ? isa::Space::shared : isa::Space::global;
  copy.address[static_cast<std::size_t>(lane)] = at.address;
  const bool through_async_proxy = handler_of(step.op, step.warp) == bulk_copy;
  if (through_async_proxy && at.block != nullptr) {
    const bool reads = copy.kind != AccessKind::store;
    if (const auto before = reads ? at.block->proxies.unfenced(at.address, copy.bytes) : std::nullopt)
      tell_unfenced(step, lane, at, copy.bytes, *before,
                    "no fence.proxy.async between the store and the copy that reads it");
    if (copy.kind != AccessKind::load) at.block->proxies.forget(at.address, copy.bytes);
  }
  begun.push_back({at.block != nullptr ? at.cta : step.of.cta, std::move(copy)});
}

void CopyChecker::begin_copy(const WarpStep& step, int lane, std::vector<Begun>& begun) {
  auto* const warp = const_cast<Warp*>(step.warp);
  const Op* const op = step.op;
  const bool bulk = handler_of(op, warp) == bulk_copy, grouped = bulk && (op->extra & kCompletes) == 0;
  const auto reached = static_cast<std::uint16_t>(op->site->lane_bytes);
  PendingCopy copy;
  copy.cta = step.of.cta;
  copy.warp = step.of.warp;
  copy.instruction = step.instruction;
  copy.calls = calls_of(*warp, lane);
  copy.lanes = Mask{1} << lane;
  copy.bytes = bulk ? row<std::uint32_t>(warp, op->src[1])[lane] : op->site->lane_bytes;
  copy.ends = grouped ? PendingCopy::Ends::with_bulk_group : PendingCopy::Ends::at_object;
  copy.group = block_of(step.of.cta).groups[step.of.warp].bulk[static_cast<std::size_t>(lane)];
  const bool several = (bulk || handler_of(op, warp) == try_cancel) && (op->extra & kMulticast) != 0;
  const unsigned multicast = several && bulk ? row<std::uint16_t>(warp, op[1].src[1])[lane] : ~0u;
  if (!grouped) add_phases(step, lane, copy);
  if (bulk) {
    copy.kind = AccessKind::load;
    if (const Located from = locate(step, op, lane, reached); from.host != nullptr) begin_side(step, from, copy, begun);
  }
  const Op* const to_op = bulk ? op + 1 : op;
  copy.kind = to_op->site->kind;
  Located to = locate(step, to_op, lane, reached);
  if (to.host == nullptr) return;
  if (!several) return begin_side(step, to, std::move(copy), begun);
  for (const Cta* const cta : warp->cta->cluster->ctas)
    if (const auto block = blocks_.find(cta->number); (multicast >> cta->rank & 1) != 0 && block != blocks_.end()) {
      to.block = &block->second;
      to.cta = cta->number;
      PendingCopy one = copy; // what it writes there is complete with the object there
      std::erase_if(one.phases, [&](const PendingCopy::Phase& phase) { return phase.object.cta != to.cta; });
      begin_side(step, to, std::move(one), begun);
    }
}

// ---- copies that complete

void CopyChecker::commit(const WarpStep& step, Block& block, bool bulk) {
  Groups& groups = block.groups[step.of.warp];
  for (const int lane : EachLane(step.mask)) ++(bulk ? groups.bulk : groups.each)[static_cast<std::size_t>(lane)];
}

void CopyChecker::wait_for_groups(const WarpStep& step, Block& block, bool bulk, std::uint32_t running) {
  const Groups& groups = block.groups[step.of.warp];
  const auto& next = bulk ? groups.bulk : groups.each;
  const PendingCopy::Ends ends = bulk ? PendingCopy::Ends::with_bulk_group : PendingCopy::Ends::with_group;
  const bool only_reads = bulk && waits_for_reads_only(program_, step.instruction);
  const auto done = [&](const PendingCopy& copy) {
    if (copy.warp != step.of.warp || copy.cta != step.of.cta || copy.ends != ends) return Mask{0};
    if (only_reads && copy.kind != AccessKind::load) return Mask{0};
    Mask lanes = 0;
    for (const int lane : EachLane(step.mask & copy.lanes))
      if (std::uint64_t{copy.group} + running < next[static_cast<std::size_t>(lane)]) lanes |= Mask{1} << lane;
    return lanes;
  };
  block.shared.complete(done);
  block.global.complete(done);
}

// cp.async.mbarrier.arrive: the phase is complete only when all earlier copies of the thread are.
void CopyChecker::attach_arrival(const WarpStep& step, Block& block) {
  for (const int lane : EachLane(step.mask)) {
    const Located at = locate(step, step.op, lane, kObjectBytes);
    if (at.block == nullptr) continue;
    const bool odd = odd_phase(at.host);
    const Mask bit = Mask{1} << lane;
    for (PendingCopies* const pending : {&block.shared, &block.global})
      for (PendingCopy& copy : pending->all()) {
        if (copy.warp != step.of.warp || (copy.lanes & bit) == 0) continue;
        if (copy.ends != PendingCopy::Ends::with_group) continue;
        const auto same = [&](const PendingCopy::Phase& p) { return p.object == at.object() && p.odd == odd; };
        const auto phase = std::find_if(copy.phases.begin(), copy.phases.end(), same);
        if (phase != copy.phases.end())
          phase->lanes |= bit;
        else
          copy.phases.push_back({at.object(), odd, bit});
      }
  }
}

void CopyChecker::wait_for_phase(const WarpStep& step, Block& block) {
  auto* const warp = const_cast<Warp*>(step.warp);
  const Op* const op = step.op;
  const Mask complete = predicate(warp, op->dst[0]) & step.mask;
  if (complete == 0) return;
  block.proxies.passed(step.of.warp);
  for (const int lane : EachLane(complete)) {
    const Located at = locate(step, op, lane, kObjectBytes);
    if (at.block == nullptr) continue;
    const bool odd = (op->extra & kParity) != 0 ? (row<std::uint32_t>(warp, op->src[1])[lane] & 1) != 0
                                                : Mbarrier(row<std::uint64_t>(warp, op->src[1])[lane]).odd_phase();
    for (const Cta* const cta : warp->cta->cluster->ctas) {
      const auto one = blocks_.find(cta->number);
      if (one == blocks_.end()) continue;
      complete_phase(one->second.shared, at.object(), odd);
      complete_phase(one->second.global, at.object(), odd);
      one->second.tensors.complete_phase(at.object(), odd, ++time_);
    }
  }
}

// The phase of this parity is the last complete one: copies of the same object that began before its copies are
// complete as well.
void CopyChecker::complete_phase(PendingCopies& pending, const ObjectPlace& object, bool odd) {
  std::size_t end = 0, i = 0;
  for (const PendingCopy& copy : pending.all()) {
    ++i;
    for (const PendingCopy::Phase& phase : copy.phases)
      if (phase.object == object && phase.odd == odd) end = i;
  }
  if (end == 0) return;
  i = 0;
  pending.complete([&](const PendingCopy& copy) {
    Mask lanes = 0;
    if (i++ < end)
      for (const PendingCopy::Phase& phase : copy.phases)
        if (phase.object == object) lanes |= phase.lanes;
    return lanes;
  });
}

} // namespace warplens::exec
