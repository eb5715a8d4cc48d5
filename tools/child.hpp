// SPDX-License-Identifier: Apache-2.0
// Finds other programs, runs them and collects their output.
//
//   const std::filesystem::path make = *find_executable("make", path_folders());
//   const ChildResult nvcc = run_child({"/usr/local/cuda/bin/nvcc", "--version"});
//   nvcc.status == 0, nvcc.output contains "release 13.0"
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace warplens::tools {

/// The folders of the environment variable PATH, in order.
std::vector<std::string> path_folders();
/// The first executable file of this name in the folders.
std::optional<std::filesystem::path> find_executable(const std::string& name, const std::vector<std::string>& folders);

struct ChildResult {
  int status = -1;    ///< exit status; -1: it did not start, or a signal ended it
  std::string output; ///< standard output and error together
};

/// `command`: the path of the program and its arguments. Its standard input is empty.
ChildResult run_child(const std::vector<std::string>& command);
/// Runs a function in a copy of this process; the function returns the exit status.
ChildResult run_in_child(const std::function<int()>& function);

} // namespace warplens::tools
