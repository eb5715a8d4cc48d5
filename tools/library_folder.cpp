// SPDX-License-Identifier: Apache-2.0
#include "tools/library_folder.hpp"

namespace warplens::tools {

namespace fs = std::filesystem;

fs::path program_prefix() { return fs::read_symlink("/proc/self/exe").parent_path().parent_path(); }

std::optional<fs::path> library_folder() {
  for (const char* folder : {"lib/cuda", "lib/warplens/cuda"})
    if (fs::exists(program_prefix() / folder / "libcuda.so.1")) return program_prefix() / folder;
  return std::nullopt;
}

} // namespace warplens::tools
