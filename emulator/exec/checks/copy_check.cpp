// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/checks/copy_check.hpp"

#include "emulator/exec/block/paths.hpp"
#include "emulator/exec/checks/cluster_place.hpp"
#include "emulator/exec/checks/copy_checker.hpp"
#include "emulator/exec/memory/memory.hpp"
#include "emulator/exec/state/launch.hpp"

#include <algorithm>

namespace warplens::exec {

using Kind = ToolFinding::Kind;

namespace {

const isa::Spelling& spelling_in(const Program& program, const ir::Instruction& i) {
  return program.module->spellings[i.form];
}

bool concerns_mbarrier(race::Step step) {
  return step >= race::Step::mbarrier_init && step <= race::Step::mbarrier_other;
}

/// The lowest address of an access, and its end.
std::pair<std::uint64_t, std::uint64_t> reach_of(const WarpAccess& a) {
  std::uint64_t low = ~std::uint64_t{0}, high = 0;
  for (const int lane : EachLane(a.mask)) {
    low = std::min(low, a.address(lane));
    high = std::max(high, a.address(lane));
  }
  return {low, high + a.site->lane_bytes};
}

/// What a lane has copied.
ThreadAccess access_of(const PendingCopy& copy, int lane) {
  return {.instruction = copy.instruction,
          .cta = copy.cta,
          .thread = copy.warp * kWarpSize + static_cast<std::uint32_t>(lane),
          .calls = copy.calls,
          .space = copy.space,
          .access = copy.kind,
          .bytes = copy.bytes,
          .address = copy.address[static_cast<std::size_t>(lane)]};
}

} // namespace

bool CopyCheck::concerns(const Program& program) {
  const auto& all = program.function->instructions;
  return std::any_of(all.begin(), all.end(), [&](const ir::Instruction& i) {
    const isa::Family family = spelling_in(program, i).entry->family;
    return family == isa::Family::async_copy || family == isa::Family::bulk_copy ||
           family == isa::Family::async_store || family == isa::Family::mbarrier ||
           family == isa::Family::group_multiply || family == isa::Family::tensor_copy ||
           family == isa::Family::tensor_transfer || family == isa::Family::tensor_copy_shared ||
           family == isa::Family::tensor_multiply;
  });
}

std::unique_ptr<Checker> CopyCheck::make(const Launch& launch) {
  return std::make_unique<CopyChecker>(*launch.program);
}

CopyChecker::CopyChecker(const Program& program) : program_(program) {
  using isa::Word;
  for (const ir::Instruction& i : program.function->instructions) {
    const isa::Spelling& s = spelling_in(program, i);
    meanings_.push_back(race::meaning_of(s));
    group_steps_.push_back(group_step_of(s));
    tensor_steps_.push_back(tensor_step_of(s));
    tensors_ = tensors_ || tensor_steps_.back() != TensorStep::none;
    async_proxy_ = async_proxy_ || s.entry->family == isa::Family::bulk_copy ||
                   s.entry->family == isa::Family::tensor_copy || group_steps_.back() == GroupStep::product ||
                   meanings_.back().step == race::Step::tensor_work;
    const bool fence = s.entry->opcode == "fence";
    const bool of_proxy = s.has(Word::w_proxy) && (s.has(Word::w_async) || s.has(Word::w_async_generic));
    fences_.push_back(fence && of_proxy                       ? Fence::proxy
                      : fence && s.has(Word::w_mbarrier_init) ? Fence::objects
                                                              : Fence::none);
  }
}

void CopyChecker::begin_cta(std::uint64_t cta) {
  block_ = nullptr;
  blocks_[cta] = {};
}

// A bulk copy of a group reads shared memory until its thread has waited, and the memory ends with the block.
void CopyChecker::end_cta(std::uint64_t cta) {
  for (PendingCopy& copy : blocks_[cta].shared.all()) {
    if (copy.ends != PendingCopy::Ends::with_bulk_group || copy.kind != AccessKind::load) continue;
    for (const int lane : EachLane(copy.lanes)) {
      findings_.add({.kind = Kind::missing_wait,
                     .at = access_of(copy, lane),
                     .detail = "the block exits while the copy may still read its shared memory"});
    }
  }
  blocks_.erase(cta);
  block_ = nullptr;
}

CopyChecker::Block& CopyChecker::block_of(std::uint64_t cta) {
  if (block_ == nullptr || cta_ != cta) {
    block_ = &blocks_[cta];
    cta_ = cta;
  }
  return *block_;
}

// ---- accesses

void CopyChecker::access(const WarpAccess& a) {
  const bool shared = a.space == isa::Space::shared;
  const race::Meaning& meaning = meanings_[a.site->instruction];
  if ((!shared && a.space != isa::Space::global) || concerns_mbarrier(meaning.step)) return;
  if (tensors_ && meaning.releases) release_tensors(a.of, a.mask, false);
  if (tensors_ && meaning.acquires) acquire_tensors(a.of, a.mask);
  Block& block = block_of(a.of.cta);
  const auto [low, high] = reach_of(a);
  const PendingCopies& pending = shared ? block.shared : block.global;
  const bool remote = shared && high > kClusterStride;
  const bool stores = shared && a.site->kind != AccessKind::load && (async_proxy_ || !a.warp->cta->mbarriers.empty());
  if (remote || stores || pending.may_conflict(low, high - low))
    for (const int lane : EachLane(a.mask)) access_lane(a, lane, a.address(lane));
  if (!meaning.asynchronous || meaning.step == race::Step::completing_copy || meaning.run) {
    if (running_.empty() || !meaning.asynchronous) return;
    const auto by_map = running_.find({a.of.cta, a.of.warp, a.site->instruction});
    if (by_map != running_.end()) add_piece(a, by_map->second);
    return;
  }
  add_each(a, block);
}

void CopyChecker::access_lane(const WarpAccess& a, int lane, std::uint64_t address) {
  Block& own = block_of(a.of.cta);
  if (a.space == isa::Space::global) return look(a, lane, own.global, address);
  const ClusterPlace at = cluster_place(*a.warp->cta, address);
  const auto block = at.cta != nullptr ? blocks_.find(at.cta->number) : blocks_.end();
  if (block == blocks_.end()) return; // it has exited: memcheck's
  look(a, lane, block->second.shared, at.offset);
  if (a.site->kind != AccessKind::load) store(a, lane, *at.cta, at.offset);
}

namespace {

ThreadAccess accessing_thread(const WarpAccess& a, int lane, std::uint64_t address) {
  ThreadAccess at = thread_at(*a.warp, a.site->instruction, lane);
  at.space = a.space;
  at.access = a.site->kind;
  at.bytes = a.site->lane_bytes;
  at.address = address;
  return at;
}

} // namespace

void CopyChecker::look(const WarpAccess& a, int lane, const PendingCopies& pending, std::uint64_t address) {
  if (!pending.may_conflict(address, a.site->lane_bytes)) return;
  const int thread = meanings_[a.site->instruction].run ? run_lane_ : lane;
  const auto [copy, of] = pending.conflict(address, a.site->lane_bytes, a.site->kind);
  if (copy != nullptr) tell_pending(accessing_thread(a, thread, address), *copy, of);
}

void CopyChecker::store(const WarpAccess& a, int lane, const Cta& owner, std::uint64_t address) {
  const std::uint64_t bytes = a.site->lane_bytes;
  constexpr std::uint64_t kObject = 8;
  const auto object = owner.mbarriers.lower_bound(address < kObject ? 0 : address - kObject + 1);
  const race::Meaning& meaning = meanings_[a.site->instruction];
  if (object != owner.mbarriers.end() && *object < address + bytes)
    findings_.add({.kind = Kind::mbarrier_overwritten,
                   .at = accessing_thread(a, meaning.run ? run_lane_ : lane, address),
                   .detail = "the object is still valid: mbarrier.inval ends its use"});
  const bool through_async_proxy = meaning.run && meaning.asynchronous;
  if (async_proxy_ && !through_async_proxy && &owner == a.warp->cta)
    block_of(owner.number)
        .proxies.store(address, bytes, {a.of.warp * kWarpSize + static_cast<unsigned>(lane), a.site->instruction});
}

// cp.async: first what it reads, then what it writes. Lanes whose next groups differ are separate.
void CopyChecker::add_each(const WarpAccess& a, Block& block) {
  const Groups& groups = block.groups[a.of.warp];
  for (Mask left = a.mask; left != 0;) {
    PendingCopy copy;
    copy.cta = a.of.cta;
    copy.warp = a.of.warp;
    copy.instruction = a.site->instruction;
    copy.calls = calls_of(*a.warp, __builtin_ctz(left));
    copy.space = a.space;
    copy.kind = a.site->kind;
    copy.bytes = a.site->lane_bytes;
    copy.ends = PendingCopy::Ends::with_group;
    copy.group = groups.each[static_cast<std::size_t>(__builtin_ctz(left))];
    for (const int lane : EachLane(left)) {
      const auto i = static_cast<std::size_t>(lane);
      if (groups.each[i] != copy.group) continue;
      copy.lanes |= Mask{1} << lane;
      copy.address[i] = a.space == isa::Space::shared ? a.address(lane) % kClusterStride : a.address(lane);
    }
    left &= ~copy.lanes;
    (a.space == isa::Space::shared ? block.shared : block.global).add(std::move(copy));
  }
}

// ---- findings

void CopyChecker::tell_pending(const ThreadAccess& at, const PendingCopy& copy, int lane) {
  const auto i = static_cast<std::size_t>(lane);
  const ThreadAccess other = access_of(copy, lane);
  const char* why = "no thread has waited for the mbarrier phase in which the copy completes";
  if (copy.ends == PendingCopy::Ends::with_commit) {
    why = why_uncommitted(copy.phases.empty());
  } else if (copy.ends == PendingCopy::Ends::with_product) {
    why = "the warps have not waited for the group of the product";
  } else if (copy.ends != PendingCopy::Ends::at_object) {
    const Groups& groups = blocks_[copy.cta].groups[copy.warp];
    const bool bulk = copy.ends == PendingCopy::Ends::with_bulk_group;
    const bool committed = copy.group < (bulk ? groups.bulk : groups.each)[i];
    why = !committed ? "the copy is in no committed group: no thread can wait for it yet"
          : copy.phases.empty()
              ? "the thread of the copy has not waited for its group"
              : "no thread has waited for the group of the copy, or for the mbarrier on which it arrives";
  }
  const Kind kind = copy.ends == PendingCopy::Ends::with_product  ? Kind::group_wait
                    : copy.ends == PendingCopy::Ends::with_commit ? Kind::tensor_wait
                                                                  : Kind::missing_wait;
  findings_.add({.kind = kind, .at = at, .other = other, .detail = why});
}

void CopyChecker::tell_unfenced(const WarpStep& step, int lane, const Located& where, std::uint64_t bytes,
                                const ProxyFences::Unfenced& before, const char* detail) {
  ThreadAccess at = thread_at(*step.warp, step.instruction, lane);
  at.space = isa::Space::shared;
  at.access = AccessKind::load;
  at.bytes = bytes;
  at.address = where.address;
  const ThreadAccess other{.instruction = before.writer.instruction,
                           .cta = where.cta,
                           .thread = before.writer.thread,
                           .space = isa::Space::shared,
                           .access = AccessKind::store,
                           .bytes = before.bytes,
                           .address = before.address};
  findings_.add({.kind = Kind::missing_fence, .at = at, .other = other, .detail = detail});
}

} // namespace warplens::exec
