// SPDX-License-Identifier: Apache-2.0
// The files of the fuzz targets' driver: inputs, and the temporary files of formats that are only read from files.
#pragma once

#include <string>
#include <vector>

namespace warplens::fuzz {

/// Adds a file, or all files of a folder and its folders in the order of their names.
void add_inputs(const std::string& path, std::vector<std::string>& inputs);

} // namespace warplens::fuzz
