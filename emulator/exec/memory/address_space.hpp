// Where device memory lies: numbered places in the address space, so that the first context of every process has the
// same addresses, the second likewise, and each has memory that 32-bit addresses reach. Nothing but addresses is taken.
//
//   MemoryPlace place = *take_place();   place.low.begin == 0x50000000;   give_back(place);
//
// The first place is held from the time the program, or the library, is loaded: the heap of a program that is not
// position-independent begins at a random address in the first gigabyte, and grows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace warplens::exec {

struct AddressRange {
  std::uint64_t begin = 0, end = 0;
  [[nodiscard]] std::uint64_t size() const { return end - begin; }
  [[nodiscard]] bool overlaps(std::uint64_t low, std::uint64_t high) const { return low < end && high > begin; }
};

struct MemoryPlace {
  AddressRange low;   ///< below 4 GiB; empty: there was no room
  AddressRange high;  ///< for what does not fit there
  bool usual = false; ///< where contexts of this number lie in every process
};

/// Empty: the address space is full, or limited.
std::optional<MemoryPlace> take_place();
/// Its memory, too.
void give_back(const MemoryPlace& place);

} // namespace warplens::exec
