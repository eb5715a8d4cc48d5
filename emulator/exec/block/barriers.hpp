// Barriers of a CTA: bar and barrier (manual, 9.7.13.1).
//
// A barrier instruction first waits for all threads of its warp that have not exited; then the warp has arrived, which
// counts as 32 threads. With .sync and .red it then waits for the other warps; with .arrive it goes on. Before sm_70 a
// warp has to reach a barrier as a whole.
//
//   bar.red.popc.u32 d, 1, 64, p   ->   Op{run: barrier, src: {row of 1, row of 64, p}, dst: {d, -},
//                                          extra: kCounted | kPopulation}
#pragma once

#include "emulator/exec/state/warp.hpp"

namespace warplens::exec {

constexpr int kBarriers = 16;

/// Op::extra of a barrier: is there a thread count; what it does; number and count are the same in all lanes.
constexpr std::uint32_t kCounted = 1, kArrive = 2, kPopulation = 4, kAll = 8, kAny = 16, kUniform = 32;
constexpr std::uint32_t kReduces = kPopulation | kAll | kAny;

struct BarrierState {
  std::uint32_t warps = 0;    ///< that have arrived
  std::uint32_t expected = 0; ///< threads; 0: all that live
  std::uint32_t threads = 0;  ///< that gave a predicate …
  std::uint32_t votes = 0;    ///< … and those whose was true
};

/// src[0]: row of barrier numbers, src[1]: row of thread counts, src[2]: the predicate, flipped by `imm`; dst[0]:
/// value, dst[1]: predicate; extra: as above.
const Op* barrier(const Op*, Warp*);

/// Where all lanes of a warp are parked at one barrier: it arrives there. False where they are not.
bool arrive_parked(Warp* warp);

} // namespace warplens::exec
