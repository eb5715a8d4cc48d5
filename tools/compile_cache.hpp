// SPDX-License-Identifier: Apache-2.0
// Keeps the results of compilers in a folder of the user. An entry is valid as long as the content of every file that
// the compiler read is the same; entries that are damaged do not count.
//
//   const CompileCache cache(EntryFolder::of_environment());
//   const std::string key = content_hash("nvcc -ptx …");
//   if (std::optional<std::string> kept = cache.find(key)) return *kept;
//   …
//   cache.store(key, ptx, {"saxpy.cu", "saxpy.h"}, started);
#pragma once

#include "api/files/entry_folder.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warplens::tools {

/// The files in the rule for make that compilers write with -MD: what follows the first colon.
std::vector<std::filesystem::path> dependencies_in(std::string_view rule);

class CompileCache {
public:
  explicit CompileCache(EntryFolder folder) : folder_(std::move(folder)) {}

  /// The result that was stored, if the files that it depends on have not changed.
  [[nodiscard]] std::optional<std::string> find(const std::string& key) const;
  /// Stores nothing if it cannot, or if a file has changed since `started`.
  void store(const std::string& key, std::string_view result, const std::vector<std::filesystem::path>& files,
             std::filesystem::file_time_type started) const;

private:
  EntryFolder folder_;
};

} // namespace warplens::tools
