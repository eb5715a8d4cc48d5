// SPDX-License-Identifier: Apache-2.0
#include "api/files/save_path.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <string_view>

namespace warplens::api {

namespace fs = std::filesystem;

namespace {

/// Whether the file is not an array, so that `save` cannot have written it.
bool is_something_else(const fs::path& file) {
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) return false;
  char magic[6]{};
  std::ifstream(file, std::ios::binary).read(magic, sizeof magic);
  return std::string_view(magic, sizeof magic) != "\x93NUMPY";
}

} // namespace

Expected<fs::path> save_path(const fs::path& launch_folder, const std::string& name, const SavePolicy& policy) {
  const fs::path relative(name);
  const fs::path& base = policy.folder.empty() ? launch_folder : policy.folder;
  if (policy.anywhere) return base / relative;
  const auto refused = [&](std::string_view why) {
    return failure(fmt::format("'save' is '{}', {}: a launch file may write only inside one folder", name, why),
                   "use --output-dir FOLDER to choose the folder, or --allow-paths to allow any path");
  };
  if (relative.is_absolute()) return refused("an absolute path");
  if (std::find(relative.begin(), relative.end(), "..") != relative.end()) return refused("which leaves the folder");
  fs::path place = base;
  for (const fs::path& part : relative) {
    place /= part;
    std::error_code ignored;
    if (fs::is_symlink(place, ignored)) return refused(fmt::format("and '{}' is a symbolic link", place.string()));
  }
  if (is_something_else(place)) return refused("an existing file that is not an array");
  return place;
}

} // namespace warplens::api
