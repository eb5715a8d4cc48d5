// SPDX-License-Identifier: Apache-2.0
// Findings about data that a kernel moves more often, or in smaller pieces, than it needs: from its instructions and
// their recorded accesses.
//
//   NarrowLoads, norms.cu:4: "4 loads of 4 bytes follow each other in memory"; remedy: "load float4, or …"
#pragma once

#include "analyzers/findings.hpp"

#include <set>
#include <vector>

namespace warplens::analyzers {

/// Loads of consecutive words by one thread, which one instruction could do.
class NarrowLoads {
public:
  NarrowLoads(const Profile& profile, const Code& code);
  /// Whether the words of a thread follow those of its neighbour, so that the wide load is coalesced.
  [[nodiscard]] bool fill_structures(const InstructionRow& row) const { return whole_.count(row.instruction) != 0; }
  void find(const DeviceRules& rules, std::vector<Finding>& findings) const;

private:
  struct Group {
    std::vector<const InstructionRow*> rows; ///< by address
    std::uint32_t bytes = 0;                 ///< of all words
  };
  std::vector<Group> groups_;
  std::set<std::uint32_t> whole_; ///< instructions
};

/// Threads that each process elements of one or two bytes, one at a time.
void find_narrow_accesses(const Profile& profile, const DeviceRules& rules, const Code& code,
                          std::vector<Finding>& findings);

/// Words that each thread stores or loads in every iteration of a loop, and volatile loads whose result is not used.
void find_in_loops(const Profile& profile, const Code& code, std::vector<Finding>& findings);

/// Whether each recorded load of shared memory reads what its own thread stored.
bool keeps_to_own_words(const Profile& profile, const Code& code);

/// Words of shared memory that do not leave their warp.
void find_sharing(const Profile& profile, const Code& code, std::vector<Finding>& findings);

/// Words of global memory that many threads of a block load.
void find_redundant_loads(const Profile& profile, const Code& code, std::vector<Finding>& findings);

/// Sectors that the first-level cache evicts before they are used again.
void find_evictions(const Profile& profile, std::vector<Finding>& findings);

} // namespace warplens::analyzers
