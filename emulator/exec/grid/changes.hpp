// SPDX-License-Identifier: Apache-2.0
// The bytes of memory that the parts of a launch have changed, page by page, and their combination.
//
//   rank 1:  Bytes changes = changes_of(written, false);
//   rank 0:  Combination all(written, false);   all.add(changes);   all.conflict() == ""
//            unsent = all.pages();       // memory is as if one process had run the launch
//
// Parts may change the same bytes if they end with the same value, or if they change a word only by one kind of atomic
// operation whose order does not matter.
#pragma once

#include "emulator/exec/memory/written_pages.hpp"
#include "emulator/exec/state/ranks.hpp"

#include <array>
#include <functional>
#include <string>

namespace warplens::exec {

/// Copies these pages of the process that has changed them. False: it is impossible.
using PageSource = std::function<bool(std::span<const std::uint64_t> pages, std::byte* to)>;

/// After written.stop(). `reduces`: with what atomic operations have changed, in all parts or in none. `contents`: with
/// the bytes, which otherwise come from a PageSource.
Bytes changes_of(const WrittenPages& written, bool reduces, bool contents = true);

class Combination {
public:
  /// Begins with the changes of this process. `written` must outlive it.
  Combination(const WrittenPages& written, bool reduces);
  ~Combination();
  /// Applies those of another process to memory, up to the first conflict.
  void add(const Bytes& changes, const PageSource& source = nullptr);
  /// Why the parts depend on each other; empty: they do not.
  [[nodiscard]] const std::string& conflict() const { return conflict_; }
  /// All that has changed since before the launch.
  [[nodiscard]] ChangedPages pages() const;

private:
  static constexpr std::size_t kWords = kHostPageBytes / 4;
  struct Page {
    const std::byte* before = nullptr; ///< the contents before the launch
    std::vector<std::byte> copied;     ///< where `before` lies if this process has not written the page, …
    ByteMask changed = {};
    std::vector<std::uint8_t> reduced; ///< … and codes of WrittenPages; both only if there are such operations
  };
  struct Changes;
  void add(const Changes& theirs);
  void add(std::uint64_t address, Page& page, const Changes& theirs);
  bool add_word(std::uint64_t address, Page& page, const Changes& theirs, std::size_t word);

  bool reduces_;
  std::map<std::uint64_t, Page> pages_; ///< by address
  std::string conflict_;
  std::vector<Changes> some_; ///< room for add(), which new memory would make slow
  Bytes contents_;            ///< the same
};

/// The contents of these bytes, and how another process takes them over.
Bytes contents_of(const ChangedPages& pages);
void take_over(const Bytes& contents);

} // namespace warplens::exec
