// SPDX-License-Identifier: Apache-2.0
// Findings and remedies that need the instructions of the kernel besides their counts.
//
//   UnneededBarrier, saxpy.cu:12: "no data crosses this barrier: …"; remedy: "remove the barrier"
#pragma once

#include "analyzers/findings.hpp"

#include <map>
#include <string>
#include <vector>

namespace warplens::analyzers {

/// Of branches that diverge: what the condition depends on decides.
class DivergenceRemedies {
public:
  DivergenceRemedies(const Profile& profile, const Code& code);
  /// Empty if nothing is known.
  [[nodiscard]] std::string sentence(const InstructionRow& row) const;
  /// Lane slots that the remedy saves: sorting by data makes all branches uniform that depend on data.
  [[nodiscard]] double lost_slots(const InstructionRow& row) const;
  /// Whether the condition depends on the index of the thread, and on no data.
  [[nodiscard]] bool is_of_index(const InstructionRow& row) const {
    const Cause cause = cause_of(row);
    return cause == Cause::lane || cause == Cause::lane_one_sided;
  }
  /// Whether threads at a border, of the block or of what the grid covers, skip something.
  [[nodiscard]] bool skips_border(const InstructionRow& row) const {
    return row.of_boxes && row.one_sided && is_of_index(row);
  }

private:
  enum class Cause : std::uint8_t { unknown, loop, data, lane, lane_one_sided };
  [[nodiscard]] Cause cause_of(const InstructionRow& row) const;
  std::map<std::uint32_t, Cause> causes_; ///< by instruction
  double by_data_ = 0;                    ///< lane slots of all branches that depend on data
};

/// Barriers, double precision, local memory, constant memory, repeated loads, contended atomics: in this order.
void find_unneeded_barriers(const Profile& profile, const Code& code, std::vector<Finding>& findings);

void find_contended_atomics(const Profile& profile, const Code& code, std::vector<Finding>& findings);

void find_in_code(const Profile& profile, const DeviceRules& rules, const Code& code, std::vector<Finding>& findings);

} // namespace warplens::analyzers
