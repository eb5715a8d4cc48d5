// The tree as the architecture tests see it: its files, and what each includes.
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

/// Every text file of the repository, ascending by path; without build folders, what git keeps for itself, and arrays.
const std::vector<SourceFile>& tree();

/// Whether a path is C++ of ours.
bool is_code(std::string_view path);

struct Include {
  std::string name;
  bool quoted = false; ///< "…", not <…>
  int line = 0;
};
std::vector<Include> includes(const SourceFile& file);

/// The code with comments and the contents of literals blanked, line by line as it was.
std::string without_comments_and_literals(std::string_view text);

} // namespace warplens::architecture
