// SPDX-License-Identifier: Apache-2.0
// The warps that execute the most instructions, of the CTAs that a worker ran, and how often they entered each counted
// block: the time of a launch depends on what these warps executed, not on the average.
//
//   longest.add(cta, warp.counted, warp.visits);     of each CTA that ends: its longest warp
#pragma once

#include "emulator/base/archive.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace warplens::exec {

struct LongestVisits {
  std::uint64_t cta = ~std::uint64_t{0};   ///< of the longest warp of the launch: the first among equals
  std::uint64_t of_launch = 0;             ///< its instructions
  std::uint64_t of_ctas = 0;               ///< instructions of the longest warp of each CTA, summed
  std::vector<std::uint64_t> launch_times; ///< by counted block: how often the longest warp of the launch entered it
  std::vector<std::uint64_t> cta_times;    ///< the same of the longest warp of each CTA, summed

  explicit LongestVisits(std::size_t blocks) : launch_times(blocks), cta_times(blocks) {}
  /// Whether a warp with so many instructions is longer than all so far, in any order of the CTAs.
  [[nodiscard]] bool longer(std::uint64_t of, std::uint64_t instructions) const {
    return instructions > of_launch || (instructions == of_launch && of < cta);
  }
  void add(std::uint64_t of, std::uint64_t instructions, std::span<const std::uint64_t> times) {
    for (std::size_t b = 0; b < cta_times.size(); ++b) cta_times[b] += times[b];
    of_ctas += instructions;
    if (!longer(of, instructions)) return;
    cta = of;
    of_launch = instructions;
    launch_times.assign(times.begin(), times.end());
  }
  void merge(const LongestVisits& other) {
    for (std::size_t b = 0; b < cta_times.size(); ++b) cta_times[b] += other.cta_times[b];
    of_ctas += other.of_ctas;
    if (!longer(other.cta, other.of_launch)) return;
    cta = other.cta;
    of_launch = other.of_launch;
    launch_times = other.launch_times;
  }
  void fields(Archive& a) { a(cta, of_launch, of_ctas, launch_times, cta_times); }
};

} // namespace warplens::exec
