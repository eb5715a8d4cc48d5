// SPDX-License-Identifier: Apache-2.0
// The pages of an arena that other processes can map: they are pages of a file without a name, at the same place in it
// as in the arena. All other pages stay private, and the file takes no memory for them.
//
//   SharedPages shared(arena.ranges());   shared.share(0x50000000, 0x50001000);   shared.file();   shared.offset_of(a)
#pragma once

#include "emulator/exec/memory/address_space.hpp"

#include <array>
#include <map>

namespace warplens::exec {

class SharedPages {
public:
  /// The name of the file, as /proc shows it.
  static constexpr const char* kName = "warplens memory";

  explicit SharedPages(const std::array<AddressRange, 2>& ranges);
  ~SharedPages();
  SharedPages(const SharedPages&) = delete;
  SharedPages& operator=(const SharedPages&) = delete;

  /// Moves the pages that contain [begin, end) into the file. Nobody may write them meanwhile. False: there is no
  /// memory for them; then all pages are still valid.
  bool share(std::uint64_t begin, std::uint64_t end);
  /// Replaces whole pages by private zeros. Processes that have mapped them keep the contents.
  void drop(std::uint64_t begin, std::uint64_t end);

  [[nodiscard]] int file() const { return file_; } ///< negative: there is none
  [[nodiscard]] std::uint64_t offset_of(std::uint64_t address) const;

private:
  bool move(std::uint64_t begin, std::uint64_t end);
  std::array<AddressRange, 2> ranges_;
  int file_;
  std::map<std::uint64_t, std::uint64_t> shared_; ///< end by begin, whole pages
};

} // namespace warplens::exec
