// What to tell the author of a kernel, from its profile: which line wastes what, why, and what to do.
//
//   UncoalescedGlobalAccess, warning, transpose.cu:34: "4-byte stores touch 32 sectors per request (ideal 4):
//   neighbouring threads are 2048 bytes apart"; excess 229376 sectors
#pragma once

#include "analyzers/profile.hpp"
#include "emulator/base/diagnostic.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace warplens::analyzers {

struct Finding {
  std::string_view rule; ///< Nsight Compute's name: UncoalescedGlobalAccess, SharedMemoryConflicts, ThreadDivergence
  Severity severity = Severity::warning; ///< warning where at least half is waste, note below
  std::string message;
  std::string advice;
  std::uint32_t instruction = 0xffffffffu; ///< all ones: of the whole launch
  std::uint32_t line = 0;                  ///< in the PTX text
  std::string source_file;                 ///< of the CUDA source; empty when unknown
  std::uint32_t source_line = 0;
  std::vector<Metric> values; ///< that the rule looked at
  double excess = 0;          ///< what a perfect access would save
  std::string_view unit;      ///< of the excess: sectors, passes, lane slots
};

/// Ordered by rule, within a rule by excess, largest first.
std::vector<Finding> find_problems(const Profile& profile);

} // namespace warplens::analyzers
