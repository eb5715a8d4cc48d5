// SPDX-License-Identifier: Apache-2.0
// Barriers of a CTA: bar and barrier (manual, 9.7.13.1).
//
// A barrier instruction first waits for all threads of its warp that have not exited. Then the warp arrives, which
// counts as 32 threads. With .sync and .red it then waits for the other warps; with .arrive it continues. Before sm_70,
// a warp must reach a barrier as a whole.
//
//   bar.red.popc.u32 d, 1, 64, p   ->   Op{run: barrier, src: {row of 1, row of 64, p}, dst: {d, -},
//                                          extra: kCounted | kPopulation}
#pragma once

#include "emulator/exec/state/warp.hpp"

namespace warplens::exec {

constexpr int kBarriers = 16;

/// Op::extra of a barrier: has a thread count; the operation; number and count are the same in all lanes (kUniform).
constexpr std::uint32_t kCounted = 1, kArrive = 2, kPopulation = 4, kAll = 8, kAny = 16, kUniform = 32, kAligned = 64;
constexpr std::uint32_t kReduces = kPopulation | kAll | kAny;

struct BarrierState {
  std::uint32_t warps = 0;    ///< number of warps that have arrived
  std::uint32_t expected = 0; ///< number of threads; 0: all live threads
  std::uint32_t threads = 0;  ///< number of threads that supplied a predicate …
  std::uint32_t votes = 0;    ///< … and of those whose predicate was true
};

/// src[0]: row of barrier numbers, src[1]: row of thread counts, src[2]: the predicate, flipped by `imm`; dst[0]:
/// value, dst[1]: predicate; extra: as above.
const Op* barrier(const Op*, Warp*);

/// As barrier(), of an instruction without guard that only waits for all warps of the CTA, at the barrier `imm`.
const Op* barrier_of_cta(const Op*, Warp*);

/// If all lanes of a warp are parked at one barrier, the warp arrives there. Otherwise returns false.
bool arrive_parked(Warp* warp);

} // namespace warplens::exec
