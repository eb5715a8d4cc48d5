// SPDX-License-Identifier: Apache-2.0
// What a trace has only in total, of the whole launch, whatever is selected.
#pragma once

#include "emulator/exec/state/events.hpp"

#include <vector>

namespace warplens::analyzers::trace {

struct Totals {
  std::vector<exec::SizedProduct> products; ///< multiplications whose size is known only when they run
  std::vector<exec::BulkCopy> copies;       ///< equal ones together
  std::vector<exec::LaneCopy> lane_copies;  ///< equal ones together
  std::vector<exec::AsyncWaits> waits;
  std::vector<exec::SpecialOperands> special_operands; ///< one for each instruction

  void fields(Archive& a) { a(products, copies, lane_copies, waits, special_operands); }
  /// Reports them to the analyzers of a shard.
  void tell(exec::Shard& shard) const {
    for (const exec::SizedProduct& product : products) shard.product(product);
    for (const exec::BulkCopy& copy : copies) shard.bulk_copy(copy);
    for (const exec::LaneCopy& copy : lane_copies) shard.lane_copy(copy);
    for (const exec::AsyncWaits& wait : waits) shard.async_waits(wait);
    for (const exec::SpecialOperands& special : special_operands) shard.special_operands(special);
  }
};

} // namespace warplens::analyzers::trace
