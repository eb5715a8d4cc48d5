// SPDX-License-Identifier: Apache-2.0
// Quotes lines of the CUDA source that a module names with `.file`.
//
//   SourceText sources;
//   sources.line("transpose.cu", 9, "samples/transpose/transpose.ptx")  ->  "out[x * n + y] = in[y * n + x];"
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace warplens::api {

class SourceText {
public:
  /// A file that is not in the file system.
  void add(const std::string& file, const std::string& text);
  /// The line without the spaces around it; empty if there is no such file or line. Looks for the file beside the
  /// module, then in the current folder. Only reads files with the name of C++ or CUDA source, because a module can
  /// name any file.
  const std::string& line(const std::string& file, std::uint32_t number, const std::string& module);

private:
  const std::vector<std::string>& lines_of(const std::string& file, const std::string& module);
  std::map<std::string, std::vector<std::string>> files_; ///< by path
  std::map<std::string, std::vector<std::string>> added_; ///< by the name in the module
};

} // namespace warplens::api
