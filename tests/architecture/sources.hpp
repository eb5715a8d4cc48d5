// SPDX-License-Identifier: Apache-2.0
// The source tree for the architecture tests: its files and their includes.
//
//   for (const SourceFile& file : tree())                 file.path == "emulator/exec/grid/grid.cpp"
//     for (const Include& include : includes(file)) …     include.name == "tbb/parallel_for.h", include.line == 3
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace warplens::architecture {

struct SourceFile {
  std::string path; ///< from the repository root
  std::string text;
};

/// All text files of the repository, sorted by path, without build folders, .git and .npy arrays.
const std::vector<SourceFile>& tree();

/// Whether a path is one of our C++ files.
bool is_code(std::string_view path);

struct Include {
  std::string name;
  bool quoted = false; ///< "…", not <…>
  int line = 0;
};
std::vector<Include> includes(const SourceFile& file);

/// The code with blanks in place of comments and literals; lines are preserved.
std::string without_comments_and_literals(std::string_view text);

} // namespace warplens::architecture
