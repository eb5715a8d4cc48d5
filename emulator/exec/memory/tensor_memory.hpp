// SPDX-License-Identifier: Apache-2.0
// Tensor memory of a block (9.7.16.1): 128 lanes of 512 columns, each of 32 bits. An address has the lane in its upper
// half and the column in its lower half. Columns are allocated and released at run time, all lanes of them together.
//
//   TensorMemory memory;  *memory.allocate(64, {})  ->  0;  memory.lane(3)[5] = 1;   // address 0x0003'0005
#pragma once

#include "emulator/exec/memory/guarded_memory.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace warplens::exec {

struct TensorAddress {
  std::uint32_t lane = 0, column = 0;
  constexpr TensorAddress() = default;
  constexpr explicit TensorAddress(std::uint32_t address) : lane(address >> 16), column(address & 0xffff) {}
};

class TensorMemory {
public:
  static constexpr std::uint32_t kLanes = 128, kColumns = 512, kLeastColumns = 32;

  /// Where columns were allocated.
  struct Origin {
    std::uint32_t instruction = 0, thread = 0;
    bool pair = false; ///< .cta_group::2
  };
  struct Allocation {
    std::uint32_t column = 0, columns = 0;
    Origin origin;
  };
  enum class State : std::uint8_t { allocated, released, never_allocated, outside };

  TensorMemory();
  /// For the next block: nothing is allocated.
  void reset();

  /// Whether a block may ask for so many columns: a power of two from 32 to 512.
  static constexpr bool is_size(std::uint32_t columns) {
    return columns >= kLeastColumns && columns <= kColumns && (columns & (columns - 1)) == 0;
  }
  /// The first column of the lowest place with so many free ones; nothing: there is none. The words are then 0.
  std::optional<std::uint32_t> allocate(std::uint32_t columns, const Origin& origin);
  /// The lowest place with so many columns that are free here and in `other`.
  [[nodiscard]] std::optional<std::uint32_t> place_for(std::uint32_t columns, const TensorMemory* other) const;
  /// Columns that are free.
  void allocate_at(std::uint32_t column, std::uint32_t columns, const Origin& origin);
  /// The allocation that begins at a column; nullptr: there is none.
  [[nodiscard]] const Allocation* allocation_at(std::uint32_t column) const;
  /// Releases an allocation.
  void release(std::uint32_t column);
  [[nodiscard]] std::span<const Allocation> allocations() const { return allocations_; }

  /// Of columns: the first state that is not `allocated`. No columns are allocated.
  [[nodiscard]] State state(std::uint32_t column, std::uint32_t columns) const;

  /// The words of a lane, by column. The lane must be less than kLanes.
  [[nodiscard]] std::uint32_t* lane(std::uint32_t lane) { return words_ + lane * std::size_t{kColumns}; }
  [[nodiscard]] std::span<const std::byte> bytes() const { return {room_.get(), kBytes}; }

  /// The columns of the last allocation; later ones must not have more (9.7.16.7.1).
  [[nodiscard]] std::uint32_t last_columns() const { return last_columns_; }

  /// No further allocations: tcgen05.relinquish_alloc_permit.
  bool relinquished = false;
  /// A warp waits for one of the other block, to allocate in both of a pair.
  struct Request {
    std::uint32_t warp = 0, columns = 0;
    Origin origin;
    std::optional<std::uint32_t> granted; ///< the first column: both blocks have them
  };
  std::optional<Request> request;

private:
  static constexpr std::size_t kBytes = std::size_t{kLanes} * kColumns * sizeof(std::uint32_t);
  /// Allocations are multiples of 32 columns: a bit for each of these.
  static std::uint32_t units(std::uint32_t column, std::uint32_t columns);

  AlignedBytes room_;
  std::uint32_t* words_;
  std::vector<Allocation> allocations_; ///< in the order in which they were made
  std::uint32_t used_ = 0, ever_used_ = 0, last_columns_ = kColumns;
};

} // namespace warplens::exec
