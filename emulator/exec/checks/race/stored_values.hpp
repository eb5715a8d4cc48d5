// SPDX-License-Identifier: Apache-2.0
// The values that a store is about to write, from the rows of its registers.
#pragma once

#include "emulator/exec/checks/race/engine.hpp"
#include "emulator/exec/state/checker.hpp"

namespace warplens::exec::race {

class StoredValues final : public Values {
public:
  /// `op`: of the store; null: its values are not known, and count as different.
  StoredValues(const WarpAccess& access, const Op* op) : access_(access), op_(op) {}
  [[nodiscard]] bool stores_what_is_there(int lane) const override;
  [[nodiscard]] bool same(int lane, int other) const override;

private:
  [[nodiscard]] std::vector<std::byte> of(int lane) const;
  [[nodiscard]] const std::byte* memory(int lane) const;
  const WarpAccess& access_;
  const Op* op_;
};

} // namespace warplens::exec::race
