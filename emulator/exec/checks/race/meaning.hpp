// SPDX-License-Identifier: Apache-2.0
// What an instruction means in PTX's memory consistency model (manual, chapter 8), as far as its spelling says it.
//
//   ld.acquire.gpu.global.u32   ->   {strong, scope: gpu, acquires, element_bytes: 4}
//   fence.acq_rel.cta           ->   {step: fence, scope: cta, acquires, releases}
#pragma once

#include "emulator/isa/table.hpp"

#include <cstdint>

namespace warplens::exec::race {

enum class Scope : std::uint8_t { none, cta, cluster, gpu, sys };

/// How an instruction synchronises, apart from its accesses.
enum class Step : std::uint8_t {
  none,
  fence,
  barrier,
  barrier_arrive,
  warp_barrier,
  cluster_arrive,
  cluster_wait,
  copy_commit,
  copy_wait,     ///< for groups of cp.async
  copy_wait_all, ///< for all cp.async of the thread
  bulk_commit,
  bulk_wait,
  mbarrier_init,
  mbarrier_arrive,
  mbarrier_copies_arrive, ///< cp.async.mbarrier.arrive
  mbarrier_commit,        ///< tcgen05.commit
  mbarrier_wait,
  mbarrier_other,  ///< inval, expect_tx, complete_tx
  bulk_copy,       ///< of a group
  completing_copy, ///< completes at an mbarrier
  tensor_work,     ///< tcgen05.mma, .cp: reads shared memory until tcgen05.commit arrives at an mbarrier
  product,         ///< wgmma.mma_async: reads shared memory until the warp group waits
  product_commit,
  product_wait
};

struct Meaning {
  Step step = Step::none;
  Scope scope = Scope::none; ///< of a strong operation or a fence
  bool strong = false;       ///< relaxed, volatile, acquire, release, atomic
  bool acquires = false, releases = false;
  bool asynchronous = false;      ///< the accesses go on after the instruction
  bool run = false;               ///< one lane accesses a run of bytes
  std::uint8_t element_bytes = 0; ///< of an access; elements of a vector are separate operations
  /// Only an mbarrier, or a wait of the warp group, tells of the completion: not the copy groups of the thread.
  [[nodiscard]] bool completes_elsewhere() const {
    return step == Step::completing_copy || step == Step::tensor_work || step == Step::product;
  }
};

Meaning meaning_of(const isa::Spelling& spelling);

} // namespace warplens::exec::race
