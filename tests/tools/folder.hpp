// SPDX-License-Identifier: Apache-2.0
// Temporary files for a test.
//
//   const Folder folder;
//   const std::string file = folder.write("a.ptx", text);
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>

namespace warplens::testing {

inline std::string read_text(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// A temporary folder of the running test; the destructor removes it.
class Folder {
public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "warplens-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Writes a file in the folder; returns its full path.
  [[nodiscard]] std::string write(const std::string& name, std::string_view content) const {
    std::ofstream(path_ / name, std::ios::binary) << content;
    return (path_ / name).string();
  }

private:
  std::filesystem::path path_;
};

} // namespace warplens::testing
