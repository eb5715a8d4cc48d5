// SPDX-License-Identifier: Apache-2.0
// The location of device memory: numbered places in the address space. The first context of every process has the same
// addresses, likewise the second, and each has memory below 4 GiB. Only address space is reserved, no memory.
//
//   MemoryPlace place = *take_place();   place.low.begin == 0x50000000;   give_back(place);
//
// The first place is reserved when the program or the library is loaded: the heap of a program that is not
// position-independent begins at a random address in the first gigabyte, and grows.
#pragma once

#include <cstdint>
#include <optional>

namespace warplens::exec {

struct AddressRange {
  std::uint64_t begin = 0, end = 0;
  [[nodiscard]] std::uint64_t size() const { return end - begin; }
  [[nodiscard]] bool overlaps(std::uint64_t low, std::uint64_t high) const { return low < end && high > begin; }
};

struct MemoryPlace {
  AddressRange low;   ///< below 4 GiB; empty: no room
  AddressRange high;  ///< for the rest
  bool usual = false; ///< the usual place of contexts with this number
};

/// Device addresses are addresses of this process.
inline void* pointer(std::uint64_t address) { return reinterpret_cast<void*>(address); }

/// Empty if the address space is full or limited.
std::optional<MemoryPlace> take_place();
/// None of its memory may be accessible any more.
void give_back(const MemoryPlace& place);

} // namespace warplens::exec
