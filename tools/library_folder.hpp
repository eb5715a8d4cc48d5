// SPDX-License-Identifier: Apache-2.0
// Where the drop-in libraries are that `warplens exec` loads: as built or as installed.
//
//   library_folder() == "/usr/lib/warplens/cuda"     // beside /usr/bin/warplens
#pragma once

#include <array>
#include <filesystem>
#include <optional>

namespace warplens::tools {

/// Where they may be, relative to this program's folder: as built, and as installed.
std::array<std::filesystem::path, 2> library_folders();
/// Null: none of the folders has a libcuda.so.1.
std::optional<std::filesystem::path> library_folder();

} // namespace warplens::tools
