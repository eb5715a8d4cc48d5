// SPDX-License-Identifier: Apache-2.0
// Where a launch file may write. A launch file may come from an untrusted source: `save` stays in one folder unless the
// user allows other paths.
//
//   save_path("samples/x", "out.npy", {})       ->  "samples/x/out.npy"
//   save_path("samples/x", "../out.npy", {})    ->  error, which names --output-dir and --allow-paths
#pragma once

#include "emulator/base/expected.hpp"

#include <filesystem>
#include <string>

namespace warplens::api {

struct SavePolicy {
  std::filesystem::path folder; ///< of the saved files; empty: the folder of the launch file
  bool anywhere = false;        ///< allow absolute paths, ".." and links, and replace any file
};

/// The file that `name` refers to in a launch file in `launch_folder`. Errors, unless the policy allows them: an
/// absolute path, "..", a symbolic link in the path, an existing file that is not an array.
Expected<std::filesystem::path> save_path(const std::filesystem::path& launch_folder, const std::string& name,
                                          const SavePolicy& policy);

} // namespace warplens::api
