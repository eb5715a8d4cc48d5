// SPDX-License-Identifier: Apache-2.0
// Keeps what compilers made in a folder of the user. Entries that are damaged do not count; several processes can use
// the folder at once.
//
//   const EntryFolder folder = EntryFolder::of_environment();
//   if (std::optional<std::string> kept = folder.find(key)) return *kept;
//   …
//   folder.store(key, result);
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace warplens {

/// 128 bits as 32 hexadecimal digits: FNV-1a (Fowler, Noll and Vo).
std::string content_hash(std::string_view content);
constexpr std::size_t kHashDigits = 32;

class EntryFolder {
public:
  static constexpr const char* kVariable = "WARPLENS_CACHE";
  static constexpr std::uintmax_t kMaxBytes = std::uintmax_t{256} << 20;

  /// WARPLENS_CACHE, else $XDG_CACHE_HOME/warplens/compiled or ~/.cache/warplens/compiled.
  static EntryFolder of_environment();

  /// Empty: nothing is kept.
  [[nodiscard]] const std::filesystem::path& path() const { return folder_; }
  /// Creates the folder if necessary. Empty: it can be used; otherwise the reason why not.
  [[nodiscard]] std::string problem() const;
  /// Of all entries.
  struct Use {
    std::size_t entries = 0;
    std::uintmax_t bytes = 0;
  };
  [[nodiscard]] Use use() const;

  /// What was stored.
  [[nodiscard]] std::optional<std::string> find(const std::string& key) const;
  /// Stores nothing if it cannot. Removes the entries whose last use is the oldest while all together exceed kMaxBytes.
  void store(const std::string& key, std::string_view content) const;

private:
  explicit EntryFolder(std::filesystem::path folder) : folder_(std::move(folder)) {}
  [[nodiscard]] std::filesystem::path file_of(const std::string& key) const;
  void trim() const;

  std::filesystem::path folder_;
};

} // namespace warplens
