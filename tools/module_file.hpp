// SPDX-License-Identifier: Apache-2.0
// Reads modules from files: PTX text, fat binaries, executables and object files that contain one, CUDA source.
//
//   Expected<CodeOfFile> code = read_code("app", {9, 0});     code->modules[0][0].text == ".version 9.0 …"
#pragma once

#include "api/launch/launch.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace warplens::tools {

struct CodeOfFile {
  /// The PTX of each module; several sources of one module must be linked.
  std::vector<std::vector<api::Source>> modules;
  std::vector<std::string> notes; ///< for the user
};

/// The best PTX for a device. Errors: a file that cannot be read, contains no PTX, or is corrupt; CUDA source that
/// cannot be compiled.
Expected<CodeOfFile> read_code(const std::filesystem::path& file, model::ComputeCapability device);

/// The same for a file with one module. Error also: it has several.
Expected<std::vector<api::Source>> read_module(const std::filesystem::path& file, model::ComputeCapability device);

} // namespace warplens::tools
