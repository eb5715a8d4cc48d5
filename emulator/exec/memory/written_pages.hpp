// SPDX-License-Identifier: Apache-2.0
// Finds what a launch writes: memory is protected while it runs, and at the first write to a part, that part is copied.
// Also knows which words atomic operations have changed whose order does not matter.
//
//   WrittenPages written(launch.allocations);   // the launch runs …
//   written.stop();
//   written.each([](std::uint64_t page, const std::byte* before, const std::uint8_t* reduced) {…});
//   written.restore();
//
// Only one object at a time may watch.
#pragma once

#include "emulator/exec/memory/memory.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <memory>

namespace warplens::exec {

/// An operation of integers that gives the same result in any order.
enum class Reduction : std::uint8_t {
  none,
  add,
  conjunction,
  disjunction,
  exclusive,
  minimum,
  maximum,
  signed_minimum,
  signed_maximum,
  mixed ///< several of these, or of several widths
};
/// A reduction and its width, as WrittenPages stores them for a word of 4 bytes.
constexpr std::uint8_t kWide = 16; ///< of 8 bytes, not 4
constexpr std::uint8_t code_of(Reduction reduction, std::size_t bytes) {
  return static_cast<std::uint8_t>(static_cast<std::uint8_t>(reduction) | (bytes == 8 ? kWide : 0));
}

class WrittenPages {
public:
  /// Begins to watch all but constant allocations. Throws std::bad_alloc.
  explicit WrittenPages(std::span<const Allocation> allocations);
  ~WrittenPages();
  WrittenPages(const WrittenPages&) = delete;
  WrittenPages& operator=(const WrittenPages&) = delete;

  /// An atomic operation of this code changes a word. Any thread may call it.
  void reduced(std::uint64_t address, std::uint8_t code);
  /// Memory can be written as before.
  void stop();
  /// After stop(): everything is as before the launch.
  void restore();

  /// Calls visit(address, before, reduced) for each page of kHostPageBytes of the parts that were written, ascending.
  /// `before`: its contents before the launch; `reduced`: the code of each word, or null.
  template <class Visit> void each(Visit&& visit) const {
    for (const Region& region : regions_)
      for (std::uint64_t part = 0; part < region.parts.size(); ++part) {
        if (region.parts[part].state != kOpen) continue;
        const AddressRange at = range_of(region, part);
        const std::uint8_t* const codes = region.parts[part].codes.load();
        for (std::uint64_t page = at.begin; page < at.end; page += kHostPageBytes)
          visit(page, region.copied[region.page_of(page)] != 0 ? region.copy_of(page) : kZeros.data(),
                codes == nullptr ? nullptr : codes + page % part_bytes_ / 4);
      }
  }

private:
  enum State : std::uint8_t { kProtected, kCopying, kOpen };
  struct Part {
    std::atomic<std::uint8_t> state{kProtected};
    std::atomic<std::uint8_t*> codes{nullptr};
  };
  struct Region {
    std::uint64_t begin = 0, end = 0;        ///< whole pages
    std::byte* room = nullptr;               ///< for the copies, mapped with room_bytes; …
    std::uint64_t room_bytes = 0, shift = 0; ///< … begins so far before a multiple of the size of a part
    std::vector<Part> parts;
    /// By page, whether it has a copy: without one, it was zeros. Reading a copy of zeros would take memory, too.
    std::vector<std::uint8_t> copied;
    [[nodiscard]] std::size_t page_of(std::uint64_t address) const { return (address - begin) / kHostPageBytes; }
    [[nodiscard]] std::byte* copy_of(std::uint64_t address) const { return room + shift + (address - begin); }
  };

  static constexpr std::array<std::byte, kHostPageBytes> kZeros{};
  static void copy(Region& region, const AddressRange& at);
  static void on_fault(int signal, siginfo_t* info, void* context);
  Region* region_of(std::uint64_t address);
  /// Parts begin at multiples of their size.
  [[nodiscard]] std::uint64_t part_of(const Region& region, std::uint64_t address) const {
    return address / part_bytes_ - region.begin / part_bytes_;
  }
  [[nodiscard]] AddressRange range_of(const Region& region, std::uint64_t part) const {
    const std::uint64_t begin = (region.begin / part_bytes_ + part) * part_bytes_;
    return {std::max(begin, region.begin), std::min(begin + part_bytes_, region.end)};
  }
  bool open(std::uint64_t address);
  void let_go();

  std::vector<Region> regions_; ///< ascending
  std::uint64_t part_bytes_ = 0;
  bool watching_ = false;
};

/// What a word is after both of two processes have changed it by the same operation, starting with `before`.
std::uint64_t combined(std::uint8_t code, std::uint64_t before, std::uint64_t one, std::uint64_t other);

} // namespace warplens::exec
