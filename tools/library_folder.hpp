// SPDX-License-Identifier: Apache-2.0
// Where the drop-in libraries are that `warplens exec` loads: as built or as installed.
//
//   library_folder() == "/usr/lib/warplens/cuda"     // beside /usr/bin/warplens
#pragma once

#include <filesystem>
#include <optional>

namespace warplens::tools {

/// The folder that contains this program's folder.
std::filesystem::path program_prefix();
/// Null: none of the folders has a libcuda.so.1.
std::optional<std::filesystem::path> library_folder();

} // namespace warplens::tools
