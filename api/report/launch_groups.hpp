// SPDX-License-Identifier: Apache-2.0
// Launches by kernel, identical ones together: what a report of many launches begins with.
//
//   for (const KernelGroup& g : kernel_groups(reports)) … g.kernel, g.launches, g.share, g.limiter
#pragma once

#include "api/launch/launch.hpp"

#include <span>
#include <string>
#include <vector>

namespace warplens::api {

/// Launches of a kernel with the same configuration and the same counts. Indices of the reports, ascending.
using IdenticalLaunches = std::vector<std::size_t>;

struct KernelGroup {
  std::string kernel;                    ///< mangled
  std::size_t launches = 0;              ///< all of them
  double milliseconds = 0;               ///< predicted for all of them; 0 without a prediction
  double share = 0;                      ///< of the predicted time of all kernels
  std::vector<IdenticalLaunches> sets{}; ///< longest predicted time first
  // Of the first set:
  std::string limiter{};                       ///< "memory"; empty without a prediction
  const analyzers::Finding* finding = nullptr; ///< the first of top_findings(); null: none
};

/// The analysed launches; kernels with the longest predicted time first. Points into the reports.
std::vector<KernelGroup> kernel_groups(std::span<const LaunchReport> reports);

/// The findings in the order in which they matter: warnings before notes, those that save little last, then by the
/// speedup that they promise.
std::vector<const analyzers::Finding*> top_findings(const LaunchReport& report);

} // namespace warplens::api
