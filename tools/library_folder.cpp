// SPDX-License-Identifier: Apache-2.0
#include "tools/library_folder.hpp"

#include <algorithm>

namespace warplens::tools {

namespace fs = std::filesystem;

std::array<fs::path, 2> library_folders() {
  const fs::path program = fs::read_symlink("/proc/self/exe").parent_path();
  return {(program / "../lib/cuda").lexically_normal(), (program / WARPLENS_INSTALLED_CUDA).lexically_normal()};
}

std::optional<fs::path> library_folder() {
  const std::array<fs::path, 2> folders = library_folders();
  const auto found = std::find_if(folders.begin(), folders.end(),
                                  [](const fs::path& folder) { return fs::exists(folder / "libcuda.so.1"); });
  return found == folders.end() ? std::nullopt : std::optional(*found);
}

} // namespace warplens::tools
