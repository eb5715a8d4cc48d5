// SPDX-License-Identifier: Apache-2.0
// Which bytes of device memory nobody has written. Memory that was not given as fresh counts as written.
//
//   shadow.fresh(0x50000000, 400);   shadow.write(0x50000000, 100);   shadow.unwritten(0x50000060, 8) == true
//
// A page takes one bit for each byte while some of its bytes are written and others are not; otherwise it takes none.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace warplens::exec::init {

class GlobalShadow {
public:
  static constexpr std::uint64_t kPageBytes = 4096;

  GlobalShadow();
  GlobalShadow(const GlobalShadow&) = delete;
  GlobalShadow& operator=(const GlobalShadow&) = delete;
  ~GlobalShadow();

  /// Nobody has written this memory.
  void fresh(std::uint64_t address, std::uint64_t bytes);
  void write(std::uint64_t address, std::uint64_t bytes) {
    while (bytes != 0) {
      const std::uint64_t at = address % kPageBytes, here = std::min(bytes, kPageBytes - at);
      if (page(address) != nullptr) write_in_page(address, here);
      address += here;
      bytes -= here;
    }
  }
  /// Whether nobody has written some of these bytes.
  bool unwritten(std::uint64_t address, std::uint64_t bytes) {
    while (bytes != 0) {
      const std::uint64_t at = address % kPageBytes, here = std::min(bytes, kPageBytes - at);
      if (const Page* const p = page(address); p != nullptr && any_in(*p, at, here)) return true;
      address += here;
      bytes -= here;
    }
    return false;
  }
  struct Range {
    std::uint64_t begin = 0, bytes = 0;
  };
  /// The unwritten bytes, as few ranges, ascending.
  [[nodiscard]] std::vector<Range> unwritten_ranges(std::uint64_t address, std::uint64_t bytes);
  /// Of the copied bytes, those are unwritten that were so at the source. The ranges may overlap.
  void copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes);
  /// Bytes that the shadow takes itself.
  [[nodiscard]] std::uint64_t size() const { return pages_ * sizeof(Page) + chunks_.size() * sizeof(Chunk); }

private:
  static constexpr std::uint64_t kChunkBytes = std::uint64_t{2} << 20, kPages = kChunkBytes / kPageBytes;
  struct Page {
    std::uint64_t bits[kPageBytes / 64];
    std::uint64_t left; ///< bits that are set
  };
  /// A page: null if all of it is written, `all_` if nothing is.
  struct Chunk {
    std::array<Page*, kPages> pages{};
  };
  struct Found {
    std::uint64_t number = ~std::uint64_t{0};
    Chunk* chunk = nullptr;
  };

  Page* page(std::uint64_t address) {
    const std::uint64_t number = address / kChunkBytes;
    Found& found = found_[number % found_.size()];
    if (found.number != number) [[unlikely]]
      found = {number, find(number)};
    return found.chunk == nullptr ? nullptr : found.chunk->pages[address % kChunkBytes / kPageBytes];
  }
  static bool any_in(const Page& page, std::uint64_t first, std::uint64_t count);
  [[nodiscard]] Chunk* find(std::uint64_t number) const;
  /// A chunk with pages of its own.
  Chunk& own(std::uint64_t number);
  void write_in_page(std::uint64_t address, std::uint64_t bytes);
  void fresh_in_page(std::uint64_t address, std::uint64_t bytes);
  void release(Page*& page, Page* instead);
  void drop(std::uint64_t number, Chunk* instead);

  std::unordered_map<std::uint64_t, Chunk*> chunks_; ///< by number; `nothing_` if nothing of it is written
  std::array<Found, 64> found_{};
  const std::unique_ptr<Page> all_;
  const std::unique_ptr<Chunk> nothing_;
  std::uint64_t pages_ = 0;
};

} // namespace warplens::exec::init
