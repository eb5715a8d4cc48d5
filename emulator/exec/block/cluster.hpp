// SPDX-License-Identifier: Apache-2.0
// A thread block cluster: CTAs that one worker runs together, their barrier, and their shared memories as one window.
// Every CTA belongs to a cluster; in a launch without clusters, each cluster has one CTA.
//
//   rank 0 of a cluster reads offset 8 of rank 1's shared memory:  mapa -> 0x01000008;  ld.shared::cluster [0x01000008]
#pragma once

#include "emulator/exec/block/cta.hpp"

namespace warplens::exec {

struct Cluster {
  /// `members` are in rank order; the constructor sets their ranks.
  explicit Cluster(std::vector<Cta*> members);
  /// Resets all arrivals. Call it before the CTAs start.
  void start();

  /// Where an address of the shared space is, as `from` sees it: an offset in its own memory, or the address plus
  /// kClusterStride. Outside clusters, all addresses are offsets.
  [[nodiscard]] std::uint64_t place(const Cta& from, std::uint64_t address) const {
    if (ctas.size() == 1 || address - from.shared_begin < kClusterStride) return address - from.shared_begin;
    return address + kClusterStride;
  }
  /// Host address of `bytes` at a place, or nullptr. `remote`: other CTAs are allowed.
  [[nodiscard]] std::byte* shared(const Cta& from, std::uint64_t place, std::uint64_t bytes, bool remote) const;
  /// Whether a place is in the memory of another CTA that has exited.
  [[nodiscard]] bool has_exited(std::uint64_t place) const;
  /// The CTA whose shared memory contains a host address, or nullptr.
  [[nodiscard]] Cta* owner(const std::byte* p) const {
    for (Cta* const cta : ctas)
      if (p >= cta->shared && p < cta->shared + cta->shared_bytes) return cta;
    return nullptr;
  }

  /// barrier.cluster: lanes of a warp that have arrived in this phase, or in a complete phase without waiting for it.
  struct Arrivals {
    Mask now = 0, before = 0;
  };
  Arrivals& arrivals(const Warp& warp) { return arrivals_[warp.cta->rank * warps_ + warp.index]; }
  /// Whether a phase has been complete.
  [[nodiscard]] bool has_met() const { return met_; }
  /// Ends the phase if all live threads have arrived.
  void release_if_complete();

  std::vector<Cta*> ctas; ///< by rank

private:
  std::uint32_t warps_; ///< per CTA
  std::vector<Arrivals> arrivals_;
  bool met_ = false;
  std::size_t missing_ = 0; ///< all warps before this one have arrived
};

/// An unsuccessful wait: it counts as one instruction, ends the warp's turn, and continues at `next`. Other lanes of
/// the warp run first.
const Op* wait_later(Warp* warp, const Op* next);

/// Op::extra: .aligned.
const Op* cluster_arrive(const Op*, Warp*);
const Op* cluster_wait(const Op*, Warp*);

} // namespace warplens::exec
