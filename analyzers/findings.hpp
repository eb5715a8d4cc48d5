// SPDX-License-Identifier: Apache-2.0
// Findings for the author of a kernel, from its profile: which line wastes what, why, and how to improve it.
//
//   UncoalescedGlobalAccess, warning, transpose.cu:34: "4-byte stores touch 32 sectors per request (ideal 4):
//   neighbouring threads are 2048 bytes apart"; excess 229376 sectors
//
// Findings use the units of the device's rules: on a Tesla C1060, the same store "moves 1024 bytes per request (ideal
// 128)".
#pragma once

#include "analyzers/counted_rules.hpp"
#include "analyzers/profile.hpp"
#include "emulator/base/diagnostic.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace warplens::analyzers {

struct Finding {
  std::string_view rule; ///< Nsight Compute's name: UncoalescedGlobalAccess, SharedMemoryConflicts, ThreadDivergence
  Severity severity = Severity::warning; ///< warning if at least half is wasted, otherwise note
  std::string message;
  std::string advice;
  std::vector<std::uint32_t> lines; ///< in the PTX text, ascending; empty: the whole launch
  std::string source_file;          ///< of the CUDA source; empty when unknown
  std::uint32_t source_line = 0;
  std::vector<Metric> values; ///< inputs of the finding, summed over the lines
  double excess = 0;          ///< what a perfect access would save, over all lines
  std::string_view unit;      ///< of the excess: sectors, transactions, bytes, passes, branches, lane slots
};

/// Ordered by rule, within a rule by excess, largest first. `rules`: the device's rules, under which the profile was
/// made. PTX lines of one line of CUDA source with the same message share a finding.
std::vector<Finding> find_problems(const Profile& profile, const DeviceRules& rules);

} // namespace warplens::analyzers
