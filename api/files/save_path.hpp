// Where a launch file may write. A launch file is input, perhaps somebody else's: `save` stays in one folder unless the
// user says otherwise.
//
//   save_path("samples/x", "out.npy", {})       ->  "samples/x/out.npy"
//   save_path("samples/x", "../out.npy", {})    ->  error, which names --output-dir and --allow-paths
#pragma once

#include "emulator/base/expected.hpp"

#include <filesystem>
#include <string>

namespace warplens::api {

struct SavePolicy {
  std::filesystem::path folder; ///< files go there; empty: the folder of the launch file
  bool anywhere = false;        ///< absolute paths, "..", and links are followed, and any file is replaced
};

/// The file that `name` in a launch file in `launch_folder` means. Errors, unless the policy allows them: an absolute
/// path, "..", a link on the way, a file there that is no array.
Expected<std::filesystem::path> save_path(const std::filesystem::path& launch_folder, const std::string& name,
                                          const SavePolicy& policy);

} // namespace warplens::api
