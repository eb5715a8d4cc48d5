// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/memory/tensor_memory.hpp"

#include <algorithm>

namespace warplens::exec {

TensorMemory::TensorMemory() : room_(aligned_bytes(kBytes)), words_(reinterpret_cast<std::uint32_t*>(room_.get())) {}

void TensorMemory::reset() {
  allocations_.clear();
  used_ = ever_used_ = 0;
  last_columns_ = kColumns;
  relinquished = false;
  request.reset();
}

std::uint32_t TensorMemory::units(std::uint32_t column, std::uint32_t columns) {
  const std::uint32_t first = column / kLeastColumns, last = (column + columns - 1) / kLeastColumns;
  return ((2u << (last - first)) - 1) << first;
}

std::optional<std::uint32_t> TensorMemory::place_for(std::uint32_t columns, const TensorMemory* other) const {
  const std::uint32_t used = used_ | (other != nullptr ? other->used_ : 0);
  for (std::uint32_t column = 0; column + columns <= kColumns; column += kLeastColumns)
    if ((used & units(column, columns)) == 0) return column;
  return {};
}

void TensorMemory::allocate_at(std::uint32_t column, std::uint32_t columns, const Origin& origin) {
  allocations_.push_back({column, columns, origin});
  last_columns_ = columns;
  used_ |= units(column, columns);
  ever_used_ |= used_;
  for (std::uint32_t l = 0; l < kLanes; ++l) std::fill_n(lane(l) + column, columns, 0u);
}

std::optional<std::uint32_t> TensorMemory::allocate(std::uint32_t columns, const Origin& origin) {
  const std::optional<std::uint32_t> column = place_for(columns, nullptr);
  if (column) allocate_at(*column, columns, origin);
  return column;
}

const TensorMemory::Allocation* TensorMemory::allocation_at(std::uint32_t column) const {
  const auto found =
      std::find_if(allocations_.begin(), allocations_.end(), [&](const Allocation& a) { return a.column == column; });
  return found != allocations_.end() ? &*found : nullptr;
}

void TensorMemory::release(std::uint32_t column) {
  const Allocation* const a = allocation_at(column);
  if (a == nullptr) return;
  used_ &= ~units(a->column, a->columns);
  allocations_.erase(allocations_.begin() + (a - allocations_.data()));
}

TensorMemory::State TensorMemory::state(std::uint32_t column, std::uint32_t columns) const {
  if (columns == 0) return State::allocated;
  if (column >= kColumns || columns > kColumns - column) return State::outside;
  const std::uint32_t asked = units(column, columns);
  if ((asked & ~used_) == 0) return State::allocated;
  return (asked & ~used_ & ~ever_used_) != 0 ? State::never_allocated : State::released;
}

} // namespace warplens::exec
