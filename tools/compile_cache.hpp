// SPDX-License-Identifier: Apache-2.0
// Keeps the results of compilers in a folder of the user. An entry is valid as long as the content of every file that
// the compiler read is the same; entries that are damaged do not count.
//
//   const CompileCache cache = CompileCache::of_environment();
//   const std::string key = content_hash("nvcc -ptx …");
//   if (std::optional<std::string> kept = cache.find(key)) return *kept;
//   …
//   cache.store(key, ptx, {"saxpy.cu", "saxpy.h"}, started);
#pragma once

#include "api/session/environment.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warplens::tools {

/// 128 bits as 32 hexadecimal digits: FNV-1a (Fowler, Noll and Vo).
std::string content_hash(std::string_view content);

/// The files in the rule for make that compilers write with -MD: what follows the first colon.
std::vector<std::filesystem::path> dependencies_in(std::string_view rule);

class CompileCache {
public:
  static constexpr const char* kVariable = api::environment::kCache;
  static constexpr std::uintmax_t kMaxBytes = std::uintmax_t{256} << 20;

  /// In WARPLENS_CACHE, else in $XDG_CACHE_HOME/warplens/compiled or ~/.cache/warplens/compiled.
  static CompileCache of_environment();

  /// Empty: the cache is off.
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  /// Creates the folder if necessary. Empty: the cache can be used; otherwise the reason why not.
  [[nodiscard]] std::string problem() const;
  /// Of all entries.
  struct Use {
    std::size_t entries = 0;
    std::uintmax_t bytes = 0;
  };
  [[nodiscard]] Use use() const;

  /// The result that was stored, if the files that it depends on have not changed.
  [[nodiscard]] std::optional<std::string> find(const std::string& key) const;
  /// Stores nothing if it cannot, or if a file has changed since `started`. Removes the entries whose last use is the
  /// oldest while all together exceed kMaxBytes.
  void store(const std::string& key, std::string_view result, const std::vector<std::filesystem::path>& files,
             std::filesystem::file_time_type started) const;

private:
  explicit CompileCache(std::filesystem::path folder) : folder_(std::move(folder)) {}
  [[nodiscard]] std::filesystem::path file_of(const std::string& key) const;
  void trim() const;

  std::filesystem::path folder_;
};

} // namespace warplens::tools
