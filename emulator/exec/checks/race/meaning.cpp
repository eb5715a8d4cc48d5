// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/checks/race/meaning.hpp"

namespace warplens::exec::race {

namespace {

using isa::Family;
using isa::Word;

Scope named_scope(const isa::Spelling& s) {
  return s.has(Word::w_sys)       ? Scope::sys
         : s.has(Word::w_gpu)     ? Scope::gpu
         : s.has(Word::w_gl)      ? Scope::gpu
         : s.has(Word::w_cluster) ? Scope::cluster
         : s.has(Word::w_cta)     ? Scope::cta
                                  : Scope::none;
}

bool is_atomic(Family family) { return family == Family::atomic || family == Family::reduction; }

// 8.6: volatile operations are treated as relaxed ones of system scope; atom and red without a scope have .gpu.
void add_strength(const isa::Spelling& s, Meaning& m) {
  const bool atomic = is_atomic(s.entry->family) || (s.entry->opcode == "red");
  m.strong = atomic || s.has(Word::w_volatile_) || s.has(Word::w_relaxed) || s.has(Word::w_acquire) ||
             s.has(Word::w_release) || s.has(Word::w_acq_rel);
  if (!m.strong) return;
  const Scope named = named_scope(s);
  m.scope = named != Scope::none ? named : s.has(Word::w_volatile_) ? Scope::sys : Scope::gpu;
  m.acquires = s.has(Word::w_acquire) || s.has(Word::w_acq_rel);
  m.releases = s.has(Word::w_release) || s.has(Word::w_acq_rel);
}

// Fences, and the groups of asynchronous copies. Fences of a proxy order nothing between threads by themselves.
void add_fence(const isa::Spelling& s, Meaning& m) {
  if (s.entry->opcode == "cp") {
    const bool bulk = s.has(Word::w_bulk);
    if (s.has(Word::w_commit_group)) m.step = bulk ? Step::bulk_commit : Step::copy_commit;
    if (s.has(Word::w_wait_group)) m.step = bulk ? Step::bulk_wait : Step::copy_wait;
    if (s.has(Word::w_wait_all)) m.step = Step::copy_wait_all;
    return;
  }
  const bool fence = s.entry->opcode == "fence" || s.entry->opcode == "membar";
  if (!fence || (s.has(Word::w_proxy) && !s.has(Word::w_acquire) && !s.has(Word::w_release))) return;
  m.step = Step::fence;
  m.scope = named_scope(s);
  const bool one_way = s.has(Word::w_acquire) != s.has(Word::w_release);
  m.acquires = !one_way || s.has(Word::w_acquire);
  m.releases = !one_way || s.has(Word::w_release);
}

// 9.7.13.15: arrivals release and waits acquire. Without a scope they have that of the CTA, but remote arrivals of this
// spelling are meant for the whole cluster.
void add_mbarrier(const isa::Spelling& s, Meaning& m) {
  m.scope = Scope::cluster;
  m.strong = true;
  m.element_bytes = 8;
  const bool relaxed = s.has(Word::w_relaxed);
  if (s.has(Word::w_async)) {
    m.step = Step::mbarrier_copies_arrive;
    m.releases = true;
  } else if (s.has(Word::w_arrive) || s.has(Word::w_arrive_drop)) {
    m.step = Step::mbarrier_arrive;
    m.releases = !relaxed;
  } else if (s.has(Word::w_test_wait) || s.has(Word::w_try_wait)) {
    m.step = Step::mbarrier_wait;
    m.acquires = !relaxed;
  } else if (s.has(Word::w_init) || s.has(Word::w_inval)) {
    m.step = s.has(Word::w_init) ? Step::mbarrier_init : Step::mbarrier_other;
    m.strong = false;
    m.scope = Scope::none;
  } else if (!s.has(Word::w_pending_count)) {
    m.step = Step::mbarrier_other;
  }
}

// The instructions that the whole of a block or cluster executes.
void add_barrier(const isa::Spelling& s, Meaning& m) {
  const bool arrives = s.has(Word::w_arrive);
  if (s.entry->family == Family::barrier) m.step = arrives ? Step::barrier_arrive : Step::barrier;
  if (s.entry->family == Family::warp_barrier) m.step = Step::warp_barrier;
  if (s.entry->family != Family::cluster_barrier) return;
  m.step = arrives ? Step::cluster_arrive : Step::cluster_wait;
  m.scope = Scope::cluster;
  m.releases = arrives && !s.has(Word::w_relaxed);
  m.acquires = !arrives;
}

} // namespace

Meaning meaning_of(const isa::Spelling& s) {
  Meaning m;
  m.element_bytes = static_cast<std::uint8_t>(std::max(1, isa::bytes(s.form.type())));
  switch (s.entry->family) {
  case Family::load:
  case Family::store:
  case Family::atomic:
  case Family::reduction: add_strength(s, m); break;
  case Family::nothing: add_fence(s, m); break;
  case Family::mbarrier: add_mbarrier(s, m); break;
  case Family::barrier:
  case Family::warp_barrier:
  case Family::cluster_barrier: add_barrier(s, m); break;
  case Family::surface: // reductions are atomic operations: 9.7.11.3
    if (s.entry->opcode == "sured") m.strong = true, m.scope = Scope::gpu;
    break;
  case Family::async_copy: m.asynchronous = true; break;
  case Family::bulk_store: m.run = true; break;
  case Family::bulk_copy:
    m.asynchronous = m.run = true;
    m.step = s.has(Word::w_bulk_group) ? Step::bulk_copy : Step::completing_copy;
    break;
  case Family::tensor_copy:
    m.asynchronous = m.run = true;
    m.step = s.has(Word::w_prefetch) ? Step::none : s.has(Word::w_bulk_group) ? Step::bulk_copy : Step::completing_copy;
    break;
  case Family::launch_control:
    m.asynchronous = s.has(Word::w_try_cancel);
    m.step = m.asynchronous ? Step::completing_copy : Step::none;
    break;
  case Family::tensor_commit: // 9.7.16.12: the completion of what the thread has issued arrives
    m.step = Step::mbarrier_commit;
    m.scope = Scope::cluster;
    m.strong = m.releases = true;
    m.element_bytes = 8;
    break;
  case Family::group_multiply:
    m.step = Step::product;
    m.asynchronous = m.run = true;
    break;
  case Family::group_order:
    m.step = s.has(Word::w_commit_group) ? Step::product_commit
             : s.has(Word::w_wait_group) ? Step::product_wait
                                         : Step::none;
    break;
  case Family::tensor_multiply:
  case Family::tensor_copy_shared:
    m.step = Step::tensor_work;
    m.asynchronous = m.run = true;
    break;
  case Family::async_store:
    add_strength(s, m);
    m.asynchronous = true;
    m.step = Step::completing_copy;
    break;
  default: break;
  }
  return m;
}

} // namespace warplens::exec::race
