// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/scalar_lanes.hpp"

#include "emulator/isa/table.hpp"

namespace warplens::fuzz {

// WARPLENS_FOR_EACH_GROUP: GROUP(fill_common_lanes) …, in the order of the instruction table.
#define GROUP(fill) std::span<const LaneFunction>* fill(std::span<const LaneFunction>*);
WARPLENS_FOR_EACH_GROUP
#undef GROUP

const std::vector<std::span<const LaneFunction>>& scalar_lanes() {
  static const std::vector<std::span<const LaneFunction>> rows = [] {
    std::vector<std::span<const LaneFunction>> all(isa::table().size());
    std::span<const LaneFunction>* row = all.data();
#define GROUP(fill) row = fill(row);
    WARPLENS_FOR_EACH_GROUP
#undef GROUP
    return all;
  }();
  return rows;
}

} // namespace warplens::fuzz
