// SPDX-License-Identifier: Apache-2.0
// Chooses the remedy for the accesses of an instruction from its recorded accesses, and tries it on them: the changed
// addresses are counted again under the rules of the device.
//
//   lanes 4096 bytes apart, neighbouring warps 4 bytes apart: "exchange x and y …", remaining 0.125
//   shared memory, lanes 128 bytes apart: "pad each row of 128 bytes by 4 bytes: 1 pass per request instead of 32"
#pragma once

#include "analyzers/findings.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace warplens::analyzers {

struct Remedy {
  std::string sentence;
  Changes changes;
  bool uses_all = false; ///< the kernel accesses most of each structure: a cache serves the other fields
};

/// By distance of neighbouring lanes: all instructions with it, each with what remains of its transactions.
using IdealAccesses = std::map<std::int64_t, std::shared_ptr<const std::vector<Changes::Access>>>;

/// `remaining`: the share of the transactions of `row` that a perfect access needs.
std::optional<Remedy> remedy_for_transactions(const InstructionRow& row, double remaining, const Profile& profile,
                                              const DeviceRules& rules, const Code& code, IdealAccesses& ideal);
/// Parts of rows that a request accesses: runs of consecutive words.
struct PartsOfRows {
  double number = 0;    ///< of a request, on average
  double remaining = 1; ///< the share of the sectors that the same runs need if each begins a sector
};
/// Empty unless most neighbouring lanes of the recorded accesses are in the same run and requests have several runs:
/// rows end within a warp.
std::optional<PartsOfRows> parts_of_rows(const InstructionRow& row);

/// Padding of the rows of shared arrays, if it removes most conflicts of `row`. The changes include those of all other
/// accesses to shared memory, which the padding moves, too.
std::optional<Remedy> padding(const InstructionRow& row, const Profile& profile, const DeviceRules& rules);

/// Rows of a warp's length, if the lanes of `row` are in shorter ones and that removes most of its conflicts.
std::optional<Remedy> longer_rows(const InstructionRow& row, const DeviceRules& rules);

} // namespace warplens::analyzers
