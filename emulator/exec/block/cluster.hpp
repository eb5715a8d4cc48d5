// A thread block cluster: CTAs that one worker keeps side by side, their barrier, and their shared memories as one
// window. Every CTA is in one; where the launch has no clusters it is alone there.
//
//   rank 1 of a cluster reads offset 8 of rank 0's shared memory:  mapa -> 0x01000008;  ld.shared::cluster [0x01000008]
#pragma once

#include "emulator/exec/block/cta.hpp"

namespace warplens::exec {

struct Cluster {
  /// `ctas` by rank; each gets its rank.
  explicit Cluster(std::vector<Cta*> members);
  /// Before the CTAs start: nobody has arrived anywhere.
  void start();

  /// Host address of `bytes` at `offset` of the shared space of `from`, or nullptr. `remote`: may it be another CTA's?
  [[nodiscard]] std::byte* shared(const Cta& from, std::uint64_t offset, std::uint64_t bytes, bool remote) const;
  /// The CTA whose shared memory a host address lies in, or nullptr.
  [[nodiscard]] Cta* owner(const std::byte* p) const;

  /// barrier.cluster: lanes of a warp that have arrived in this phase, and in one that is complete but not waited for.
  struct Arrivals {
    Mask now = 0, before = 0;
  };
  Arrivals& arrivals(const Warp& warp) { return arrivals_[warp.cta->rank * warps_ + warp.index]; }
  /// Ends the phase where all threads that live have arrived.
  void release_if_complete();

  std::vector<Cta*> ctas; ///< by rank

private:
  std::uint32_t warps_; ///< of a CTA
  std::vector<Arrivals> arrivals_;
  std::size_t missing_ = 0; ///< of the warps before this one all have arrived
};

/// A wait that did not find what it waits for: it counts as an instruction, gives up the warp's turn, and goes on at
/// `next`; other lanes of the warp come first.
const Op* wait_later(Warp* warp, const Op* next);

/// Op::extra: .aligned.
const Op* cluster_arrive(const Op*, Warp*);
const Op* cluster_wait(const Op*, Warp*);

} // namespace warplens::exec
